/* A long range of one file, copied in pieces by whichever workers are idle. */
#ifndef SHOAL_ENGINE_SPLIT_H
#define SHOAL_ENGINE_SPLIT_H

#include <stdint.h>

#include "engine/content.h"
#include "engine/job.h"

/* Copies [start, end) of a content; *ret_reached is less than end where the source ends earlier.
 * Does not move the position of the sink's descriptor. */
typedef int (*piece_copier)(struct worker *worker, struct content *content, uint64_t start,
    uint64_t end, uint64_t *ret_reached);

/* Copies [start, end) with `copy`, together with idle workers where that helps, and returns when
 * all is done. */
int split_copy(struct worker *worker, struct content *content, piece_copier copy, uint64_t start,
    uint64_t end, uint64_t *ret_reached);

#endif
