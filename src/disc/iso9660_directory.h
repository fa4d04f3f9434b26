/* The records of directories. */
#ifndef SHOAL_DISC_ISO9660_DIRECTORY_H
#define SHOAL_DISC_ISO9660_DIRECTORY_H

#include <time.h>

#include "disc/iso9660.h"

struct iso9660_record {
    uint64_t at;      /* where it begins */
    uint32_t block;   /* with which its extent begins */
    uint64_t data_at; /* offset of the content, behind an extended attribute record */
    uint32_t bytes;   /* of content */
    bool is_directory, is_associated, is_interleaved;
    bool goes_on;                    /* the next record is of the same file */
    bool is_self, is_parent;         /* the names "." and ".." */
    const unsigned char *date;       /* 7 bytes */
    const unsigned char *name;       /* as it is on the disc */
    const unsigned char *system_use; /* what follows the name */
    unsigned name_length, system_use_length;
};

/* Reads records one after the other. What a record points to is in the cursor's sector: it lasts
 * until the next record is asked for. */
struct iso9660_cursor {
    struct iso9660 *iso;
    uint64_t at, end;       /* of the next record, and behind the last */
    uint64_t loaded, bound; /* bytes of the image in `sector` */
    unsigned char sector[SECTOR_BYTES];
};

/* From a record on, as far as `end`. */
void iso9660_cursor_start(
    struct iso9660_cursor *cursor, struct iso9660 *iso, uint64_t at, uint64_t end);

/* 1: a record; 0: there are no more; or a negative errno, after which it may be called again: the
 * damaged part was passed over. */
int iso9660_next_record(
    struct iso9660_cursor *cursor, struct iso9660_record *ret, struct disc_fault *fault);

/* Whether two records are of one name. `name` is as on the disc. */
bool iso9660_record_has_name(
    const struct iso9660_record *record, const unsigned char *name, unsigned length);

/* Seven bytes of a date to seconds since 1970; 0 where they are none. */
int64_t iso9660_date(const unsigned char bytes[static 7]);
/* The same of 17 bytes, digits. */
struct timespec iso9660_long_date(const unsigned char bytes[static 17]);

#endif
