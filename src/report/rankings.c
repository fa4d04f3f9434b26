#include "report/rankings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/reference.h"
#include "report/figures.h"
#include "report/report.h"
#include "results/results.h"
#include "results/statistics.h"

void cleanup_rankings_p(struct rankings *rankings)
{
    for (size_t i = 0; i < rankings->n; i++)
        ranking_clear(&rankings->all[i]);
    free(rankings->all);
}

int rankings_make(const struct series *const *series, size_t n_series, const char *baseline,
    struct rankings *rankings)
{
    const struct report_options options = {.baseline = baseline};

    rankings->all = calloc(n_series + 1, sizeof(*rankings->all));
    if (!rankings->all)
        return -ENOMEM;
    for (size_t i = 0; i < n_series; i++) {
        int r = ranking_make(series[i], ranking_baseline(&options), &rankings->all[i]);
        if (r < 0)
            return r;
        rankings->n++;
    }
    return 0;
}

bool is_same_workload(const struct series *a, const struct series *b)
{
    return strcmp(a->workload, b->workload) == 0 && a->files == b->files && a->bytes == b->bytes;
}

bool is_same_source(const struct series *a, const struct series *b)
{
    return series_is_same_source(a, b);
}

bool is_same_place(const struct series *a, const struct series *b)
{
    return strcmp(a->system.name, b->system.name) == 0 && strcmp(a->to.type, b->to.type) == 0 &&
           strcmp(a->to.path, b->to.path) == 0;
}

bool is_same_block(const struct series *a, const struct series *b)
{
    return is_same_workload(a, b) && is_same_place(a, b);
}

bool is_like_reference(const struct series *series, const struct reference *reference)
{
    return series->files == reference->files && bytes_to_kb(series->bytes) == reference->kb;
}

bool has_earlier(const struct rankings *rankings, size_t at, same_function *is_same)
{
    for (size_t i = 0; i < at; i++)
        if (is_same(rankings->all[i].series, rankings->all[at].series))
            return true;
    return false;
}

const char *verdict_word(enum verdict verdict)
{
    static const char *const words[] = {
        [VERDICT_UNCHECKED] = "unchecked",
        [VERDICT_RIGHT] = "right",
        [VERDICT_WRONG] = "wrong",
        [VERDICT_FAILED] = "failed",
        [VERDICT_MISSING] = "missing",
    };
    return words[verdict];
}

void standing_rate_interval(
    const struct series *series, const struct standing *standing, double *ret_low, double *ret_high)
{
    const struct estimate *real = &standing->real;

    *ret_low = *ret_high = 0;
    if (!real->has_interval)
        return;
    *ret_low = rate_kb_per_second(series->bytes, (uint64_t)llround(real->high));
    *ret_high = rate_kb_per_second(series->bytes, (uint64_t)llround(real->low));
}
