#include "disc/sector_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "disc/disc.h"
#include "disc/sectors.h"

/* 512 KiB: the directories of some ten thousand files. */
#define SLOTS 256

struct slot {
    pthread_mutex_t lock;
    uint64_t sector; /* UINT64_MAX: none yet */
    size_t n;        /* less than a sector only at the end of the image */
    unsigned char bytes[SECTOR_BYTES];
};

struct sector_cache {
    struct sectors *sectors;
    struct slot slots[SLOTS];
};

int disc_fault_note(struct disc_fault *fault, int error, const char *what, uint64_t offset)
{
    if (!fault->what) {
        fault->what = what;
        fault->sector = offset / SECTOR_BYTES;
    }
    return error;
}

int sector_cache_new(struct sectors *sectors, struct sector_cache **ret)
{
    struct sector_cache *cache = malloc(sizeof(*cache));

    if (!cache)
        return -ENOMEM;
    cache->sectors = sectors;
    for (size_t i = 0; i < SLOTS; i++) {
        (void)pthread_mutex_init(&cache->slots[i].lock, NULL); /* never fails on Linux */
        cache->slots[i].sector = UINT64_MAX;
    }
    *ret = cache;
    return 0;
}

void sector_cache_free(struct sector_cache *cache)
{
    for (size_t i = 0; cache && i < SLOTS; i++)
        (void)pthread_mutex_destroy(&cache->slots[i].lock);
    free(cache);
}

/* Copies from within one sector, if the slot has it. */
static int copy_cached(
    struct slot *slot, uint64_t sector, size_t at, void *buffer, size_t n, size_t *ret_n)
{
    int found = 0;

    (void)pthread_mutex_lock(&slot->lock);
    if (slot->sector == sector) {
        *ret_n = at < slot->n ? slot->n - at : 0;
        if (*ret_n > n)
            *ret_n = n;
        memcpy(buffer, slot->bytes + at, *ret_n);
        found = 1;
    }
    (void)pthread_mutex_unlock(&slot->lock);
    return found;
}

/* The lock is not held while the disc is read: others may need the slot's old sector. */
static int fill(struct sector_cache *cache, struct slot *slot, uint64_t sector,
    unsigned char bytes[static SECTOR_BYTES], size_t *ret_n, struct disc_fault *fault)
{
    uint64_t bad = sector;
    ssize_t r =
        cache->sectors->ops->read(cache->sectors, bytes, SECTOR_BYTES, sector * SECTOR_BYTES, &bad);

    if (r < 0)
        return disc_fault_note(fault, (int)r, "unreadable sector", bad * SECTOR_BYTES);
    (void)pthread_mutex_lock(&slot->lock);
    slot->sector = sector;
    slot->n = (size_t)r;
    memcpy(slot->bytes, bytes, (size_t)r);
    (void)pthread_mutex_unlock(&slot->lock);
    *ret_n = (size_t)r;
    return 0;
}

int sector_cache_read(
    struct sector_cache *cache, void *buffer, size_t n, uint64_t offset, struct disc_fault *fault)
{
    unsigned char bytes[SECTOR_BYTES];
    unsigned char *to = buffer;

    while (n > 0) {
        uint64_t sector = offset / SECTOR_BYTES;
        size_t at = offset % SECTOR_BYTES, here = SECTOR_BYTES - at, got = 0;
        struct slot *slot = &cache->slots[sector % SLOTS];
        if (here > n)
            here = n;
        if (offset >= cache->sectors->bytes)
            return disc_fault_note(fault, -EUCLEAN, "past the end of the image", offset);
        if (!copy_cached(slot, sector, at, to, here, &got)) {
            size_t filled = 0;
            int r = fill(cache, slot, sector, bytes, &filled, fault);
            if (r < 0)
                return r;
            got = at >= filled ? 0 : filled - at < here ? filled - at : here;
            memcpy(to, bytes + at, got);
        }
        if (got < here)
            return disc_fault_note(fault, -EUCLEAN, "past the end of the image", offset);
        to += here;
        offset += here;
        n -= here;
    }
    return 0;
}
