#include "sink/tar_encode.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/quote.h"
#include "entry/acl.h"
#include "entry/owner_names.h"
#include "entry/xattrs.h"

#define BLOCK 512

/* Where fields lie in a block, and how long they are. */
#define NAME     0, 100
#define MODE     100, 8
#define UID      108, 8
#define GID      116, 8
#define SIZE     124, 12
#define MTIME    136, 12
#define CHECKSUM 148
#define TYPE     156
#define LINK     157, 100
#define MAGIC    257
#define USER     265, 32
#define GROUP    297, 32
#define MAJOR    329, 8
#define MINOR    337, 8
#define PREFIX   345, 155

/* The old GNU format of sparse files. */
#define SPARSE_RANGES    386
#define SPARSE_N         4
#define SPARSE_EXTENDED  482
#define SPARSE_REAL_SIZE 483, 12
#define EXTENSION_N      21
#define EXTENSION_MORE   504

/* What is being put together for one entry. */
struct encoder {
    const struct encode_options *options;
    const struct stream_record *record;
    const struct entry *entry;
    char block[BLOCK];
    struct bytes path; /* as recorded: a directory's ends in a slash */
    struct bytes pax;  /* records of what the block cannot hold */
    struct bytes map;  /* of a sparse file in pax: precedes the data */
    struct bytes *out;
    struct outcome *outcome;
    bool is_sparse;
    bool is_binary; /* a name in `pax` is not UTF-8 */
};

static bool is_gnu(const struct encoder *encoder)
{
    return encoder->options->format == SHOAL_FORMAT_GNU;
}

static bool is_pax(const struct encoder *encoder)
{
    return encoder->options->format == SHOAL_FORMAT_PAX;
}

/* ---- fields ---- */

static void put_octal(char *block, size_t at, size_t size, uint64_t value)
{
    for (size_t i = size - 1; i > 0; i--, value >>= 3)
        block[at + i - 1] = (char)('0' + (value & 7));
    block[at + size - 1] = '\0';
}

/* Whether a number fits into so many octal digits and a NUL. */
static bool fits_octal(int64_t value, size_t size)
{
    return value >= 0 && (uint64_t)value >> ((size - 1) * 3) == 0;
}

static void put_base_256(char *block, size_t at, size_t size, int64_t value)
{
    for (size_t i = size; i > 0; i--, value >>= 8)
        block[at + i - 1] = (char)(value & 0xff);
    block[at] = (char)(value < 0 || (block[at] & 0x40) ? 0xff : 0x80);
}

static int put_text(char *block, size_t at, size_t size, const char *text, size_t length)
{
    if (length > size)
        return -ENAMETOOLONG;
    memcpy(block + at, text, length);
    return 0;
}

static void put_checksum(char *block)
{
    unsigned sum = 0;

    memset(block + CHECKSUM, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    put_octal(block, CHECKSUM, 7, sum);
}

/* ---- pax records ---- */

static int put_record(struct encoder *encoder, const char *key, const void *value, size_t length)
{
    /* The length is that of the record, its own digits included. */
    size_t rest = strlen(key) + length + 3, digits = 1;
    char number[24];

    for (size_t power = 10; rest + digits >= power; power *= 10)
        digits++;
    int n = snprintf(number, sizeof(number), "%zu ", rest + digits);
    int r = bytes_append(&encoder->pax, number, (size_t)n);
    if (r == 0)
        r = bytes_append(&encoder->pax, key, strlen(key));
    if (r == 0)
        r = bytes_append(&encoder->pax, "=", 1);
    if (r == 0)
        r = bytes_append(&encoder->pax, value, length);
    return r == 0 ? bytes_append(&encoder->pax, "\n", 1) : r;
}

static int put_number_record(struct encoder *encoder, const char *key, int64_t value)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRId64, value);
    return put_record(encoder, key, text, (size_t)n);
}

/* Seconds with their fraction, less its trailing zeros. */
static int put_time_record(struct encoder *encoder, const char *key, const struct timespec *time)
{
    int64_t seconds = time->tv_sec;
    long ns = time->tv_nsec;
    char text[40];

    /* What is before 1970 counts backwards, its fraction too. */
    bool negative = seconds < 0;
    if (negative && ns > 0) {
        seconds++;
        ns = 1000000000 - ns;
    }
    int n = snprintf(text, sizeof(text), "%s%" PRId64 ".%09ld", negative ? "-" : "",
        negative ? -seconds : seconds, ns);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    return put_record(encoder, key, text, (size_t)n);
}

