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

static void test_bootstrap(void **state)
{
    double ratios[] = {1.9, 2.0, 2.1, 2.05, 1.95, 2.0, 2.02, 1.98, 2.0, 9.0};
    struct ratio ratio, again;

    (void)state;
    assert_int_equal(statistics_bootstrap(ratios, ELEMENTS(ratios), &ratio), 0);
    assert_is(ratio.median, 2.0);
    assert_int_equal(ratio.n, 10);
    /* The outlier, seen in a tenth of the samples, does not reach the median's interval. */
    assert_true(ratio.low >= 1.9 && ratio.low < 2.0);
    assert_true(ratio.high > 2.0 && ratio.high <= 2.1);
    assert_int_equal(statistics_bootstrap(ratios, ELEMENTS(ratios), &again), 0);
    assert_memory_equal(&again, &ratio, sizeof(ratio));
}

static void test_bootstrap_of_few(void **state)
{
    double one[] = {3}, equal[] = {2, 2, 2, 2};
    struct ratio ratio;

    (void)state;
    assert_int_equal(statistics_bootstrap(one, 0, &ratio), -EINVAL);
    assert_int_equal(statistics_bootstrap(one, 1, &ratio), 0);
    assert_is(ratio.low, 3);
    assert_is(ratio.high, 3);
    assert_int_equal(statistics_bootstrap(equal, 4, &ratio), 0);
    assert_is(ratio.low, 2);
    assert_is(ratio.high, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_median_sorts),
        cmocka_unit_test(test_mad),
        cmocka_unit_test(test_mad_is_the_median_of_the_deviations),
        cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_bootstrap_of_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
