#include "report/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/rankings.h"
#include "report/table.h"
#include "results/results.h"

/* Above this share of the median, the samples' median absolute deviation is worth a word: two
 * methods closer together than that should not be called different on these samples. */
static const double noisy_share = 0.10;

/* "1 file", "2,200 files": fills the buffer and returns it. */
static char *describe_files(char buffer[2 * FIGURE_SIZE], const struct series *series)
{
    char files[FIGURE_SIZE];

    (void)snprintf(buffer, 2 * FIGURE_SIZE, "%s file%s", format_count(files, series->files),
        series->files == 1 ? "" : "s");
    return buffer;
}

/* "76,289": fills the buffer and returns it. */
static char *describe_kb(char buffer[FIGURE_SIZE], const struct series *series)
{
    return format_count(buffer, bytes_to_kb(series->bytes));
}

static bool is_of_one_system(const struct series *const *series, size_t n_series)
{
    for (size_t i = 1; i < n_series; i++)
        if (strcmp(series[i]->system.name, series[0]->system.name) != 0)
            return false;
    return true;
}

int tables_make_title(struct tables *tables, const struct series *const *series, size_t n_series)
{
    const struct series *first = series[0], *last = series[0];

    for (size_t i = 1; i < n_series; i++) {
        first = strcmp(series[i]->started, first->started) < 0 ? series[i] : first;
        last = strcmp(series[i]->started, last->started) > 0 ? series[i] : last;
    }
    tables_set_title(tables, "Copying Many Small Files");
    if (is_of_one_system(series, n_series))
        tables_add_intro(tables, "Measured on %s: %u core%s, %s KB of memory, %s.",
            first->system.name, first->system.cores, first->system.cores == 1 ? "" : "s",
            format_count((char[FIGURE_SIZE]){0}, first->system.memory_kb), first->system.kernel);
    if (n_series == 1)
        tables_add_intro(tables, "One series, started %s.", first->started);
    else
        tables_add_intro(tables, "%zu series, the first started %s, the last %s.", n_series,
            first->started, last->started);
    return 0;
}

/* Says of the last row how fast it was. */
static void mark_rate(
    struct table *table, const struct series *series, const struct standing *standing)
{
    struct table_mark mark = {.value = standing->rate_kb_s};

    standing_rate_interval(series, standing, &mark.low, &mark.high);
    table_set_mark(table, &mark);
}

/* "2.00 (1.90-2.10)", or without the interval where there is none. */
static void describe_as_long(
    char buffer[4 * FIGURE_SIZE], const struct ranking *ranking, const struct standing *standing)
{
    const struct estimate *as_long = &standing->as_long;
    char ratio[FIGURE_SIZE], low[FIGURE_SIZE], high[FIGURE_SIZE];

    (void)snprintf(buffer, 4 * FIGURE_SIZE, "%s", format_ratio(ratio, as_long->median));
    if (as_long->has_interval && standing != ranking->baseline)
        (void)snprintf(buffer, 4 * FIGURE_SIZE, "%s (%s-%s)", ratio,
            format_ratio(low, as_long->low), format_ratio(high, as_long->high));
}

static void add_standing(
    struct table *table, const struct ranking *ranking, const struct standing *standing)
{
    char rank[FIGURE_SIZE], source[SOURCE_SIZE], time[FIGURE_SIZE], synced[FIGURE_SIZE] = "",
                                                                    rate[FIGURE_SIZE];
    char files[FIGURE_SIZE], as_long[4 * FIGURE_SIZE];

