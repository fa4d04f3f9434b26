/* Images of SGI's EFS, from a directory. The same tree gives the same bytes. */
#ifndef SHOAL_DISC_MAKE_EFS_H
#define SHOAL_DISC_MAKE_EFS_H

#include <stdbool.h>
#include <stdint.h>

#include "disc/make.h"

struct make_efs_options {
    const char *label;      /* of the volume, at most MAKE_EFS_LABEL_MAX bytes; "" for none */
    bool no_header;         /* the file system alone, without a volume header before it */
    unsigned extent_blocks; /* the longest extent, with a gap after each: for tests; 0: as EFS has
                             * it, and no gaps */
};

#define MAKE_EFS_LABEL_MAX 6

/* Writes an image of the directory to an empty regular file, which is left out if it is there, too.
 * Owners, modes, times (in seconds), hard and symbolic links, devices and pipes are kept. -EINTR if
 * asked to stop; -EFBIG: a file of 2 GB and more, or more than EFS can address (8 GB); -EMLINK,
 * -ENAMETOOLONG; or another negative errno, and what is wrong. Owners above 65,535 become 65,534.
 */
int make_efs(int directory_fd, int image_fd, const struct make_efs_options *options,
    const struct make_watch *watch, struct make_totals *ret, struct make_failure *failure);

#endif
