/* The published tables, and this machine's figures among them. */
#include "report/tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/reference.h"
#include "report/ranking.h"
#include "report/rankings.h"
#include "report/table.h"
#include "results/results.h"

/* The program's own data; its tests have read it, so that a reason why it is bad has no reader
 * here. */
static int load_reference(struct reference **ret)
{
    _cleanup_free_ char *why = NULL;
    return reference_load(ret, &why);
}

static const struct table_column machine_columns[] = {
    {{"CDROM", "Speed"}, TABLE_LEFT, "drive"},
    {{"Time", "(m:ss)"}, TABLE_RIGHT, "real_ns"},
    {{"Data", "Rate"}, TABLE_RIGHT, "rate_kb_s"},
};

static const struct table_column summary_columns[] = {
    {{"", "Machine"}, TABLE_LEFT, "machine"},
    {{"Time", "(m:ss)"}, TABLE_RIGHT, "real_ns"},
    {{"Data", "Rate"}, TABLE_RIGHT, "rate_kb_s"},
};

/* Adds a row for a cell, which may have been published blank. */
static void add_cell(struct table *table, const char *name, const struct reference_cell *cell)
{
    char time[FIGURE_SIZE] = "", rate[FIGURE_SIZE] = "";
    double ns = NAN, rate_kb_s = NAN;

    if (cell->has_figures) {
        ns = (double)(cell->seconds * NS_PER_SECOND);
        rate_kb_s = cell->rate_kb_s;
        (void)format_duration(time, cell->seconds * NS_PER_SECOND);
        (void)format_whole(rate, rate_kb_s);
    }
    table_add_row(table, (const struct table_cell[]){
                             CELL_TEXT(name), CELL_NUMBER(time, ns), CELL_NUMBER(rate, rate_kb_s)});
    if (cell->has_figures)
        table_set_mark(table, &(const struct table_mark){.value = rate_kb_s});
}

/* The machines' charts share a scale up to `scale_to`. */
static int add_machine(
    struct tables *tables, const struct reference_machine *machine, double scale_to)
{
    struct table *table = tables_add(tables, machine_columns, ELEMENTS(machine_columns));

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_PUBLISHED_MACHINE;
    table->drawing = DRAW_BARS;
    table->scale_to = scale_to;
    table->number = machine->table;
    table_set_title(table, "Results for %s", machine->title);
    for (size_t i = 0; i < machine->n_cells; i++)
        add_cell(table, machine->cells[i].drive, &machine->cells[i]);
    return 0;
}

static int add_summary(struct tables *tables, const struct reference *reference,
    const struct reference_summary *summary)
{
    struct table *table = tables_add(tables, summary_columns, ELEMENTS(summary_columns));
    _cleanup_free_ const struct reference_machine **rows =
        calloc(reference->n_machines, sizeof(*rows));

    if (!table || !rows)
        return -ENOMEM;
    table->layout = LAYOUT_PUBLISHED_SUMMARY;
    table->drawing = DRAW_BARS;
    table->number = summary->table;
    table_set_title(table, "%s", summary->title);
    table_add_detail(table, "%s", summary->caption);
    size_t n = reference_summary_rank(reference, summary, rows);
    for (size_t i = 0; i < n; i++)
        add_cell(table, rows[i]->summary_name, reference_machine_find(rows[i], summary->drive));
    return 0;
}

static double fastest_rate(const struct reference *reference)
{
    double fastest = 0;

    for (size_t i = 0; i < reference->n_machines; i++)
        for (size_t k = 0; k < reference->machines[i].n_cells; k++)
            fastest = fmax(fastest, reference->machines[i].cells[k].rate_kb_s);
    return fastest;
}

int tables_make_reference_machines(struct tables *tables)
{
    _cleanup_(cleanup_reference_p) struct reference *reference = NULL;
    char files[FIGURE_SIZE], kb[FIGURE_SIZE];
    int r = load_reference(&reference);

    if (r < 0)
        return r;
    tables_set_title(tables, reference->title);
    tables_add_intro(tables, "%s: about %s files, %s KB, from the %s; rates in KB/s",
        reference->workload, format_count(files, reference->files), format_count(kb, reference->kb),
        reference->workload_from);
    tables_set_command(tables, reference->command);
    for (size_t i = 0; i < reference->n_machines && r == 0; i++)
        r = add_machine(tables, &reference->machines[i], fastest_rate(reference));
    return r;
}

int tables_make_reference_summaries(struct tables *tables)
{
    _cleanup_(cleanup_reference_p) struct reference *reference = NULL;
    int r = load_reference(&reference);

    for (size_t i = 0; r == 0 && i < reference->n_summaries; i++)
        r = add_summary(tables, reference, &reference->summaries[i]);
    return r;
}

/* A row of the common table. */
struct row {
    char *name, *source;
    uint64_t ns; /* 0: published blank */
    struct table_mark mark;
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
static int rows_insert(struct rows *rows, const char *name, const char *source, uint64_t ns,
    const struct table_mark *mark)
{
    struct row row = {strdup(name), strdup(source), ns, *mark};
    size_t at = rows->n;

    if (!row.name || !row.source) {
        free(row.name);
        free(row.source);
        return -ENOMEM;
    }
    for (; at > 0 && rows->all[at - 1].mark.value < mark->value; at--)
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
        r = rows_insert(rows, machine->machine, cell->drive, cell->seconds * NS_PER_SECOND,
            &(const struct table_mark){.value = cell->rate_kb_s});
    }
    return r;
}

