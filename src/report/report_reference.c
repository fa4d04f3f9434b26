/* The published tables, and this machine's figures among them. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "report/ranking.h"
#include "report/reference.h"
#include "report/reference_data.h"
#include "report/table.h"
#include "results/results.h"

static void cleanup_reference_p(struct reference **reference)
{
    reference_free(*reference);
}

/* The program's own data; its tests have read it, so that a reason why it is bad has no reader
 * here. */
static int load_reference(struct reference **ret)
{
    _cleanup_free_ char *why = NULL;
    return reference_load(ret, &why);
}

/* The figures of a cell as published, or blank. */
static void format_cell(const struct reference_cell *cell, char *time, char *rate)
{
    time[0] = rate[0] = '\0';
    if (!cell->has_figures)
        return;
    (void)format_duration(time, cell->seconds * NS_PER_SECOND);
    (void)format_whole(rate, cell->rate_kb_s);
}

/* The published tables keep their published layout to the column, which is not that of table.h. */
static void print_machine(FILE *out, const struct reference_machine *machine)
{
    (void)fprintf(out, "\n\nResults for %s:\n\n", machine->title);
    (void)fputs("CDROM     Time     Data\n"
                "Speed    (m:ss)    Rate\n\n",
        out);
    for (size_t i = 0; i < machine->n_cells; i++) {
        char time[FIGURE_SIZE], rate[FIGURE_SIZE];
        format_cell(&machine->cells[i], time, rate);
        if (machine->cells[i].has_figures)
            (void)fprintf(out, "%4s%10s%8s\n", machine->cells[i].drive, time, rate);
        else
            (void)fprintf(out, "%4s\n", machine->cells[i].drive);
    }
    (void)fprintf(out, "\n        Table %u\n", machine->table);
}

static int print_reference_summary(
    FILE *out, const struct reference *reference, const struct reference_summary *summary)
{
    _cleanup_free_ const struct reference_machine **rows =
        calloc(reference->n_machines, sizeof(*rows));

    if (!rows)
        return -ENOMEM;
    (void)fprintf(out, "\n\n%25sTime     Data\n%24s(m:ss)    Rate\n\n", "", "");
    size_t n = reference_summary_rank(reference, summary, rows);
    for (size_t i = 0; i < n; i++) {
        char time[FIGURE_SIZE], rate[FIGURE_SIZE];
        format_cell(reference_machine_find(rows[i], summary->drive), time, rate);
        int width = fprintf(out, "%s:", rows[i]->summary_name);
        (void)fprintf(out, "%*s%8s\n", 29 - width, time, rate);
    }
    (void)fprintf(
        out, "\n   Table %u: %s\n   %s\n", summary->table, summary->title, summary->caption);
    return 0;
}

static int print_reference_head(FILE *out, const struct reference *reference)
{
    _cleanup_free_ char *text = NULL;
    char files[FIGURE_SIZE], kb[FIGURE_SIZE];

    int r = text_print_wrapped(out, 0, 0, reference->title);
    if (r < 0)
        return r;
    if (asprintf(&text, "%s: about %s files, %s KB, from the %s; rates in KB/s",
            reference->workload, format_count(files, reference->files),
            format_count(kb, reference->kb), reference->workload_from) < 0) {
        text = NULL; /* undefined after a failure */
        return -ENOMEM;
    }
    r = text_print_wrapped(out, 0, 2, text);
    (void)fprintf(out, "\n   %s\n", reference->command);
    return r;
}

int report_print_reference(FILE *out)
{
    _cleanup_(cleanup_reference_p) struct reference *reference = NULL;
    int r = load_reference(&reference);

    if (r == 0)
        r = print_reference_head(out, reference);
    if (r < 0)
        return r;
    for (size_t i = 0; i < reference->n_machines; i++)
        print_machine(out, &reference->machines[i]);
    for (size_t i = 0; i < reference->n_summaries && r == 0; i++)
        r = print_reference_summary(out, reference, &reference->summaries[i]);
    return r;
}

int report_print_reference_json(FILE *out)
{
    size_t length;
    const char *text = reference_data(&length);

    (void)fwrite(text, 1, length, out); /* the stream keeps its failure */
    return 0;
}

/* A row of the common table. */
struct row {
    char *name, *source;
    uint64_t ns; /* 0: published blank */
    double rate_kb_s;
};

struct rows {
    struct row *all; /* fastest first, equals in the order they came, blank ones last */
    size_t n, n_allocated;
};

static void cleanup_rows_p(struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        free(rows->all[i].name);
        free(rows->all[i].source);
    }
    free(rows->all);
}

/* Puts a row in its place. The room for it is there. */
static int rows_insert(
    struct rows *rows, const char *name, const char *source, uint64_t ns, double rate_kb_s)
{
    struct row row = {strdup(name), strdup(source), ns, rate_kb_s};
    size_t at = rows->n;

    if (!row.name || !row.source) {
        free(row.name);
        free(row.source);
        return -ENOMEM;
    }
    for (; at > 0 && rows->all[at - 1].rate_kb_s < rate_kb_s; at--)
        rows->all[at] = rows->all[at - 1];
    rows->all[at] = row;
    rows->n++;
    return 0;
}

