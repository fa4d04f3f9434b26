#include "results/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "results/results.h"

static bool is_same_kind(const struct series *a, const struct series *b)
{
    return strcmp(a->workload, b->workload) == 0 && a->files == b->files && a->bytes == b->bytes &&
           a->cold == b->cold && series_has_drive(a) == series_has_drive(b) &&
           (!series_has_drive(a) || series_is_same_source(a, b)) &&
           strcmp(a->to.type, b->to.type) == 0;
}

static const struct method_result *find_method(const struct series *series, const char *name)
{
    for (size_t i = 0; i < series->n_methods; i++)
        if (strcmp(series->methods[i].name, name) == 0)
            return &series->methods[i];
    return NULL;
}

static bool is_right(const struct method_result *method)
{
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status != 0 || method->samples[i].real_ns == 0)
            return false;
    return method->verdict == VERDICT_RIGHT || method->verdict == VERDICT_UNCHECKED;
}

/* Why the method's times are not to be compared; NULL if they are. */
static const char *find_fault(const struct method_result *method)
{
    if (method->verdict == VERDICT_MISSING)
        return "its program is missing";
    if (!is_right(method))
        return "it went wrong";
    return method->n_samples < STATISTICS_LEAST ? "too few runs" : NULL;
}

/* The same, of the times that were stored before. */
static const char *find_fault_before(const struct method_result *method)
{
    if (!is_right(method))
        return "it went wrong in the baseline, or its program was missing";
    return method->n_samples < STATISTICS_LEAST ? "the baseline has too few runs of it" : NULL;
}

/* Finds what to compare with: the method in the last series that has it. */
static const struct method_result *find_baseline(
    const struct results *baseline, struct gate_comparison *comparison)
{
    comparison->why = "the baseline has no series of this workload, cache and destination";
    for (size_t i = baseline->n_series; i-- > 0;) {
        const struct series *series = &baseline->series[i];
        if (!is_same_kind(series, comparison->series))
            continue;
        const struct method_result *method = find_method(series, comparison->method->name);
        comparison->why = method ? find_fault_before(method) : "the baseline has no such method";
        if (!method)
            continue;
        comparison->baseline = series;
        return method;
    }
    return NULL;
}

static int compare_times(
    const struct method_result *now, const struct method_result *then, struct estimate *ret)
{
    _cleanup_free_ double *times = calloc(now->n_samples, sizeof(*times));
    _cleanup_free_ double *times_then = calloc(then->n_samples, sizeof(*times_then));

    if (!times || !times_then)
        return -ENOMEM;
    for (size_t i = 0; i < now->n_samples; i++)
        times[i] = (double)now->samples[i].real_ns;
    for (size_t i = 0; i < then->n_samples; i++)
        times_then[i] = (double)then->samples[i].real_ns;
    return statistics_compare_medians(times, now->n_samples, times_then, then->n_samples, ret);
}

static int compare_method(
    const struct results *baseline, double limit, struct gate_comparison *comparison)
{
    comparison->outcome = GATE_NOT_COMPARED;
    comparison->why = find_fault(comparison->method);
    if (comparison->why)
        return 0;
    const struct method_result *then = find_baseline(baseline, comparison);
    if (comparison->why)
        return 0;
    int r = compare_times(comparison->method, then, &comparison->as_long);
    if (r < 0)
        return r;
    if (comparison->as_long.low > limit)
        comparison->outcome = GATE_SLOWER;
    else if (comparison->as_long.high > limit)
        comparison->outcome = GATE_UNCERTAIN;
    else
        comparison->outcome = GATE_WITHIN;
    return 0;
}

static size_t count_methods(const struct results *results)
{
    size_t n = 0;

    for (size_t i = 0; i < results->n_series; i++)
        n += results->series[i].n_methods;
    return n;
}

int gate_make(const struct results *measured, const struct results *baseline, double max_slowdown,
    struct gate *ret)
{
    struct gate gate = {
        .comparisons = calloc(count_methods(measured) + 1, sizeof(*gate.comparisons))};
    int r = gate.comparisons ? 0 : -ENOMEM;

    for (size_t i = 0; i < measured->n_series; i++) {
        const struct series *series = &measured->series[i];
        for (size_t k = 0; k < series->n_methods && r == 0; k++) {
            struct gate_comparison *comparison = &gate.comparisons[gate.n++];
            comparison->series = series;
            comparison->method = &series->methods[k];
            r = compare_method(baseline, 1 + max_slowdown, comparison);
            gate.n_compared += comparison->outcome != GATE_NOT_COMPARED;
            gate.n_slower += comparison->outcome == GATE_SLOWER;
        }
    }
    if (r < 0)
        gate_clear(&gate);
    else
        *ret = gate;
    return r;
}

void gate_clear(struct gate *gate)
{
    free(gate->comparisons);
    *gate = (struct gate){0};
}
