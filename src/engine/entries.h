/* Making at the sink what one entry of the source is: a file with its content, a node, another
 * name. */
#ifndef SHOAL_ENGINE_ENTRIES_H
#define SHOAL_ENGINE_ENTRIES_H

#include "engine/events.h"
#include "engine/links.h"

/* Copies anything but a directory. `from` is its content, NULL where it is no regular file. The
 * directories of the place are acquired.
 * 0: made, and counted; SINK_KEPT_…: nothing was made, by choice or because another worker is at
 * this inode and the name waits for it; or a negative errno, with the step that failed in the
 * worker's outcome. *ret_waiters: names that waited for this one, for the caller to run. */
int entries_copy(struct worker *worker, const struct place *place, const struct entry *entry,
    struct source_file *from, struct link_waiter **ret_waiters);

#endif
