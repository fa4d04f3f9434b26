/* What is to become of a file that stands where another is to go. */
#ifndef SHOAL_SINK_EXISTING_H
#define SHOAL_SINK_EXISTING_H

#include <stdbool.h>
#include <sys/stat.h>

#include "entry/entry.h"
#include "entry/outcome.h"
#include "sink/tree_sink.h"

/* `existing` is what stands there, `fresh` says that its directory was made by this run.
 * 0: it may be replaced; SINK_KEPT_…: it is to be left alone; negative errno: it cannot be
 * replaced. */
int existing_judge(const struct stat *existing, bool fresh, const struct entry *entry,
    const struct sink_options *options, struct outcome *outcome);

#endif
