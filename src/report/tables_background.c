/* The figures behind the tables: every run, sizes of files, the list of series, all for programs.
 */
#include "report/tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/rankings.h"
#include "report/table.h"
#include "results/results.h"

static void add_run(struct table *table, const struct series *series,
    const struct method_result *method, const struct sample *sample)
{
    char source[SOURCE_SIZE], block[FIGURE_SIZE], real[FIGURE_SIZE], synced[FIGURE_SIZE] = "";
    char user[FIGURE_SIZE], sys[FIGURE_SIZE];
    double real_ns = series_stretch(series) * (double)sample->real_ns;
    double synced_ns = series_stretch(series) * (double)sample->synced_ns;

    if (sample->synced_ns > 0)
        (void)format_duration(synced, (uint64_t)(synced_ns + 0.5));
    table_add_row(
        table, (const struct table_cell[]){
                   CELL_TEXT(method->name),
                   CELL_TEXT(series_describe_source(source, series)),
                   CELL_NUMBER(format_count(block, sample->block + 1ULL), sample->block + 1.0),
                   CELL_NUMBER(format_duration(real, (uint64_t)(real_ns + 0.5)), real_ns),
                   CELL_NUMBER(synced, sample->synced_ns > 0 ? synced_ns : NAN),
                   CELL_NUMBER(format_duration(user, sample->user_ns), sample->user_ns),
                   CELL_NUMBER(format_duration(sys, sample->sys_ns), sample->sys_ns),
               });
    table_set_mark(table, &(const struct table_mark){.value = real_ns});
}

static int make_runs_of_block(
    struct tables *tables, const struct rankings *rankings, const struct series *block)
{
    static const struct table_column columns[] = {
        {{"", "Method"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"", "Block"}, TABLE_RIGHT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"On Disk", "(m:ss)"}, TABLE_RIGHT},
        {{"User", "(m:ss)"}, TABLE_RIGHT},
        {{"System", "(m:ss)"}, TABLE_RIGHT},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_HEADED;
    table->drawing = DRAW_RUNS;
    table->unit = UNIT_TIME_NS;
    table->is_background = true;
    table_set_title(
        table, "Every run of %s on %s, to %s", block->workload, block->system.name, block->to.type);
    for (size_t i = 0; i < rankings->n; i++) {
        const struct ranking *ranking = &rankings->all[i];
        if (!is_same_block(ranking->series, block))
            continue;
        table_add_gap(table);
        for (size_t k = 0; k < ranking->n_ranked; k++) {
            const struct method_result *method = ranking->standings[k].method;
            for (size_t j = 0; j < method->n_samples; j++)
                add_run(table, ranking->series, method, &method->samples[j]);
        }
    }
    return 0;
}

int tables_make_runs(struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        if (!has_earlier(&rankings, i, is_same_block))
            r = make_runs_of_block(tables, &rankings, series[i]);
    return r;
}

/* A method's figures for files of one mean size. */
struct size_row {
    const struct series *series;
    const struct standing *standing;
    double mean_kb;
};

static double mean_file_kb(const struct series *series)
{
    return series->files == 0 ? 0 : (double)series->bytes / 1024 / (double)series->files;
}

/* Where the same methods are compared over sizes. */
static bool is_same_sizes(const struct series *a, const struct series *b)
{
    return is_same_place(a, b) && is_same_source(a, b);
}

/* Puts a row behind those of its method with a smaller mean, a new method's behind all. */
static void size_rows_insert(struct size_row *rows, size_t n, struct size_row row)
{
    size_t end = n;

    while (end > 0 && strcmp(rows[end - 1].standing->method->name, row.standing->method->name) != 0)
        end--;
    size_t at = end > 0 ? end : n;
    while (end > 0 && at > 0 && rows[at - 1].mean_kb > row.mean_kb &&
           strcmp(rows[at - 1].standing->method->name, row.standing->method->name) == 0)
        at--;
    (void)memmove(&rows[at + 1], &rows[at], (n - at) * sizeof(row));
    rows[at] = row;
}

