#include "results/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int statistics_outliers(const double *values, size_t n, bool *is_outlier, size_t *ret)
{
    const double scale = 1.4826, limit = 3.5;
    _cleanup_free_ double *room = calloc(n + 1, sizeof(*room));
    size_t n_outliers = 0;

    if (!room)
        return -ENOMEM;
    memcpy(room, values, n * sizeof(*values));
    double mad = statistics_mad(room, n), median = middle_of_sorted(room, n);
    for (size_t i = 0; i < n; i++) {
        bool is = n > 2 && fabs(values[i] - median) > limit * scale * mad;
        if (is_outlier)
            is_outlier[i] = is;
        n_outliers += is;
    }
    *ret = n_outliers;
    return 0;
}

/* xorshift64*: reproducible on every machine, which rand() is not. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ULL;
}

#define SEED 0x9e3779b97f4a7c15ULL

/* The median of as many values drawn from the sorted ones, with replacement. `counts` is room for a
 * number a value. */
static double resample_median(const double *sorted, size_t n, unsigned *counts, uint64_t *state)
{
    size_t at = 0, seen = 0, lower;

    memset(counts, 0, n * sizeof(*counts));
    for (size_t i = 0; i < n; i++)
        counts[(next_random(state) >> 11) % n]++;
    while ((seen += counts[at]) <= (n - 1) / 2)
        at++;
    lower = at;
    while (seen <= n / 2)
        seen += counts[++at];
    return (sorted[lower] + sorted[at]) / 2;
}

/* The 2.5% and 97.5% quantiles of RESAMPLES values, which get sorted. */
static void set_quantiles(double *values, struct estimate *estimate)
{
    (void)statistics_median(values, RESAMPLES); /* for its sorting */
    estimate->low = values[RESAMPLES * 25 / 1000];
    estimate->high = values[RESAMPLES * 975 / 1000];
}

/* Which value, counted from either end, bounds an exact 95% interval for the median: one more than
 * the greatest k with P(at most k of n coins show heads) <= 2.5%. 0: none does. */
static size_t exact_bound(size_t n)
{
    const double tail = 0.025;
    double sum = 0;
    int sign;

    for (size_t k = 0; k <= n; k++) {
        double ways = lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
                      lgamma_r((double)(n - k) + 1, &sign);
        sum += exp(ways - (double)n * M_LN2);
        if (sum > tail)
            return k;
    }
    return 0;
}

/* Widens the interval to the exact one, or to the whole range where there is none. */
static void widen_to_exact(const double *sorted, size_t n, struct estimate *estimate)
{
    size_t bound = exact_bound(n);
    size_t at = bound > 0 ? bound - 1 : 0;

    estimate->low = fmin(estimate->low, sorted[at]);
    estimate->high = fmax(estimate->high, sorted[n - 1 - at]);
}

int statistics_estimate(double *values, size_t n, struct estimate *ret)
{
    struct estimate estimate = {.n = n, .has_interval = n >= STATISTICS_LEAST};
    uint64_t state = SEED;

    if (n == 0)
        return -EINVAL;
    estimate.median = estimate.low = estimate.high = statistics_median(values, n);
    if (estimate.has_interval) {
        _cleanup_free_ unsigned *counts = calloc(n, sizeof(*counts));
        _cleanup_free_ double *medians = calloc(RESAMPLES, sizeof(*medians));
        if (!counts || !medians)
            return -ENOMEM;
        for (size_t i = 0; i < RESAMPLES; i++)
            medians[i] = resample_median(values, n, counts, &state);
        set_quantiles(medians, &estimate);
        widen_to_exact(values, n, &estimate);
    }
    *ret = estimate;
    return 0;
}

/* The interval of the fewest pairs: each of the ones by each of the others. */
static void widen_to_all_ratios(
    const double *values, const double *bases, size_t n, struct estimate *estimate)
{
    double least = values[0], most = values[0], base_least = bases[0], base_most = bases[0];

    for (size_t i = 1; i < n; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
        base_least = fmin(base_least, bases[i]);
        base_most = fmax(base_most, bases[i]);
    }
    estimate->low = fmin(estimate->low, least / base_most);
    estimate->high = fmax(estimate->high, most / base_least);
}

int statistics_compare_pairs(
    const double *values, const double *bases, size_t n, struct estimate *ret)
{
    _cleanup_free_ double *ratios = calloc(n + 1, sizeof(*ratios));

    if (!ratios)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        ratios[i] = values[i] / bases[i];
    int r = statistics_estimate(ratios, n, ret);
    if (r == 0 && ret->has_interval && exact_bound(n) == 0)
        widen_to_all_ratios(values, bases, n, ret);
    return r;
}

int statistics_compare_medians(
    double *values, size_t n, double *bases, size_t n_bases, struct estimate *ret)
{
    struct estimate estimate = {.n = n < n_bases ? n : n_bases};
    uint64_t state = SEED;

    if (estimate.n == 0)
        return -EINVAL;
    _cleanup_free_ unsigned *counts = calloc(n > n_bases ? n : n_bases, sizeof(*counts));
    _cleanup_free_ double *ratios = calloc(RESAMPLES, sizeof(*ratios));
    if (!counts || !ratios)
        return -ENOMEM;
    estimate.median = statistics_median(values, n) / statistics_median(bases, n_bases);
    estimate.low = estimate.high = estimate.median;
    estimate.has_interval = estimate.n >= STATISTICS_LEAST;
    for (size_t i = 0; i < RESAMPLES; i++) {
        double median = resample_median(values, n, counts, &state);
        ratios[i] = median / resample_median(bases, n_bases, counts, &state);
    }
    if (estimate.has_interval)
        set_quantiles(ratios, &estimate);
    *ret = estimate;
    return 0;
}
