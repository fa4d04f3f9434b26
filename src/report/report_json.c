/* The tables' figures for programs. The words and keys are those of a results file. */
#include "report/report_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "model/reference_data.h"
#include "report/rankings.h"
#include "results/results.h"

/* A string; what is not UTF-8, which JSON cannot hold, as people are shown it. */
static json_t *json_text(const char *text)
{
    if (utf8_is_valid(text, strlen(text)))
        return json_string(text);
    _cleanup_free_ char *quoted = quote_name(text);
    return quoted ? json_string(quoted) : NULL;
}

static json_t *json_file_system(const struct file_system_info *info)
{
    int has_journal = info->has_journal;

    return json_pack("{s:o, s:o, s:o, s:o}", "path", json_text(info->path), "type",
        json_text(info->type), "options", json_text(info->options), "has_journal",
        has_journal < 0 ? json_null() : json_boolean(has_journal));
}

static json_t *json_system(const struct system_info *info)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "name", json_text(info->name), "cpu",
        json_text(info->cpu), "cores", (json_int_t)info->cores, "memory_kb",
        (json_int_t)info->memory_kb, "kernel", json_text(info->kernel), "machine",
        info->machine && *info->machine ? json_text(info->machine) : json_null());
}

/* [low, high], or null where there is no interval. */
static json_t *json_interval(const struct estimate *estimate)
{
    return estimate->has_interval ? json_pack("[f, f]", estimate->low, estimate->high)
                                  : json_null();
}

static json_t *json_figures(const struct standing *standing)
{
    return json_pack("{s:I, s:b, s:I, s:o, s:I, s:I, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:o}",
        "rank", (json_int_t)standing->rank, "rank_shared", standing->is_rank_shared, "real_ns",
        (json_int_t)standing->real_ns, "real_interval_ns", json_interval(&standing->real),
        "real_mad_ns", (json_int_t)standing->real_mad_ns, "outliers",
        (json_int_t)standing->n_outliers, "synced_ns",
        standing->synced_ns ? json_integer((json_int_t)standing->synced_ns) : json_null(),
        "synced_interval_ns", json_interval(&standing->synced), "user_ns",
        (json_int_t)standing->user_ns, "sys_ns", (json_int_t)standing->sys_ns, "rate_kb_s",
        standing->rate_kb_s, "files_s", standing->files_s, "as_long", standing->as_long.median,
        "as_long_interval", json_interval(&standing->as_long));
}

static json_t *json_standing(const struct standing *standing)
{
    const struct method_result *method = standing->method;
    char reason[REASON_SIZE];

    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:I, s:o, s:o}", "name", json_text(method->name),
        "command", json_text(method->command), "version", json_text(method->version), "verdict",
        verdict_word(method->verdict), "why", json_text(method->why), "runs",
        (json_int_t)method->n_samples, "figures",
        standing->is_ranked ? json_figures(standing) : json_null(), "not_ranked",
        standing->is_ranked ? json_null() : json_text(standing_describe_reason(reason, standing)));
}

static json_t *json_standings(const struct ranking *ranking)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ranking->n_standings; i++) {
        if (json_array_append_new(list, json_standing(&ranking->standings[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The pairs between which no difference is shown. */
static json_t *json_ties(const struct ranking *ranking)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ranking->n_ties; i++) {
        const struct tie *tie = &ranking->ties[i];
        json_t *item = json_pack("{s:o, s:o, s:f, s:o, s:I}", "faster",
            json_text(ranking->standings[tie->faster].method->name), "slower",
            json_text(ranking->standings[tie->slower].method->name), "as_long", tie->as_long.median,
            "as_long_interval", json_interval(&tie->as_long), "pairs", (json_int_t)tie->as_long.n);
        if (json_array_append_new(list, item) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *json_ranking(const struct ranking *ranking)
{
    const struct series *series = ranking->series;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:b, s:o, s:f, s:o, s:o, s:o}",
        "id", json_text(series->id), "started", json_text(series->started), "system",
        json_system(&series->system), "from", json_file_system(&series->from), "to",
        json_file_system(&series->to), "workload", json_text(series->workload), "seed",
        (json_int_t)series->seed, "files", (json_int_t)series->files, "bytes",
        (json_int_t)series->bytes, "cold", series->cold, "drive",
        series_has_drive(series) ? json_text(series->drive) : json_null(), "time_scale",
        series_stretch(series), "baseline",
        ranking->baseline ? json_text(ranking->baseline->method->name) : json_null(), "methods",
        json_standings(ranking), "undecided", json_ties(ranking));
}

static int add_series(json_t *list, const struct series *series, const char *baseline)
{
    struct ranking ranking;
    int r = ranking_make(series, baseline, &ranking);

    if (r < 0)
        return r;
    r = json_array_append_new(list, json_ranking(&ranking)) < 0 ? -ENOMEM : 0;
    ranking_clear(&ranking);
    return r;
}

int report_print_json(
    FILE *out, const struct series *const *series, size_t n_series, const char *baseline)
{
    json_t *list = json_array();
    json_t *root =
        json_pack("{s:s, s:i, s:O}", "schema", "shoal-report", "version", 1, "series", list);
    int r = root ? 0 : -ENOMEM;

    for (size_t i = 0; i < n_series && r == 0; i++)
        r = add_series(list, series[i], baseline);
    if (r == 0 && json_dumpf(root, out, JSON_INDENT(2)) < 0 && !ferror(out))
        r = -ENOMEM;
    (void)fputc('\n', out);
    json_decref(root);
    json_decref(list);
    return r;
}

int report_print_reference_json(FILE *out)
{
    size_t length;
    const char *text = reference_data(&length);

    (void)fwrite(text, 1, length, out); /* the stream keeps its failure */
    return 0;
}
