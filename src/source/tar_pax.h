/* The records of pax headers: what they say of the entry that follows. */
#ifndef SHOAL_SOURCE_TAR_PAX_H
#define SHOAL_SOURCE_TAR_PAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/bytes.h"
#include "entry/range.h"
#include "entry/xattrs.h"

struct owner_names;

/* Bits of tar_pax.has. */
enum {
    PAX_PATH = 1 << 0,
    PAX_LINK = 1 << 1,
    PAX_USER = 1 << 2,
    PAX_GROUP = 1 << 3,
    PAX_SIZE = 1 << 4,
    PAX_UID = 1 << 5,
    PAX_GID = 1 << 6,
    PAX_MTIME = 1 << 7,
    PAX_ATIME = 1 << 8,
    PAX_REAL_SIZE = 1 << 9, /* of a sparse file */
    PAX_SPARSE_NAME = 1 << 10,
    PAX_SPARSE_MAP = 1 << 11, /* ranges hold it: formats 0.0 and 0.1 */
    PAX_SPARSE_1 = 1 << 12,   /* the map precedes the data: format 1.0 */
    PAX_MAJOR = 1 << 13,
    PAX_MINOR = 1 << 14,
};

/* Start from zero. Its memory is kept from entry to entry. */
struct tar_pax {
    unsigned has;
    struct bytes path, link, user, group, sparse_name; /* each ends in NUL */
    int64_t size, uid, gid, real_size, major, minor;
    struct timespec mtime, atime;
    struct bytes ranges; /* of struct range, not checked */
    struct xattr_set xattrs;
};

/* Where records go: attributes only if they are wanted. */
struct tar_pax_reader {
    struct tar_pax *pax;
    bool want_xattrs, leave_acls;
    struct owner_names *names; /* for ACLs; may be NULL */
};

/* Reads all records of a header. Keys that are not known are passed over, as POSIX says. -EBADMSG:
 * not understood; or -ENOMEM. */
int tar_pax_parse(const struct tar_pax_reader *reader, const char *records, size_t length);

/* Forgets everything, keeping the memory. */
void tar_pax_clear(struct tar_pax *pax);
void tar_pax_free(struct tar_pax *pax);

/* "o,n,o,n,…": appends to pax->ranges. -EBADMSG or -ENOMEM. */
int tar_pax_parse_map(struct tar_pax *pax, const char *text, size_t length);

/* A decimal number; -EBADMSG. */
int tar_pax_parse_number(const char *text, size_t length, int64_t *ret);

#endif
