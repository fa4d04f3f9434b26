#include "source/tar_header.h"

#include <errno.h>
#include <string.h>

/* Offsets and sizes of the fields. Sources: POSIX.1-2017, pax, "ustar Interchange Format"; GNU
 * tar's manual, "Basic Tar Format"; star(5). */
#define NAME         0, 100
#define MODE         100, 8
#define UID          108, 8
#define GID          116, 8
#define SIZE         124, 12
#define MTIME        136, 12
#define TYPE         156
#define LINK         157, 100
#define MAGIC        257
#define USER         265, 32
#define GROUP        297, 32
#define MAJOR        329, 8
#define MINOR        337, 8
#define PREFIX       345, 155
#define PREFIX_STAR  345, 131
#define ATIME_STAR   476, 12
#define ATIME_GNU    345, 12
#define TRAILER_STAR 508

#define CHECKSUM_AT  148
#define CHECKSUM_N   8

static int get_number(const char *block, size_t at, size_t size, int64_t *ret)
{
    return tar_number_parse(block + at, size, ret);
}

static const char *get_text(const char *block, size_t at, size_t size, size_t *ret_length)
{
    *ret_length = strnlen(block + at, size);
    return block + at;
}

/* Two's complement, most significant byte first; the top bit of all is a mark, the next one the
 * sign. */
static int parse_base_256(const unsigned char *field, size_t size, int64_t *ret)
{
    bool negative = field[0] & 0x40;
    uint64_t value = negative ? UINT64_MAX << 6 : 0;

    value |= field[0] & 0x3f;
    for (size_t i = 1; i < size; i++) {
        uint64_t top = value >> 55; /* what must be no more than sign when 8 bits come in */
        if (top != 0 && top != UINT64_MAX >> 55)
            return -EBADMSG;
        value = value << 8 | field[i];
    }
    *ret = (int64_t)value;
    return 0;
}

int tar_number_parse(const char *field, size_t size, int64_t *ret)
{
    int64_t value = 0;
    size_t i = 0;

    if (field[0] & 0x80)
        return parse_base_256((const unsigned char *)field, size, ret);
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++) {
        if (value > INT64_MAX / 8)
            return -EBADMSG;
        value = value * 8 + (field[i] - '0');
    }
    /* Old writers end numbers with a space, a NUL, both or neither, and leave unused fields empty.
     */
    if (i < size && field[i] != ' ' && field[i] != '\0')
        return -EBADMSG;
    *ret = value;
    return 0;
}

bool tar_is_zeros(const void *block)
{
    static const char zeros[TAR_BLOCK];
    return memcmp(block, zeros, TAR_BLOCK) == 0;
}

/* The sum of a block's bytes, the checksum's own counting as spaces. A plain loop, which compilers
 * do many bytes at a time: this is done for every header. */
static int64_t sum_bytes(const unsigned char *bytes)
{
    unsigned sum = 0;

    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += bytes[i];
    for (size_t i = CHECKSUM_AT; i < CHECKSUM_AT + CHECKSUM_N; i++)
        sum += ' ' - (unsigned)bytes[i];
    return sum;
}

/* The same of signed bytes, as old tars summed them on some machines. */
static int64_t sum_signed_bytes(const unsigned char *bytes)
{
    int64_t sum = sum_bytes(bytes);

    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool is_checksum = i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_N;
        if (!is_checksum && bytes[i] >= 0x80)
            sum -= 256;
    }
    return sum;
}

bool tar_is_header(const void *block)
{
    int64_t stated;

    if (get_number(block, CHECKSUM_AT, CHECKSUM_N, &stated) < 0)
        return false;
    if (stated != sum_bytes(block) && stated != sum_signed_bytes(block))
        return false;
    return !tar_is_zeros(block);
}

static enum tar_flavour find_flavour(const char *block)
{
    if (memcmp(block + MAGIC, "ustar ", 6) == 0)
        return TAR_GNU;
    if (memcmp(block + MAGIC, "ustar", 6) == 0)
        return memcmp(block + TRAILER_STAR, "tar", 4) == 0 ? TAR_STAR : TAR_USTAR;
    return TAR_V7;
}

static int parse_device(const char *block, struct tar_header *header)
{
    int64_t major, minor;

    if (header->type != '3' && header->type != '4')
        return 0;
    if (get_number(block, MAJOR, &major) < 0 || get_number(block, MINOR, &minor) < 0 || major < 0 ||
        minor < 0 || major > UINT32_MAX || minor > UINT32_MAX)
        return -EBADMSG;
    header->major = (unsigned)major;
    header->minor = (unsigned)minor;
    return 0;
}

int tar_header_parse(const void *block, struct tar_header *ret)
{
    const char *text = block;
    struct tar_header header = {.flavour = find_flavour(block), .type = text[TYPE]};
    int64_t mode;

    if (get_number(text, MODE, &mode) < 0 || get_number(text, UID, &header.uid) < 0 ||
        get_number(text, GID, &header.gid) < 0 || get_number(text, SIZE, &header.size) < 0 ||
        get_number(text, MTIME, &header.mtime) < 0 || parse_device(text, &header) < 0)
        return -EBADMSG;
    if (header.size < 0 || header.size > INT64_MAX - TAR_BLOCK)
        return -EBADMSG;
    header.mode = (unsigned)mode & 07777;
    /* A time of access that cannot be read is as good as none. */
    if ((header.flavour == TAR_GNU && get_number(text, ATIME_GNU, &header.atime) < 0) ||
        (header.flavour == TAR_STAR && get_number(text, ATIME_STAR, &header.atime) < 0))
        header.atime = 0;
    *ret = header;
    return 0;
}

int tar_header_path(const void *block, enum tar_flavour flavour, struct bytes *out)
{
    size_t length = 0, prefix_length = 0;
    const char *name = get_text(block, NAME, &length), *prefix = "";
    int r = 0;

    if (flavour == TAR_USTAR)
        prefix = get_text(block, PREFIX, &prefix_length);
    else if (flavour == TAR_STAR)
        prefix = get_text(block, PREFIX_STAR, &prefix_length);
    if (prefix_length > 0) {
        r = bytes_append(out, prefix, prefix_length);
        if (r == 0)
            r = bytes_append(out, "/", 1);
    }
    if (r == 0)
        r = bytes_append(out, name, length);
    return r == 0 ? bytes_append(out, "", 1) : r;
}

const char *tar_header_link(const void *block, size_t *ret_length)
{
    return get_text(block, LINK, ret_length);
}

const char *tar_header_user(const void *block, size_t *ret_length)
{
    return get_text(block, USER, ret_length);
}

const char *tar_header_group(const void *block, size_t *ret_length)
{
    return get_text(block, GROUP, ret_length);
}
