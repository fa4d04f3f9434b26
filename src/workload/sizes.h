/* The sizes of a tree's files, one after the other; together they are what was asked for, to the
 * byte. */
#ifndef SHOAL_WORKLOAD_SIZES_H
#define SHOAL_WORKLOAD_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/quantiles.h"

struct sizes {
    uint64_t seed, bytes, next;
    bool is_drawn;
    __extension__ unsigned __int128 raw_total, raw_done; /* of what is drawn, before it is scaled */
    struct quantile_parts parts;
};

/* With a table, the files have its n parts among them, in an order that the seed chooses: the same
 * sizes from each seed. Without one (NULL), each is drawn by itself from a lognormal distribution
 * (sigma 1.25) with a capped tail. */
void sizes_start(struct sizes *sizes, const struct quantiles *table, uint64_t seed, uint64_t files,
    uint64_t bytes);

/* At most `files` times. */
uint64_t sizes_next(struct sizes *sizes);

#endif
