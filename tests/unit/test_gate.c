/* The gate: what is surely slower fails, what is not passes, and what cannot be compared is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "results/gate.h"
#include "results/results.h"

enum { N_MOST = 12 };

/* A series of one method with as many runs as there are times. */
struct made {
    struct sample samples[N_MOST];
    struct method_result method;
    struct series series;
};

static void make_series(struct made *made, const char *id, size_t n, const uint64_t *times)
{
    *made = (struct made){0};
    for (size_t i = 0; i < n; i++)
        made->samples[i] = (struct sample){.block = (unsigned)i, .real_ns = times[i]};
    made->method = (struct method_result){.name = (char *)"shoal",
        .verdict = VERDICT_RIGHT,
        .samples = made->samples,
        .n_samples = n};
    made->series = (struct series){.id = (char *)id,
        .workload = (char *)"insight",
        .files = 2200,
        .bytes = 78119936,
        .to.type = (char *)"ext4",
        .methods = &made->method,
        .n_methods = 1};
}

#define MAKE(made, id, ...)                                                                        \
    make_series(                                                                                   \
        (made), (id), ELEMENTS(((uint64_t[]){__VA_ARGS__})), (const uint64_t[]){__VA_ARGS__})

/* The one comparison of `now` with `then`, if 10% are allowed. */
static struct gate_comparison compare(struct made *now, struct made *then)
{
    struct gate gate;

    assert_int_equal(gate_make(&(struct results){&now->series, 1},
                         &(struct results){&then->series, 1}, 0.1, &gate),
        0);
    assert_int_equal(gate.n, 1);
    struct gate_comparison comparison = gate.comparisons[0];
    assert_int_equal(gate.n_compared, comparison.outcome != GATE_NOT_COMPARED);
    assert_int_equal(gate.n_slower, comparison.outcome == GATE_SLOWER);
    gate_clear(&gate);
    return comparison;
}

static void test_slower_by_far_fails(void **state)
{
    struct made now, then;

    (void)state;
    MAKE(&then, "then", 1000, 1010, 990, 1005, 995);
    MAKE(&now, "now", 1300, 1310, 1290, 1305, 1295);
    struct gate_comparison comparison = compare(&now, &then);
    assert_int_equal(comparison.outcome, GATE_SLOWER);
    assert_true(fabs(comparison.as_long.median - 1.3) < 1e-9);
    assert_true(comparison.as_long.low > 1.25 && comparison.as_long.high < 1.35);
    assert_ptr_equal(comparison.baseline, &then.series);
    assert_null(comparison.why);
}

static void test_the_same_passes(void **state)
{
    struct made now, then;

    (void)state;
    MAKE(&then, "then", 1000, 1010, 990, 1005, 995);
    MAKE(&now, "now", 1000, 1010, 990, 1005, 995);
    assert_int_equal(compare(&now, &then).outcome, GATE_WITHIN);
    MAKE(&now, "now", 1050, 1060, 1040, 1055, 1045); /* by 5% */
    assert_int_equal(compare(&now, &then).outcome, GATE_WITHIN);
    MAKE(&now, "now", 500, 510, 490, 505, 495);
    assert_int_equal(compare(&now, &then).outcome, GATE_WITHIN);
}

/* One run of many that is slow does not make the method slow. */
static void test_an_outlier_passes(void **state)
{
    struct made now, then;

    (void)state;
    MAKE(&then, "then", 1000, 1010, 990, 1005, 995, 1000, 1001);
    MAKE(&now, "now", 1000, 1010, 990, 9005, 995, 1000, 1001);
    assert_int_equal(compare(&now, &then).outcome, GATE_WITHIN);
}

