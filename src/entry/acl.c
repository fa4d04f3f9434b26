#include "entry/acl.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "entry/owner_names.h"

/* More entries than this no file system takes: an attribute has at most 64 KiB. */
#define ENTRIES_MAX 8191

static const struct {
    unsigned short tag;
    const char *word;
} tags[] = {
    {ACL_USER_OBJ, "user"},
    {ACL_USER, "user"},
    {ACL_GROUP_OBJ, "group"},
    {ACL_GROUP, "group"},
    {ACL_MASK, "mask"},
    {ACL_OTHER, "other"},
};

static bool has_id(unsigned short tag)
{
    return tag == ACL_USER || tag == ACL_GROUP;
}

/* ---- to text ---- */

static const char *find_word(unsigned short tag)
{
    for (size_t i = 0; i < ELEMENTS(tags); i++)
        if (tags[i].tag == tag)
            return tags[i].word;
    return NULL;
}

static int append_text(struct bytes *out, const char *text)
{
    return bytes_append(out, text, strlen(text));
}

static int append_entry(
    struct bytes *out, const struct posix_acl_xattr_entry *entry, struct owner_names *names)
{
    unsigned short tag = le16toh(entry->e_tag), perm = le16toh(entry->e_perm);
    uint32_t id = le32toh(entry->e_id);
    const char *word = find_word(tag), *name = NULL;
    char number[16] = "", end[32];

    if (!word || (perm & ~7U))
        return -EINVAL;
    if (has_id(tag)) {
        if (names)
            name = tag == ACL_USER ? owner_names_user(names, id) : owner_names_group(names, id);
        (void)snprintf(number, sizeof(number), "%u", id);
    }
    (void)snprintf(end, sizeof(end), ":%c%c%c%s%s", perm & 4 ? 'r' : '-', perm & 2 ? 'w' : '-',
        perm & 1 ? 'x' : '-', name ? ":" : "", name ? number : "");
    int r = append_text(out, word);
    if (r == 0)
        r = append_text(out, ":");
    if (r == 0)
        r = append_text(out, name ? name : number);
    return r == 0 ? append_text(out, end) : r;
}

int acl_to_text(const void *xattr, size_t length, struct owner_names *names, struct bytes *out)
{
    const struct posix_acl_xattr_header *header = xattr;
    const struct posix_acl_xattr_entry *entries = (const void *)(header + 1);
    size_t before = out->n, rest = length - sizeof(*header);
    int r = 0;

    if (length < sizeof(*header) || le32toh(header->a_version) != POSIX_ACL_XATTR_VERSION ||
        rest % sizeof(*entries) != 0)
        return -EINVAL;
    for (size_t i = 0; i < rest / sizeof(*entries) && r == 0; i++) {
        struct posix_acl_xattr_entry entry;
        memcpy(&entry, (const char *)entries + i * sizeof(entry), sizeof(entry));
        r = i > 0 ? append_text(out, ",") : 0;
        if (r == 0)
            r = append_entry(out, &entry, names);
    }
    if (r < 0)
        out->n = before;
    return r;
}

/* ---- from text ---- */

/* A field of an entry. */
struct field {
    const char *text;
    size_t length;
};

/* Parts an entry at its colons, spaces around fields left out. Returns how many fields there are.
 */
static size_t split_fields(const char *text, size_t length, struct field *fields, size_t most)
{
    size_t n = 0;

    while (n < most) {
        const char *colon = memchr(text, ':', length);
        struct field field = {text, colon ? (size_t)(colon - text) : length};
        while (field.length > 0 && (*field.text == ' ' || *field.text == '\t'))
            field.text++, field.length--;
        while (field.length > 0 &&
               (field.text[field.length - 1] == ' ' || field.text[field.length - 1] == '\t'))
            field.length--;
        fields[n++] = field;
        if (!colon)
            break;
        length -= (size_t)(colon + 1 - text);
        text = colon + 1;
    }
    return n;
}

static bool field_is(const struct field *field, const char *word)
{
    size_t n = strlen(word);
    return (field->length == n || field->length == 1) &&
           memcmp(field->text, word, field->length) == 0;
}

