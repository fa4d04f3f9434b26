#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/ranking.h"
#include "report/table.h"
#include "results/results.h"

/* Above this share of the median, the samples' median absolute deviation is worth a word: two
 * methods closer together than that should not be called different on these samples. */
static const double noisy_share = 0.10;

struct rankings {
    struct ranking *all; /* one a series, in their order */
    size_t n;
};

static void cleanup_rankings_p(struct rankings *rankings)
{
    for (size_t i = 0; i < rankings->n; i++)
        ranking_clear(&rankings->all[i]);
    free(rankings->all);
}

static int rankings_make(const struct series *const *series, size_t n_series,
    const struct report_options *options, struct rankings *rankings)
{
    rankings->all = calloc(n_series + 1, sizeof(*rankings->all));
    if (!rankings->all)
        return -ENOMEM;
    for (size_t i = 0; i < n_series; i++) {
        int r = ranking_make(series[i], ranking_baseline(options), &rankings->all[i]);
        if (r < 0)
            return r;
        rankings->n++;
    }
    return 0;
}

/* Prints one wrapped line of text that is made up like printf's. */
__attribute__((format(printf, 3, 4))) static int print_note(
    FILE *out, unsigned indent, const char *format, ...)
{
    _cleanup_free_ char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (n < 0) {
        text = NULL; /* undefined after a failure */
        return -ENOMEM;
    }
    return text_print_wrapped(out, indent, indent + 2, text);
}

static bool is_same_workload(const struct series *a, const struct series *b)
{
    return strcmp(a->workload, b->workload) == 0 && a->files == b->files && a->bytes == b->bytes;
}

static bool is_same_source(const struct series *a, const struct series *b)
{
    return a->cold == b->cold && strcmp(a->from.type, b->from.type) == 0;
}

static bool is_same_block(const struct series *a, const struct series *b)
{
    return is_same_workload(a, b) && strcmp(a->system.name, b->system.name) == 0 &&
           strcmp(a->to.type, b->to.type) == 0 && strcmp(a->to.path, b->to.path) == 0;
}

typedef bool same_function(const struct series *, const struct series *);

/* Whether a series before rankings->all[at] is of the same kind, so that it has been printed
 * already. */
static bool has_earlier(const struct rankings *rankings, size_t at, same_function *is_same)
{
    for (size_t i = 0; i < at; i++)
        if (is_same(rankings->all[i].series, rankings->all[at].series))
            return true;
    return false;
}

static void add_standing(
    struct table *table, const struct ranking *ranking, const struct standing *standing)
{
    const struct estimate *as_long = &standing->as_long;
    char rank[FIGURE_SIZE], source[SOURCE_SIZE], time[FIGURE_SIZE], synced[FIGURE_SIZE] = "",
                                                                    rate[FIGURE_SIZE];
    char files[FIGURE_SIZE], ratio[FIGURE_SIZE], low[FIGURE_SIZE], high[FIGURE_SIZE];
    char interval[4 * FIGURE_SIZE];

    if (standing->synced_ns > 0)
        (void)format_duration(synced, standing->synced_ns);
    (void)snprintf(interval, sizeof(interval), "%s", format_ratio(ratio, as_long->median));
    (void)snprintf(
        rank, sizeof(rank), "%zu%s", standing->rank, standing->is_rank_shared ? "=" : "");
    if (as_long->has_interval && standing != ranking->baseline)
        (void)snprintf(interval, sizeof(interval), "%s (%s-%s)", ratio,
            format_ratio(low, as_long->low), format_ratio(high, as_long->high));
    table_add_row(table, (const char *const[]){
                             rank,
                             standing->method->name,
                             series_describe_source(source, ranking->series),
                             format_duration(time, standing->real_ns),
                             synced,
                             format_whole(rate, standing->rate_kb_s),
                             format_whole(files, standing->files_s),
                             interval,
                         });
}