/* A name, which may be of any bytes. */
static int put_name_record(
    struct encoder *encoder, const char *key, const char *name, size_t length)
{
    encoder->is_binary |= !utf8_is_valid(name, length);
    return put_record(encoder, key, name, length);
}

/* A number that the block may not hold. */
static int put_number(
    struct encoder *encoder, size_t at, size_t size, int64_t value, const char *key)
{
    if (fits_octal(value, size)) {
        put_octal(encoder->block, at, size, (uint64_t)value);
        return 0;
    }
    if (is_gnu(encoder)) {
        put_base_256(encoder->block, at, size, value);
        return 0;
    }
    put_octal(encoder->block, at, size, 0);
    return is_pax(encoder) ? put_number_record(encoder, key, value) : -EOVERFLOW;
}

/* ---- names ---- */

/* Where a path can be parted into prefix and name; 0: nowhere. */
static size_t find_split(const char *path, size_t length)
{
    size_t earliest = length > 101 ? length - 101 : 0;

    for (size_t i = earliest; i < length - 1 && i <= 155; i++)
        if (path[i] == '/' && i > 0)
            return i;
    return 0;
}

/* GNU's way: an entry of its own that holds the name of the next. */
static int put_long_name(struct encoder *encoder, char type, const char *name, size_t length)
{
    char block[BLOCK] = {0};
    size_t size = length + 1;

    (void)put_text(block, NAME, "././@LongLink", 13);
    put_octal(block, MODE, 0644);
    put_octal(block, UID, 0);
    put_octal(block, GID, 0);
    put_octal(block, SIZE, size);
    put_octal(block, MTIME, 0);
    block[TYPE] = type;
    memcpy(block + MAGIC, "ustar  ", 8);
    put_checksum(block);
    int r = bytes_append(encoder->out, block, sizeof(block));
    if (r == 0)
        r = bytes_append(encoder->out, name, length);
    return r == 0 ? bytes_append_zeros(encoder->out, 1 + (BLOCK - size % BLOCK) % BLOCK) : r;
}

static int put_path(struct encoder *encoder)
{
    const char *path = encoder->path.data;
    size_t length = encoder->path.n, split;

    if (put_text(encoder->block, NAME, path, length) == 0)
        return 0;
    if (is_gnu(encoder)) {
        (void)put_text(encoder->block, NAME, path, 100);
        return put_long_name(encoder, 'L', path, length);
    }
    split = find_split(path, length);
    if (split > 0) {
        (void)put_text(encoder->block, PREFIX, path, split);
        return put_text(encoder->block, NAME, path + split + 1, length - split - 1);
    }
    if (!is_pax(encoder))
        return -ENAMETOOLONG;
    (void)put_text(encoder->block, NAME, path, 100);
    return put_name_record(encoder, "path", path, length);
}

static int put_link(struct encoder *encoder, const char *link)
{
    size_t length = link ? strlen(link) : 0;

    if (put_text(encoder->block, LINK, link ? link : "", length) == 0)
        return 0;
    (void)put_text(encoder->block, LINK, link, 100);
    if (is_gnu(encoder))
        return put_long_name(encoder, 'K', link, length);
    return is_pax(encoder) ? put_name_record(encoder, "linkpath", link, length) : -ENAMETOOLONG;
}

static int put_owner_name(
    struct encoder *encoder, size_t at, size_t size, const char *name, const char *key)
{
    size_t length = name ? strlen(name) : 0;

    /* One byte is left for the NUL, which some readers count on. */
    if (length < size)
        return put_text(encoder->block, at, size, name ? name : "", length);
    return is_pax(encoder) ? put_record(encoder, key, name, length) : 0; /* the number is there */
}

static int put_owner(struct encoder *encoder)
{
    const struct encode_options *options = encoder->options;
    const struct entry *entry = encoder->entry;
    const char *user = options->user, *group = options->group;

    if (!user && options->names)
        user = owner_names_user(options->names, entry->uid);
    if (!group && options->names)
        group = owner_names_group(options->names, entry->gid);
    int r = put_number(encoder, UID, entry->uid, "uid");
    if (r == 0)
        r = put_number(encoder, GID, entry->gid, "gid");
    if (r == 0)
        r = put_owner_name(encoder, USER, user, "uname");
    return r == 0 ? put_owner_name(encoder, GROUP, group, "gname") : r;
}

