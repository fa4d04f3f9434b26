/* What libarchive's writer takes from the clock instead of the tree, put right. */
#ifndef SHOAL_DISC_MAKE_ISO_DATES_H
#define SHOAL_DISC_MAKE_ISO_DATES_H

#include <stdbool.h>

struct stat;

/* Gives the top directory of an image its owner, mode and time, and the same to the directory of
 * relocated ones if the writer made it; takes the date of writing away. 0 or a negative errno. */
int make_iso_settle(int image_fd, const struct stat *top, bool made_rr_moved);

#endif
