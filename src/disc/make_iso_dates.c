#include "disc/make_iso_dates.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "disc/iso9660_directory.h"
#include "disc/iso9660_volume.h"

/* A descriptor's four dates, of 16 digits and a zone each: of making, change, end and effect. */
#define DESCRIPTOR_DATES    813
#define DESCRIPTOR_ROOT     156
#define DESCRIPTOR_SECTOR   16
#define DESCRIPTORS_MOST    16
#define DESCRIPTOR_BOOT     0
#define DESCRIPTOR_TYPE_END 255

#define RECORD_DATE         18
#define DATE_BYTES          7

/* The writer's own directories are no deeper than ISO 9660 has them. */
#define DEPTH_MOST 64

struct settling {
    int fd;
    struct iso9660 iso;
    const struct stat *top;
    unsigned char date[DATE_BYTES];
    bool made_rr_moved;
    uint32_t root, moved; /* their blocks in the volume at hand; 0: none */
};

static ssize_t image_read(
    struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad)
{
    ssize_t r = pread(sectors->fd, buffer, n, (off_t)offset);

    if (r < 0 && ret_bad)
        *ret_bad = offset / SECTOR_BYTES;
    return r < 0 ? -errno : r;
}

static int put(const struct settling *settling, uint64_t at, const void *bytes, size_t n)
{
    ssize_t r = pwrite(settling->fd, bytes, n, (off_t)at);

    return r == (ssize_t)n ? 0 : r < 0 ? -errno : -EIO;
}

static void make_date(time_t time, unsigned char ret[static DATE_BYTES])
{
    struct tm tm = {0};

    if (!gmtime_r(&time, &tm) || tm.tm_year < 0 || tm.tm_year > 255)
        tm = (struct tm){.tm_year = 70, .tm_mday = 1};
    ret[0] = (unsigned char)tm.tm_year;
    ret[1] = (unsigned char)(tm.tm_mon + 1);
    ret[2] = (unsigned char)tm.tm_mday;
    ret[3] = (unsigned char)tm.tm_hour;
    ret[4] = (unsigned char)tm.tm_min;
    ret[5] = (unsigned char)tm.tm_sec;
    ret[6] = 0;
}

static void put_number(unsigned char bytes[static 8], uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(number >> 8 * i);
        bytes[7 - i] = bytes[i];
    }
}

/* PX and TF, as the writer has them. */
static void settle_rock_ridge(const struct settling *settling, unsigned char *bytes, unsigned n)
{
    for (unsigned at = 0; n - at >= 4 && bytes[at + 2] >= 4 && bytes[at + 2] <= n - at;
         at += bytes[at + 2]) {
        unsigned char *entry = bytes + at;
        if (memcmp(entry, "PX", 2) == 0 && entry[2] >= 36) {
            put_number(entry + 4, settling->top->st_mode);
            put_number(entry + 20, settling->top->st_uid);
            put_number(entry + 28, settling->top->st_gid);
        }
        for (unsigned t = 5; memcmp(entry, "TF", 2) == 0 && t + DATE_BYTES <= entry[2];
             t += DATE_BYTES)
            memcpy(entry + t, settling->date, DATE_BYTES);
    }
}

static int settle_record(const struct settling *settling, const struct iso9660_record *record)
{
    unsigned char bytes[256];
    uint64_t at = (uint64_t)(record->system_use - record->name) + record->at + 33;

    if (record->block != settling->root && (!settling->moved || record->block != settling->moved))
        return 0;
    memcpy(bytes, record->system_use, record->system_use_length);
    settle_rock_ridge(settling, bytes, record->system_use_length);
    int r = put(settling, record->at + RECORD_DATE, settling->date, DATE_BYTES);
    return r < 0 ? r : put(settling, at, bytes, record->system_use_length);
}

/* All records that lead to a directory, below one and itself. */
static int settle_directory(struct settling *settling, uint64_t at, uint64_t bytes, unsigned depth)
{
    struct iso9660_cursor cursor;
    struct iso9660_record record;
    struct disc_fault fault = {0};
    int r;

    iso9660_cursor_start(&cursor, &settling->iso, at, at + bytes);
    while ((r = iso9660_next_record(&cursor, &record, &fault)) > 0) {
        if (!record.is_directory)
            continue;
        if (depth == 0 && settling->made_rr_moved &&
            iso9660_record_has_name(&record, (const unsigned char *)"RR_MOVED", 8))
            settling->moved = record.block;
        r = settle_record(settling, &record);
        if (r == 0 && !record.is_self && !record.is_parent)
            r = depth == DEPTH_MOST
                    ? -ELOOP
                    : settle_directory(settling, record.data_at, record.bytes, depth + 1);
        if (r < 0)
            break;
    }
    return r;
}

static int settle_volume(struct settling *settling, uint64_t at, const unsigned char *descriptor)
{
    /* The last NUL counts. */
    static const char none[] = "0000000000000000\0000000000000000000\0"
                               "0000000000000000\0000000000000000000";
    const unsigned char *root = descriptor + DESCRIPTOR_ROOT;

    settling->root = iso9660_u32(root + 2);
    settling->moved = 0;
    int r = put(settling, at + DESCRIPTOR_DATES, none, sizeof(none));
    if (r == 0)
        r = put(settling, at + DESCRIPTOR_ROOT + RECORD_DATE, settling->date, DATE_BYTES);
    return r < 0 ? r
                 : settle_directory(settling, iso9660_block_at(&settling->iso, settling->root),
                       iso9660_u32(root + 10), 0);
}

static int settle_all(struct settling *settling)
{
    static const unsigned char nothing[SECTOR_BYTES];

    for (uint64_t sector = DESCRIPTOR_SECTOR; sector < DESCRIPTOR_SECTOR + DESCRIPTORS_MOST;
         sector++) {
        unsigned char bytes[SECTOR_BYTES];
        uint64_t at = sector * SECTOR_BYTES;
        ssize_t n = pread(settling->fd, bytes, sizeof(bytes), (off_t)at);
        if (n != sizeof(bytes))
            return n < 0 ? -errno : -EIO;
        /* What follows the descriptors is a note on who wrote them, and when. */
        if (bytes[0] == DESCRIPTOR_TYPE_END)
            return put(settling, at + SECTOR_BYTES, nothing, sizeof(nothing));
        int r = bytes[0] == DESCRIPTOR_BOOT ? 0 : settle_volume(settling, at, bytes);
        if (r < 0)
            return r;
    }
    return -EIO;
}

int make_iso_settle(int image_fd, const struct stat *top, bool made_rr_moved)
{
    static const struct sectors_ops ops = {.read = image_read};
    struct sectors sectors = {&ops, 0, image_fd};
    struct settling settling = {.fd = image_fd,
        .top = top,
        .made_rr_moved = made_rr_moved,
        .iso = {.disc = {.sectors = &sectors}, .block_bytes = SECTOR_BYTES}};
    struct stat st;

    if (fstat(image_fd, &st) < 0)
        return -errno;
    sectors.bytes = (uint64_t)st.st_size;
    make_date(top->st_mtime, settling.date);
    int r = sector_cache_new(&sectors, &settling.iso.cache);
    if (r < 0)
        return r;
    r = settle_all(&settling);
    sector_cache_free(settling.iso.cache);
    return r;
}
