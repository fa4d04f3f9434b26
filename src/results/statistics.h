/* Few samples, some of them outliers: figures that hold up under those.
 *
 * The intervals are 95% ones. The percentile bootstrap alone promises too much of a median of few
 * values: of 5 to 20 pairs of equal methods it calls 6 to 12% different. So it is widened to the
 * exact interval for a median, that between the k-th least and the k-th greatest value, which the
 * binomial distribution gives whatever the values' own distribution is. Of fewer than 6 values no
 * such interval reaches 95%: the range of 5 holds the median in 93.75%. */
#ifndef SHOAL_RESULTS_STATISTICS_H
#define SHOAL_RESULTS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts the values, ascending; returns their median (of an even number: the mean of the two in the
 * middle), NAN of none. */
double statistics_median(double *values, size_t n);

/* Sorts the values; returns the median absolute deviation from their median, unscaled; NAN of none.
 */
double statistics_mad(double *values, size_t n);

/* Says which values are outliers: those whose modified z-score is above 3.5, that is, which are
 * further than 3.5 scaled median absolute deviations (of 1.4826 MAD each, the standard deviation of
 * a normal distribution) from the median; of fewer than three values, none. is_outlier[i], one a
 * value, may be NULL. Outliers are told, and never left out of a figure. *ret: how many. -ENOMEM.
 */
int statistics_outliers(const double *values, size_t n, bool *is_outlier, size_t *ret);

/* The least number of values, or pairs, that have an interval. */
enum { STATISTICS_LEAST = 5 };

/* A median, of values or of ratios, and its 95% interval. */
struct estimate {
    double median, low, high;
    bool has_interval; /* if not, low and high are the median */
    size_t n;          /* of how many values, or pairs */
};

/* All of these draw from a fixed seed number: the same samples always give the same interval.
 * -EINVAL of no values, -ENOMEM. */

/* The values' median, sorting them. The interval of 5 is their range, which is one of 93.75%. */
int statistics_estimate(double *values, size_t n, struct estimate *ret);

/* The median of the ratios values[i] / bases[i], bases above 0, of n pairs. Of 6 and more pairs the
 * interval is as above. That of 5 is wider: from the least of `values` by the greatest of `bases`
 * to the greatest by the least, so that it leaves out 1 only if each of the ones is greater than
 * each of the others; of equal methods in independent runs that happens once in 126. */
int statistics_compare_pairs(
    const double *values, const double *bases, size_t n, struct estimate *ret);

/* The median of `values` by that of `bases` (not 0), which are not paired; n is that of the fewer.
 * Both get sorted. The interval is the bootstrap's, with both drawn anew. */
int statistics_compare_medians(
    double *values, size_t n, double *bases, size_t n_bases, struct estimate *ret);

#endif