/* ---- metadata ---- */

static int put_times(struct encoder *encoder)
{
    const struct entry *entry = encoder->entry;
    int64_t seconds = entry->mtime.tv_sec;

    if (!is_pax(encoder)) {
        if (seconds < 0 && !is_gnu(encoder)) {
            outcome_note(encoder->outcome, ASPECT_TIMES, -EOVERFLOW);
            seconds = 0;
        }
        return put_number(encoder, MTIME, seconds, NULL);
    }
    bool exact = fits_octal(seconds, 12);
    put_octal(encoder->block, MTIME, exact ? (uint64_t)seconds : 0);
    int r =
        exact && entry->mtime.tv_nsec == 0 ? 0 : put_time_record(encoder, "mtime", &entry->mtime);
    if (r < 0 || timespec_compare(&entry->atime, &entry->mtime) == 0)
        return r;
    return put_time_record(encoder, "atime", &entry->atime);
}

static int put_acl(struct encoder *encoder, const char *key, const void *value, size_t length)
{
    struct bytes text = {0};
    int r = acl_to_text(value, length, encoder->options->names, &text);

    if (r == 0)
        r = put_record(encoder, key, text.data, text.n);
    else if (r == -EINVAL)
        outcome_note(encoder->outcome, ASPECT_ACL, r);
    bytes_free(&text);
    return r == -EINVAL ? 0 : r;
}

static int put_xattr(struct encoder *encoder, const char *name, const void *value, size_t length)
{
    static const char prefix[] = "SCHILY.xattr.";
    char key[sizeof(prefix) + 3 * XATTR_NAME_MAX], *at = stpcpy(key, prefix);

    if (strcmp(name, XATTR_ACL_ACCESS) == 0)
        return put_acl(encoder, "SCHILY.acl.access", value, length);
    if (strcmp(name, XATTR_ACL_DEFAULT) == 0)
        return put_acl(encoder, "SCHILY.acl.default", value, length);
    if (strlen(name) > XATTR_NAME_MAX) {
        outcome_note(encoder->outcome, xattr_aspect(name), -EOPNOTSUPP);
        return 0;
    }
    /* A key ends at the first equals sign; GNU tar writes and reads these two for it, and for a
     * percent sign. */
    for (; *name; name++) {
        bool is_code = strncmp(name, "%3D", 3) == 0 || strncmp(name, "%25", 3) == 0;
        if (*name == '=' || is_code)
            at = stpcpy(at, is_code ? "%25" : "%3D");
        else
            *at++ = *name;
    }
    *at = '\0';
    return put_record(encoder, key, value, length);
}

bool encode_takes_xattr(const struct encode_options *options, const char *name)
{
    enum aspect aspect = xattr_aspect(name);
    return (aspect_keep_bit(aspect) & options->preserve) &&
           !(options->leave_acls && aspect == ASPECT_ACL);
}

static int put_xattrs(struct encoder *encoder)
{
    const struct xattr_set *set = encoder->entry->xattrs;
    int r = 0;

    for (size_t i = 0; set && i < set->n && r == 0; i++) {
        const char *name = xattr_set_name(set, i);
        size_t length;
        const void *value = xattr_set_value(set, i, &length);
        if (!encode_takes_xattr(encoder->options, name))
            continue;
        if (is_pax(encoder))
            r = put_xattr(encoder, name, value, length);
        else
            outcome_note(encoder->outcome, xattr_aspect(name), -EOPNOTSUPP);
    }
    return r;
}

static int put_device(struct encoder *encoder)
{
    const struct entry *entry = encoder->entry;

    if (!S_ISCHR(entry->mode) && !S_ISBLK(entry->mode))
        return 0;
    int r = put_number(encoder, MAJOR, major(entry->rdev), "SCHILY.devmajor");
    return r == 0 ? put_number(encoder, MINOR, minor(entry->rdev), "SCHILY.devminor") : r;
}

/* ---- sparse files ---- */

static uint64_t data_bytes(const struct stream_record *record)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < record->n_ranges; i++)
        sum += record->ranges[i].end - record->ranges[i].start;
    return sum;
}