static int print_block_table(FILE *out, const struct rankings *rankings, const struct series *block)
{
    static const struct table_column columns[] = {
        {{"", "Rank"}, TABLE_LEFT},
        {{"", "Method"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"On Disk", "(m:ss)"}, TABLE_RIGHT},
        {{"Data", "Rate"}, TABLE_RIGHT},
        {{"Files", "/s"}, TABLE_RIGHT},
        {{"Times", "as Long"}, TABLE_LEFT},
    };
    _cleanup_(cleanup_table_p) struct table *table = table_new(columns, ELEMENTS(columns));

    for (size_t i = 0; i < rankings->n; i++) {
        const struct ranking *ranking = &rankings->all[i];
        if (!is_same_block(ranking->series, block))
            continue;
        table_add_gap(table);
        for (size_t k = 0; k < ranking->n_ranked; k++)
            add_standing(table, ranking, &ranking->standings[k]);
    }
    return table_print(out, table, TABLE_WIDTH);
}

/* The methods without a rank, and what is to be known of those with one. */
static int print_standing_notes(FILE *out, const struct ranking *ranking)
{
    char source[SOURCE_SIZE], reason[REASON_SIZE];
    int r = 0;

    (void)series_describe_source(source, ranking->series);
    for (size_t i = 0; i < ranking->n_standings && r == 0; i++) {
        const struct standing *standing = &ranking->standings[i];
        const char *name = standing->method->name;
        double share =
            standing->real_ns > 0 ? (double)standing->real_mad_ns / (double)standing->real_ns : 0;
        if (!standing->is_ranked)
            r = print_note(out, 2, "Not ranked: %s, %s: %s.", name, source,
                standing_describe_reason(reason, standing));
        else if (standing->method->verdict == VERDICT_UNCHECKED)
            r = print_note(out, 2, "Not checked: %s, %s: its copy was not compared.", name, source);
        if (r == 0 && standing->is_ranked && share > noisy_share)
            r = print_note(out, 2,
                "Unsteady: %s, %s: half of its runs are further than %.0f%% from the median.", name,
                source, share * 100);
        if (r == 0 && standing->n_outliers > 0)
            r = print_note(out, 2,
                "Outliers: %s, %s: %zu of %zu runs, further than 3.5 scaled deviations from the "
                "median; kept.",
                name, source, standing->n_outliers, standing->method->n_samples);
    }
    return r;
}

