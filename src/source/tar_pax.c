#include "source/tar_pax.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "entry/acl.h"

/* More no file system lists: it has 64 KiB for their names. */
#define XATTRS_MAX 4096

struct value {
    const char *text;
    size_t length;
};

int tar_pax_parse_number(const char *text, size_t length, int64_t *ret)
{
    bool negative = length > 0 && text[0] == '-';
    uint64_t value = 0;

    if (length == (size_t)negative || length > 20)
        return -EBADMSG;
    for (size_t i = negative; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || value > (INT64_MAX - 9) / 10)
            return -EBADMSG;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

/* Seconds with any number of decimals. */
static int parse_time(struct value value, struct timespec *ret)
{
    const char *dot = memchr(value.text, '.', value.length);
    size_t whole = dot ? (size_t)(dot - value.text) : value.length;
    bool negative = value.length > 0 && value.text[0] == '-';
    int64_t seconds = 0, ns = 0;

    if (whole > (size_t)negative && tar_pax_parse_number(value.text, whole, &seconds) < 0)
        return -EBADMSG;
    if (!dot && whole <= (size_t)negative)
        return -EBADMSG;
    size_t n = dot ? value.length - whole - 1 : 0;
    for (size_t i = 0; i < 9; i++) {
        char digit = i < n ? dot[1 + i] : '0';
        if (digit < '0' || digit > '9')
            return -EBADMSG;
        ns = ns * 10 + (digit - '0');
    }
    if (negative && ns > 0) {
        seconds--;
        ns = 1000000000 - ns;
    }
    *ret = (struct timespec){.tv_sec = seconds, .tv_nsec = ns};
    return 0;
}

static int set_text(struct bytes *bytes, struct value value)
{
    bytes->n = 0;
    /* What follows a NUL could not be part of a name anyway. */
    int r = bytes_append(bytes, value.text, strnlen(value.text, value.length));
    return r == 0 ? bytes_append(bytes, "", 1) : r;
}

/* ---- sparse files ---- */

static int add_range(struct tar_pax *pax, int64_t offset, int64_t n)
{
    if (offset < 0 || n < 0 || n > INT64_MAX - offset)
        return -EBADMSG;
    const struct range range = {(uint64_t)offset, (uint64_t)(offset + n)};
    return bytes_append(&pax->ranges, &range, sizeof(range));
}

int tar_pax_parse_map(struct tar_pax *pax, const char *text, size_t length)
{
    int64_t number, offset = 0;
    bool have_offset = false;
    int r = 0;

    while (length > 0 && r == 0) {
        const char *comma = memchr(text, ',', length);
        size_t n = comma ? (size_t)(comma - text) : length;
        if (tar_pax_parse_number(text, n, &number) < 0)
            return -EBADMSG;
        if (have_offset)
            r = add_range(pax, offset, number);
        offset = number;
        have_offset = !have_offset;
        n += comma != NULL;
        text += n;
        length -= n;
    }
    return r == 0 && have_offset ? -EBADMSG : r;
}

/* Format 0.0 has offsets and lengths in turn; an offset is kept as an empty range until its length
 * comes. */
static int parse_sparse(struct tar_pax *pax, const char *key, struct value value)
{
    int64_t number;

    if (strcmp(key, "name") == 0) {
        pax->has |= PAX_SPARSE_NAME;
        return set_text(&pax->sparse_name, value);
    }
    if (strcmp(key, "map") == 0) {
        pax->has |= PAX_SPARSE_MAP;
        pax->ranges.n = 0;
        return tar_pax_parse_map(pax, value.text, value.length);
    }
    if (tar_pax_parse_number(value.text, value.length, &number) < 0)
        return -EBADMSG;
    if (strcmp(key, "size") == 0 || strcmp(key, "realsize") == 0) {
        pax->has |= PAX_REAL_SIZE;
        pax->real_size = number;
    } else if (strcmp(key, "major") == 0) {
        pax->has |= number == 1 ? PAX_SPARSE_1 : 0;
        return number > 1 ? -EBADMSG : 0;
    } else if (strcmp(key, "offset") == 0) {
        pax->has |= PAX_SPARSE_MAP;
        return add_range(pax, number, 0);
    } else if (strcmp(key, "numbytes") == 0) {
        struct range *ranges = (struct range *)pax->ranges.data;
        size_t n = pax->ranges.n / sizeof(*ranges);
        if (n == 0 || number < 0 || number > INT64_MAX - (int64_t)ranges[n - 1].start)
            return -EBADMSG;
        ranges[n - 1].end = ranges[n - 1].start + (uint64_t)number;
    }
    return 0;
}

/* ---- attributes ---- */

static int add_xattr(struct tar_pax *pax, const char *name, const void *value, size_t length)
{
    if (pax->xattrs.n >= XATTRS_MAX)
        return -EBADMSG;
    if (!*name || strlen(name) > XATTR_NAME_MAX || xattr_set_find(&pax->xattrs, name) >= 0)
        return 0;
    return xattr_set_add(&pax->xattrs, name, value, length);
}

static int add_acl(const struct tar_pax_reader *reader, const char *name, struct value value)
{
    struct bytes acl = {0};
    int r = acl_from_text(value.text, value.length, reader->names, &acl);

    if (r == 0)
        r = add_xattr(reader->pax, name, acl.data, acl.n);
    bytes_free(&acl);
    return r == -EINVAL ? -EBADMSG : r;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* libarchive writes names with "%3D" for what a key cannot hold. */
static void decode_percent(char *name)
{
    char *to = name;

    for (const char *from = name; *from; to++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        *to = low >= 0 ? (char)(high * 16 + low) : *from;
        from += low >= 0 ? 3 : 1;
    }
    *to = '\0';
}

/* GNU tar has these two codes alone. */
static void decode_gnu(char *name)
{
    char *to = name;

    for (const char *from = name; *from; to++) {
        bool is_equals = strncmp(from, "%3D", 3) == 0;
        bool is_code = is_equals || strncmp(from, "%25", 3) == 0;
        *to = is_equals ? '=' : *from;
        from += is_code ? 3 : 1;
    }
    *to = '\0';
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static int decode_base64(struct value value, struct bytes *out)
{
    unsigned bits = 0, n = 0;
    int r = 0;

    for (size_t i = 0; i < value.length && value.text[i] != '=' && r == 0; i++) {
        int digit = base64_digit(value.text[i]);
        if (digit < 0)
            return -EBADMSG;
        bits = (bits << 6 | (unsigned)digit) & 0xffffff;
        n += 6;
        if (n >= 8) {
            n -= 8;
            char byte = (char)(bits >> n);
            r = bytes_append(out, &byte, 1);
        }
    }
    return r;
}

static int add_plain_xattr(struct tar_pax *pax, const char *key, struct value value)
{
    char name[XATTR_NAME_MAX * 3 + 1];

    if (strlen(key) >= sizeof(name))
        return 0;
    (void)strcpy(name, key);
    decode_gnu(name);
    return add_xattr(pax, name, value.text, value.length);
}

static int add_encoded_xattr(struct tar_pax *pax, const char *key, struct value value)
{
    struct bytes decoded = {0};
    char name[XATTR_NAME_MAX * 3 + 1];

    if (strlen(key) >= sizeof(name))
        return 0;
    (void)strcpy(name, key);
    decode_percent(name);
    int r = decode_base64(value, &decoded);
    if (r == 0)
        r = add_xattr(pax, name, decoded.data ? decoded.data : "", decoded.n);
    bytes_free(&decoded);
    return r;
}

static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static int parse_xattr(const struct tar_pax_reader *reader, const char *key, struct value value)
{
    const char *name;

    if (!reader->want_xattrs)
        return 0;
    if ((name = skip_prefix(key, "SCHILY.xattr.")))
        return add_plain_xattr(reader->pax, name, value);
    if ((name = skip_prefix(key, "LIBARCHIVE.xattr.")))
        return add_encoded_xattr(reader->pax, name, value);
    if (reader->leave_acls)
        return 0;
    if (strcmp(key, "SCHILY.acl.access") == 0)
        return add_acl(reader, XATTR_ACL_ACCESS, value);
    if (strcmp(key, "SCHILY.acl.default") == 0)
        return add_acl(reader, XATTR_ACL_DEFAULT, value);
    return 0;
}

/* ---- records ---- */

static int parse_number_record(struct tar_pax *pax, unsigned bit, int64_t *to, struct value value)
{
    int r = tar_pax_parse_number(value.text, value.length, to);
    if (r == 0)
        pax->has |= bit;
    return r;
}

static int parse_text_record(
    struct tar_pax *pax, unsigned bit, struct bytes *to, struct value value)
{
    pax->has |= bit;
    return set_text(to, value);
}

static int parse_time_record(
    struct tar_pax *pax, unsigned bit, struct timespec *to, struct value value)
{
    int r = parse_time(value, to);
    if (r == 0)
        pax->has |= bit;
    return r;
}

static int parse_record(const struct tar_pax_reader *reader, const char *key, struct value value)
{
    struct tar_pax *pax = reader->pax;
    const char *sparse = skip_prefix(key, "GNU.sparse.");
    const struct {
        const char *key;
        unsigned bit;
        struct bytes *text;
        int64_t *number;
        struct timespec *time;
    } keys[] = {
        {"path", PAX_PATH, .text = &pax->path},
        {"linkpath", PAX_LINK, .text = &pax->link},
        {"uname", PAX_USER, .text = &pax->user},
        {"gname", PAX_GROUP, .text = &pax->group},
        {"size", PAX_SIZE, .number = &pax->size},
        {"uid", PAX_UID, .number = &pax->uid},
        {"gid", PAX_GID, .number = &pax->gid},
        {"SCHILY.devmajor", PAX_MAJOR, .number = &pax->major},
        {"SCHILY.devminor", PAX_MINOR, .number = &pax->minor},
        {"mtime", PAX_MTIME, .time = &pax->mtime},
        {"atime", PAX_ATIME, .time = &pax->atime},
    };

    for (size_t i = 0; i < ELEMENTS(keys); i++) {
        if (strcmp(key, keys[i].key) != 0)
            continue;
        if (value.length == 0) { /* takes back what an earlier record said */
            pax->has &= ~keys[i].bit;
            return 0;
        }
        if (keys[i].text)
            return parse_text_record(pax, keys[i].bit, keys[i].text, value);
        return keys[i].number ? parse_number_record(pax, keys[i].bit, keys[i].number, value)
                              : parse_time_record(pax, keys[i].bit, keys[i].time, value);
    }
    return sparse ? parse_sparse(pax, sparse, value) : parse_xattr(reader, key, value);
}

/* "LENGTH KEY=VALUE\n", the length being that of all of it. */
static int parse_next(
    const struct tar_pax_reader *reader, const char *record, size_t rest, size_t *ret_length)
{
    char key[XATTR_NAME_MAX * 3 + 64];
    size_t length = 0, at = 0;

    for (; at < rest && record[at] >= '0' && record[at] <= '9'; at++) {
        length = length * 10 + (size_t)(record[at] - '0');
        if (length > rest)
            return -EBADMSG;
    }
    if (at == 0 || at >= rest || record[at] != ' ' || length < at + 3 || record[length - 1] != '\n')
        return -EBADMSG;
    at++;
    const char *equals = memchr(record + at, '=', length - at - 1);
    if (!equals)
        return -EBADMSG;
    *ret_length = length;
    size_t key_length = (size_t)(equals - (record + at));
    if (key_length >= sizeof(key) || memchr(record + at, '\0', key_length))
        return 0; /* none that is known */
    memcpy(key, record + at, key_length);
    key[key_length] = '\0';
    const struct value value = {equals + 1, (size_t)(record + length - 1 - (equals + 1))};
    return parse_record(reader, key, value);
}

int tar_pax_parse(const struct tar_pax_reader *reader, const char *records, size_t length)
{
    while (length > 0) {
        size_t used = 0;
        if (*records == '\0')
            return 0; /* some writers pad within the size */
        int r = parse_next(reader, records, length, &used);
        if (r < 0)
            return r;
        records += used;
        length -= used;
    }
    return 0;
}

void tar_pax_clear(struct tar_pax *pax)
{
    pax->has = 0;
    pax->ranges.n = 0;
    xattr_set_clear(&pax->xattrs);
}

void tar_pax_free(struct tar_pax *pax)
{
    bytes_free(&pax->path);
    bytes_free(&pax->link);
    bytes_free(&pax->user);
    bytes_free(&pax->group);
    bytes_free(&pax->sparse_name);
    bytes_free(&pax->ranges);
    xattr_set_free(&pax->xattrs);
}
