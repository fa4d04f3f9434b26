/* Distributions as tables of quantiles, in integers only: a table gives the same numbers on every
 * machine. */
#ifndef SHOAL_WORKLOAD_QUANTILES_H
#define SHOAL_WORKLOAD_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

#define QUANTILE_ONE        1000000000 /* all of a distribution, in billionths */
#define QUANTILE_VALUE_MAX  (1ULL << 40)
#define QUANTILE_POINTS_MAX 256

/* This share of all is at most `value`. Between two points the value rises in a straight line; two
 * points of the same share are a step. */
struct quantile {
    uint32_t share; /* in billionths */
    uint64_t value;
};

/* At least two points. The first has share 0, the last QUANTILE_ONE; neither shares nor values ever
 * fall. */
struct quantiles {
    const struct quantile *points;
    size_t n;
};

/* The value that `share` billionths are smaller than; `share` is below QUANTILE_ONE. */
uint64_t quantiles_at(const struct quantiles *table, uint32_t share);

/* The mean, in thousandths. */
uint64_t quantiles_mean(const struct quantiles *table);

/* The n values that stand for the whole distribution, from the smallest on: each is the mean of its
 * n-th part, and all are scaled alike so that they come to `total`, exactly. A table of zeros
 * counts as one of equal values. */
struct quantile_parts {
    const struct quantiles *table; /* not owned */
    uint64_t n, total;
    uint64_t up_to[QUANTILE_POINTS_MAX]; /* the area below the curve up to each point, */
    unsigned shift;                      /* so many bits shorter */
};

/* `n` from 1 to 2^32, `total` below 2^62. */
void quantile_parts_start(
    struct quantile_parts *parts, const struct quantiles *table, uint64_t n, uint64_t total);

/* The i-th of them, i < n. */
uint64_t quantile_part(const struct quantile_parts *parts, uint64_t i);

#endif