/* The pairs of methods between which the samples do not decide. */
static int print_ties(FILE *out, const struct ranking *ranking)
{
    char source[SOURCE_SIZE], ratio[FIGURE_SIZE], low[FIGURE_SIZE], high[FIGURE_SIZE];
    int r = 0;

    (void)series_describe_source(source, ranking->series);
    for (size_t i = 0; i < ranking->n_ties && r == 0; i++) {
        const struct estimate *as_long = &ranking->ties[i].as_long;
        const char *faster = ranking->standings[ranking->ties[i].faster].method->name;
        const char *slower = ranking->standings[ranking->ties[i].slower].method->name;
        (void)format_ratio(ratio, as_long->median);
        if (as_long->has_interval)
            r = print_note(out, 2,
                "Undecided: no difference shown between %s and %s, %s: %s (%s-%s).", faster, slower,
                source, ratio, format_ratio(low, as_long->low), format_ratio(high, as_long->high));
        else
            r = print_note(out, 2,
                "Undecided: no difference shown between %s and %s, %s: %s, of %zu run%s in the "
                "same "
                "blocks; %d are needed.",
                faster, slower, source, ratio, as_long->n, as_long->n == 1 ? "" : "s",
                STATISTICS_LEAST);
    }
    return r;
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

static int print_series_note(FILE *out, const struct ranking *ranking)
{
    const struct series *series = ranking->series;
    char source[SOURCE_SIZE], runs[64];

    describe_runs(ranking, runs, sizeof(runs));
    return print_note(out, 2, "Series %s, %s: %s; %s%s; %u core%s, %s.", series->id,
        series_describe_source(source, series), runs,
        ranking->baseline ? "times as long as " : "no times",
        ranking->baseline ? ranking->baseline->method->name : "", series->system.cores,
        series->system.cores == 1 ? "" : "s", series->system.kernel);
}

static int print_block_head(FILE *out, const struct series *series)
{
    const struct file_system_info *to = &series->to;
    char files[FIGURE_SIZE], kb[FIGURE_SIZE];

    int r = print_note(out, 0, "Results for %s:", series->system.name);
    if (r == 0)
        r = print_note(out, 0, "%s, %s file%s, %s KB, to %s%s (%s)", series->workload,
            format_count(files, series->files), series->files == 1 ? "" : "s",
            format_count(kb, bytes_to_kb(series->bytes)), to->type,
            to->has_journal == 0 ? " without a journal" : "", to->path);
    (void)fputc('\n', out);
    return r;
}

static int print_block(FILE *out, const struct rankings *rankings, const struct series *block)
{
    int r = print_block_head(out, block);

    if (r == 0)
        r = print_block_table(out, rankings, block);
    (void)fputc('\n', out);
    for (size_t i = 0; i < rankings->n && r == 0; i++) {
        if (!is_same_block(rankings->all[i].series, block))
            continue;
        r = print_ties(out, &rankings->all[i]);
        if (r == 0)
            r = print_standing_notes(out, &rankings->all[i]);
        if (r == 0)
            r = print_series_note(out, &rankings->all[i]);
    }
    (void)fputc('\n', out);
    return r;
}

int report_print_series(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, options, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        if (!has_earlier(&rankings, i, is_same_block))
            r = print_block(out, &rankings, series[i]);
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

    table_add_row(table, (const char *const[]){
                             row->standing->method->name,
                             row->series->system.name,
                             row->series->to.type,
                             format_duration(time, row->standing->real_ns),
                             format_whole(rate, row->standing->rate_kb_s),
                         });
}

static int print_summary_caption(FILE *out, const struct series *series)
{
    char source[SOURCE_SIZE], files[FIGURE_SIZE], kb[FIGURE_SIZE];

    (void)fputc('\n', out);
    int r = print_note(out, 3, "%s Performance", series_describe_source(source, series));
    if (r == 0)
        r = print_note(out, 3, "Copying %s: %s file%s, %s KB.", series->workload,
            format_count(files, series->files), series->files == 1 ? "" : "s",
            format_count(kb, bytes_to_kb(series->bytes)));
    (void)fputc('\n', out);
    return r;
}

static int print_summary(FILE *out, const struct rankings *rankings, const struct series *summary)
{
    static const struct table_column columns[] = {
        {{"", "Method"}, TABLE_LEFT},
        {{"", "System"}, TABLE_LEFT},
        {{"", "To"}, TABLE_LEFT},
        {{"Time", "(m:ss)"}, TABLE_RIGHT},
        {{"Data", "Rate"}, TABLE_RIGHT},
    };
    size_t room = 1;

    for (size_t i = 0; i < rankings->n; i++)
        room += rankings->all[i].n_ranked;
    _cleanup_free_ struct summary_row *rows = calloc(room, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    size_t n = summary_collect(rankings, summary, rows);
    if (n == 0)
        return 0;
    _cleanup_(cleanup_table_p) struct table *table = table_new(columns, ELEMENTS(columns));
    for (size_t i = 0; i < n; i++)
        add_summary_row(table, &rows[i]);
    int r = table_print(out, table, TABLE_WIDTH);
    return r < 0 ? r : print_summary_caption(out, summary);
}

int report_print_summaries(FILE *out, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++)
        if (!has_earlier(&rankings, i, is_same_summary))
            r = print_summary(out, &rankings, series[i]);
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
    contrast_add(contrast, standing->method->name, other->rate_kb_s / standing->rate_kb_s);
    table_add_row(table, (const char *const[]){
                             standing->method->name,
                             series_describe_source(source, small->series),
                             format_whole(rate, standing->rate_kb_s),
                             format_whole(large_rate, other->rate_kb_s),
                             format_ratio(times, other->rate_kb_s / standing->rate_kb_s),
                         });
}

static int print_observation(FILE *out, const struct contrast *contrast)
{
    /* Below this, the difference is not one to explain. */
    const double alike = 1.1;
    char least[FIGURE_SIZE], most[FIGURE_SIZE];

    (void)format_ratio(least, contrast->least);
    (void)format_ratio(most, contrast->most);
    if (contrast->most < alike)
        return text_print_wrapped(out, 2, 2,
            "Here one large file is copied no faster than many small ones: the bytes decide how "
            "long it takes, and the files' number costs nothing that shows.");
    if (contrast->n == 1)
        return print_note(out, 2,
            "With %s, one large file moves at %s times the rate of many small ones. What each file "
            "costs decides, not the rate of the medium: a device's rate says little about how long "
            "many small files take, so measure with files like your own.",
            contrast->most_method, most);
    return print_note(out, 2,
        "One large file moves at %s (%s) to %s (%s) times the rate of many small ones. What each "
        "file costs decides, not the rate of the medium: a device's rate says little about how "
        "long many small files take, so measure with files like your own.",
        least, contrast->least_method, most, contrast->most_method);
}

static int print_contrast_head(FILE *out, const struct series *small, const struct series *large)
{
    char files[FIGURE_SIZE], kb[FIGURE_SIZE], large_kb[FIGURE_SIZE];

    int r = print_note(out, 0,
        "Many small files and one large file, %s, to %s:", small->system.name, small->to.type);
    if (r == 0)
        r = print_note(out, 0, "%s, %s files, %s KB, and %s, 1 file, %s KB", small->workload,
            format_count(files, small->files), format_count(kb, bytes_to_kb(small->bytes)),
            large->workload, format_count(large_kb, bytes_to_kb(large->bytes)));
    (void)fputc('\n', out);
    return r;
}

static int print_contrast(FILE *out, const struct ranking *small, const struct ranking *large)
{
    static const struct table_column columns[] = {
        {{"", "Method"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"Small", "Rate"}, TABLE_RIGHT},
        {{"Large", "Rate"}, TABLE_RIGHT},
        {{"Large/", "Small"}, TABLE_RIGHT},
    };
    _cleanup_(cleanup_table_p) struct table *table = table_new(columns, ELEMENTS(columns));
    struct contrast contrast = {0};

    for (size_t i = 0; i < small->n_ranked; i++)
        add_contrast(table, small, large, &small->standings[i], &contrast);
    if (contrast.n == 0)
        return 0;
    int r = print_contrast_head(out, small->series, large->series);
    if (r == 0)
        r = table_print(out, table, TABLE_WIDTH);
    (void)fputc('\n', out);
    if (r == 0)
        r = print_observation(out, &contrast);
    (void)fputc('\n', out);
    return r;
}

int report_print_small_versus_large(FILE *out, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++) {
        const struct ranking *large = find_large(&rankings, series[i]);
        if (large)
            r = print_contrast(out, &rankings.all[i], large);
    }
    return r;
}

