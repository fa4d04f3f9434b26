/* Few samples, some of them outliers: figures that hold up under those. */
#ifndef SHOAL_RESULTS_STATISTICS_H
#define SHOAL_RESULTS_STATISTICS_H

#include <stddef.h>

/* Sorts the values, ascending; returns their median (of an even number: the mean of the two in the
 * middle), NAN of none. */
double statistics_median(double *values, size_t n);

/* Sorts the values; returns the median absolute deviation from their median, unscaled; NAN of none.
 */
double statistics_mad(double *values, size_t n);

/* A ratio and its 95% interval. */
struct ratio {
    double median, low, high;
    size_t n; /* of how many pairs; the interval means something from two on */
};

/* The median of the ratios, which get sorted, and the 2.5% and 97.5% quantiles of the medians of
 * resamples drawn with replacement. The draws come from a fixed seed number: the same samples
 * always give the same interval. -EINVAL of none, -ENOMEM. */
int statistics_bootstrap(double *ratios, size_t n, struct ratio *ret);

#endif
