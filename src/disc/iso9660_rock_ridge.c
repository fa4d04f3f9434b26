#include "disc/iso9660_rock_ridge.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "disc/iso9660_directory.h"

/* An entry: two letters, its length, its version, and what it says. */
#define ENTRY_MIN 4
#define SIG(a, b) ((a) << 8 | (b))

/* Of SP, the first entry of a disc. */
#define SP_LENGTH 7
#define XA_BYTES  14 /* of CD-ROM XA, which may precede it */

/* Chains of continuation areas end somewhere; the longest target takes three. */
#define AREAS_MAX 64

/* The flags of NM and of a component of SL. */
#define NAME_GOES_ON 0x01
#define NAME_SELF    0x02
#define NAME_PARENT  0x04
#define NAME_ROOT    0x08

#define ROOM_OF_AREA SECTOR_BYTES

/* One reading of a record. */
struct reading {
    struct iso9660 *iso;
    struct rock_ridge *found;
    struct disc_fault *fault;
    uint64_t at; /* of the directory record, for faults */
    char *target;
    size_t target_length;
    bool has_link, link_goes_on, name_ended;
    bool component_goes_on, separates; /* of SL: glue the next component; a "/" comes first */
    bool has_next;                     /* CE: there is a further area */
    uint32_t next_block, next_offset, next_length;
};

static int damaged(const struct reading *reading, const char *what)
{
    return disc_fault_note(reading->fault, -EUCLEAN, what, reading->at);
}

bool rock_ridge_is_there(const unsigned char *system_use, unsigned length, unsigned *ret_skip)
{
    static const char others[][3] = {"RR", "PX", "NM", "TF", "ER", "CE"};

    for (unsigned at = 0; at <= XA_BYTES; at += XA_BYTES) {
        const unsigned char *entry = system_use + at;
        if (length >= at + SP_LENGTH && memcmp(entry, "SP", 2) == 0 && entry[2] >= SP_LENGTH &&
            entry[4] == 0xbe && entry[5] == 0xef) {
            *ret_skip = entry[6];
            return true;
        }
    }
    /* Early masters left SP out. */
    for (size_t i = 0; length >= ENTRY_MIN && i < sizeof(others) / sizeof(*others); i++)
        if (memcmp(system_use, others[i], 2) == 0 && system_use[2] > ENTRY_MIN &&
            system_use[2] <= length && system_use[3] == 1) {
            *ret_skip = 0;
            return true;
        }
    return false;
}

/* Version 1.10 has no serial number. */
static int take_attributes(struct reading *reading, const unsigned char *data, unsigned n)
{
    struct rock_ridge *found = reading->found;

    if (n < 32)
        return damaged(reading, "attributes (PX) too short");
    found->has_mode = true;
    found->mode = iso9660_u32(data);
    found->nlink = iso9660_u32(data + 8);
    found->uid = iso9660_u32(data + 16);
    found->gid = iso9660_u32(data + 24);
    found->serial = n >= 40 ? iso9660_u32(data + 32) : 0;
    return 0;
}

/* Two numbers, which are a dev_t's halves; with an upper one that is not zero, the major and the
 * minor number. */
static int take_device(struct reading *reading, const unsigned char *data, unsigned n)
{
    if (n < 16)
        return damaged(reading, "device number (PN) too short");
    uint32_t high = iso9660_u32(data), low = iso9660_u32(data + 8);
    reading->found->has_device = true;
    reading->found->rdev = high ? makedev(high, low) : low;
    return 0;
}

static int take_name(struct reading *reading, const unsigned char *data, unsigned n)
{
    struct rock_ridge *found = reading->found;

    if (n < 1)
        return damaged(reading, "name (NM) too short");
    /* A record of itself has no name to be kept; what follows a name's last part is none. */
    if (data[0] & (NAME_SELF | NAME_PARENT) || reading->name_ended)
        return 0;
    reading->name_ended = !(data[0] & NAME_GOES_ON);
    if (found->name_length + n - 1 > ROCK_RIDGE_NAME_MAX)
        return damaged(reading, "name of more than 255 bytes");
    memcpy(found->name + found->name_length, data + 1, n - 1);
    found->name_length += n - 1;
    return 0;
}

