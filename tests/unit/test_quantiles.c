/* Tables of quantiles: parts that come to the total, and stand for the distribution; and the
 * shuffle that deals them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "workload/mix.h"
#include "workload/quantiles.h"

static const struct quantile straight_points[] = {{0, 0}, {1000000000, 1000}};
static const struct quantile step_points[] = {
    {0, 3}, {250000000, 3}, {250000000, 7}, {1000000000, 7}};
static const struct quantile zero_points[] = {{0, 0}, {1000000000, 0}};
static const struct quantile wide_points[] = {
    {0, 0}, {500000000, 1}, {999999999, 5000}, {1000000000, QUANTILE_VALUE_MAX}};

static const struct quantiles straight = {straight_points, ELEMENTS(straight_points)};
static const struct quantiles steps = {step_points, ELEMENTS(step_points)};
static const struct quantiles zeros = {zero_points, ELEMENTS(zero_points)};
static const struct quantiles wide = {wide_points, ELEMENTS(wide_points)};

static void test_values_lie_on_the_line(void **state)
{
    (void)state;
    assert_int_equal(quantiles_at(&straight, 0), 0);
    assert_int_equal(quantiles_at(&straight, 500000000), 500);
    assert_int_equal(quantiles_at(&straight, 999999999), 999);
    assert_int_equal(quantiles_at(&steps, 249999999), 3);
    assert_int_equal(quantiles_at(&steps, 250000000), 7);
    assert_int_equal(quantiles_mean(&straight), 500 * 1000);
    assert_int_equal(quantiles_mean(&steps), 6 * 1000);
}

static void test_parts_are_the_means_of_their_shares(void **state)
{
    struct quantile_parts parts;

    (void)state;
    quantile_parts_start(&parts, &straight, 10, 5000);
    for (uint64_t i = 0; i < 10; i++)
        assert_in_range(quantile_part(&parts, i), 100 * i + 49, 100 * i + 51);
    quantile_parts_start(&parts, &steps, 8, 48);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(quantile_part(&parts, i), i < 2 ? 3 : 7);
}

static void test_parts_come_to_the_total(void **state)
{
    static const struct quantiles *const tables[] = {&straight, &steps, &zeros, &wide};
    static const uint64_t totals[] = {0, 1, 12345678901, (1ULL << 62) - 1};
    static const uint64_t counts[] = {1, 3, 7919};

    (void)state;
    for (size_t t = 0; t < ELEMENTS(tables); t++)
        for (size_t k = 0; k < ELEMENTS(totals); k++)
            for (size_t c = 0; c < ELEMENTS(counts); c++) {
                struct quantile_parts parts;
                uint64_t sum = 0;
                quantile_parts_start(&parts, tables[t], counts[c], totals[k]);
                for (uint64_t i = 0; i < counts[c]; i++)
                    sum += quantile_part(&parts, i);
                assert_int_equal(sum, totals[k]);
            }
}

static void test_zeros_are_equal_parts(void **state)
{
    struct quantile_parts parts;

    (void)state;
    quantile_parts_start(&parts, &zeros, 4, 4000);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(quantile_part(&parts, i), 1000);
}

static void test_a_shuffle_takes_each_place_once(void **state)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 1000, 65537};

    (void)state;
    for (size_t c = 0; c < ELEMENTS(counts); c++) {
        _cleanup_free_ bool *taken = calloc(counts[c], sizeof(*taken));
        uint64_t unmoved = 0;
        assert_non_null(taken);
        for (uint64_t i = 0; i < counts[c]; i++) {
            uint64_t place = mix_shuffle(5, 7, counts[c], i);
            assert_true(place < counts[c]);
            assert_false(taken[place]);
            taken[place] = true;
            unmoved += place == i;
        }
        if (counts[c] >= 1000)
            assert_in_range(unmoved, 0, 20); /* one in the mean */
    }
    assert_int_not_equal(mix_shuffle(5, 7, 65537, 1), mix_shuffle(6, 7, 65537, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_lie_on_the_line),
        cmocka_unit_test(test_parts_are_the_means_of_their_shares),
        cmocka_unit_test(test_parts_come_to_the_total),
        cmocka_unit_test(test_zeros_are_equal_parts),
        cmocka_unit_test(test_a_shuffle_takes_each_place_once),
    };

    return cmocka_run_group_tests_name("quantiles", tests, NULL, NULL);
}
