/* What a directory sink would do, without doing it: for a dry run. Nothing is touched; what stands
 * there is looked at, and the answers and failures are those of sink/directory.h, as far as they
 * can be known beforehand. What one FROM would make is not seen by the next. */
#ifndef SHOAL_SINK_PLAN_H
#define SHOAL_SINK_PLAN_H

#include "sink/tree_sink.h"

/* Takes over `fd`, an open directory (O_PATH will do): names would be made there.
 * Returns 0 or a negative errno (the descriptor is closed then, too). */
int plan_sink_new(int fd, const struct sink_options *options, struct tree_sink **ret);

#endif