    if (standing->synced_ns > 0)
        (void)format_duration(synced, standing->synced_ns);
    describe_as_long(as_long, ranking, standing);
    (void)snprintf(
        rank, sizeof(rank), "%zu%s", standing->rank, standing->is_rank_shared ? "=" : " ");
    table_add_row(
        table, (const struct table_cell[]){
                   CELL_NUMBER(rank, standing->rank),
                   CELL_TEXT(standing->method->name),
                   CELL_TEXT(series_describe_source(source, ranking->series)),
                   CELL_NUMBER(format_duration(time, standing->real_ns), standing->real_ns),
                   CELL_NUMBER(synced, standing->synced_ns > 0 ? (double)standing->synced_ns : NAN),
                   CELL_NUMBER(format_whole(rate, standing->rate_kb_s), standing->rate_kb_s),
                   CELL_NUMBER(format_whole(files, standing->files_s), standing->files_s),
                   CELL_NUMBER(as_long, standing->as_long.median),
               });
    mark_rate(table, ranking->series, standing);
}

/* The methods without a rank, and what is to be known of those with one. */
static void add_standing_notes(struct table *table, const struct ranking *ranking)
{
    char source[SOURCE_SIZE], reason[REASON_SIZE];

    (void)series_describe_source(source, ranking->series);
    for (size_t i = 0; i < ranking->n_standings; i++) {
        const struct standing *standing = &ranking->standings[i];
        const char *name = standing->method->name;
        double share =
            standing->real_ns > 0 ? (double)standing->real_mad_ns / (double)standing->real_ns : 0;
        if (!standing->is_ranked)
            table_add_note(table, "Not ranked: %s, %s: %s.", name, source,
                standing_describe_reason(reason, standing));
        else if (standing->method->verdict == VERDICT_UNCHECKED)
            table_add_note(table, "Not checked: %s, %s: its copy was not compared.", name, source);
        if (standing->is_ranked && share > noisy_share)
            table_add_note(table,
                "Unsteady: %s, %s: half of its runs are further than %.0f%% from the median.", name,
                source, share * 100);
        if (standing->n_outliers > 0)
            table_add_note(table,
                "Outliers: %s, %s: %zu of %zu runs, further than 3.5 scaled deviations from the "
                "median; kept.",
                name, source, standing->n_outliers, standing->method->n_samples);
    }
}

/* Whether no pair of methods has runs enough together to be told apart. */
static bool has_too_few_runs(const struct ranking *ranking)
{
    size_t n_pairs = ranking->n_ranked * (ranking->n_ranked - 1) / 2;

    for (size_t i = 0; i < ranking->n_ties; i++)
        if (ranking->ties[i].as_long.has_interval)
            return false;
    return ranking->n_ties > 1 && ranking->n_ties == n_pairs;
}

static void add_tie(struct table *table, const struct ranking *ranking, const struct tie *tie)
{
    char source[SOURCE_SIZE], ratio[FIGURE_SIZE], low[FIGURE_SIZE], high[FIGURE_SIZE];
    const struct estimate *as_long = &tie->as_long;
    const char *faster = ranking->standings[tie->faster].method->name;
    const char *slower = ranking->standings[tie->slower].method->name;

    (void)series_describe_source(source, ranking->series);
    (void)format_ratio(ratio, as_long->median);
    if (as_long->has_interval)
        table_add_note(table, "Undecided: no difference shown between %s and %s, %s: %s (%s-%s).",
            faster, slower, source, ratio, format_ratio(low, as_long->low),
            format_ratio(high, as_long->high));
    else
        table_add_note(table,
            "Undecided: no difference shown between %s and %s, %s: %s, of %zu run%s in the same "
            "blocks; %d are needed.",
            faster, slower, source, ratio, as_long->n, as_long->n == 1 ? "" : "s",
            STATISTICS_LEAST);
}

/* The pairs of methods between which the samples do not decide. */
static void add_ties(struct table *table, const struct ranking *ranking)
{
    char source[SOURCE_SIZE];

    if (has_too_few_runs(ranking))
        table_add_note(table,
            "Undecided: no difference shown between any two methods, %s: it takes %d runs in the "
            "same blocks.",
            series_describe_source(source, ranking->series), STATISTICS_LEAST);
    for (size_t i = 0; i < ranking->n_ties && !has_too_few_runs(ranking); i++)
        add_tie(table, ranking, &ranking->ties[i]);
}

