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
    if (series_has_drive(series))
        (void)snprintf(buffer, SOURCE_SIZE, "%.56s CDROM", series->drive);
    else
        (void)snprintf(
            buffer, SOURCE_SIZE, "%s %s", series->from.type, series->cold ? "cold" : "warm");
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

/* The median of one of the samples' times, unrounded and stretched, with its interval. `room` holds
 * a number a sample, and has those times afterwards. */
static int estimate_field(const struct method_result *method, size_t offset, double stretch,
    double *room, struct estimate *ret)
{
    for (size_t i = 0; i < method->n_samples; i++)
        room[i] = stretch * sample_field(&method->samples[i], offset);
    return statistics_estimate(room, method->n_samples, ret);
}

static uint64_t rounded(double ns)
{
    return (uint64_t)(ns + 0.5);
}

/* The figures that are not times; `room` has the real times. */
static int standing_measure_rest(
    const struct series *series, struct standing *standing, double *room)
{
    size_t n = standing->method->n_samples;
    int r = statistics_outliers(room, n, NULL, &standing->n_outliers);

    if (r < 0)
        return r;
    standing->real_mad_ns = rounded(statistics_mad(room, n));
    standing->rate_kb_s = rate_kb_per_second(series->bytes, standing->real_ns);
    if (standing->real_ns > 0)
        standing->files_s =
            (double)series->files / ((double)standing->real_ns / (double)NS_PER_SECOND);
    return 0;
}

static int standing_measure(const struct series *series, struct standing *standing)
{
    const struct method_result *method = standing->method;
    _cleanup_free_ double *room = calloc(method->n_samples, sizeof(*room));
    const double stretch = series_stretch(series);
    struct estimate user, sys;
    int r = room ? 0 : -ENOMEM;

    if (r == 0)
        r = estimate_field(
            method, offsetof(struct sample, synced_ns), stretch, room, &standing->synced);
    if (r == 0)
        r = estimate_field(method, offsetof(struct sample, user_ns), 1, room, &user);
    if (r == 0)
        r = estimate_field(method, offsetof(struct sample, sys_ns), 1, room, &sys);
    if (r == 0)
        r = estimate_field(
            method, offsetof(struct sample, real_ns), stretch, room, &standing->real);
    if (r < 0)
        return r;
    if (standing->synced.median < standing->real.median)
        standing->synced = (struct estimate){0};
    standing->synced_ns = rounded(standing->synced.median);
    standing->user_ns = rounded(user.median);
    standing->sys_ns = rounded(sys.median);
    standing->real_ns = rounded(standing->real.median);
    return standing_measure_rest(series, standing, room);
}

/* Collects the real times of those samples of both that share a block; returns how many pairs those
 * are. There is room for a number a sample of `method` in `times` and in `base_times`. */
static size_t pair_samples(const struct method_result *method, const struct method_result *base,
    double *times, double *base_times)
{
    size_t n = 0,
           next = 0; /* blocks mostly come in the same order: the search goes on from there */

    for (size_t i = 0; i < method->n_samples; i++) {
        for (size_t tried = 0; tried < base->n_samples; tried++) {
            const struct sample *other = &base->samples[(next + tried) % base->n_samples];
            if (method->samples[i].block != other->block)
                continue;
            next += tried + 1;
            if (other->real_ns == 0)
                break;
            times[n] = (double)method->samples[i].real_ns;
            base_times[n++] = (double)other->real_ns;
            break;
        }
    }
    return n;
}

/* How many times as long as the other one takes, pair by pair; where there are no pairs, by the
 * medians, and n is 0. */
static int compare_standings(
    const struct standing *standing, const struct standing *base, struct estimate *ret)
{
    size_t n = standing->method->n_samples;
    _cleanup_free_ double *times = calloc(n, sizeof(*times));
    _cleanup_free_ double *base_times = calloc(n, sizeof(*base_times));

    if (!times || !base_times)
        return -ENOMEM;
    n = pair_samples(standing->method, base->method, times, base_times);
    if (n > 0)
        return statistics_compare_pairs(times, base_times, n, ret);
    *ret = (struct estimate){0};
    if (base->real_ns > 0)
        ret->median = (double)standing->real_ns / (double)base->real_ns;
    ret->low = ret->high = ret->median;
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
        struct standing *standing = &ranking->standings[i];
        int r = compare_standings(standing, ranking->baseline, &standing->as_long);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Whether the method at `faster` is ahead of that at `slower` because of one between them. */
static bool is_ahead_through(const bool *ahead, size_t n, size_t faster, size_t slower)
{
    for (size_t i = faster + 1; i < slower; i++)
        if (ahead[faster * n + i] && ahead[i * n + slower])
            return true;
    return false;
}

/* Compares the method at `slower` with all before it, the nearest first: ahead[i * n + k] says
 * whether i is ahead of k. */
static int rank_standing(struct ranking *ranking, size_t slower, bool *ahead)
{
    struct standing *standing = &ranking->standings[slower];
    size_t n = ranking->n_ranked;

    standing->rank = 1;
    for (size_t faster = slower; faster-- > 0;) {
        struct tie tie = {.faster = faster, .slower = slower};
        int r = compare_standings(standing, &ranking->standings[faster], &tie.as_long);
        if (r < 0)
            return r;
        bool is_ahead = (tie.as_long.has_interval && tie.as_long.low > 1) ||
                        is_ahead_through(ahead, n, faster, slower);
        ahead[faster * n + slower] = is_ahead;
        standing->rank += is_ahead;
        if (!is_ahead)
            ranking->ties[ranking->n_ties++] = tie;
    }
    return 0;
}

static int compare_ties(const void *a, const void *b)
{
    const struct tie *x = a, *y = b;

    if (x->faster != y->faster)
        return x->faster > y->faster ? 1 : -1;
    return (x->slower > y->slower) - (x->slower < y->slower);
}

static int ranking_rank(struct ranking *ranking)
{
    size_t n = ranking->n_ranked;
    _cleanup_free_ bool *ahead = calloc(n * n + 1, sizeof(*ahead));

    ranking->ties = calloc(n * n + 1, sizeof(*ranking->ties));
    if (!ahead || !ranking->ties)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        int r = rank_standing(ranking, i, ahead);
        if (r < 0)
            return r;
    }
    qsort(ranking->ties, ranking->n_ties, sizeof(*ranking->ties), compare_ties);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (k != i && ranking->standings[k].rank == ranking->standings[i].rank)
                ranking->standings[i].is_rank_shared = true;
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
    if (r == 0)
        r = ranking_rank(&ranking);
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
    free(ranking->ties);
    *ranking = (struct ranking){0};
}
