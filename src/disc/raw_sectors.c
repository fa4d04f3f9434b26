#include "disc/raw_sectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Where fields lie in a sector. */
#define MODE          15
#define MODE_1_DATA   16
#define SUBMODE       18
#define MODE_2_DATA   24
#define SUBMODE_FORM2 0x20

/* Read at once. */
#define BATCH_SECTORS 32

struct raw_sectors {
    struct sectors sectors;
    int fd;
    struct raw_layout layout;
};

bool raw_begins_sector(const char *bytes, size_t n)
{
    static const unsigned char sync[RAW_SYNC_BYTES] = {
        0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0};
    return n >= sizeof(sync) && memcmp(bytes, sync, sizeof(sync)) == 0;
}

/* A sector's data; NULL if it has none. */
static const char *data_of(const struct raw_layout *layout, const char *sector)
{
    if (layout->sector_bytes == SECTOR_BYTES)
        return sector;
    if (!raw_begins_sector(sector, RAW_SECTOR_BYTES))
        return NULL;
    if (sector[MODE] == 1)
        return sector + MODE_1_DATA;
    if (sector[MODE] == 2 && !(sector[SUBMODE] & SUBMODE_FORM2))
        return sector + MODE_2_DATA;
    return NULL;
}

/* Reads whole sectors from `lba` on: how many, or a negative errno. */
static ssize_t read_batch(const struct raw_sectors *raw, char *batch, size_t count, uint64_t lba)
{
    size_t size = raw->layout.sector_bytes, want = count * size, done = 0;
    uint64_t at = raw->layout.offset + lba * size;

    while (done < want) {
        ssize_t got = pread(raw->fd, batch + done, want - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && done < size)
            return -errno;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)(done / size);
}

static ssize_t raw_read(
    struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad)
{
    const struct raw_sectors *raw = (const struct raw_sectors *)sectors;
    _cleanup_free_ char *batch = NULL;
    size_t done = 0;

    if (offset >= sectors->bytes || n == 0)
        return 0;
    if (n > sectors->bytes - offset)
        n = (size_t)(sectors->bytes - offset);
    if (!(batch = malloc((size_t)BATCH_SECTORS * raw->layout.sector_bytes)))
        return -ENOMEM;
    while (done < n) {
        uint64_t lba = (offset + done) / SECTOR_BYTES;
        size_t skip = (size_t)((offset + done) % SECTOR_BYTES);
        size_t count = (n - done + skip + SECTOR_BYTES - 1) / SECTOR_BYTES;
        ssize_t got = read_batch(raw, batch, count < BATCH_SECTORS ? count : BATCH_SECTORS, lba);
        int r = got < 0 ? (int)got : got == 0 ? -EIO : 0;
        for (ssize_t i = 0; r == 0 && i < got; i++, skip = 0) {
            const char *data = data_of(&raw->layout, batch + (size_t)i * raw->layout.sector_bytes);
            size_t part = SECTOR_BYTES - skip < n - done ? SECTOR_BYTES - skip : n - done;
            lba += i > 0;
            if (!data) {
                r = -EIO;
                break;
            }
            memcpy((char *)buffer + done, data + skip, part);
            done += part;
        }
        if (r < 0 && ret_bad)
            *ret_bad = lba;
        if (r < 0)
            return done > 0 ? (ssize_t)done : r;
    }
    return (ssize_t)done;
}

static void raw_free(struct sectors *sectors)
{
    struct raw_sectors *raw = (struct raw_sectors *)sectors;

    (void)close(raw->fd); /* was only read from */
    free(raw);
}

static const struct sectors_ops raw_ops = {.read = raw_read, .free = raw_free};

int raw_sectors_new(int fd, const struct raw_layout *layout, struct sectors **ret)
{
    struct raw_sectors *raw = calloc(1, sizeof(*raw));
    uint64_t sectors = (layout->bytes - layout->offset) / layout->sector_bytes;
    char first[RAW_SECTOR_BYTES];

    if (!raw)
        return -ENOMEM;
    raw->sectors = (struct sectors){.ops = &raw_ops, .bytes = sectors * SECTOR_BYTES, .fd = -1};
    raw->fd = fd;
    raw->layout = *layout;
    ssize_t got = read_batch(raw, first, 1, 0);
    if (got < 1 || !data_of(layout, first)) {
        free(raw);
        return got < 0 ? (int)got : -EILSEQ;
    }
    *ret = &raw->sectors;
    return 0;
}
