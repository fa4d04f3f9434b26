#include "cli/bench_output.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "results/results.h"
#include "results/statistics.h"

#define LINE_COLUMNS 79

static bool has_times(const struct method_result *method)
{
    if (method->verdict != VERDICT_RIGHT && method->verdict != VERDICT_UNCHECKED)
        return false;
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status == 0)
            return true;
    return false;
}

enum figure_kind { FIGURE_TIME, FIGURE_COUNT, FIGURE_BYTES };

/* A line for each, of numbers in the samples. */
struct figure {
    const char *label;
    enum figure_kind kind;
    size_t offset; /* of a uint64_t */
};

static const struct figure times[] = {
    {"real", FIGURE_TIME, offsetof(struct sample, real_ns)},
    {"user", FIGURE_TIME, offsetof(struct sample, user_ns)},
    {"sys", FIGURE_TIME, offsetof(struct sample, sys_ns)},
};

static const struct figure more[] = {
    {"on device", FIGURE_TIME, offsetof(struct sample, synced_ns)},
    {"peak KB", FIGURE_COUNT, offsetof(struct sample, max_rss_kb)},
    {"faults", FIGURE_COUNT, offsetof(struct sample, minor_faults)},
    {"major", FIGURE_COUNT, offsetof(struct sample, major_faults)},
    {"read KB", FIGURE_BYTES, offsetof(struct sample, read_bytes)},
    {"write KB", FIGURE_BYTES, offsetof(struct sample, written_bytes)},
};

/* A table's form: what it has lines of, and how wide their labels are. */
struct layout {
    const struct series *series;
    int label_columns;
    bool is_verbose;
};

static int median_of(const struct method_result *method, const struct figure *figure, double *ret)
{
    _cleanup_free_ double *values = calloc(method->n_samples, sizeof(*values));
    size_t n = 0;

    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status == 0)
            values[n++] =
                (double)*(const uint64_t *)((const char *)&method->samples[i] + figure->offset);
    *ret = statistics_median(values, n);
    return 0;
}

/* m:ss.ss, or h:mm:ss.ss: timex's form. */
static void print_time(FILE *out, int width, double ns)
{
    uint64_t hundredths = (uint64_t)(ns / (double)NS_PER_SECOND * 100 + 0.5);
    unsigned long long seconds = hundredths / 100;
    char text[48];

    if (seconds < 3600)
        (void)snprintf(text, sizeof(text), "%llu:%02llu.%02u", seconds / 60, seconds % 60,
            (unsigned)(hundredths % 100));
    else
        (void)snprintf(text, sizeof(text), "%llu:%02llu:%02llu.%02u", seconds / 3600,
            seconds / 60 % 60, seconds % 60, (unsigned)(hundredths % 100));
    (void)fprintf(out, "%*s", width, text);
}

static void print_figure(FILE *out, enum figure_kind kind, int width, double value)
{
    if (kind == FIGURE_TIME) {
        print_time(out, width, value);
    } else {
        char text[COUNT_TEXT_MAX];
        (void)fprintf(out, "%*s", width,
            measure_count((uint64_t)(kind == FIGURE_BYTES ? value / 1024 : value), text));
    }
}

static int column_width(const struct method_result *method)
{
    int length = (int)strlen(method->name);
    return 2 + (length > 9 ? length : 9);
}

/* The line of a figure for methods[first…end). */
static int print_line(
    FILE *out, const struct layout *layout, const struct figure *figure, size_t first, size_t end)
{
    (void)fprintf(out, "%-*s", layout->label_columns, figure->label);
    for (size_t i = first; i < end; i++) {
        const struct method_result *method = &layout->series->methods[i];
        double median = 0;
        if (!has_times(method))
            continue;
        int r = median_of(method, figure, &median);
        if (r < 0)
            return r;
        print_figure(out, figure->kind, column_width(method), median);
    }
    (void)fputc('\n', out);
    return 0;
}

/* The columns of methods[first…end). */
static int print_columns(FILE *out, const struct layout *layout, size_t first, size_t end)
{
    int r = 0;

    (void)fprintf(out, "\n%-*s", layout->label_columns, "");
    for (size_t i = first; i < end; i++) {
        const struct method_result *method = &layout->series->methods[i];
        if (has_times(method))
            (void)fprintf(out, "%*s", column_width(method), method->name);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < ELEMENTS(times) && r >= 0; i++)
        r = print_line(out, layout, &times[i], first, end);
    for (size_t i = 0; layout->is_verbose && i < ELEMENTS(more) && r >= 0; i++)
        r = print_line(out, layout, &more[i], first, end);
    return r;
}

