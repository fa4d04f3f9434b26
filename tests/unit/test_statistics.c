#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "results/statistics.h"

#define MEDIAN(...) statistics_median((double[]){__VA_ARGS__}, ELEMENTS(((double[]){__VA_ARGS__})))
#define MAD(...)    statistics_mad((double[]){__VA_ARGS__}, ELEMENTS(((double[]){__VA_ARGS__})))

static void assert_is(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-12);
}

static void test_median(void **state)
{
    (void)state;
    assert_is(MEDIAN(7), 7);
    assert_is(MEDIAN(3, 1), 2);
    assert_is(MEDIAN(9, 1, 5), 5);
    assert_is(MEDIAN(4, 1, 3, 2), 2.5);
    assert_is(MEDIAN(1, 1, 1, 1000000), 1);
    assert_true(isnan(statistics_median(NULL, 0)));
}

static void test_median_sorts(void **state)
{
    double values[] = {3, -1, 2};

    (void)state;
    (void)statistics_median(values, 3);
    assert_is(values[0], -1);
    assert_is(values[1], 2);
    assert_is(values[2], 3);
}

static void test_mad(void **state)
{
    (void)state;
    assert_is(MAD(7), 0);
    assert_is(MAD(1, 3), 1);
    assert_is(MAD(1, 1, 2, 2, 4, 6, 9), 1); /* deviations 0 0 1 1 2 4 7 */
    assert_is(MAD(9, 1, 1, 1), 0);          /* deviations 0 0 0 8 */
    assert_is(MAD(1, 2, 4, 8), 1.5);        /* median 3; deviations 1 1 2 5 */
    assert_is(MAD(1, 2, 3, 4, 1000), 1);
    assert_is(MAD(-5, -4, -1), 1);
    assert_true(isnan(statistics_mad(NULL, 0)));
}

/* Against the definition, on samples of every size and with many equals. */
static void test_mad_is_the_median_of_the_deviations(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        double values[40], deviations[40];
        for (size_t i = 0; i < n; i++) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            values[i] = (double)(random >> 33) / (n % 3 ? 1e6 : 1e9);
            values[i] = n % 2 ? floor(values[i]) : values[i];
        }
        double median = statistics_median(values, n);
        for (size_t i = 0; i < n; i++)
            deviations[i] = fabs(values[i] - median);
        assert_is(statistics_mad(values, n), statistics_median(deviations, n));
    }
}

static void test_outliers(void **state)
{
    /* Median 0, deviations 3 2 1 0 1 2 and the last one's: MAD 2, so the limit is 10.378. */
    double values[] = {10.37, 2, -3, -1, 0, 1, -2};
    bool is_outlier[7];
    size_t n;

    (void)state;
    assert_int_equal(statistics_outliers(values, 7, is_outlier, &n), 0);
    assert_int_equal(n, 0);
    values[0] = 10.38;
    assert_int_equal(statistics_outliers(values, 7, is_outlier, &n), 0);
    assert_int_equal(n, 1);
    for (size_t i = 0; i < 7; i++)
        assert_true(is_outlier[i] == (i == 0));
    assert_is(values[0], 10.38);
    assert_int_equal(
        statistics_outliers((double[]){-2, 3, 1, -10.38, 0, -1, 2}, 7, is_outlier, &n), 0);
    assert_int_equal(n, 1);
    assert_true(is_outlier[3]);
    assert_int_equal(statistics_outliers((double[]){1, 9}, 2, NULL, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(statistics_outliers(values, 0, NULL, &n), 0);
    assert_int_equal(n, 0);
}

/* 1, 2, … n, not in order. */
static void count_up(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)((i * 7 + 3) % n + 1);
}

/* With P(k) for "at most k of n coins show heads", the interval is from the (k+1)-th least value to
 * the (k+1)-th greatest, for the greatest k with P(k) <= 2.5%:
 *   n = 6: P(0) = 1/64 = 1.6%, P(1) = 7/64 = 10.9%
 *   n = 8: P(0) = 0.4%, P(1) = 9/256 = 3.5%
 *   n = 9: P(1) = 10/512 = 1.95%, P(2) = 46/512 = 9.0%
 *   n = 20: P(5) = 21700/2^20 = 2.07%, P(6) = 60460/2^20 = 5.8% */
static void test_estimate(void **state)
{
    static const struct {
        size_t n;
        double median, low, high;
    } cases[] = {{5, 3, 1, 5}, {6, 3.5, 1, 6}, {8, 4.5, 1, 8}, {9, 5, 2, 8}, {20, 10.5, 6, 15}};
    double values[1000];
    struct estimate estimate, again;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        count_up(values, cases[i].n);
        assert_int_equal(statistics_estimate(values, cases[i].n, &estimate), 0);
        assert_is(estimate.median, cases[i].median);
        assert_is(estimate.low, cases[i].low);
        assert_is(estimate.high, cases[i].high);
        assert_int_equal(estimate.n, cases[i].n);
        assert_true(estimate.has_interval);
        assert_int_equal(statistics_estimate(values, cases[i].n, &again), 0);
        assert_memory_equal(&again, &estimate, sizeof(estimate));
    }
    /* Of many: as the normal distribution says, 1.96 * sqrt(1000) / 2 = 31 places from the middle.
     */
    count_up(values, 1000);
    assert_int_equal(statistics_estimate(values, 1000, &estimate), 0);
    assert_true(fabs(estimate.low - (500.5 - 31)) < 4);
    assert_true(fabs(estimate.high - (500.5 + 31)) < 4);
}