static int add_to_target(struct reading *reading, const void *text, size_t n)
{
    if (!reading->target)
        return 0;
    if (reading->target_length + n >= DISC_TARGET_MAX)
        return damaged(reading, "symbolic link longer than 4095 bytes");
    if (memchr(text, '\0', n))
        return damaged(reading, "NUL in a symbolic link");
    memcpy(reading->target + reading->target_length, text, n);
    reading->target_length += n;
    return 0;
}

static int add_component(
    struct reading *reading, unsigned flags, const unsigned char *text, unsigned n)
{
    int r;

    if (flags & ~(unsigned)(NAME_GOES_ON | NAME_SELF | NAME_PARENT | NAME_ROOT))
        return damaged(reading, "unknown component of a symbolic link");
    if (reading->separates && !reading->component_goes_on) {
        r = add_to_target(reading, "/", 1);
        if (r < 0)
            return r;
    }
    reading->component_goes_on = flags & NAME_GOES_ON;
    reading->separates = !(flags & NAME_ROOT);
    if (flags & NAME_ROOT)
        return add_to_target(reading, "/", 1);
    if (flags & NAME_PARENT)
        return add_to_target(reading, "..", 2);
    if (flags & NAME_SELF)
        return add_to_target(reading, ".", 1);
    return add_to_target(reading, text, n);
}

static int take_link(struct reading *reading, const unsigned char *data, unsigned n)
{
    if (n < 1)
        return damaged(reading, "symbolic link (SL) too short");
    if (reading->has_link && !reading->link_goes_on)
        return 0;
    reading->has_link = true;
    reading->link_goes_on = data[0] & NAME_GOES_ON;
    for (unsigned at = 1; at < n;) {
        if (n - at < 2 || data[at + 1] > n - at - 2)
            return damaged(reading, "symbolic link's component longer than its entry");
        int r = add_component(reading, data[at], data + at + 2, data[at + 1]);
        if (r < 0)
            return r;
        at += 2U + data[at + 1];
    }
    return 0;
}

/* Seven times may be there, in this order: of creation, modification, access, change of attributes,
 * backup, expiration, effect. */
static int take_times(struct reading *reading, const unsigned char *data, unsigned n)
{
    struct rock_ridge *found = reading->found;
    unsigned flags = n ? data[0] : 0, size = flags & 0x80 ? 17 : 7, at = 1;

    for (unsigned bit = 0; bit < 7; bit++) {
        if (!(flags & 1U << bit))
            continue;
        if (n < at + size)
            return damaged(reading, "times (TF) too short");
        struct timespec time = {0};
        if (size == 17)
            time = iso9660_long_date(data + at);
        else
            time.tv_sec = iso9660_date(data + at);
        at += size;
        if (bit == 1) {
            found->mtime = time;
            found->has_mtime = true;
        } else if (bit == 2) {
            found->atime = time;
            found->has_atime = true;
        } else if (bit == 3 || (bit == 0 && !found->has_ctime)) {
            found->ctime = time;
            found->has_ctime = true;
        }
    }
    return 0;
}

static int take_compression(struct reading *reading, const unsigned char *data, unsigned n)
{
    struct rock_ridge *found = reading->found;

    if (n < 12)
        return damaged(reading, "compression (ZF) too short");
    found->is_compressed = true;
    memcpy(found->compression, data, 2);
    found->header_words = data[2];
    found->block_log2 = data[3];
    found->uncompressed_bytes = iso9660_u32(data + 4);
    /* zisofs2 has one number of eight bytes instead of one in both orders. */
    if (data[0] == 'P' && data[1] == 'Z')
        found->uncompressed_bytes |= (uint64_t)iso9660_u32(data + 8) << 32;
    return 0;
}

