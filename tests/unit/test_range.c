#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "entry/range.h"

static void test_widened(void **state)
{
    static const struct {
        uint64_t size;
        size_t n, n_wide;
        struct range ranges[4], wide[4];
    } cases[] = {
        {5000, 0, 0, {{0}}, {{0}}},
        {5000, 1, 1, {{512, 1024}}, {{512, 1024}}},
        {5000, 1, 1, {{100, 150}}, {{0, 512}}},
        {5000, 2, 1, {{100, 150}, {400, 513}}, {{0, 1024}}},
        {5000, 2, 1, {{0, 512}, {512, 1024}}, {{0, 1024}}},
        {5000, 2, 2, {{0, 1}, {1536, 1537}}, {{0, 512}, {1536, 2048}}},
        {5000, 2, 1, {{0, 1}, {5000, 5000}}, {{0, 512}}},
        {5000, 1, 1, {{4999, 5000}}, {{4608, 5000}}},
        {5000, 1, 1, {{4096, 4608}}, {{4096, 4608}}},
        {5000, 1, 1, {{4000, 9000}}, {{3584, 5000}}},
        {5000, 1, 0, {{6000, 9000}}, {{0}}},
        {UINT64_MAX, 1, 1, {{UINT64_MAX - 1, UINT64_MAX}}, {{UINT64_MAX - 511, UINT64_MAX}}},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct range ranges[4];
        for (size_t k = 0; k < 4; k++)
            ranges[k] = cases[i].ranges[k];
        assert_int_equal(ranges_widen(ranges, cases[i].n, 512, cases[i].size), cases[i].n_wide);
        for (size_t k = 0; k < cases[i].n_wide; k++) {
            assert_true(ranges[k].start == cases[i].wide[k].start);
            assert_true(ranges[k].end == cases[i].wide[k].end);
        }
    }
}

static void test_whole(void **state)
{
    const struct range all = {0, 10}, late = {1, 10}, early = {0, 9};

    (void)state;
    assert_true(ranges_are_whole(&all, 1, 10));
    assert_false(ranges_are_whole(&late, 1, 10));
    assert_false(ranges_are_whole(&early, 1, 10));
    assert_false(ranges_are_whole(NULL, 0, 10));
    assert_true(ranges_are_whole(NULL, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widened),
        cmocka_unit_test(test_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