/* "5 runs" or "4 to 5 runs" of the ranked methods. */
static void describe_runs(const struct ranking *ranking, char *buffer, size_t size)
{
    size_t least = SIZE_MAX, most = 0;

    for (size_t i = 0; i < ranking->n_ranked; i++) {
        size_t n = ranking->standings[i].method->n_samples;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    if (most == 0)
        (void)snprintf(buffer, size, "nothing to rank");
    else if (least == most)
        (void)snprintf(buffer, size, "%zu run%s of each", most, most == 1 ? "" : "s");
    else
        (void)snprintf(buffer, size, "%zu to %zu runs of each", least, most);
}

static void add_series_note(struct table *table, const struct ranking *ranking)
{
    const struct series *series = ranking->series;
    char source[SOURCE_SIZE], runs[64];

    describe_runs(ranking, runs, sizeof(runs));
    table_add_note(table, "Series %s, %s: %s; %s%s; %u core%s, %s.", series->id,
        series_describe_source(source, series), runs,
        ranking->baseline ? "times as long as " : "no times",
        ranking->baseline ? ranking->baseline->method->name : "", series->system.cores,
        series->system.cores == 1 ? "" : "s", series->system.kernel);
}

static int make_block(
    struct tables *tables, const struct rankings *rankings, const struct series *block)
{
    static const struct table_column columns[] = {
        {{"", "#"}, TABLE_RIGHT},
        {{"", "Method"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"On Disk", "(m:ss)"}, TABLE_RIGHT},
        {{"Data", "Rate"}, TABLE_RIGHT},
        {{"Files", "/s"}, TABLE_RIGHT},
        {{"Times", "as Long"}, TABLE_LEFT},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));
    char files[2 * FIGURE_SIZE], kb[FIGURE_SIZE];

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_HEADED;
    table->drawing = DRAW_BARS;
    table_set_title(table, "Results for %s", block->system.name);
    table_add_detail(table, "%s, %s, %s KB, to %s%s (%s)", block->workload,
        describe_files(files, block), describe_kb(kb, block), block->to.type,
        block->to.has_journal == 0 ? " without a journal" : "", block->to.path);
    for (size_t i = 0; i < rankings->n; i++) {
        const struct ranking *ranking = &rankings->all[i];
        if (!is_same_block(ranking->series, block))
            continue;
        table_add_gap(table);
        for (size_t k = 0; k < ranking->n_ranked; k++)
            add_standing(table, ranking, &ranking->standings[k]);
        add_ties(table, ranking);
        add_standing_notes(table, ranking);
        add_series_note(table, ranking);
    }
    if (series_stretch(block) > 1)
        table_add_note(table,
            "Times are of the drive's world, which ran %g times as fast: what this machine itself "
            "takes weighs as much more in them.",
            series_stretch(block));
    return 0;
}

int tables_make_blocks(struct tables *tables, const struct series *const *series, size_t n_series,
    const char *baseline)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, baseline, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        if (!has_earlier(&rankings, i, is_same_block))
            r = make_block(tables, &rankings, series[i]);
    return r;
}

/* A row of a summary table: whose it is and how fast. */
struct summary_row {
    const struct series *series;
    const struct standing *standing;
};

static bool is_same_summary(const struct series *a, const struct series *b)
{
    return is_same_workload(a, b) && is_same_source(a, b);
}

/* Collects the ranked methods of one summary, fastest first, equals in order; returns how many. */
static size_t summary_collect(
    const struct rankings *rankings, const struct series *summary, struct summary_row *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < rankings->n; i++) {
        const struct ranking *ranking = &rankings->all[i];
        if (!is_same_summary(ranking->series, summary))
            continue;
        for (size_t k = 0; k < ranking->n_ranked; k++) {
            size_t at = n++;
            for (; at > 0 && rows[at - 1].standing->real_ns > ranking->standings[k].real_ns; at--)
                rows[at] = rows[at - 1];
            rows[at] = (struct summary_row){ranking->series, &ranking->standings[k]};
        }
    }
    return n;
}

