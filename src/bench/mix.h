/* Choices that are the same on every machine: numbers made from a seed number, a domain (what is
 * being chosen) and an index, by splitmix64's finaliser. Integers only. */
#ifndef SHOAL_BENCH_MIX_H
#define SHOAL_BENCH_MIX_H

#include <stdint.h>

#define MIX_STEP 0x9e3779b97f4a7c15ULL

static inline uint64_t mix_finish(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* The index-th number of a domain. */
static inline uint64_t mix(uint64_t seed, uint64_t domain, uint64_t index)
{
    uint64_t start = mix_finish(seed + MIX_STEP * (domain + 1));
    return mix_finish(start + MIX_STEP * (index + 1));
}

/* The next number of a running sequence. */
static inline uint64_t mix_next(uint64_t *state)
{
    *state += MIX_STEP;
    return mix_finish(*state);
}

#endif