/* A hole at the end is told by an empty range there: without it readers take the last data for the
 * end. */
static size_t count_ranges(const struct stream_record *record)
{
    size_t n = record->n_ranges;
    return n + (n == 0 || record->ranges[n - 1].end < record->entry->size);
}

static struct range get_range(const struct stream_record *record, size_t i)
{
    if (i < record->n_ranges)
        return record->ranges[i];
    return (struct range){record->entry->size, record->entry->size};
}

/* The map of pax format 1.0: lines of numbers, padded to a block. */
static int make_map(struct encoder *encoder)
{
    const struct stream_record *record = encoder->record;
    size_t n_ranges = count_ranges(record);
    char line[64];
    int n = snprintf(line, sizeof(line), "%zu\n", n_ranges);
    int r = bytes_append(&encoder->map, line, (size_t)n);

    for (size_t i = 0; i < n_ranges && r == 0; i++) {
        const struct range range = get_range(record, i);
        n = snprintf(
            line, sizeof(line), "%" PRIu64 "\n%" PRIu64 "\n", range.start, range.end - range.start);
        r = bytes_append(&encoder->map, line, (size_t)n);
    }
    return r == 0 ? bytes_append_zeros(&encoder->map, (BLOCK - encoder->map.n % BLOCK) % BLOCK) : r;
}

static int put_pax_sparse(struct encoder *encoder)
{
    int r = make_map(encoder);

    if (r == 0)
        r = put_record(encoder, "GNU.sparse.major", "1", 1);
    if (r == 0)
        r = put_record(encoder, "GNU.sparse.minor", "0", 1);
    if (r == 0)
        r = put_name_record(encoder, "GNU.sparse.name", encoder->path.data, encoder->path.n);
    if (r == 0)
        r = put_number_record(encoder, "GNU.sparse.realsize", (int64_t)encoder->entry->size);
    return r;
}

static void put_range(char *block, size_t at, struct range range)
{
    const uint64_t values[] = {range.start, range.end - range.start};

    for (size_t i = 0; i < 2; i++, at += 12) {
        if (fits_octal((int64_t)values[i], 12))
            put_octal(block, at, 12, values[i]);
        else
            put_base_256(block, at, 12, (int64_t)values[i]);
    }
}

/* GNU's old format: the first ranges are in the block, the others follow it. */
static int put_old_sparse(struct encoder *encoder)
{
    const struct stream_record *record = encoder->record;
    size_t n_ranges = count_ranges(record), n = n_ranges < SPARSE_N ? n_ranges : SPARSE_N;

    encoder->block[TYPE] = 'S';
    for (size_t i = 0; i < n; i++)
        put_range(encoder->block, SPARSE_RANGES + i * 24, get_range(record, i));
    encoder->block[SPARSE_EXTENDED] = n_ranges > n;
    int r = put_number(encoder, SPARSE_REAL_SIZE, (int64_t)encoder->entry->size, NULL);
    while (r == 0 && n < n_ranges) {
        char block[BLOCK] = {0};
        for (size_t i = 0; i < EXTENSION_N && n < n_ranges; i++, n++)
            put_range(block, i * 24, get_range(record, n));
        block[EXTENSION_MORE] = n < n_ranges;
        r = bytes_append(&encoder->map, block, sizeof(block));
    }
    return r;
}

uint64_t tar_content_bytes(enum shoal_format format, const struct stream_record *record)
{
    bool can_be_sparse = format == SHOAL_FORMAT_PAX || format == SHOAL_FORMAT_GNU;

    if (record->hard_link || !S_ISREG(record->entry->mode))
        return 0;
    return record->ranges && can_be_sparse ? data_bytes(record) : record->entry->size;
}

static int put_size(struct encoder *encoder)
{
    uint64_t size = tar_content_bytes(encoder->options->format, encoder->record);
    int r = 0;

    if (encoder->is_sparse)
        r = is_gnu(encoder) ? put_old_sparse(encoder) : put_pax_sparse(encoder);
    /* In pax the map counts as content. */
    if (is_pax(encoder))
        size += encoder->map.n;
    return r == 0 ? put_number(encoder, SIZE, (int64_t)size, "size") : r;
}

/* ---- the whole ---- */

