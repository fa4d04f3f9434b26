/* The driver from tree sources to a stream sink. Workers take the walk's next names in turn, read
 * and encode them side by side, each turn's output in buffers of its own; one emitter writes these
 * in the order of the turns. */
#ifndef SHOAL_ENGINE_TREE_TO_STREAM_H
#define SHOAL_ENGINE_TREE_TO_STREAM_H

#include "engine/root.h"
#include "engine/run.h"
#include "sink/stream_sink.h"

struct packing;

/* Prepares to pack roots, chained by job.link.next and taken over, in their order; `out` is what
 * the sink writes to, which is left out should the walk come by, or -1. The jobs are in the run's
 * pool then. 0 or -ENOMEM. */
int packing_begin(
    struct run *run, struct stream_sink *sink, int out, struct root *roots, struct packing **ret);

/* After run_work(). Returns the first failure of the sink, or 0. */
int packing_end(struct packing *packing);

#endif