static int take_child(struct reading *reading, const unsigned char *data, unsigned n)
{
    if (n < 8)
        return damaged(reading, "relocated directory (CL) too short");
    reading->found->has_child = true;
    reading->found->child = iso9660_u32(data);
    return 0;
}

static int take_continuation(struct reading *reading, const unsigned char *data, unsigned n)
{
    if (n < 24)
        return damaged(reading, "continuation (CE) too short");
    reading->has_next = true;
    reading->next_block = iso9660_u32(data);
    reading->next_offset = iso9660_u32(data + 8);
    reading->next_length = iso9660_u32(data + 16);
    return 0;
}

static int take(struct reading *reading, unsigned signature, const unsigned char *data, unsigned n)
{
    switch (signature) {
    case SIG('P', 'X'):
        return take_attributes(reading, data, n);
    case SIG('P', 'N'):
        return take_device(reading, data, n);
    case SIG('N', 'M'):
        return take_name(reading, data, n);
    case SIG('S', 'L'):
        return take_link(reading, data, n);
    case SIG('T', 'F'):
        return take_times(reading, data, n);
    case SIG('Z', 'F'):
        return take_compression(reading, data, n);
    case SIG('C', 'L'):
        return take_child(reading, data, n);
    case SIG('C', 'E'):
        return take_continuation(reading, data, n);
    case SIG('R', 'E'):
        reading->found->is_relocated = true;
        return 0;
    case SIG('S', 'F'):
        reading->found->is_sparse = true;
        return 0;
    default:
        return 0; /* SP, ER, PL, RR and what others put there */
    }
}

/* The entries of one area; what is left over at its end is padding. */
static int read_area(struct reading *reading, const unsigned char *area, unsigned n)
{
    unsigned at = 0;

    while (n - at >= ENTRY_MIN) {
        const unsigned char *entry = area + at;
        unsigned length = entry[2], signature = SIG((unsigned)entry[0], entry[1]);
        if (length == 0 || signature == SIG('S', 'T'))
            return 0;
        if (length < ENTRY_MIN || length > n - at)
            return damaged(reading, "system use entry of a wrong length");
        int r = take(reading, signature, entry + ENTRY_MIN, length - ENTRY_MIN);
        if (r < 0)
            return r;
        at += length;
    }
    return 0;
}

static int read_continuations(struct reading *reading)
{
    unsigned char area[ROOM_OF_AREA];

    for (unsigned n = 0; reading->has_next; n++) {
        if (n == AREAS_MAX)
            return damaged(reading, "continuation areas without end");
        if (reading->next_length > sizeof(area) || reading->next_offset >= SECTOR_BYTES)
            return damaged(reading, "continuation area of a wrong length");
        uint64_t at = iso9660_block_at(reading->iso, reading->next_block) + reading->next_offset;
        int r =
            sector_cache_read(reading->iso->cache, area, reading->next_length, at, reading->fault);
        if (r < 0)
            return r;
        reading->has_next = false;
        r = read_area(reading, area, reading->next_length);
        if (r < 0)
            return r;
    }
    return 0;
}

int rock_ridge_read(struct iso9660 *iso, const struct iso9660_record *record, char *target,
    struct rock_ridge *ret, struct disc_fault *fault)
{
    struct reading reading = {
        .iso = iso, .found = ret, .fault = fault, .at = record->at, .target = target};
    unsigned skip = iso->rock_ridge_skip;

    memset(ret, 0, sizeof(*ret));
    /* Nothing is skipped before SP itself. */
    if (record->system_use_length >= SP_LENGTH && memcmp(record->system_use, "SP", 2) == 0)
        skip = 0;
    if (skip < record->system_use_length) {
        int r = read_area(&reading, record->system_use + skip, record->system_use_length - skip);
        if (r == 0)
            r = read_continuations(&reading);
        if (r < 0)
            return r;
    }
    ret->name[ret->name_length] = '\0';
    if (target)
        target[reading.target_length] = '\0';
    return 0;
}
