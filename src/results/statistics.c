#include "results/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum {
    RESAMPLES = 2000
}; /* the quantiles' own noise is then far below that of ten or so samples */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle_of_sorted(const double *values, size_t n)
{
    if (n == 0)
        return NAN;
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double statistics_median(double *values, size_t n)
{
    if (n > 0) /* qsort() takes no NULL */
        qsort(values, n, sizeof(*values), compare_doubles);
    return middle_of_sorted(values, n);
}

double statistics_mad(double *values, size_t n)
{
    double median = statistics_median(values, n), before = NAN, last = NAN;
    size_t below = 0, above; /* values[0 .. below) and values[above .. n) are yet to be visited */

    while (below < n && values[below] < median)
        below++;
    above = below;
    /* Walking outward from the median meets the deviations in ascending order. */
    for (size_t visited = 0; visited <= n / 2 && visited < n; visited++) {
        before = last;
        if (above == n || (below > 0 && median - values[below - 1] < values[above] - median))
            last = median - values[--below];
        else
            last = values[above++] - median;
    }
    return n % 2 ? last : (before + last) / 2;
}

/* xorshift64*: reproducible on every machine, which rand() is not. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ULL;
}

int statistics_bootstrap(double *ratios, size_t n, struct ratio *ret)
{
    uint64_t state = 0x9e3779b97f4a7c15ULL;
    double median = statistics_median(ratios, n);

    if (n == 0)
        return -EINVAL;
    _cleanup_free_ double *resample = calloc(n, sizeof(*resample));
    _cleanup_free_ double *medians = calloc(RESAMPLES, sizeof(*medians));
    if (!resample || !medians)
        return -ENOMEM;
    for (size_t i = 0; i < RESAMPLES; i++) {
        for (size_t k = 0; k < n; k++)
            resample[k] = ratios[(next_random(&state) >> 11) % n];
        medians[i] = statistics_median(resample, n);
    }
    (void)statistics_median(medians, RESAMPLES); /* for its sorting */
    *ret = (struct ratio){
        .median = median,
        .low = medians[RESAMPLES * 25 / 1000],
        .high = medians[RESAMPLES * 975 / 1000],
        .n = n,
    };
    return 0;
}
