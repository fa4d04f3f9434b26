/* Images of ISO 9660 discs, from a directory: level 3, with Rock Ridge and Joliet. The same tree
 * gives the same bytes. */
#ifndef SHOAL_DISC_MAKE_ISO_H
#define SHOAL_DISC_MAKE_ISO_H

#include "disc/make.h"

#define MAKE_ISO_LABEL_MAX 32

/* Writes an image of the directory to an empty regular file, which is left out if it is there, too.
 * The label (at most MAKE_ISO_LABEL_MAX bytes, "" for none) names the volume; where it may have
 * capitals only, it has those. Owners, modes, times, links and devices are kept; times of access
 * and change are those of modification. Content passes through a temporary file in $TMPDIR. 0;
 * -EINTR if asked to stop; or a negative errno, and what is wrong. */
int make_iso(int directory_fd, int image_fd, const char *label, const struct make_watch *watch,
    struct make_totals *ret, struct make_failure *failure);

#endif
