#include "entry/xattrs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/cleanup.h"

/* Linux's limits: xattr(7). The kernel refuses larger ones, so one call with room enough suffices.
 */
#define NAMES_MAX    65536
#define VALUE_MAX    65536

#define LUSTRE_MAGIC 0x0bd00bd0 /* LL_SUPER_MAGIC of Lustre's own headers */

/* A name in a directory is reached through /proc, since no call takes a directory descriptor and a
 * name on every kernel; the l… calls do not follow the last component, and nothing that is set ever
 * is. */
struct proc_path {
    char text[sizeof("/proc/self/fd/2147483647/") + NAME_MAX];
};

static const char *proc_path(struct xattr_place place, struct proc_path *buffer)
{
    (void)snprintf(buffer->text, sizeof(buffer->text), "/proc/self/fd/%d/%s", place.fd, place.name);
    return buffer->text;
}

static ssize_t list_names(struct xattr_place place, char *names, size_t room)
{
    struct proc_path path;
    if (!place.name)
        return flistxattr(place.fd, names, room);
    (void)proc_path(place, &path);
    return place.follow ? listxattr(path.text, names, room) : llistxattr(path.text, names, room);
}

static ssize_t get_value(struct xattr_place place, const char *name, void *value, size_t room)
{
    struct proc_path path;
    if (!place.name)
        return fgetxattr(place.fd, name, value, room);
    (void)proc_path(place, &path);
    return place.follow ? getxattr(path.text, name, value, room)
                        : lgetxattr(path.text, name, value, room);
}

int xattr_put(struct xattr_place place, const char *name, const void *value, size_t length)
{
    struct proc_path path;
    int r = !place.name ? fsetxattr(place.fd, name, value, length, 0)
                        : lsetxattr(proc_path(place, &path), name, value, length, 0);
    return r < 0 ? -errno : 0;
}

int xattr_remove(struct xattr_place place, const char *name)
{
    struct proc_path path;
    int r =
        !place.name ? fremovexattr(place.fd, name) : lremovexattr(proc_path(place, &path), name);
    return r < 0 ? -errno : 0;
}

static int reserve_bytes(struct xattr_set *set, size_t more)
{
    if (set->bytes_room - set->used >= more)
        return 0;
    size_t room = (set->used + more) * 2;
    char *bytes = realloc(set->bytes, room);
    if (!bytes)
        return -ENOMEM;
    set->bytes = bytes;
    set->bytes_room = room;
    return 0;
}

static int reserve_slot(struct xattr_set *set)
{
    if (set->n < set->room)
        return 0;
    size_t room = set->room ? set->room * 2 : 8;
    size_t *slots = malloc(3 * room * sizeof(size_t));
    if (!slots)
        return -ENOMEM;
    if (set->n > 0) {
        memcpy(slots, set->names, set->n * sizeof(size_t));
        memcpy(slots + room, set->values, set->n * sizeof(size_t));
        memcpy(slots + 2 * room, set->lengths, set->n * sizeof(size_t));
    }
    free(set->names);
    set->names = slots;
    set->values = slots + room;
    set->lengths = slots + 2 * room;
    set->room = room;
    return 0;
}