static int rows_reserve(struct rows *rows, size_t n)
{
    struct row *all = reallocarray(rows->all, rows->n_allocated + n + 1, sizeof(*all));
    if (!all)
        return -ENOMEM;
    rows->all = all;
    rows->n_allocated += n + 1;
    return 0;
}

static int rows_add_machine(struct rows *rows, const struct reference_machine *machine)
{
    int r = rows_reserve(rows, machine->n_cells);

    for (size_t i = 0; i < machine->n_cells && r == 0; i++) {
        const struct reference_cell *cell = &machine->cells[i];
        r = rows_insert(
            rows, machine->machine, cell->drive, cell->seconds * NS_PER_SECOND, cell->rate_kb_s);
    }
    return r;
}

static int rows_add_series(struct rows *rows, const struct series *series)
{
    struct ranking ranking;
    int r = ranking_make(series, "", &ranking);

    if (r < 0)
        return r;
    r = rows_reserve(rows, ranking.n_ranked);
    for (size_t i = 0; i < ranking.n_ranked && r == 0; i++) {
        const struct standing *standing = &ranking.standings[i];
        _cleanup_free_ char *name = NULL;
        char source[SOURCE_SIZE];
        if (asprintf(&name, "* %s, to %s", standing->method->name, series->to.type) < 0) {
            name = NULL; /* undefined after a failure */
            r = -ENOMEM;
            break;
        }
        r = rows_insert(rows, name, series_describe_source(source, series), standing->real_ns,
            standing->rate_kb_s);
    }
    ranking_clear(&ranking);
    return r;
}

static int rows_print(FILE *out, const struct rows *rows, const struct reference *reference)
{
    const struct table_column columns[] = {
        {{"", "Machine or Method"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"Data", "Rate"}, TABLE_RIGHT},
        {{"Times", reference->yardstick_name}, TABLE_RIGHT},
    };
    _cleanup_(cleanup_table_p) struct table *table = table_new(columns, ELEMENTS(columns));

    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->all[i];
        char time[FIGURE_SIZE] = "", rate[FIGURE_SIZE] = "", times[FIGURE_SIZE] = "";
        if (row->ns > 0) {
            (void)format_duration(time, row->ns);
            (void)format_whole(rate, row->rate_kb_s);
            (void)format_ratio(times, row->rate_kb_s / reference->yardstick->rate_kb_s);
        }
        table_add_row(table, (const char *const[]){row->name, row->source, time, rate, times});
    }
    return table_print(out, table, TABLE_WIDTH);
}

static bool is_like_reference(const struct series *series, const struct reference *reference)
{
    return series->files == reference->files && bytes_to_kb(series->bytes) == reference->kb;
}

static int print_beside_head(
    FILE *out, const struct series *series, const struct reference *reference)
{
    _cleanup_free_ char *text = NULL;
    char files[FIGURE_SIZE], kb[FIGURE_SIZE];

    if (asprintf(&text, "%s (*) beside the published machines, each copying %s files, %s KB:",
            series->system.name, format_count(files, reference->files),
            format_count(kb, reference->kb)) < 0) {
        text = NULL; /* undefined after a failure */
        return -ENOMEM;
    }
    int r = text_print_wrapped(out, 0, 2, text);
    (void)fputc('\n', out);
    return r;
}

/* The table of series[0]'s system; the series before it have been seen to be others'. */
static int print_beside(FILE *out, const struct series *const *series, size_t n_series,
    const struct reference *reference)
{
    _cleanup_(cleanup_rows_p) struct rows rows = {0};
    int r = 0;

    for (size_t i = 0; i < reference->n_machines && r == 0; i++)
        r = rows_add_machine(&rows, &reference->machines[i]);
    for (size_t i = 0; i < n_series && r == 0; i++)
        if (is_like_reference(series[i], reference) &&
            strcmp(series[i]->system.name, series[0]->system.name) == 0)
            r = rows_add_series(&rows, series[i]);
    if (r == 0)
        r = print_beside_head(out, series[0], reference);
    if (r == 0)
        r = rows_print(out, &rows, reference);
    (void)fputc('\n', out);
    return r;
}

/* Whether a series like series[at], of the same system, comes before it. */
static bool is_printed(
    const struct series *const *series, size_t at, const struct reference *reference)
{
    for (size_t i = 0; i < at; i++)
        if (is_like_reference(series[i], reference) &&
            strcmp(series[i]->system.name, series[at]->system.name) == 0)
            return true;
    return false;
}

int report_print_beside_reference(FILE *out, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_reference_p) struct reference *reference = NULL;
    bool is_found = false;
    int r = load_reference(&reference);

    for (size_t i = 0; i < n_series && r == 0; i++) {
        if (!is_like_reference(series[i], reference) || is_printed(series, i, reference))
            continue;
        is_found = true;
        r = print_beside(out, series + i, n_series - i, reference);
    }
    return r < 0 || is_found ? r : -ENODATA;
}