static char type_of(const struct stream_record *record)
{
    if (record->hard_link)
        return '1';
    switch (record->entry->mode & S_IFMT) {
    case S_IFDIR:
        return '5';
    case S_IFLNK:
        return '2';
    case S_IFCHR:
        return '3';
    case S_IFBLK:
        return '4';
    case S_IFIFO:
        return '6';
    default:
        return '0';
    }
}

/* A name for the headers that hold records: what an old reader would unpack them as. */
static void put_header_name(char *block, const char *directory, const struct bytes *path)
{
    const char *slash = memrchr(path->data, '/', path->n > 1 ? path->n - 1 : 0);
    const char *name = slash ? slash + 1 : path->data;
    size_t length = path->n - (size_t)(name - path->data), used = strlen(directory);

    memcpy(block, directory, used);
    memcpy(block + used, name, length < 100 - used ? length : 100 - used);
}

static int put_pax_header(struct encoder *encoder)
{
    static const char binary[] = "21 hdrcharset=BINARY\n";
    char block[BLOCK] = {0};
    size_t binary_length = encoder->is_binary ? strlen(binary) : 0, n = encoder->pax.n;

    if (n == 0)
        return 0;
    n += binary_length;
    put_header_name(block, "./PaxHeaders/", &encoder->path);
    put_octal(block, MODE, 0644);
    put_octal(block, UID, 0);
    put_octal(block, GID, 0);
    put_octal(block, SIZE, n);
    put_octal(block, MTIME, 0);
    block[TYPE] = 'x';
    memcpy(block + MAGIC, "ustar\00000", 8);
    put_checksum(block);
    int r = bytes_append(encoder->out, block, sizeof(block));
    if (r == 0)
        r = bytes_append(encoder->out, binary, binary_length);
    if (r == 0)
        r = bytes_append(encoder->out, encoder->pax.data, encoder->pax.n);
    return r == 0 ? bytes_append_zeros(encoder->out, (BLOCK - n % BLOCK) % BLOCK) : r;
}

static int make_block(struct encoder *encoder)
{
    const struct stream_record *record = encoder->record;
    const struct entry *entry = encoder->entry;

    memcpy(encoder->block + MAGIC, is_gnu(encoder) ? "ustar  " : "ustar\00000", 8);
    encoder->block[TYPE] = type_of(record);
    put_octal(encoder->block, MODE, entry->mode & 07777);
    /* The long names of GNU's come first, the link's before the path's. */
    int r = put_link(encoder, record->hard_link ? record->hard_link : entry->link_target);
    if (r == 0 && encoder->is_sparse && is_pax(encoder))
        put_header_name(encoder->block, "./GNUSparseFile.0/", &encoder->path);
    else if (r == 0)
        r = put_path(encoder);
    if (r == 0)
        r = put_owner(encoder);
    if (r == 0)
        r = put_times(encoder);
    if (r == 0)
        r = put_size(encoder);
    if (r == 0)
        r = put_device(encoder);
    if (r == 0 && !record->hard_link)
        r = put_xattrs(encoder);
    put_checksum(encoder->block);
    return r;
}

int tar_encode(const struct encode_options *options, const struct stream_record *record,
    struct bytes *out, struct outcome *outcome)
{
    struct encoder encoder = {
        .options = options,
        .record = record,
        .entry = record->entry,
        .out = out,
        .outcome = outcome,
        .is_sparse = record->ranges && options->format != SHOAL_FORMAT_USTAR && !record->hard_link,
    };
    size_t before = out->n, length = strlen(record->path);

    int r = bytes_append(&encoder.path, record->path, length);
    if (r == 0 && S_ISDIR(record->entry->mode) && length > 0 && record->path[length - 1] != '/')
        r = bytes_append(&encoder.path, "/", 1);
    if (r == 0)
        r = make_block(&encoder);
    if (r == 0)
        r = put_pax_header(&encoder);
    if (r == 0)
        r = bytes_append(out, encoder.block, BLOCK);
    if (r == 0)
        r = bytes_append(out, encoder.map.data, encoder.map.n);
    if (r < 0) {
        out->n = before;
        (void)outcome_fail(outcome, "record", r);
    }
    bytes_free(&encoder.path);
    bytes_free(&encoder.pax);
    bytes_free(&encoder.map);
    return r;
}
