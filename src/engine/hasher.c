#include "engine/hasher.h"

#include <string.h>
#include <xxhash.h>

struct hasher *hasher_new(void)
{
    return (struct hasher *)XXH3_createState();
}

static XXH3_state_t *state_of(struct hasher *hasher)
{
    return (XXH3_state_t *)hasher;
}

void hasher_free(struct hasher *hasher)
{
    (void)XXH3_freeState(state_of(hasher)); /* always says the same */
}

void hasher_reset(struct hasher *hasher)
{
    (void)XXH3_128bits_reset(state_of(hasher)); /* fails on NULL only, as does update */
}

void hasher_update(struct hasher *hasher, const void *bytes, size_t n, uint64_t offset)
{
    const char *at = bytes;

    for (size_t k; n > 0; at += k, offset += k, n -= k) {
        k = n < HASH_BLOCK ? n : HASH_BLOCK;
        if (bytes_are_zero(at, k))
            continue;
        (void)XXH3_128bits_update(state_of(hasher), &offset, sizeof(offset));
        (void)XXH3_128bits_update(state_of(hasher), at, k);
    }
}

struct hash hasher_digest(const struct hasher *hasher)
{
    XXH128_hash_t digest = XXH3_128bits_digest((const XXH3_state_t *)hasher);
    return (struct hash){digest.low64, digest.high64};
}

bool hash_equal(struct hash a, struct hash b)
{
    return a.low == b.low && a.high == b.high;
}

bool bytes_are_zero(const void *bytes, size_t n)
{
    const char *at = bytes;
    /* All equal to the byte before, and the first one zero. */
    return n == 0 || (at[0] == 0 && memcmp(at, at + 1, n - 1) == 0);
}
