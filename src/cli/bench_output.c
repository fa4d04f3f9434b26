#include "cli/bench_output.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "results/results.h"
#include "results/statistics.h"

/* Below this the median and its interval say little. */
#define RUNS_ENOUGH 5

/* A busier machine than this when the bench begins is said. */
#define CPU_PRESSURE_PERCENT 10.0

#define LINE_COLUMNS         79
#define LABEL_COLUMNS        4

static bool has_times(const struct method_result *method)
{
    if (method->verdict != VERDICT_RIGHT && method->verdict != VERDICT_UNCHECKED)
        return false;
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status == 0)
            return true;
    return false;
}

enum time_kind { TIME_REAL, TIME_USER, TIME_SYS, TIME_KINDS };

static double time_of(const struct sample *sample, enum time_kind kind)
{
    const uint64_t ns[TIME_KINDS] = {sample->real_ns, sample->user_ns, sample->sys_ns};
    return (double)ns[kind];
}

static int median_ns(const struct method_result *method, enum time_kind kind, double *ret)
{
    _cleanup_free_ double *values = calloc(method->n_samples, sizeof(*values));
    size_t n = 0;

    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status == 0)
            values[n++] = time_of(&method->samples[i], kind);
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

static int column_width(const struct method_result *method)
{
    int length = (int)strlen(method->name);
    return 2 + (length > 9 ? length : 9);
}

/* The columns of methods[first…end). */
static int print_columns(FILE *out, const struct series *series, size_t first, size_t end)
{
    static const char *const labels[TIME_KINDS] = {"real", "user", "sys"};

    (void)fprintf(out, "\n%-*s", LABEL_COLUMNS, "");
    for (size_t i = first; i < end; i++)
        if (has_times(&series->methods[i]))
            (void)fprintf(out, "%*s", column_width(&series->methods[i]), series->methods[i].name);
    for (int kind = 0; kind < TIME_KINDS; kind++) {
        (void)fprintf(out, "\n%-*s", LABEL_COLUMNS, labels[kind]);
        for (size_t i = first; i < end; i++) {
            double ns = 0;
            if (!has_times(&series->methods[i]))
                continue;
            int r = median_ns(&series->methods[i], (enum time_kind)kind, &ns);
            if (r < 0)
                return r;
            print_time(out, column_width(&series->methods[i]), ns);
        }
    }
    (void)fputc('\n', out);
    return 0;
}

static unsigned runs_of(const struct series *series)
{
    size_t most = 0;

    for (size_t i = 0; i < series->n_methods; i++)
        if (series->methods[i].n_samples > most)
            most = series->methods[i].n_samples;
    return (unsigned)most;
}

int bench_print_times(FILE *out, const struct series *series)
{
    char files[COUNT_TEXT_MAX], kb[COUNT_TEXT_MAX];
    unsigned runs = runs_of(series);
    size_t first = 0;

    (void)fprintf(out, "%s: %s file%s, %s KB, %s, median of %u run%s\n", series->workload,
        measure_count(series->files, files), series->files == 1 ? "" : "s",
        measure_count(series->bytes / 1024, kb), series->cold ? "cold" : "warm", runs,
        runs == 1 ? "" : "s");
    while (first < series->n_methods) {
        int columns = LABEL_COLUMNS;
        size_t end = first, shown = 0;
        for (; end < series->n_methods; end++) {
            int width = has_times(&series->methods[end]) ? column_width(&series->methods[end]) : 0;
            if (shown > 0 && columns + width > LINE_COLUMNS)
                break;
            columns += width;
            shown += width > 0;
        }
        int r = shown > 0 ? print_columns(out, series, first, end) : 0;
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

static void warn_of_file_system(const struct file_system_info *to)
{
    _cleanup_free_ char *quoted = quote_name(to->path);
    const char *path = quoted ? quoted : to->path;

    if (to->has_journal == 0 && strcmp(to->type, "ext4") == 0)
        cli_error("warning: %s is on an ext4 without a journal: for minutes after many files were "
                  "deleted there, creating files is slow",
            path);
    if (strcmp(to->type, "tmpfs") == 0 || strcmp(to->type, "ramfs") == 0)
        cli_error("warning: %s is in memory (%s): nothing is written to a disk", path, to->type);
}

void bench_warn(const struct results *results, unsigned runs, double cpu_pressure_percent)
{
    if (results->n_series == 0)
        return;
    warn_of_file_system(&results->series[0].to);
    if (cpu_pressure_percent >= CPU_PRESSURE_PERCENT)
        cli_error("warning: other programs kept the processors busy when the bench began (%.0f%%)",
            cpu_pressure_percent);
    if (runs < RUNS_ENOUGH)
        cli_error("warning: the figures are of %u run%s; fewer than %d say little", runs,
            runs == 1 ? "" : "s", RUNS_ENOUGH);
    for (size_t i = 0; i < results->n_series; i++) {
        const struct series *series = &results->series[i];
        if (!series->cold && series->bytes / 1024 > series->system.memory_kb / 2)
            cli_error("warning: %s does not fit in memory twice: its warm figures are partly cold",
                series->workload);
    }
}