static void test_estimate_of_few(void **state)
{
    double values[] = {3, 2, 7, 4}, equal[] = {2, 2, 2, 2, 2, 2};
    struct estimate estimate;

    (void)state;
    assert_int_equal(statistics_estimate(values, 0, &estimate), -EINVAL);
    assert_int_equal(statistics_estimate(values, 4, &estimate), 0);
    assert_false(estimate.has_interval);
    assert_is(estimate.low, 3.5);
    assert_is(estimate.high, 3.5);
    assert_int_equal(statistics_estimate(equal, 6, &estimate), 0);
    assert_true(estimate.has_interval);
    assert_is(estimate.low, 2);
    assert_is(estimate.high, 2);
}

static void test_pairs(void **state)
{
    /* Blocks that differ tenfold do not hide that one takes twice as long; of six pairs the
     * interval is the ratios' range. */
    const double times[] = {2, 20, 4.2, 38, 2.1, 19.8}, bases[] = {1, 10, 2, 20, 1, 10};
    struct estimate estimate;

    (void)state;
    assert_int_equal(statistics_compare_pairs(times, bases, 0, &estimate), -EINVAL);
    assert_int_equal(statistics_compare_pairs(times, bases, 4, &estimate), 0);
    assert_false(estimate.has_interval);
    assert_int_equal(statistics_compare_pairs(times, bases, 6, &estimate), 0);
    assert_is(estimate.median, 2);
    assert_is(estimate.low, 1.9);
    assert_is(estimate.high, 2.1);
    /* Of five, each time is compared with each. */
    assert_int_equal(statistics_compare_pairs(times, bases, 5, &estimate), 0);
    assert_is(estimate.median, 2);
    assert_is(estimate.low, 2.0 / 20);
    assert_is(estimate.high, 38);
}

static void test_one_outlier_among_nine_pairs(void **state)
{
    const double times[] = {19, 20, 21, 20.5, 19.5, 90, 20.2, 19.8, 20},
                 bases[] = {10, 10, 10, 10, 10, 10, 10, 10, 10};
    struct estimate estimate;

    (void)state;
    assert_int_equal(statistics_compare_pairs(times, bases, 9, &estimate), 0);
    assert_is(estimate.median, 2);
    assert_is(estimate.low, 1.95);
    assert_is(estimate.high, 2.1);
}

/* Of the resamples of n values, the median is at most the k-th with the probability that at least
 * (n + 1) / 2 of n draws are among k of n:
 *   n = 5: k = 1: 5.8%, so the 2.5% quantile is the least value
 *   n = 7: k = 1: 1.0%, k = 2: 10.2%, so it is the second */
static void test_medians(void **state)
{
    double five[] = {5, 3, 1, 2, 4}, seven[] = {5, 3, 1, 2, 4, 7, 6}, ones[] = {2, 2, 2, 2, 2};
    struct estimate estimate, inverse;

    (void)state;
    assert_int_equal(statistics_compare_medians(five, 5, ones, 5, &estimate), 0);
    assert_is(estimate.median, 1.5);
    assert_is(estimate.low, 0.5);
    assert_is(estimate.high, 2.5);
    assert_int_equal(statistics_compare_medians(seven, 7, ones, 5, &estimate), 0);
    assert_is(estimate.median, 2);
    assert_is(estimate.low, 1);
    assert_is(estimate.high, 3);
    assert_int_equal(estimate.n, 5);
    assert_int_equal(statistics_compare_medians(ones, 5, seven, 7, &inverse), 0);
    assert_is(inverse.low, 1.0 / 3);
    assert_is(inverse.high, 1);
    assert_int_equal(statistics_compare_medians(seven, 7, ones, 4, &estimate), 0);
    assert_false(estimate.has_interval);
    assert_int_equal(statistics_compare_medians(seven, 7, ones, 0, &estimate), -EINVAL);
}

