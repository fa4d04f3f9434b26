#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "workload/profile.h"
#include "workload/profile_store.h"
#include "workload/survey.h"

__extension__ typedef unsigned __int128 uint128;

#define MILLION 1000000

/* Where the parts of a table end, in millionths: closer together towards the tail, which has most
 * of the bytes. */
static const uint32_t ends[] = {1000, 10000, 20000, 50000, 100000, 150000, 200000, 250000, 300000,
    350000, 400000, 450000, 500000, 550000, 600000, 650000, 700000, 750000, 800000, 850000, 900000,
    920000, 940000, 950000, 960000, 970000, 980000, 985000, 990000, 993000, 995000, 997000, 998000,
    999000, 999500, 999800, 999900, 999950, 999990, MILLION};

/* As many different numbers as this, or fewer, are kept one by one. */
#define FEW 128

static_assert(2 * FEW <= QUANTILE_POINTS_MAX && 3 * ELEMENTS(ends) <= QUANTILE_POINTS_MAX,
    "a table has room for either");

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void add_point(struct profile_table *table, uint64_t share, uint64_t value)
{
    table->points[table->n++] = (struct quantile){(uint32_t)share, value};
}

/* The share of the first `count` of all. */
static uint64_t share_of(uint64_t count, uint64_t all)
{
    return (count * QUANTILE_ONE + all / 2) / all;
}

/* Each different number is a step. */
static bool learn_steps(const struct samples *sorted, struct profile_table *table)
{
    size_t n_steps = 0, i = 0;

    for (size_t k = 0; k < sorted->n; k++)
        n_steps += k == 0 || sorted->numbers[k] != sorted->numbers[k - 1];
    if (n_steps > FEW)
        return false;
    while (i < sorted->n) {
        uint64_t number = sorted->numbers[i];
        add_point(table, share_of(i, sorted->n), number);
        while (i < sorted->n && sorted->numbers[i] == number)
            i++;
        add_point(table, share_of(i, sorted->n), number);
    }
    return true;
}

/* One part of a table: from its least number to its greatest, flat on one side, and rising or risen
 * on the other just so that its mean is what it is. */
static void learn_part(
    const struct samples *sorted, size_t from, size_t to, struct profile_table *table)
{
    uint64_t left = share_of(from, sorted->n), right = share_of(to, sorted->n);
    uint64_t least = sorted->numbers[from], span = sorted->numbers[to - 1] - least;
    uint128 above = 0; /* of all, over the least; a straight line has half of the whole */
    uint128 whole = (uint128)span * (to - from);

    for (size_t i = from; i < to; i++)
        above += sorted->numbers[i] - least;
    add_point(table, left, least);
    if (span > 0 && 2 * above < whole)
        add_point(table, right - (uint64_t)(2 * above * (right - left) / whole), least);
    else if (span > 0)
        add_point(
            table, left + (uint64_t)(2 * (whole - above) * (right - left) / whole), least + span);
    add_point(table, right, least + span);
}

static void learn_table(struct samples *samples, struct profile_table *table)
{
    size_t from = 0;

    if (samples->n == 0) { /* of a directory without any below it */
        add_point(table, 0, 0);
        add_point(table, QUANTILE_ONE, 0);
        return;
    }
    qsort(samples->numbers, samples->n, sizeof(*samples->numbers), by_number);
    if (learn_steps(samples, table))
        return;
    for (size_t i = 0; i < ELEMENTS(ends); i++) {
        size_t to = (size_t)((uint128)samples->n * ends[i] / MILLION);
        if (to > from)
            learn_part(samples, from, to, table);
        from = to;
    }
}

static int refuse(char **ret_why, int error, const char *why)
{
    if (asprintf(ret_why, "%s", why) < 0)
        *ret_why = NULL;
    return error;
}

static int learn(struct profile *profile, const struct survey *survey, char **ret_why)
{
    struct survey_samples *samples = survey->samples;

    if (survey->files == 0)
        return refuse(ret_why, -EINVAL, "there is no regular file in it");
    learn_table(&samples->sizes, &profile->tables[PROFILE_SIZES]);
    learn_table(&samples->files_per_directory, &profile->tables[PROFILE_FILES]);
    learn_table(&samples->subdirectories, &profile->tables[PROFILE_SUBDIRECTORIES]);
    learn_table(&samples->name_lengths, &profile->tables[PROFILE_NAMES]);
    if (survey->files > SHAPE_COUNT_MAX || survey->directories > SHAPE_COUNT_MAX ||
        survey->bytes > SHAPE_BYTES_MAX ||
        samples->sizes.numbers[samples->sizes.n - 1] > QUANTILE_VALUE_MAX)
        return refuse(ret_why, -ERANGE, "it has too many files, or one that is too large");
    profile->shape.files = survey->files;
    profile->shape.directories = survey->directories;
    profile->shape.bytes = survey->bytes;
    profile->shape.n_levels = survey->n_levels;
    for (size_t i = 0; i < survey->n_levels; i++)
        profile->levels[i] = survey->levels[i];
    profile_connect(profile);
    return 0;
}

int profile_learn(const char *path, struct profile **ret, char **ret_why)
{
    _cleanup_free_ struct profile *profile = calloc(1, sizeof(*profile));
    struct survey_samples samples = {0};
    struct survey survey = {.samples = &samples};

    *ret_why = NULL;
    if (!profile)
        return -ENOMEM;
    int r = survey_directory(path, &survey, ret_why);
    if (r >= 0)
        r = learn(profile, &survey, ret_why);
    survey_samples_clear(&samples);
    if (r < 0)
        return r;
    *ret = TAKE_PTR(profile);
    return 0;
}
