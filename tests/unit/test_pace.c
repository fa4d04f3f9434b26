#include "engine/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/clock.h"

/* The future, so that the moments granted do not depend on when the test runs. */
static uint64_t far_ahead(void)
{
    return clock_now_ns() + 1000 * NS_PER_SECOND;
}

/* What is granted takes its time, and the next begins where that ends. */
static void test_grants_follow_each_other(void **state)
{
    struct pace pace;

    (void)state;
    pace_init(&pace, 1000000);
    uint64_t start = pace.free_ns = far_ahead();
    assert_int_equal(pace_grant_ns(&pace, 500000), start);
    assert_int_equal(pace_grant_ns(&pace, 1), start + NS_PER_SECOND / 2);
    assert_int_equal(pace_grant_ns(&pace, 0), start + NS_PER_SECOND / 2 + 1000);
    assert_int_equal(pace_grant_ns(&pace, 1000000), start + NS_PER_SECOND / 2 + 1000);
    assert_int_equal(pace.free_ns, start + NS_PER_SECOND * 3 / 2 + 1000);
    pace_destroy(&pace);
}

static void test_large_and_small_rates(void **state)
{
    struct pace pace;

    (void)state;
    pace_init(&pace, 1);
    uint64_t start = pace.free_ns = far_ahead();
    (void)pace_grant_ns(&pace, 3);
    assert_int_equal(pace.free_ns, start + 3 * NS_PER_SECOND);
    pace_destroy(&pace);

    pace_init(&pace, 4ULL << 40);
    start = pace.free_ns = far_ahead();
    (void)pace_grant_ns(&pace, (size_t)1 << 42);
    assert_int_equal(pace.free_ns, start + NS_PER_SECOND);
    pace_destroy(&pace);
}

/* After a pause, what could have been moved meanwhile is not made up for, but for a moment's worth.
 */
static void test_unused_time_is_lost(void **state)
{
    struct pace pace;

    (void)state;
    pace_init(&pace, 1000000);
    uint64_t before = clock_now_ns();
    uint64_t granted = pace_grant_ns(&pace, 1000000);
    assert_true(granted >= before - NS_PER_SECOND / 10);
    assert_true(granted <= clock_now_ns());
    assert_int_equal(pace.free_ns, granted + NS_PER_SECOND);
    assert_int_equal(pace_grant_ns(&pace, 1), granted + NS_PER_SECOND);
    pace_destroy(&pace);
}

/* Whole blocks, about a twentieth of a second's worth; but never more than asked for. */
static void test_steps(void **state)
{
    struct pace pace;

    (void)state;
    pace_init(&pace, 0);
    assert_int_equal(pace_step_bytes(&pace, 131072), 131072);
    pace_destroy(&pace);
    pace_init(&pace, 1000000);
    assert_int_equal(pace_step_bytes(&pace, 131072), 49152);
    assert_int_equal(pace_step_bytes(&pace, 49000), 49000);
    pace_destroy(&pace);
    pace_init(&pace, 20);
    assert_int_equal(pace_step_bytes(&pace, 131072), 4096);
    assert_int_equal(pace_step_bytes(&pace, 100), 100);
    pace_destroy(&pace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grants_follow_each_other),
        cmocka_unit_test(test_large_and_small_rates),
        cmocka_unit_test(test_unused_time_is_lost),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
