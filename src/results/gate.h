/* Whether methods got slower than they were: what was measured now against what was stored before.
 *
 * A method is compared with the method of the same name in the last series of the baseline that is
 * of the same workload (name, files and bytes), state of the cache and type of destination. The
 * runs are not paired: the ratio is that of the medians of the real times, with its bootstrap
 * interval. It is called slower only if the whole interval is above what is allowed. */
#ifndef SHOAL_RESULTS_GATE_H
#define SHOAL_RESULTS_GATE_H

#include <stddef.h>

#include "results/statistics.h"

struct method_result;
struct results;
struct series;

enum gate_outcome {
    GATE_WITHIN,       /* the whole interval is within what is allowed */
    GATE_UNCERTAIN,    /* the limit is in the interval: the runs vary too much to tell */
    GATE_SLOWER,       /* the whole interval is above the limit */
    GATE_NOT_COMPARED, /* as `why` says */
};

struct gate_comparison {
    const struct series *series, *baseline; /* baseline: NULL if there is none to compare with */
    const struct method_result *method;
    enum gate_outcome outcome;
    struct estimate as_long; /* now, as a multiple of then; nothing if not compared */
    const char *why;         /* words; NULL if compared */
};

/* A comparison for each method of each measured series, in their order. */
struct gate {
    struct gate_comparison *comparisons;
    size_t n, n_compared, n_slower;
};

/* `max_slowdown` is the share that is allowed: 0.1 for 10%. Both results must outlive the gate.
 * -ENOMEM. */
int gate_make(const struct results *measured, const struct results *baseline, double max_slowdown,
    struct gate *ret);
void gate_clear(struct gate *gate);

#endif
