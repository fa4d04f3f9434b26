/* Rock Ridge: what a system use field, and the continuation areas it leads to, say of a file. */
#ifndef SHOAL_DISC_ISO9660_ROCK_RIDGE_H
#define SHOAL_DISC_ISO9660_ROCK_RIDGE_H

#include "disc/iso9660.h"

struct iso9660_record;

#define ROCK_RIDGE_NAME_MAX 255

struct rock_ridge {
    bool has_mode;
    mode_t mode;
    uint32_t nlink, uid, gid;
    uint32_t serial; /* 0: none */
    bool has_device;
    uint64_t rdev;
    bool has_mtime, has_atime, has_ctime;
    struct timespec mtime, atime, ctime;
    bool is_relocated;  /* the directory belongs elsewhere, where a record leads to it */
    bool has_child;     /* this is such a record: */
    uint32_t child;     /* the directory's block */
    bool is_sparse;     /* its content is stored in a way that is not read */
    bool is_compressed; /* by zisofs: */
    unsigned char compression[2], header_words, block_log2;
    uint64_t uncompressed_bytes;
    unsigned name_length; /* 0: it has no name of its own */
    char name[ROCK_RIDGE_NAME_MAX + 1];
};

/* Whether the system use field of the top directory's record of itself begins Rock Ridge; then also
 * how many bytes are to be skipped in all others. */
bool rock_ridge_is_there(const unsigned char *system_use, unsigned length, unsigned *ret_skip);

/* `target` (DISC_TARGET_MAX bytes, NULL if not asked for) becomes what a symbolic link leads to, ""
 * if the record is of none. */
int rock_ridge_read(struct iso9660 *iso, const struct iso9660_record *record, char *target,
    struct rock_ridge *ret, struct disc_fault *fault);

#endif
