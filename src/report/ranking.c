#include "report/ranking.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "report/report.h"
#include "report/table.h"
#include "results/results.h"

/* The first sample that failed, NULL if none did. */
static const struct sample *failed_sample(const struct method_result *method)
{
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status != 0)
            return &method->samples[i];
    return NULL;
}

static bool method_is_ranked(const struct method_result *method)
{
    return (method->verdict == VERDICT_RIGHT || method->verdict == VERDICT_UNCHECKED) &&
           method->n_samples > 0 && !failed_sample(method);
}

char *series_describe_source(char *buffer, const struct series *series)
{
    (void)snprintf(buffer, SOURCE_SIZE, "%s %s", series->from.type, series->cold ? "cold" : "warm");
    return buffer;
}

char *standing_describe_reason(char *buffer, const struct standing *standing)
{
    static const char *const words[] = {
        [VERDICT_UNCHECKED] = "no samples",
        [VERDICT_RIGHT] = "no samples",
        [VERDICT_WRONG] = "the copy is wrong",
        [VERDICT_FAILED] = "it failed",
        [VERDICT_MISSING] = "not on this machine",
    };
    const struct method_result *method = standing->method;
    const struct sample *failed = failed_sample(method);
    const char *why = method->why ? method->why : "";

    if (method->verdict != VERDICT_FAILED && method->verdict != VERDICT_MISSING &&
        method->verdict != VERDICT_WRONG && failed)
        (void)snprintf(buffer, REASON_SIZE, "a run exited with %d", failed->exit_status);
    else
        (void)snprintf(
            buffer, REASON_SIZE, "%s%s%s", words[method->verdict], *why ? ": " : "", why);
    return buffer;
}

static double sample_field(const struct sample *sample, size_t offset)
{
    return (double)*(const uint64_t *)((const char *)sample + offset);
}

/* The median of one of the samples' times, rounded to a nanosecond. `room` holds a number a sample.
 */
static uint64_t median_of(const struct method_result *method, size_t offset, double *room)
{
    for (size_t i = 0; i < method->n_samples; i++)
        room[i] = sample_field(&method->samples[i], offset);
    return (uint64_t)(statistics_median(room, method->n_samples) + 0.5);
}

static int standing_measure(const struct series *series, struct standing *standing)
{
    const struct method_result *method = standing->method;
    _cleanup_free_ double *room = calloc(method->n_samples, sizeof(*room));

    if (!room)
        return -ENOMEM;
    standing->synced_ns = median_of(method, offsetof(struct sample, synced_ns), room);
    standing->user_ns = median_of(method, offsetof(struct sample, user_ns), room);
    standing->sys_ns = median_of(method, offsetof(struct sample, sys_ns), room);
    standing->real_ns = median_of(method, offsetof(struct sample, real_ns), room);
    standing->real_mad_ns = (uint64_t)(statistics_mad(room, method->n_samples) + 0.5);
    if (standing->synced_ns < standing->real_ns)
        standing->synced_ns = 0;
    standing->rate_kb_s = rate_kb_per_second(series->bytes, standing->real_ns);
    if (standing->real_ns > 0)
        standing->files_s =
            (double)series->files / ((double)standing->real_ns / (double)NS_PER_SECOND);
    return 0;
}

/* The ratios of the samples that share a block; `room` holds a number a sample of `method`. */
static size_t pair_samples(
    const struct method_result *method, const struct method_result *baseline, double *room)
{
    size_t n = 0;

    for (size_t i = 0; i < method->n_samples; i++) {
        for (size_t k = 0; k < baseline->n_samples; k++) {
            if (method->samples[i].block != baseline->samples[k].block ||
                baseline->samples[k].real_ns == 0)
                continue;
            room[n++] = (double)method->samples[i].real_ns / (double)baseline->samples[k].real_ns;
            break;
        }
    }
    return n;
}

static int standing_compare(struct standing *standing, const struct standing *baseline)
{
    _cleanup_free_ double *room = calloc(standing->method->n_samples, sizeof(*room));

    if (!room)
        return -ENOMEM;
    size_t n = pair_samples(standing->method, baseline->method, room);
    if (n > 0)
        return statistics_bootstrap(room, n, &standing->as_long);
    if (baseline->real_ns > 0)
        standing->as_long.median = (double)standing->real_ns / (double)baseline->real_ns;
    standing->as_long.low = standing->as_long.high = standing->as_long.median;
    return 0;
}

/* Moves a standing up to its place among the ranked ones before it. */
static void ranking_insert(struct ranking *ranking, struct standing standing)
{
    size_t at = standing.is_ranked ? ranking->n_ranked : ranking->n_standings;

    while (standing.is_ranked && at > 0 && ranking->standings[at - 1].real_ns > standing.real_ns)
        at--;
    (void)memmove(&ranking->standings[at + 1], &ranking->standings[at],
        (ranking->n_standings - at) * sizeof(standing));
    ranking->standings[at] = standing;
    ranking->n_standings++;
    ranking->n_ranked += standing.is_ranked;
}

static int ranking_compare(struct ranking *ranking, const char *baseline)
{
    for (size_t i = 0; i < ranking->n_ranked; i++)
        if (!ranking->baseline || strcmp(ranking->standings[i].method->name, baseline) == 0)
            ranking->baseline = &ranking->standings[i];
    for (size_t i = 0; i < ranking->n_ranked; i++) {
        int r = standing_compare(&ranking->standings[i], ranking->baseline);
        if (r < 0)
            return r;
    }
    return 0;
}

int ranking_make(const struct series *series, const char *baseline, struct ranking *ret)
{
    struct ranking ranking = {.series = series};
    int r = 0;

    ranking.standings = calloc(series->n_methods + 1, sizeof(*ranking.standings));
    if (!ranking.standings)
        return -ENOMEM;
    for (size_t i = 0; i < series->n_methods && r == 0; i++) {
        struct standing standing = {.method = &series->methods[i]};
        standing.is_ranked = method_is_ranked(standing.method);
        if (standing.is_ranked)
            r = standing_measure(series, &standing);
        ranking_insert(&ranking, standing);
    }
    if (r == 0)
        r = ranking_compare(&ranking, baseline);
    if (r < 0)
        ranking_clear(&ranking);
    else
        *ret = ranking;
    return r;
}

const char *ranking_baseline(const struct report_options *options)
{
    return options && options->baseline ? options->baseline : "shoal";
}

void ranking_clear(struct ranking *ranking)
{
    free(ranking->standings);
    *ranking = (struct ranking){0};
}