/* Collects the ranked methods over all workloads; returns how many. */
static size_t size_rows_collect(
    const struct rankings *rankings, const struct series *like, struct size_row *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < rankings->n; i++) {
        const struct ranking *ranking = &rankings->all[i];
        double mean_kb = mean_file_kb(ranking->series);
        if (!is_same_sizes(ranking->series, like) || mean_kb <= 0)
            continue;
        for (size_t k = 0; k < ranking->n_ranked; k++)
            if (ranking->standings[k].files_s > 0)
                size_rows_insert(
                    rows, n++, (struct size_row){ranking->series, &ranking->standings[k], mean_kb});
    }
    return n;
}

static bool has_two_means(const struct size_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (rows[i].mean_kb > rows[0].mean_kb || rows[i].mean_kb < rows[0].mean_kb)
            return true;
    return false;
}

static void add_size_row(struct table *table, const struct size_row *row)
{
    char files[FIGURE_SIZE], mean[FIGURE_SIZE], time[FIGURE_SIZE], files_s[FIGURE_SIZE];
    char rate[FIGURE_SIZE];
    const struct standing *standing = row->standing;

    table_add_row(
        table, (const struct table_cell[]){
                   CELL_TEXT(standing->method->name),
                   CELL_TEXT(row->series->workload),
                   CELL_NUMBER(format_count(files, row->series->files), row->series->files),
                   CELL_NUMBER(format_ratio(mean, row->mean_kb), row->mean_kb),
                   CELL_NUMBER(format_duration(time, standing->real_ns), standing->real_ns),
                   CELL_NUMBER(format_ratio(files_s, standing->files_s), standing->files_s),
                   CELL_NUMBER(format_whole(rate, standing->rate_kb_s), standing->rate_kb_s),
               });
    table_set_mark(
        table, &(const struct table_mark){.value = standing->files_s, .at = row->mean_kb});
}

static int add_sizes_table(
    struct tables *tables, const struct series *like, const struct size_row *rows, size_t n)
{
    static const struct table_column columns[] = {
        {{"", "Method"}, TABLE_LEFT},
        {{"", "Workload"}, TABLE_LEFT},
        {{"", "Files"}, TABLE_RIGHT},
        {{"Mean", "KB"}, TABLE_RIGHT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"Files", "/s"}, TABLE_RIGHT},
        {{"Data", "Rate"}, TABLE_RIGHT},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));
    char source[SOURCE_SIZE];

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_HEADED;
    table->drawing = DRAW_LINES;
    table->unit = UNIT_FILES_PER_SECOND;
    table->is_background = true;
    table_set_title(table, "Files per second by the mean size of a file, %s", like->system.name);
    table_add_detail(table, "From %s to %s (%s).", series_describe_source(source, like),
        like->to.type, like->to.path);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 &&
            strcmp(rows[i].standing->method->name, rows[i - 1].standing->method->name) != 0)
            table_add_gap(table);
        add_size_row(table, &rows[i]);
    }
    return 0;
}

static int make_sizes(
    struct tables *tables, const struct rankings *rankings, const struct series *like)
{
    size_t room = 1;

    for (size_t i = 0; i < rankings->n; i++)
        room += rankings->all[i].n_ranked;
    _cleanup_free_ struct size_row *rows = calloc(room, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    size_t n = size_rows_collect(rankings, like, rows);
    return has_two_means(rows, n) ? add_sizes_table(tables, like, rows, n) : 0;
}

int tables_make_sizes(struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        if (!has_earlier(&rankings, i, is_same_sizes))
            r = make_sizes(tables, &rankings, series[i]);
    return r;
}

int tables_make_list(struct tables *tables, const struct series *const *series, size_t n_series)
{
    static const struct table_column columns[] = {
        {{"", "Series"}, TABLE_LEFT, "series", .is_whole = true},
        {{"", "Started"}, TABLE_LEFT, "started"},
        {{"", "Workload"}, TABLE_LEFT, "workload"},
        {{"", "Source"}, TABLE_LEFT, "source"},
        {{"", "To"}, TABLE_LEFT, "to"},
        {{"", "Methods"}, TABLE_RIGHT, "methods"},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));

    for (size_t i = 0; i < n_series; i++) {
        char source[SOURCE_SIZE], methods[FIGURE_SIZE];
        (void)snprintf(methods, sizeof(methods), "%zu", series[i]->n_methods);
        table_add_row(table, (const struct table_cell[]){
                                 CELL_TEXT(series[i]->id),
                                 CELL_TEXT(series[i]->started),
                                 CELL_TEXT(series[i]->workload),
                                 CELL_TEXT(series_describe_source(source, series[i])),
                                 CELL_TEXT(series[i]->to.type),
                                 CELL_NUMBER(methods, series[i]->n_methods),
                             });
    }
    return table ? 0 : -ENOMEM;
}

