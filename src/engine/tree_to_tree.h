/* The driver from a tree source to a tree sink. A job is a directory, or a slice of a large one: a
 * worker lists it, makes what is in it, and copies its files itself; nothing per file is queued or
 * allocated. */
#ifndef SHOAL_ENGINE_TREE_TO_TREE_H
#define SHOAL_ENGINE_TREE_TO_TREE_H

#include "engine/job.h"

/* The job of a root (see root.h): copies its FROM, and starts the next root of the same name when
 * done. */
void tree_to_tree_run_root(struct worker *worker, struct job *job);

#endif
