/* The driver from a stream source to a tree sink. One reader takes entries in order, makes
 * directories and hands everything else to the workers; content that lies in a file they fetch
 * themselves. What the same name needs in order stays in order: a later twin waits for its elder, a
 * hard link for its target. */
#ifndef SHOAL_ENGINE_STREAM_TO_TREE_H
#define SHOAL_ENGINE_STREAM_TO_TREE_H

#include "engine/job.h"

/* The job of a root (see root.h) whose FROM is a stream. */
void stream_to_tree_run_root(struct worker *worker, struct job *job);

#endif