static bool parse_number(const struct field *field, uint32_t *ret)
{
    uint64_t number = 0;

    if (field->length == 0 || field->length > 10)
        return false;
    for (size_t i = 0; i < field->length; i++) {
        if (field->text[i] < '0' || field->text[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(field->text[i] - '0');
    }
    if (number >= UINT32_MAX)
        return false;
    *ret = (uint32_t)number;
    return true;
}

/* "rwx", in any order and with dashes for what is not given. */
static bool parse_permissions(const struct field *field, unsigned short *ret)
{
    unsigned short perm = 0;

    for (size_t i = 0; i < field->length; i++)
        switch (field->text[i]) {
        case 'r':
            perm |= 4;
            break;
        case 'w':
            perm |= 2;
            break;
        case 'x':
            perm |= 1;
            break;
        case '-':
            break;
        default:
            return false;
        }
    *ret = perm;
    return true;
}

/* Who an entry is for: by the name if that is known here, else by the number behind, or the name as
 * a number. */
static bool find_id(unsigned short tag, const struct field *name, const struct field *number,
    struct owner_names *names, uint32_t *ret)
{
    if (names) {
        _cleanup_free_ char *text = strndup(name->text, name->length);
        if (text && (tag == ACL_USER ? owner_names_find_user(names, text, ret)
                                     : owner_names_find_group(names, text, ret)))
            return true;
    }
    return (number && parse_number(number, ret)) || parse_number(name, ret);
}

static int parse_entry(
    const char *text, size_t length, struct owner_names *names, struct posix_acl_xattr_entry *ret)
{
    struct field fields[4];
    size_t n = split_fields(text, length, fields, ELEMENTS(fields));
    unsigned short tag, perm;
    uint32_t id = (uint32_t)ACL_UNDEFINED_ID;

    if (n < 2)
        return -EINVAL;
    bool named = n > 2 && fields[1].length > 0;
    if (field_is(&fields[0], "user"))
        tag = named ? ACL_USER : ACL_USER_OBJ;
    else if (field_is(&fields[0], "group"))
        tag = named ? ACL_GROUP : ACL_GROUP_OBJ;
    else if (field_is(&fields[0], "mask"))
        tag = ACL_MASK;
    else if (field_is(&fields[0], "other"))
        tag = ACL_OTHER;
    else
        return -EINVAL;
    /* "mask:rwx" and "other:rwx" are written with one colon, too. */
    const struct field *permissions = n == 2 ? &fields[1] : &fields[2];
    if (!parse_permissions(permissions, &perm))
        return -EINVAL;
    if (has_id(tag) && !find_id(tag, &fields[1], n > 3 ? &fields[3] : NULL, names, &id))
        return -EINVAL;
    *ret = (struct posix_acl_xattr_entry){htole16(tag), htole16(perm), htole32(id)};
    return 0;
}

static int by_tag(const void *a, const void *b)
{
    const struct posix_acl_xattr_entry *left = a, *right = b;
    unsigned short left_tag = le16toh(left->e_tag), right_tag = le16toh(right->e_tag);
    uint32_t left_id = le32toh(left->e_id), right_id = le32toh(right->e_id);

    if (left_tag != right_tag)
        return left_tag < right_tag ? -1 : 1;
    return (left_id > right_id) - (left_id < right_id);
}

static size_t entry_length(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && text[n] != ',' && text[n] != '\n')
        n++;
    return n;
}

static int parse_entries(
    const char *text, size_t length, struct owner_names *names, struct bytes *entries)
{
    int r = 0;

    while (length > 0 && r == 0) {
        size_t n = entry_length(text, length);
        const char *comment = memchr(text, '#', n);
        size_t used = comment ? (size_t)(comment - text) : n;
        struct posix_acl_xattr_entry entry;
        if (used > 0) {
            r = entries->n < ENTRIES_MAX * sizeof(entry) ? parse_entry(text, used, names, &entry)
                                                         : -EINVAL;
            if (r == 0)
                r = bytes_append(entries, &entry, sizeof(entry));
        }
        n += n < length;
        text += n;
        length -= n;
    }
    return r;
}

int acl_from_text(const char *text, size_t length, struct owner_names *names, struct bytes *out)
{
    const struct posix_acl_xattr_header header = {htole32(POSIX_ACL_XATTR_VERSION)};
    struct bytes entries = {0};
    size_t before = out->n;

    int r = parse_entries(text, length, names, &entries);
    if (r == 0 && entries.n == 0)
        r = -EINVAL;
    if (r == 0) {
        /* The kernel wants them in this order. */
        qsort(entries.data, entries.n / sizeof(struct posix_acl_xattr_entry),
            sizeof(struct posix_acl_xattr_entry), by_tag);
        r = bytes_append(out, &header, sizeof(header));
    }
    if (r == 0)
        r = bytes_append(out, entries.data, entries.n);
    if (r < 0)
        out->n = before;
    bytes_free(&entries);
    return r;
}
