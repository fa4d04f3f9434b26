/* Ranges of a file's bytes. */
#ifndef SHOAL_ENTRY_RANGE_H
#define SHOAL_ENTRY_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t start, end; /* [start, end) */
};

/* Widens ranges, which are in rising order, to whole units (a power of two), the last one to the
 * end of a file of `size` bytes at most; those that then meet become one, and empty ones are left
 * out. Returns how many are left. */
size_t ranges_widen(struct range *ranges, size_t n, uint64_t unit, uint64_t size);

/* Whether they leave no hole in a file of `size` bytes. */
bool ranges_are_whole(const struct range *ranges, size_t n, uint64_t size);

#endif