static unsigned runs_of(const struct series *series)
{
    size_t most = 0;

    for (size_t i = 0; i < series->n_methods; i++)
        if (series->methods[i].n_samples > most)
            most = series->methods[i].n_samples;
    return (unsigned)most;
}

int bench_print_times(FILE *out, const struct series *series, bool is_verbose)
{
    const struct layout layout = {series, is_verbose ? 9 : 4, is_verbose};
    char files[COUNT_TEXT_MAX], kb[COUNT_TEXT_MAX];
    unsigned runs = runs_of(series);
    size_t first = 0;

    (void)fprintf(out, "%s: %s file%s, %s KB, %s", series->workload,
        measure_count(series->files, files), series->files == 1 ? "" : "s",
        measure_count(series->bytes / 1024, kb), series_state(series));
    if (series_stretch(series) > 1 || series_stretch(series) < 1)
        (void)fprintf(out, ", %g times as fast", series_stretch(series));
    (void)fprintf(out, ", median of %u run%s\n", runs, runs == 1 ? "" : "s");
    while (first < series->n_methods) {
        int columns = layout.label_columns;
        size_t end = first, shown = 0;
        for (; end < series->n_methods; end++) {
            int width = has_times(&series->methods[end]) ? column_width(&series->methods[end]) : 0;
            if (shown > 0 && columns + width > LINE_COLUMNS)
                break;
            columns += width;
            shown += width > 0;
        }
        int r = shown > 0 ? print_columns(out, &layout, first, end) : 0;
        if (r < 0)
            return r;
        first = end;
    }
    (void)fputc('\n', out);
    return 0;
}

/* Says what is to be said of a method; returns the exit code that follows. What is missing is so in
 * every series and is said once. */
static int complain_of(
    const struct series *series, const struct method_result *method, bool is_first_series)
{
    switch (method->verdict) {
    case VERDICT_MISSING:
        if (is_first_series)
            cli_error("method %s is skipped: %s", method->name, method->why);
        return EXIT_OK;
    case VERDICT_FAILED:
        cli_error("method %s failed on %s: %s", method->name, series->workload, method->why);
        return EXIT_SOME_FAILED;
    case VERDICT_WRONG:
        cli_error("method %s copies %s wrongly: %s", method->name, series->workload, method->why);
        return EXIT_DIFFERENT;
    case VERDICT_UNCHECKED:
        cli_error(
            "method %s is not checked on %s: %s", method->name, series->workload, method->why);
        return EXIT_SOME_FAILED;
    case VERDICT_RIGHT:
        if (*method->why)
            cli_error("warning: method %s on %s %s", method->name, series->workload, method->why);
        return EXIT_OK;
    }
    return EXIT_OK;
}

int bench_complain(const struct results *results)
{
    int code = EXIT_OK;

    for (size_t i = 0; i < results->n_series; i++) {
        const struct series *series = &results->series[i];
        size_t missing = 0;
        for (size_t k = 0; k < series->n_methods; k++) {
            int worse = complain_of(series, &series->methods[k], i == 0);
            code = worse > code ? worse : code;
            missing += series->methods[k].verdict == VERDICT_MISSING;
        }
        if (missing == series->n_methods && code == EXIT_OK)
            code = EXIT_SOME_FAILED;
    }
    return code;
}

/* Whether an earlier series said the same. */
static bool is_said(const struct results *results, size_t end, const char *text)
{
    for (size_t i = 0; i < end; i++)
        for (size_t k = 0; k < results->series[i].n_warnings; k++)
            if (strcmp(results->series[i].warnings[k].text, text) == 0)
                return true;
    return false;
}

void bench_warn(const struct results *results)
{
    for (size_t i = 0; i < results->n_series; i++) {
        const struct series *series = &results->series[i];
        for (size_t k = 0; k < series->n_warnings; k++)
            if (!is_said(results, i, series->warnings[k].text))
                cli_error("warning: %s", series->warnings[k].text);
    }
}
