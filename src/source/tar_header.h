/* The 512-byte blocks that tar's entries begin with. */
#ifndef SHOAL_SOURCE_TAR_HEADER_H
#define SHOAL_SOURCE_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/bytes.h"

#define TAR_BLOCK 512

/* Type flags beyond POSIX's '0' to '7'. */
enum {
    TAR_PAX = 'x',
    TAR_PAX_SOLARIS = 'X',
    TAR_PAX_GLOBAL = 'g',
    TAR_GNU_LONG_NAME = 'L',
    TAR_GNU_LONG_LINK = 'K',
    TAR_GNU_SPARSE = 'S',
    TAR_GNU_DUMPDIR = 'D',
    TAR_GNU_CONTINUED = 'M',
    TAR_GNU_LABEL = 'V',
};

enum tar_flavour {
    TAR_V7,
    TAR_USTAR,
    TAR_STAR,
    TAR_GNU,
};

/* What a block says, as far as numbers go; names stay in the block. */
struct tar_header {
    enum tar_flavour flavour;
    char type;
    unsigned mode;
    int64_t size; /* of what follows the block */
    int64_t uid, gid;
    int64_t mtime;
    int64_t atime; /* 0 where the flavour has none */
    unsigned major, minor;
};

/* Whether a block is a tar header by its checksum, of signed or unsigned bytes; one of zeros is
 * not. */
bool tar_is_header(const void *block);
bool tar_is_zeros(const void *block);

/* Reads the numbers. -EBADMSG: one of them is none, or out of its range. */
int tar_header_parse(const void *block, struct tar_header *ret);

/* Appends the path, prefix included, and its NUL. 0 or -ENOMEM. */
int tar_header_path(const void *block, enum tar_flavour flavour, struct bytes *out);

/* Fields that are read as they stand: their text and how long it is. */
const char *tar_header_link(const void *block, size_t *ret_length);
const char *tar_header_user(const void *block, size_t *ret_length);
const char *tar_header_group(const void *block, size_t *ret_length);

/* A numeric field: octal digits, or base 256 as GNU and star write large and negative numbers.
 * -EBADMSG. */
int tar_number_parse(const char *field, size_t size, int64_t *ret);

#endif