static void add_summary_row(struct table *table, const struct summary_row *row)
{
    char time[FIGURE_SIZE], rate[FIGURE_SIZE];
    const struct standing *standing = row->standing;

    table_add_row(
        table, (const struct table_cell[]){
                   CELL_TEXT(standing->method->name),
                   CELL_TEXT(row->series->system.name),
                   CELL_TEXT(row->series->to.type),
                   CELL_NUMBER(format_duration(time, standing->real_ns), standing->real_ns),
                   CELL_NUMBER(format_whole(rate, standing->rate_kb_s), standing->rate_kb_s),
               });
    mark_rate(table, row->series, standing);
}

static int add_summary(struct tables *tables, const struct series *summary,
    const struct summary_row *rows, size_t n_rows)
{
    static const struct table_column columns[] = {
        {{"", "Method"}, TABLE_LEFT},
        {{"", "System"}, TABLE_LEFT},
        {{"", "To"}, TABLE_LEFT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"Data", "Rate"}, TABLE_RIGHT},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));
    char source[SOURCE_SIZE], files[2 * FIGURE_SIZE], kb[FIGURE_SIZE];

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_CAPTIONED;
    table->drawing = DRAW_BARS;
    table_set_title(table, "%s Performance", series_describe_source(source, summary));
    table_add_detail(table, "Copying %s: %s, %s KB.", summary->workload,
        describe_files(files, summary), describe_kb(kb, summary));
    for (size_t i = 0; i < n_rows; i++)
        add_summary_row(table, &rows[i]);
    return 0;
}

static int make_summary(
    struct tables *tables, const struct rankings *rankings, const struct series *summary)
{
    size_t room = 1;