static void test_what_varies_passes_and_says_so(void **state)
{
    struct made now, then;

    (void)state;
    MAKE(&then, "then", 1000, 1010, 990, 1005, 995);
    MAKE(&now, "now", 900, 1300, 1350, 1000, 2000);
    struct gate_comparison comparison = compare(&now, &then);
    assert_int_equal(comparison.outcome, GATE_UNCERTAIN);
    assert_true(comparison.as_long.median > 1.1);
    assert_true(comparison.as_long.low < 1.1 && comparison.as_long.high > 1.1);
}

static void assert_not_compared(struct made *now, struct made *then, const char *why)
{
    struct gate_comparison comparison = compare(now, then);

    assert_int_equal(comparison.outcome, GATE_NOT_COMPARED);
    assert_string_equal(comparison.why, why);
}

static void test_what_is_of_another_kind_is_not_compared(void **state)
{
    static const char *const why =
        "the baseline has no series of this workload, cache and destination";
    struct made now, then;

    (void)state;
    for (int i = 0; i < 5; i++) {
        MAKE(&then, "then", 1, 1, 1, 1, 1);
        MAKE(&now, "now", 9, 9, 9, 9, 9);
        assert_int_equal(compare(&now, &then).outcome, GATE_SLOWER);
        then.series.workload = (char *)(i == 0 ? "other" : "insight");
        then.series.files += i == 1;
        then.series.bytes += i == 2;
        then.series.cold = i == 3;
        then.series.to.type = (char *)(i == 4 ? "xfs" : "ext4");
        assert_not_compared(&now, &then, why);
    }
}

static void test_what_went_wrong_is_not_compared(void **state)
{
    struct made now, then;

    (void)state;
    MAKE(&then, "then", 1, 1, 1, 1, 1);
    MAKE(&now, "now", 9, 9, 9, 9, 9);
    then.method.name = (char *)"tar";
    assert_not_compared(&now, &then, "the baseline has no such method");
    then.method.name = now.method.name;
    then.method.n_samples = 4;
    assert_not_compared(&now, &then, "the baseline has too few runs of it");
    then.method.verdict = VERDICT_WRONG;
    assert_not_compared(&now, &then, "it went wrong in the baseline, or its program was missing");
    now.method.n_samples = 4;
    assert_not_compared(&now, &then, "too few runs");
    now.samples[0].exit_status = 1;
    assert_not_compared(&now, &then, "it went wrong");
    now.method.verdict = VERDICT_MISSING;
    assert_not_compared(&now, &then, "its program is missing");
}

/* The last series of the kind counts; one without the method does not. */
static void test_the_last_series_is_the_baseline(void **state)
{
    struct made now, then[3];
    struct gate gate;

    (void)state;
    MAKE(&now, "now", 100, 100, 100, 100, 100);
    MAKE(&then[0], "first", 1, 1, 1, 1, 1);
    MAKE(&then[1], "second", 100, 100, 100, 100, 100);
    MAKE(&then[2], "third", 1, 1, 1, 1, 1);
    then[2].method.name = (char *)"tar";
    struct series series[] = {then[0].series, then[1].series, then[2].series};
    assert_int_equal(
        gate_make(&(struct results){&now.series, 1}, &(struct results){series, 3}, 0, &gate), 0);
    assert_int_equal(gate.n_compared, 1);
    assert_int_equal(gate.comparisons[0].outcome, GATE_WITHIN);
    assert_string_equal(gate.comparisons[0].baseline->id, "second");
    gate_clear(&gate);
    assert_int_equal(gate_make(&(struct results){0}, &(struct results){series, 3}, 0, &gate), 0);
    assert_int_equal(gate.n, 0);
    gate_clear(&gate);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slower_by_far_fails),
        cmocka_unit_test(test_the_same_passes),
        cmocka_unit_test(test_an_outlier_passes),
        cmocka_unit_test(test_what_varies_passes_and_says_so),
        cmocka_unit_test(test_what_is_of_another_kind_is_not_compared),
        cmocka_unit_test(test_what_went_wrong_is_not_compared),
        cmocka_unit_test(test_the_last_series_is_the_baseline),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