int report_print(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options)
{
    int r = report_print_series(out, series, n_series, options);

    if (r == 0 && n_series > 1)
        r = report_print_summaries(out, series, n_series);
    return r < 0 ? r : report_print_small_versus_large(out, series, n_series);
}

int report_print_list(FILE *out, const struct series *const *series, size_t n_series)
{
    static const struct table_column columns[] = {
        {{"", "Series"}, TABLE_LEFT, .is_whole = true},
        {{"", "Started"}, TABLE_LEFT},
        {{"", "Workload"}, TABLE_LEFT},
        {{"", "Source"}, TABLE_LEFT},
        {{"", "To"}, TABLE_LEFT},
        {{"", "Methods"}, TABLE_RIGHT},
    };
    _cleanup_(cleanup_table_p) struct table *table = table_new(columns, ELEMENTS(columns));

    for (size_t i = 0; i < n_series; i++) {
        char source[SOURCE_SIZE], methods[FIGURE_SIZE];
        (void)snprintf(methods, sizeof(methods), "%zu", series[i]->n_methods);
        table_add_row(table, (const char *const[]){
                                 series[i]->id,
                                 series[i]->started,
                                 series[i]->workload,
                                 series_describe_source(source, series[i]),
                                 series[i]->to.type,
                                 methods,
                             });
    }
    return table_print(out, table, TABLE_WIDTH);
}