/* A number without a text: programs take the number. */
#define FIGURE(is_there, number) CELL_NUMBER("", (is_there) ? (double)(number) : (double)NAN)

static const struct table_column figure_columns[] = {
    {.key = "series"},
    {.key = "started"},
    {.key = "system"},
    {.key = "cores"},
    {.key = "kernel"},
    {.key = "workload"},
    {.key = "files"},
    {.key = "bytes"},
    {.key = "from"},
    {.key = "to"},
    {.key = "cache"},
    {.key = "drive"},
    {.key = "time_scale"},
    {.key = "method"},
    {.key = "version"},
    {.key = "verdict"},
    {.key = "not_ranked"},
    {.key = "runs"},
    {.key = "rank"},
    {.key = "rank_shared"},
    {.key = "real_ns"},
    {.key = "real_mad_ns"},
    {.key = "outliers"},
    {.key = "synced_ns"},
    {.key = "user_ns"},
    {.key = "sys_ns"},
    {.key = "rate_kb_s"},
    {.key = "rate_low_kb_s"},
    {.key = "rate_high_kb_s"},
    {.key = "files_s"},
    {.key = "baseline"},
    {.key = "as_long"},
    {.key = "as_long_low"},
    {.key = "as_long_high"},
};

static void add_figures(struct table *table, const struct ranking *ranking, size_t at)
{
    const struct series *series = ranking->series;
    const struct standing *standing = &ranking->standings[at];
    const struct estimate *as_long = &standing->as_long;
    bool ranked = standing->is_ranked;
    char reason[REASON_SIZE];
    double low, high;

    standing_rate_interval(series, standing, &low, &high);
    table_add_row(table, (const struct table_cell[]){
                             CELL_TEXT(series->id),
                             CELL_TEXT(series->started),
                             CELL_TEXT(series->system.name),
                             FIGURE(true, series->system.cores),
                             CELL_TEXT(series->system.kernel),
                             CELL_TEXT(series->workload),
                             FIGURE(true, series->files),
                             FIGURE(true, series->bytes),
                             CELL_TEXT(series->from.type),
                             CELL_TEXT(series->to.type),
                             CELL_TEXT(series->cold ? "cold" : "warm"),
                             CELL_TEXT(series_has_drive(series) ? series->drive : ""),
                             FIGURE(true, series_stretch(series)),
                             CELL_TEXT(standing->method->name),
                             CELL_TEXT(standing->method->version),
                             CELL_TEXT(verdict_word(standing->method->verdict)),
                             CELL_TEXT(ranked ? "" : standing_describe_reason(reason, standing)),
                             FIGURE(true, standing->method->n_samples),
                             FIGURE(ranked, standing->rank),
                             FIGURE(ranked, standing->is_rank_shared),
                             FIGURE(ranked, standing->real_ns),
                             FIGURE(ranked, standing->real_mad_ns),
                             FIGURE(ranked, standing->n_outliers),
                             FIGURE(ranked && standing->synced_ns > 0, standing->synced_ns),
                             FIGURE(ranked, standing->user_ns),
                             FIGURE(ranked, standing->sys_ns),
                             FIGURE(ranked, standing->rate_kb_s),
                             FIGURE(ranked && high > 0, low),
                             FIGURE(ranked && high > 0, high),
                             FIGURE(ranked, standing->files_s),
                             CELL_TEXT(ranking->baseline ? ranking->baseline->method->name : ""),
                             FIGURE(ranked, as_long->median),
                             FIGURE(ranked && as_long->has_interval, as_long->low),
                             FIGURE(ranked && as_long->has_interval, as_long->high),
                         });
}

int tables_make_all_figures(struct tables *tables, const struct series *const *series,
    size_t n_series, const char *baseline)
{
    struct table *table = tables_add(tables, figure_columns, ELEMENTS(figure_columns));
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = table ? rankings_make(series, n_series, baseline, &rankings) : -ENOMEM;

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        for (size_t k = 0; k < rankings.all[i].n_standings; k++)
            add_figures(table, &rankings.all[i], k);
    return r;
}