/* --- How often equals are called different --- */

static uint64_t random_state = 20240701;

/* Uniform, above 0 and below 1. */
static double random_share(void)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return ((double)(random_state >> 12) + 0.5) / (double)(1ULL << 52);
}

static double random_normal(void)
{
    return sqrt(-2 * log(random_share())) * cos(2 * M_PI * random_share());
}

/* A run's time, by kinds of noise that are met: the normal one; one whose tails are so heavy that
 * it has no mean; a floor with rare long stalls; and two speeds. */
enum { N_NOISES = 4 };

static double random_time(int noise)
{
    switch (noise) {
    case 0:
        return exp(0.05 * random_normal());
    case 1:
        return exp(0.05 * random_normal() / fabs(random_normal()));
    case 2:
        return 1 - 0.02 * log(random_share()) + (random_share() < 0.1 ? 2 * random_share() : 0);
    default:
        return (random_share() < 0.5 ? 1 : 1.3) + 0.001 * random_share();
    }
}

enum { N_TRIALS = 800, N_MOST = 20 };

/* Of N_TRIALS, how many pairs of samples with n values each are called different, if one is slower
 * by `slower`. Blocks are faster or slower as a whole by some factor, most by less than
 * `block_spread`. */
static int count_called_different(int noise, size_t n, double slower, double block_spread)
{
    double times[N_MOST], bases[N_MOST];
    struct estimate estimate;
    int different = 0;

    for (int trial = 0; trial < N_TRIALS; trial++) {
        for (size_t i = 0; i < n; i++) {
            double block = exp(block_spread * random_normal());
            times[i] = block * slower * random_time(noise);
            bases[i] = block * random_time(noise);
        }
        assert_int_equal(statistics_compare_pairs(times, bases, n, &estimate), 0);
        different += estimate.low > 1 || estimate.high < 1;
    }
    return different;
}

/* In 1 of 20 at most, whatever the noise. */
static void test_equals_are_seldom_called_different(void **state)
{
    static const size_t sizes[] = {5, 6, 7, 10, 20};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(sizes); i++) {
        int different = 0;
        for (int noise = 0; noise < N_NOISES; noise++)
            different += count_called_different(noise, sizes[i], 1, noise % 2 ? 0.3 : 0);
        if (different * 20 > N_TRIALS * N_NOISES)
            fail_msg("%zu pairs: %d of %d", sizes[i], different, N_TRIALS * N_NOISES);
    }
}

static void test_what_differs_is_found(void **state)
{
    (void)state;
    /* 30% slower, in noise of 5% a run; and blocks that differ by far more, where there are six. */
    assert_true(count_called_different(0, 5, 1.3, 0) * 20 > N_TRIALS * 19);
    assert_true(count_called_different(0, 6, 1.3, 0.5) * 20 > N_TRIALS * 19);
    assert_true(count_called_different(1, 20, 1.3, 0.5) * 20 > N_TRIALS * 19);
}

/* A gate looks at one end: at most 1 in 40 may pass it, give or take what so many trials show. */
static void test_equal_medians_seldom_differ(void **state)
{
    static const size_t sizes[] = {5, 10};
    double times[N_MOST], bases[N_MOST];
    struct estimate estimate;

    (void)state;
    for (int noise = 0; noise < N_NOISES; noise++) {
        for (size_t i = 0; i < ELEMENTS(sizes); i++) {
            int slower = 0;
            for (int trial = 0; trial < N_TRIALS; trial++) {
                for (size_t k = 0; k < sizes[i]; k++) {
                    times[k] = random_time(noise);
                    bases[k] = random_time(noise);
                }
                assert_int_equal(
                    statistics_compare_medians(times, sizes[i], bases, sizes[i], &estimate), 0);
                slower += estimate.low > 1;
            }
            if (slower * 25 > N_TRIALS)
                fail_msg("noise %d, %zu runs: %d of %d", noise, sizes[i], slower, N_TRIALS);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_median_sorts),
        cmocka_unit_test(test_mad),
        cmocka_unit_test(test_mad_is_the_median_of_the_deviations),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_estimate_of_few),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_one_outlier_among_nine_pairs),
        cmocka_unit_test(test_medians),
        cmocka_unit_test(test_equals_are_seldom_called_different),
        cmocka_unit_test(test_what_differs_is_found),
        cmocka_unit_test(test_equal_medians_seldom_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