int xattr_set_add(struct xattr_set *set, const char *name, const void *value, size_t length)
{
    size_t name_size = strlen(name) + 1;
    int r = reserve_slot(set);
    if (r < 0)
        return r;
    r = reserve_bytes(set, name_size + length);
    if (r < 0)
        return r;
    set->names[set->n] = set->used;
    memcpy(set->bytes + set->used, name, name_size);
    set->used += name_size;
    set->values[set->n] = set->used;
    set->lengths[set->n] = length;
    if (length > 0)
        memcpy(set->bytes + set->used, value, length);
    set->used += length;
    set->n++;
    return 0;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Lustre keeps where a file's stripes lie in attributes of these names; another file's would point
 * into nowhere. On any other file system the names are anyone's. */
static bool is_record_of_file_system(const char *name, int fd)
{
    static const char *const owned[] = {
        "lustre.",
        "trusted.lov",
        "trusted.lma",
        "trusted.lmv",
        "trusted.link",
        "trusted.dmv",
        "trusted.fid",
        "trusted.hsm",
        "trusted.som",
        "trusted.version",
    };
    struct statfs fs;

    /* XFS shows its ACLs to root a second time; elsewhere they would be mere attributes. */
    if (strcmp(name, "trusted.SGI_ACL_FILE") == 0 || strcmp(name, "trusted.SGI_ACL_DEFAULT") == 0)
        return true;
    for (size_t i = 0; i < ELEMENTS(owned); i++)
        if (has_prefix(name, owned[i]))
            return fstatfs(fd, &fs) == 0 && fs.f_type == LUSTRE_MAGIC;
    return false;
}

/* Reads the values of `names` (each with its NUL) into the set. */
static int read_values(
    struct xattr_set *set, struct xattr_place place, const char *names, size_t length)
{
    char *value = malloc(VALUE_MAX);
    int r = value ? 0 : -ENOMEM;

    for (const char *name = names; r == 0 && name < names + length; name += strlen(name) + 1) {
        if (is_record_of_file_system(name, place.fd))
            continue;
        ssize_t n = get_value(place, name, value, VALUE_MAX);
        if (n >= 0)
            r = xattr_set_add(set, name, value, (size_t)n);
        else if (errno != ENODATA &&
                 errno != EOPNOTSUPP) /* removed since, or listed but unreadable */
            r = -errno;
    }
    free(value);
    return r;
}

int xattr_set_read(struct xattr_set *set, struct xattr_place place)
{
    char few[256], *names = few;

    xattr_set_clear(set);
    ssize_t length = list_names(place, few, sizeof(few));
    if (length < 0 && errno == ERANGE) {
        names = malloc(NAMES_MAX);
        if (!names)
            return -ENOMEM;
        length = list_names(place, names, NAMES_MAX);
    }
    int r = 0;
    if (length < 0)
        r = errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
    else if (length > 0)
        r = read_values(set, place, names, (size_t)length);
    if (names != few)
        free(names);
    return r;
}

void xattr_set_clear(struct xattr_set *set)
{
    set->n = 0;
    set->used = 0;
}

void xattr_set_free(struct xattr_set *set)
{
    if (!set)
        return;
    free(set->names);
    free(set->bytes);
    *set = (struct xattr_set){0};
}

struct xattr_set *xattr_set_copy(const struct xattr_set *set)
{
    struct xattr_set *copy = calloc(1, sizeof(*copy));

    for (size_t i = 0; copy && i < set->n; i++) {
        size_t length;
        const void *value = xattr_set_value(set, i, &length);
        if (xattr_set_add(copy, xattr_set_name(set, i), value, length) < 0) {
            xattr_set_free(copy);
            free(copy);
            return NULL;
        }
    }
    return copy;
}

const char *xattr_set_name(const struct xattr_set *set, size_t i)
{
    return set->bytes + set->names[i];
}

const void *xattr_set_value(const struct xattr_set *set, size_t i, size_t *ret_length)
{
    *ret_length = set->lengths[i];
    return set->bytes + set->values[i];
}

long xattr_set_find(const struct xattr_set *set, const char *name)
{
    for (size_t i = 0; set && i < set->n; i++)
        if (strcmp(xattr_set_name(set, i), name) == 0)
            return (long)i;
    return -1;
}

enum aspect xattr_aspect(const char *name)
{
    if (strcmp(name, XATTR_ACL_ACCESS) == 0 || strcmp(name, XATTR_ACL_DEFAULT) == 0)
        return ASPECT_ACL;
    if (strcmp(name, XATTR_CAPABILITY) == 0)
        return ASPECT_CAPABILITY;
    if (has_prefix(name, "user."))
        return ASPECT_XATTR_USER;
    if (has_prefix(name, "trusted."))
        return ASPECT_XATTR_TRUSTED;
    if (has_prefix(name, "security."))
        return ASPECT_XATTR_SECURITY;
    return ASPECT_XATTR_SYSTEM;
}
