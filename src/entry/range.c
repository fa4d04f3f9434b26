#include "entry/range.h"

static uint64_t round_up(uint64_t value, uint64_t unit, uint64_t most)
{
    uint64_t rest = value & (unit - 1), up = rest ? unit - rest : 0;
    return value >= most || most - value < up ? most : value + up;
}

size_t ranges_widen(struct range *ranges, size_t n, uint64_t unit, uint64_t size)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const struct range wide = {
            ranges[i].start & ~(unit - 1), round_up(ranges[i].end, unit, size)};
        if (ranges[i].start >= ranges[i].end || wide.start >= wide.end)
            continue;
        if (kept > 0 && wide.start <= ranges[kept - 1].end)
            ranges[kept - 1].end = wide.end;
        else
            ranges[kept++] = wide;
    }
    return kept;
}

bool ranges_are_whole(const struct range *ranges, size_t n, uint64_t size)
{
    return size == 0 || (n == 1 && ranges[0].start == 0 && ranges[0].end >= size);
}
