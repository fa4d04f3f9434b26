/* A directory on disk as a tree source. */
#ifndef SHOAL_SOURCE_DIRECTORY_H
#define SHOAL_SOURCE_DIRECTORY_H

#include "source/tree_source.h"

/* Takes over `fd`, an open directory (O_PATH will do): names are opened from there.
 * Returns 0 or -ENOMEM (the descriptor is closed then, too). */
int directory_source_new(int fd, bool want_xattrs, struct tree_source **ret);

#endif
