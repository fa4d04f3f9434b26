/* Choices that are the same on every machine: numbers made from a seed number, a domain (what is
 * being chosen) and an index, by splitmix64's finaliser. Integers only. */
#ifndef SHOAL_WORKLOAD_MIX_H
#define SHOAL_WORKLOAD_MIX_H

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

/* The place of the index-th of n things once all are shuffled; each place is taken once. A Feistel
 * network on the bits that n needs, walked until it is below n. 0 < n <= 2^32, index < n. */
static inline uint64_t mix_shuffle(uint64_t seed, uint64_t domain, uint64_t n, uint64_t index)
{
    unsigned half = 1;

    while (1ULL << 2 * half < n)
        half++;
    const uint64_t mask = (1ULL << half) - 1;
    do {
        uint64_t left = index >> half, right = index & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (mix(seed, domain, round << 32 | right) & mask);
            left = right;
            right = next;
        }
        index = left << half | right;
    } while (index >= n);
    return index;
}

/* The next number of a running sequence. */
static inline uint64_t mix_next(uint64_t *state)
{
    *state += MIX_STEP;
    return mix_finish(*state);
}

#endif