    for (size_t i = 0; i < rankings->n; i++)
        room += rankings->all[i].n_ranked;
    _cleanup_free_ struct summary_row *rows = calloc(room, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    size_t n = summary_collect(rankings, summary, rows);
    return n > 0 ? add_summary(tables, summary, rows, n) : 0;
}

int tables_make_summaries(
    struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        if (!has_earlier(&rankings, i, is_same_summary))
            r = make_summary(tables, &rankings, series[i]);
    return r;
}

/* The series of one large file that a series of many small ones is compared with: the last that
 * fits. */
static const struct ranking *find_large(const struct rankings *rankings, const struct series *small)
{
    const struct ranking *found = NULL;

    for (size_t i = 0; i < rankings->n; i++) {
        const struct series *large = rankings->all[i].series;
        if (large->files == 1 && strcmp(large->system.name, small->system.name) == 0 &&
            strcmp(large->to.type, small->to.type) == 0 && is_same_source(large, small))
            found = &rankings->all[i];
    }
    return small->files > 1 ? found : NULL;
}

static const struct standing *find_standing(const struct ranking *ranking, const char *name)
{
    for (size_t i = 0; i < ranking->n_ranked; i++)
        if (strcmp(ranking->standings[i].method->name, name) == 0)
            return &ranking->standings[i];
    return NULL;
}

/* How many times the rate of small files the methods have with the large one. */
struct contrast {
    double least, most;
    const char *least_method, *most_method;
    size_t n;
};

static void contrast_add(struct contrast *contrast, const char *method, double times)
{
    if (contrast->n == 0 || times < contrast->least) {
        contrast->least = times;
        contrast->least_method = method;
    }
    if (contrast->n == 0 || times > contrast->most) {
        contrast->most = times;
        contrast->most_method = method;
    }
    contrast->n++;
}

/* Adds a method's row where it is ranked with both. */
static void add_contrast(struct table *table, const struct ranking *small,
    const struct ranking *large, const struct standing *standing, struct contrast *contrast)
{
    const struct standing *other = find_standing(large, standing->method->name);
    char source[SOURCE_SIZE], rate[FIGURE_SIZE], large_rate[FIGURE_SIZE], times[FIGURE_SIZE];

    if (!other || standing->rate_kb_s <= 0)
        return;
    double ratio = other->rate_kb_s / standing->rate_kb_s;
    contrast_add(contrast, standing->method->name, ratio);
    table_add_row(
        table, (const struct table_cell[]){
                   CELL_TEXT(standing->method->name),
                   CELL_TEXT(series_describe_source(source, small->series)),
                   CELL_NUMBER(format_whole(rate, standing->rate_kb_s), standing->rate_kb_s),
                   CELL_NUMBER(format_whole(large_rate, other->rate_kb_s), other->rate_kb_s),
                   CELL_NUMBER(format_ratio(times, ratio), ratio),
               });
    table_set_mark(table,
        &(const struct table_mark){.value = standing->rate_kb_s, .beside = other->rate_kb_s});
}

static void add_observation(struct table *table, const struct contrast *contrast)
{
    /* Below this, the difference is not one to explain. */
    const double alike = 1.1;
    char least[FIGURE_SIZE], most[FIGURE_SIZE];

    (void)format_ratio(least, contrast->least);
    (void)format_ratio(most, contrast->most);
    if (contrast->most < alike)
        table_add_note(table,
            "Here one large file is copied no faster than many small ones: the bytes decide how "
            "long it takes, and the files' number costs nothing that shows.");
    else if (contrast->n == 1)
        table_add_note(table,
            "With %s, one large file moves at %s times the rate of many small ones. What each file "
            "costs decides, not the rate of the medium: a device's rate says little about how long "
            "many small files take, so measure with files like your own.",
            contrast->most_method, most);
    else
        table_add_note(table,
            "One large file moves at %s (%s) to %s (%s) times the rate of many small ones. What "
            "each "
            "file costs decides, not the rate of the medium: a device's rate says little about how "
            "long many small files take, so measure with files like your own.",
            least, contrast->least_method, most, contrast->most_method);
}

static int add_contrast_table(
    struct tables *tables, const struct ranking *small, const struct ranking *large)
{
    static const struct table_column columns[] = {
        {{"", "Method"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"Small", "Rate"}, TABLE_RIGHT},
        {{"Large", "Rate"}, TABLE_RIGHT},
        {{"Large/", "Small"}, TABLE_RIGHT},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));
    char files[2 * FIGURE_SIZE], kb[FIGURE_SIZE], large_kb[FIGURE_SIZE];
    struct contrast contrast = {0};

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_HEADED;
    table->drawing = DRAW_PAIRS;
    table->pair[0] = "many small files";
    table->pair[1] = "one large file";
    table_set_title(table, "Many small files and one large file, %s, to %s",
        small->series->system.name, small->series->to.type);
    table_add_detail(table, "%s, %s, %s KB, and %s, 1 file, %s KB", small->series->workload,
        describe_files(files, small->series), describe_kb(kb, small->series),
        large->series->workload, describe_kb(large_kb, large->series));
    for (size_t i = 0; i < small->n_ranked; i++)
        add_contrast(table, small, large, &small->standings[i], &contrast);
    add_observation(table, &contrast);
    return 0;
}

/* Whether a method is ranked with both. */
static bool has_contrast(const struct ranking *small, const struct ranking *large)
{
    for (size_t i = 0; i < small->n_ranked; i++)
        if (small->standings[i].rate_kb_s > 0 &&
            find_standing(large, small->standings[i].method->name))
            return true;
    return false;
}

int tables_make_contrasts(
    struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++) {
        const struct ranking *large = find_large(&rankings, series[i]);
        if (large && has_contrast(&rankings.all[i], large))
            r = add_contrast_table(tables, &rankings.all[i], large);
    }
    return r;
}
