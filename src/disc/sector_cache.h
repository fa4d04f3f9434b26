/* Small reads of a disc: the sectors of directories are read once and then come from memory. May be
 * used by several threads at once. */
#ifndef SHOAL_DISC_SECTOR_CACHE_H
#define SHOAL_DISC_SECTOR_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct disc_fault;
struct sectors;
struct sector_cache;

/* Of sectors that stay the caller's and outlive it. 0 or -ENOMEM. */
int sector_cache_new(struct sectors *sectors, struct sector_cache **ret);
void sector_cache_free(struct sector_cache *cache); /* NULL is ignored */

/* Copies n bytes at an offset. -EUCLEAN where they are not all there, -EIO and the like where they
 * cannot be read. */
int sector_cache_read(
    struct sector_cache *cache, void *buffer, size_t n, uint64_t offset, struct disc_fault *fault);

/* Keeps the first fault, at a byte of the image; returns `error` for the caller to return. */
int disc_fault_note(struct disc_fault *fault, int error, const char *what, uint64_t offset);

#endif
