/* A directory on disk as a tree sink that makes nothing: each entry is compared with what stands
 * there, and what differs is noted. The access times there stay as they are, where that is allowed.
 */
#ifndef SHOAL_SINK_COMPARE_H
#define SHOAL_SINK_COMPARE_H

#include "sink/tree_sink.h"

/* Takes over `fd`, an open directory (O_PATH will do): names are looked up there. Of the options
 * only `preserve` counts: the metadata to compare. Returns 0 or a negative errno (the descriptor is
 * closed then, too). */
int compare_sink_new(int fd, const struct sink_options *options, struct tree_sink **ret);

#endif
