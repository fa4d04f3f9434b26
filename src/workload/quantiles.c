#include "workload/quantiles.h"

#include <assert.h>

__extension__ typedef unsigned __int128 uint128;

/* Shares have this many bits of fraction below a billionth. */
#define FRACTION_BITS 10
#define WHOLE         ((uint64_t)QUANTILE_ONE << FRACTION_BITS)

/* The first point to the right of a share, in fractions. */
static size_t point_after(const struct quantiles *table, uint64_t share)
{
    size_t i = 1;

    while (i + 1 < table->n && (uint64_t)table->points[i].share << FRACTION_BITS <= share)
        i++;
    return i;
}

uint64_t quantiles_at(const struct quantiles *table, uint32_t share)
{
    size_t i = point_after(table, (uint64_t)share << FRACTION_BITS);
    const struct quantile *left = &table->points[i - 1], *right = &table->points[i];

    if (right->share == left->share)
        return right->value;
    return left->value + (uint64_t)((uint128)(right->value - left->value) * (share - left->share) /
                                    (right->share - left->share));
}

/* The area below the curve from the left point on, `width` fractions wide. At most 2^80. */
static uint128 area(const struct quantile *left, const struct quantile *right, uint64_t width)
{
    uint64_t whole = (uint64_t)(right->share - left->share) << FRACTION_BITS;

    if (whole == 0)
        return 0;
    return (uint128)left->value * width +
           (uint128)(right->value - left->value) * ((uint128)width * width / 2) / whole;
}

/* The area below the curve up to the i-th point. */
static uint128 area_up_to(const struct quantiles *table, size_t i)
{
    uint128 sum = 0;

    for (size_t k = 1; k <= i; k++) {
        const struct quantile *left = &table->points[k - 1], *right = &table->points[k];
        sum += area(left, right, (uint64_t)(right->share - left->share) << FRACTION_BITS);
    }
    return sum;
}

uint64_t quantiles_mean(const struct quantiles *table)
{
    return (uint64_t)(area_up_to(table, table->n - 1) * 1000 / WHOLE);
}

void quantile_parts_start(
    struct quantile_parts *parts, const struct quantiles *table, uint64_t n, uint64_t total)
{
    uint128 all = area_up_to(table, table->n - 1);

    assert(table->n <= QUANTILE_POINTS_MAX);
    *parts = (struct quantile_parts){.table = table, .n = n, .total = total};
    while (all >> parts->shift >> 64) /* leaves room for the product with the total */
        parts->shift++;
    for (size_t i = 0; i < table->n; i++)
        parts->up_to[i] = (uint64_t)(area_up_to(table, i) >> parts->shift);
}

/* What the first i of the parts come to. */
static uint64_t sum_of_first(const struct quantile_parts *parts, uint64_t i)
{
    const struct quantiles *table = parts->table;
    uint64_t all = parts->up_to[table->n - 1];

    if (i == parts->n)
        return parts->total;
    if (all == 0)
        return (uint64_t)((uint128)parts->total * i / parts->n);
    uint64_t share = (uint64_t)((uint128)WHOLE * i / parts->n);
    size_t right = point_after(table, share);
    uint64_t from = (uint64_t)table->points[right - 1].share << FRACTION_BITS;
    uint128 beyond = area(&table->points[right - 1], &table->points[right], share - from);
    uint64_t first = parts->up_to[right - 1] + (uint64_t)(beyond >> parts->shift);
    return (uint64_t)((uint128)first * parts->total / all);
}

uint64_t quantile_part(const struct quantile_parts *parts, uint64_t i)
{
    assert(i < parts->n);
    return sum_of_first(parts, i + 1) - sum_of_first(parts, i);
}
