/* A hash of a file's content that is the same for zeros written out and for holes. */
#ifndef SHOAL_ENGINE_HASHER_H
#define SHOAL_ENGINE_HASHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hasher;

struct hash {
    uint64_t low, high;
};

/* NULL: no memory. */
struct hasher *hasher_new(void);
void hasher_free(struct hasher *hasher);

void hasher_reset(struct hasher *hasher);

/* Content in rising order of offsets; what is left out counts as zeros. All but a file's last piece
 * are whole blocks of HASH_BLOCK bytes, at offsets that are multiples of it. */
#define HASH_BLOCK 4096
void hasher_update(struct hasher *hasher, const void *bytes, size_t n, uint64_t offset);

struct hash hasher_digest(const struct hasher *hasher);

bool hash_equal(struct hash a, struct hash b);

/* Whether all n bytes are zero. */
bool bytes_are_zero(const void *bytes, size_t n);

#endif