static int rows_add_standing(
    struct rows *rows, const struct series *series, const struct standing *standing)
{
    _cleanup_free_ char *name = NULL;
    char source[SOURCE_SIZE];
    struct table_mark mark = {.value = standing->rate_kb_s, .is_own = true};

    standing_rate_interval(series, standing, &mark.low, &mark.high);
    if (asprintf(&name, "* %s, to %s", standing->method->name, series->to.type) < 0) {
        name = NULL; /* undefined after a failure */
        return -ENOMEM;
    }
    return rows_insert(
        rows, name, series_describe_source(source, series), standing->real_ns, &mark);
}

static int rows_add_series(struct rows *rows, const struct series *series)
{
    struct ranking ranking;
    int r = ranking_make(series, "", &ranking);

    if (r < 0)
        return r;
    r = rows_reserve(rows, ranking.n_ranked);
    for (size_t i = 0; i < ranking.n_ranked && r == 0; i++)
        r = rows_add_standing(rows, series, &ranking.standings[i]);
    ranking_clear(&ranking);
    return r;
}

static void add_row(struct table *table, const struct row *row, double yardstick_kb_s)
{
    char time[FIGURE_SIZE] = "", rate[FIGURE_SIZE] = "", times[FIGURE_SIZE] = "";
    double ns = NAN, rate_kb_s = NAN;

    if (row->ns > 0) {
        ns = (double)row->ns;
        rate_kb_s = row->mark.value;
        (void)format_duration(time, row->ns);
        (void)format_whole(rate, rate_kb_s);
        (void)format_ratio(times, rate_kb_s / yardstick_kb_s);
    }
    table_add_row(table, (const struct table_cell[]){
                             CELL_TEXT(row->name),
                             CELL_TEXT(row->source),
                             CELL_NUMBER(time, ns),
                             CELL_NUMBER(rate, rate_kb_s),
                             CELL_NUMBER(times, rate_kb_s / yardstick_kb_s),
                         });
    if (row->ns > 0)
        table_set_mark(table, &row->mark);
}

static const struct table_column beside_columns[] = {
    {{"", "Machine or Method"}, TABLE_LEFT, "machine_or_method"},
    {{"", "Source"}, TABLE_LEFT, "source"},
    {{"Time", "(m:ss)"}, TABLE_RIGHT, "real_ns"},
    {{"Data", "Rate"}, TABLE_RIGHT, "rate_kb_s"},
    {{"Times", "Origin200"}, TABLE_RIGHT, "times_origin200"},
};

static int add_beside_table(struct tables *tables, const struct rows *rows,
    const struct series *series, const struct reference *reference)
{
    struct table *table = tables_add(tables, beside_columns, ELEMENTS(beside_columns));
    char files[FIGURE_SIZE], kb[FIGURE_SIZE];

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_JOINED;
    table->drawing = DRAW_BARS_AND_DOTS;
    table_set_title(table, "%s (*) beside the published machines", series->system.name);
    table_add_detail(table, "each copying %s files, %s KB", format_count(files, reference->files),
        format_count(kb, reference->kb));
    for (size_t i = 0; i < rows->n; i++)
        add_row(table, &rows->all[i], reference->yardstick->rate_kb_s);
    return 0;
}

/* Like what was published, and no replay of that. */
static bool is_of_machine(const struct series *series, const struct reference *reference)
{
    return is_like_reference(series, reference) && !series_is_replay(series);
}

/* The table of series[0]'s system; the series before it have been seen to be others'. */
static int make_beside(struct tables *tables, const struct series *const *series, size_t n_series,
    const struct reference *reference)
{
    _cleanup_(cleanup_rows_p) struct rows rows = {0};
    int r = 0;

    for (size_t i = 0; i < reference->n_machines && r == 0; i++)
        r = rows_add_machine(&rows, &reference->machines[i]);
    for (size_t i = 0; i < n_series && r == 0; i++)
        if (is_of_machine(series[i], reference) &&
            strcmp(series[i]->system.name, series[0]->system.name) == 0)
            r = rows_add_series(&rows, series[i]);
    return r < 0 ? r : add_beside_table(tables, &rows, series[0], reference);
}

/* Whether a series like series[at], of the same system, comes before it. */
static bool is_there(
    const struct series *const *series, size_t at, const struct reference *reference)
{
    for (size_t i = 0; i < at; i++)
        if (is_of_machine(series[i], reference) &&
            strcmp(series[i]->system.name, series[at]->system.name) == 0)
            return true;
    return false;
}

int tables_make_beside_reference(
    struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_reference_p) struct reference *reference = NULL;
    bool is_found = false;
    int r = load_reference(&reference);

    if (r == 0)
        tables_add_intro(tables,
            "The published machines copied their files from CD-ROM drives of the speeds that stand "
            "with them, by: %s",
            reference->command);
    for (size_t i = 0; i < n_series && r == 0; i++) {
        if (!is_of_machine(series[i], reference) || is_there(series, i, reference))
            continue;
        is_found = true;
        r = make_beside(tables, series + i, n_series - i, reference);
    }
    return r < 0 || is_found ? r : -ENODATA;
}
