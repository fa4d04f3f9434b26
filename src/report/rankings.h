/* The rankings of several series, and which of them belong together. */
#ifndef SHOAL_REPORT_RANKINGS_H
#define SHOAL_REPORT_RANKINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/ranking.h"
#include "results/results.h"

struct reference;

struct rankings {
    struct ranking *all; /* one a series, in their order */
    size_t n;
};

/* Ranks every series; `baseline` NULL: "shoal". -ENOMEM. The caller clears it in any case. */
int rankings_make(const struct series *const *series, size_t n_series, const char *baseline,
    struct rankings *rankings);

void cleanup_rankings_p(struct rankings *rankings);

bool is_same_workload(const struct series *a, const struct series *b);
bool is_same_source(const struct series *a, const struct series *b);

/* The same system and destination. */
bool is_same_place(const struct series *a, const struct series *b);

/* The same workload, system and destination: one table of results. */
bool is_same_block(const struct series *a, const struct series *b);

/* As many files and KB as the published machines copied. */
bool is_like_reference(const struct series *series, const struct reference *reference);

typedef bool same_function(const struct series *, const struct series *);

/* Whether a series before rankings->all[at] is of the same kind, so that its table is there
 * already. */
bool has_earlier(const struct rankings *rankings, size_t at, same_function *is_same);

/* The verdict as a results file names it. */
const char *verdict_word(enum verdict verdict);

/* The rate's 95% interval, from that of the median time; both 0 where that has none. */
void standing_rate_interval(const struct series *series, const struct standing *standing,
    double *ret_low, double *ret_high);

#endif
