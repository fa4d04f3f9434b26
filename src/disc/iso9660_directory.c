#include "disc/iso9660_directory.h"

#include <errno.h>
#include <string.h>

/* A directory record (ECMA-119, 9.1). */
#define RECORD_LENGTH     0
#define RECORD_ATTRIBUTES 1
#define RECORD_BLOCK      2
#define RECORD_BYTES      10
#define RECORD_DATE       18
#define RECORD_FLAGS      25
#define RECORD_UNIT       26
#define RECORD_GAP        27
#define RECORD_NAME_BYTES 32
#define RECORD_NAME       33

#define FLAG_DIRECTORY    0x02
#define FLAG_ASSOCIATED   0x04
#define FLAG_GOES_ON      0x80

void iso9660_cursor_start(
    struct iso9660_cursor *cursor, struct iso9660 *iso, uint64_t at, uint64_t end)
{
    cursor->iso = iso;
    cursor->at = at;
    cursor->end = end;
    cursor->loaded = cursor->bound = 0;
}

static uint64_t next_sector(uint64_t at)
{
    return (at / SECTOR_BYTES + 1) * SECTOR_BYTES;
}

/* The rest of the sector that the cursor has come to. */
static int load(struct iso9660_cursor *cursor, struct disc_fault *fault)
{
    uint64_t bound = next_sector(cursor->at), there = cursor->iso->disc.sectors->bytes;

    if (cursor->at >= there) {
        uint64_t at = cursor->at;
        cursor->at = cursor->end;
        return disc_fault_note(fault, -EUCLEAN, "directory past the end of the image", at);
    }
    if (bound > cursor->end)
        bound = cursor->end;
    if (bound > there)
        bound = there;
    int r = sector_cache_read(
        cursor->iso->cache, cursor->sector, (size_t)(bound - cursor->at), cursor->at, fault);
    if (r < 0) {
        cursor->at = next_sector(cursor->at);
        return r;
    }
    cursor->loaded = cursor->at;
    cursor->bound = bound;
    return 0;
}

static void parse(
    const struct iso9660 *iso, const unsigned char *bytes, uint64_t at, struct iso9660_record *ret)
{
    unsigned name_length = bytes[RECORD_NAME_BYTES];
    unsigned used = (RECORD_NAME + name_length + 1) & ~1U; /* the name is padded to an even end */
    unsigned char flags = bytes[RECORD_FLAGS];
    uint32_t block = iso9660_u32(bytes + RECORD_BLOCK);

    *ret = (struct iso9660_record){
        .at = at,
        .block = block,
        .data_at =
            iso9660_block_at(iso, block) + (uint64_t)bytes[RECORD_ATTRIBUTES] * iso->block_bytes,
        .bytes = iso9660_u32(bytes + RECORD_BYTES),
        .is_directory = flags & FLAG_DIRECTORY,
        .is_associated = flags & FLAG_ASSOCIATED,
        .is_interleaved = bytes[RECORD_UNIT] || bytes[RECORD_GAP],
        .goes_on = flags & FLAG_GOES_ON,
        .is_self = name_length == 1 && bytes[RECORD_NAME] == 0,
        .is_parent = name_length == 1 && bytes[RECORD_NAME] == 1,
        .date = bytes + RECORD_DATE,
        .name = bytes + RECORD_NAME,
        .name_length = name_length,
        .system_use = bytes + used,
        .system_use_length = used < bytes[RECORD_LENGTH] ? bytes[RECORD_LENGTH] - used : 0,
    };
}

int iso9660_next_record(
    struct iso9660_cursor *cursor, struct iso9660_record *ret, struct disc_fault *fault)
{
    while (cursor->at < cursor->end) {
        if (cursor->at >= cursor->bound) {
            int r = load(cursor, fault);
            if (r < 0)
                return r;
        }
        const unsigned char *bytes = cursor->sector + (cursor->at - cursor->loaded);
        uint64_t at = cursor->at, room = cursor->bound - at;
        unsigned length = bytes[RECORD_LENGTH];
        if (length == 0) {
            /* None of the rest of this sector. */
            cursor->at = next_sector(at);
            continue;
        }
        if (length <= RECORD_NAME || length > room) {
            cursor->at = next_sector(at);
            return disc_fault_note(fault, -EUCLEAN, "directory record of a wrong length", at);
        }
        cursor->at += length;
        unsigned name_length = bytes[RECORD_NAME_BYTES];
        if (name_length == 0 || RECORD_NAME + name_length > length)
            return disc_fault_note(fault, -EUCLEAN, "name longer than its record", at);
        parse(cursor->iso, bytes, at, ret);
        return 1;
    }
    return 0;
}

bool iso9660_record_has_name(
    const struct iso9660_record *record, const unsigned char *name, unsigned length)
{
    return record->name_length == length && memcmp(record->name, name, length) == 0;
}

struct date {
    int year, month, day, hour, minute, second;
    int zone; /* in quarters of an hour east of Greenwich */
};

/* Of the Gregorian calendar, since 1970. Years are counted from March on, so that the day of leap
 * years is their last. timegm() would do it behind a lock that all threads share. */
static int64_t days_of(const struct date *date)
{
    int64_t year = date->month <= 2 ? date->year - 1 : date->year;
    int64_t month = date->month <= 2 ? date->month + 9 : date->month - 3;
    const int64_t until_1970 = 719468;

    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date->day - 1 -
           until_1970;
}

/* Seconds since 1970 of what may be no date at all: then 0. */
static int64_t seconds_of(const struct date *date)
{
    bool has_zone = date->zone >= -48 && date->zone <= 56;

    if (date->year < 1 || date->month < 1 || date->month > 12 || date->day < 1 || date->day > 31 ||
        date->hour < 0 || date->hour > 23 || date->minute < 0 || date->minute > 59 ||
        date->second < 0 || date->second > 60)
        return 0;
    return days_of(date) * 86400 + date->hour * 3600 + date->minute * 60 + date->second -
           (has_zone ? date->zone * 15 * 60 : 0);
}

int64_t iso9660_date(const unsigned char bytes[static 7])
{
    const struct date date = {
        .year = 1900 + bytes[0],
        .month = bytes[1],
        .day = bytes[2],
        .hour = bytes[3],
        .minute = bytes[4],
        .second = bytes[5],
        .zone = (signed char)bytes[6],
    };

    return seconds_of(&date);
}

/* -1: not digits. */
static int number(const unsigned char *digits, int n)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return -1;
        value = value * 10 + digits[i] - '0';
    }
    return value;
}

struct timespec iso9660_long_date(const unsigned char bytes[static 17])
{
    const struct date date = {
        .year = number(bytes, 4),
        .month = number(bytes + 4, 2),
        .day = number(bytes + 6, 2),
        .hour = number(bytes + 8, 2),
        .minute = number(bytes + 10, 2),
        .second = number(bytes + 12, 2),
        .zone = (signed char)bytes[16],
    };
    int hundredths = number(bytes + 14, 2);
    struct timespec time = {.tv_sec = seconds_of(&date)};

    if (time.tv_sec && hundredths > 0)
        time.tv_nsec = (long)hundredths * 10000000;
    return time;
}
