#include "cli/bench_gate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "results/gate.h"

static int complain(const char *name, const char *why)
{
    _cleanup_free_ char *quoted = quote_name(name);

    cli_error("cannot use baseline %s: %s", quoted ? quoted : name, why);
    return EXIT_SOME_FAILED;
}

/* Leaves the series of this ID; false if there is none. */
static bool choose_series(struct baseline *baseline, const char *id)
{
    for (size_t i = 0; i < baseline->read->n_series; i++) {
        if (strcmp(baseline->read->series[i].id, id) == 0) {
            baseline->results = (struct results){&baseline->read->series[i], 1};
            return true;
        }
    }
    return false;
}

int baseline_read(const char *name, const char *database, struct baseline *ret)
{
    _cleanup_free_ char *why = NULL;
    struct baseline baseline = {0};
    bool is_file = access(name, F_OK) == 0;

    if (!is_file && !database)
        return complain(name, "there is no such file");
    int code = EXIT_OK;
    int r = is_file ? results_read(name, &baseline.read, &why)
                    : results_load(database, &baseline.read, &why);
    if (r < 0)
        return complain(is_file ? name : database, why ? why : strerror(-r));
    if (is_file)
        baseline.results = *baseline.read;
    else if (!choose_series(&baseline, name))
        code = complain(
            name, "there is no such file, and no such series; 'shoal report --list' lists them");
    if (code == EXIT_OK && baseline.results.n_series == 0)
        code = complain(name, "there are no series in it");
    if (code != EXIT_OK)
        baseline_clear(&baseline);
    else
        *ret = baseline;
    return code;
}

void baseline_clear(struct baseline *baseline)
{
    results_free(baseline->read);
    *baseline = (struct baseline){0};
}

static void say_comparison(const struct gate_comparison *comparison, double max_slowdown)
{
    static const char *const words[] = {
        [GATE_WITHIN] = "within the %g%% that are allowed",
        [GATE_UNCERTAIN] = "passes, but the runs vary too much to tell it from %g%%",
        [GATE_SLOWER] = "slower than the %g%% that are allowed",
    };
    const struct series *series = comparison->series;
    const struct estimate *as_long = &comparison->as_long;
    char outcome[96];

    if (comparison->outcome == GATE_NOT_COMPARED) {
        cli_error("gate: %s, %s, to %s, %s: not compared: %s", series->workload,
            series_state(series), series->to.type, comparison->method->name, comparison->why);
        return;
    }
    _cleanup_free_ char *id = quote_name(comparison->baseline->id);
    (void)snprintf(outcome, sizeof(outcome), words[comparison->outcome], max_slowdown * 100);
    cli_error("gate: %s, %s, to %s, %s: %.2f times as long as in series %s (%.2f-%.2f): %s",
        series->workload, series_state(series), series->to.type, comparison->method->name,
        as_long->median, id ? id : "?", as_long->low, as_long->high, outcome);
}

/* Times of another machine say little; that is told once. */
static void warn_of_other_machine(const struct gate *gate)
{
    for (size_t i = 0; i < gate->n; i++) {
        const struct gate_comparison *comparison = &gate->comparisons[i];
        if (comparison->outcome == GATE_NOT_COMPARED ||
            strcmp(comparison->series->system.name, comparison->baseline->system.name) == 0)
            continue;
        _cleanup_free_ char *name = quote_name(comparison->baseline->system.name);
        cli_error("warning: the baseline was measured on another machine: %s", name ? name : "?");
        return;
    }
}

int baseline_compare(
    const struct baseline *baseline, const struct results *measured, double max_slowdown)
{
    struct gate gate;
    int r = gate_make(measured, &baseline->results, max_slowdown, &gate);

    if (r < 0) {
        cli_error("cannot compare with the baseline: %s", strerror(-r));
        return EXIT_SOME_FAILED;
    }
    warn_of_other_machine(&gate);
    for (size_t i = 0; i < gate.n; i++)
        say_comparison(&gate.comparisons[i], max_slowdown);
    if (gate.n_compared == 0)
        cli_error("gate: nothing could be compared with the baseline");
    else if (gate.n_slower > 0)
        cli_error("gate: %zu of %zu compared are slower", gate.n_slower, gate.n_compared);
    int code = gate.n_compared == 0 || gate.n_slower > 0 ? EXIT_SOME_FAILED : EXIT_OK;
    gate_clear(&gate);
    return code;
}
