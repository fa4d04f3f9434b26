/* Extended attributes of one file, ACLs and capabilities among them: read whole, set one by one. */
#ifndef SHOAL_ENTRY_XATTRS_H
#define SHOAL_ENTRY_XATTRS_H

#include <stdbool.h>
#include <stddef.h>

#include "entry/outcome.h"

#define XATTR_ACL_ACCESS  "system.posix_acl_access"
#define XATTR_ACL_DEFAULT "system.posix_acl_default"
#define XATTR_CAPABILITY  "security.capability"

/* A set that is filled again and again: its memory is kept between files. Start from zero. */
struct xattr_set {
    size_t n;
    size_t *names, *values, *lengths; /* offsets into bytes, and each value's length */
    size_t room;                      /* of the three */
    char *bytes;
    size_t used, bytes_room;
};

/* Where a file's attributes are reached: by descriptor (name NULL), or a name in a directory. */
struct xattr_place {
    int fd; /* the file, or the directory of `name` */
    const char *name;
    bool follow; /* if `name` is a symbolic link, what it points to */
};

/* Reads all attributes, but those that a file system keeps its own records in (Lustre's layout).
 * A file system without attributes has none. 0 or negative errno. */
int xattr_set_read(struct xattr_set *set, struct xattr_place place);

void xattr_set_clear(struct xattr_set *set); /* empties it, keeping its memory */
void xattr_set_free(struct xattr_set *set);

/* Adds one; the bytes are copied. 0 or -ENOMEM. */
int xattr_set_add(struct xattr_set *set, const char *name, const void *value, size_t length);

/* A copy that owns its memory, NULL when memory is out; free it with xattr_set_free() and free().
 */
struct xattr_set *xattr_set_copy(const struct xattr_set *set);

const char *xattr_set_name(const struct xattr_set *set, size_t i);
const void *xattr_set_value(const struct xattr_set *set, size_t i, size_t *ret_length);

/* The index of a name, or -1. A set that is NULL is empty. */
long xattr_set_find(const struct xattr_set *set, const char *name);

/* Sets or removes one attribute. 0 or negative errno. */
int xattr_put(struct xattr_place place, const char *name, const void *value, size_t length);
int xattr_remove(struct xattr_place place, const char *name);

/* What is lost if this attribute cannot be kept. */
enum aspect xattr_aspect(const char *name);

#endif
