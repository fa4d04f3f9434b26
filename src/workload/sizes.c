#include "workload/sizes.h"

#include <stddef.h>

#include "base/cleanup.h"
#include "workload/domains.h"
#include "workload/mix.h"

/* Sizes in thousandths of the mean at the quantiles of a lognormal distribution (sigma 1.25),
 * capped at 16.7 means: 99.8% of such files are smaller. */
static const struct {
    uint32_t below; /* share of files that are smaller, in 1/10000 */
    uint32_t size;
} quantiles[] = {
    {0, 5},
    {100, 25},
    {200, 35},
    {500, 59},
    {1000, 92},
    {2000, 160},
    {3000, 238},
    {4000, 334},
    {5000, 458},
    {6000, 628},
    {7000, 882},
    {8000, 1311},
    {9000, 2272},
    {9500, 3578},
    {9800, 5965},
    {9900, 8387},
    {9950, 11456},
    {10000, 16717},
};

/* The index-th file's size in millionths of the mean, before scaling. */
static uint64_t raw_size(uint64_t seed, uint64_t index)
{
    /* 24 bits of fraction below the table's 1/10000. */
    uint64_t at = ((mix(seed, DOMAIN_SIZE, index) >> 32) * 10000) >> 8;
    size_t i = 1;

    while (i + 1 < ELEMENTS(quantiles) && (uint64_t)quantiles[i].below << 24 <= at)
        i++;
    uint64_t left = (uint64_t)quantiles[i - 1].below << 24;
    uint64_t right = (uint64_t)quantiles[i].below << 24;
    uint64_t low = quantiles[i - 1].size, high = quantiles[i].size;
    return low * 1000 + ((high - low) * 1000 * ((at - left) >> 8)) / ((right - left) >> 8);
}

void sizes_start(struct sizes *sizes, const struct quantiles *table, uint64_t seed, uint64_t files,
    uint64_t bytes)
{
    *sizes = (struct sizes){.seed = seed, .bytes = bytes, .is_drawn = !table};
    if (table)
        quantile_parts_start(&sizes->parts, table, files, bytes);
    for (uint64_t i = 0; i < files && sizes->is_drawn; i++)
        sizes->raw_total += raw_size(seed, i);
}

/* The difference of two rounded running totals, so nothing is left over at the end. */
static uint64_t next_drawn(struct sizes *sizes)
{
    uint64_t before = (uint64_t)(sizes->raw_done * sizes->bytes / sizes->raw_total);

    sizes->raw_done += raw_size(sizes->seed, sizes->next++);
    return (uint64_t)(sizes->raw_done * sizes->bytes / sizes->raw_total) - before;
}

uint64_t sizes_next(struct sizes *sizes)
{
    if (sizes->is_drawn)
        return next_drawn(sizes);
    return quantile_part(
        &sizes->parts, mix_shuffle(sizes->seed, DOMAIN_SIZE, sizes->parts.n, sizes->next++));
}
