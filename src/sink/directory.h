/* A directory on disk as a tree sink. */
#ifndef SHOAL_SINK_DIRECTORY_H
#define SHOAL_SINK_DIRECTORY_H

#include "sink/tree_sink.h"

/* Takes over `fd`, an open directory (O_PATH will do): names are made there.
 * Returns 0 or a negative errno (the descriptor is closed then, too). */
int directory_sink_new(int fd, const struct sink_options *options, struct tree_sink **ret);

#endif
