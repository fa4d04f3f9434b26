/* Sectors for tests: of memory, one of which may be bad, or of a file. */
#ifndef SHOAL_TESTS_MEMORY_SECTORS_H
#define SHOAL_TESTS_MEMORY_SECTORS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disc/sectors.h"

struct memory_sectors {
    struct sectors sectors;
    const unsigned char *bytes; /* not ours */
    uint64_t bad;               /* a sector that cannot be read; 0: all can */
};

static inline ssize_t memory_sectors_read(
    struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad)
{
    struct memory_sectors *memory = (struct memory_sectors *)sectors;
    uint64_t bad_at = memory->bad * SECTOR_BYTES;

    if (offset >= sectors->bytes)
        return 0;
    if (n > sectors->bytes - offset)
        n = (size_t)(sectors->bytes - offset);
    if (memory->bad && offset < bad_at + SECTOR_BYTES && offset + n > bad_at) {
        if (ret_bad)
            *ret_bad = memory->bad;
        return -EIO;
    }
    memcpy(buffer, memory->bytes + offset, n);
    return (ssize_t)n;
}

static inline void memory_sectors_free(struct sectors *sectors)
{
    free(sectors);
}

/* NULL: no memory. */
static inline struct sectors *memory_sectors_new(const void *bytes, size_t n, uint64_t bad)
{
    static const struct sectors_ops ops = {memory_sectors_read, memory_sectors_free};
    struct memory_sectors *memory = malloc(sizeof(*memory));

    if (memory)
        *memory = (struct memory_sectors){{&ops, n, -1}, bytes, bad};
    return memory ? &memory->sectors : NULL;
}

static inline ssize_t file_sectors_read(
    struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad)
{
    ssize_t r = pread(sectors->fd, buffer, n, (off_t)offset);

    if (r < 0 && ret_bad)
        *ret_bad = offset / SECTOR_BYTES;
    return r < 0 ? -errno : r;
}

static inline void file_sectors_free(struct sectors *sectors)
{
    (void)close(sectors->fd);
    free(sectors);
}

/* The descriptor becomes the sectors'. NULL: no memory. */
static inline struct sectors *file_sectors_new(int fd)
{
    static const struct sectors_ops ops = {file_sectors_read, file_sectors_free};
    struct sectors *sectors = malloc(sizeof(*sectors));

    if (sectors)
        *sectors = (struct sectors){&ops, (uint64_t)lseek(fd, 0, SEEK_END), fd};
    return sectors;
}

#endif
