#include "sink/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <shoal/shoal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERMISSIONS 07777
#define SET_ID      (S_ISUID | S_ISGID)

mode_t metadata_creation_mode(
    const struct entry *entry, unsigned preserve, mode_t default_umask, bool owned)
{
    mode_t mode = entry->mode & 0777;

    if (!(preserve & SHOAL_KEEP_MODE))
        return metadata_final_mode(entry, preserve, default_umask);
    if (xattr_set_find(entry->xattrs, XATTR_ACL_ACCESS) >= 0)
        return mode & 0700; /* the group bits are the ACL's mask, not what the group may do */
    if (owned)
        return mode;
    /* Until the owner is set, "group" and "user" are ours: give them no more than everyone gets. */
    return mode & 0004 ? mode & 0755 : mode & 0700;
}

mode_t metadata_final_mode(const struct entry *entry, unsigned preserve, mode_t default_umask)
{
    if (preserve & SHOAL_KEEP_MODE)
        return entry->mode & PERMISSIONS;
    return (S_ISDIR(entry->mode) ? 0777 : 0666) & ~default_umask;
}

static int change_owner(struct xattr_place place, uid_t uid, gid_t gid)
{
    int r = place.name ? fchownat(place.fd, place.name, uid, gid, AT_SYMLINK_NOFOLLOW)
                       : fchown(place.fd, uid, gid);
    return r < 0 ? -errno : 0;
}

static int change_mode(struct xattr_place place, mode_t mode)
{
    int r = place.name ? fchmodat(place.fd, place.name, mode, AT_SYMLINK_NOFOLLOW)
                       : fchmod(place.fd, mode);
    return r < 0 ? -errno : 0;
}

/* Returns whether the file has the entry's owner and group. */
static bool apply_owner(const struct metadata_change *change, struct outcome *outcome)
{
    const struct entry *entry = change->entry;

    if (entry->uid == change->born.uid && entry->gid == change->born.gid)
        return true;
    if (!(change->preserve & SHOAL_KEEP_OWNER))
        return false;
    int r = change_owner(change->place, entry->uid, entry->gid);
    if (r == 0)
        return true;
    outcome_note(outcome, ASPECT_OWNER, r);
    /* A user may still give a file to another of their own groups. */
    if (entry->gid != change->born.gid)
        (void)change_owner(change->place, (uid_t)-1, entry->gid); /* the loss is noted above */
    return false;
}

/* Sets the access ACL, or removes one that was inherited. Returns whether an ACL gave the mode. */
static bool apply_acl(const struct metadata_change *change, struct outcome *outcome)
{
    long i = xattr_set_find(change->entry->xattrs, XATTR_ACL_ACCESS);
    size_t length;

    if (i >= 0) {
        const void *acl = xattr_set_value(change->entry->xattrs, (size_t)i, &length);
        int r = xattr_put(change->place, XATTR_ACL_ACCESS, acl, length);
        if (r < 0)
            outcome_note(outcome, ASPECT_ACL, r);
        return r == 0;
    }
    if (!change->born.may_have_acl)
        return false;
    int r = xattr_remove(change->place, XATTR_ACL_ACCESS);
    if (r < 0 && r != -ENODATA && r != -EOPNOTSUPP)
        outcome_note(outcome, ASPECT_ACL, r);
    return false;
}

/* The kernel drops S_ISGID without a word where the caller is not in the group. */
static void check_set_id(struct xattr_place place, mode_t mode, struct outcome *outcome)
{
    struct stat st;
    int r =
        place.name ? fstatat(place.fd, place.name, &st, AT_SYMLINK_NOFOLLOW) : fstat(place.fd, &st);
    if (r == 0 && (st.st_mode & SET_ID) != (mode & SET_ID))
        outcome_note(outcome, ASPECT_SETID, -EPERM);
}

static void apply_mode(const struct metadata_change *change, bool owned, struct outcome *outcome)
{
    bool acl_gave_mode = (change->preserve & SHOAL_KEEP_MODE) ? apply_acl(change, outcome) : false;
    mode_t mode = change->final_mode;

    if (!owned && (mode & SET_ID) && !S_ISDIR(change->entry->mode)) {
        /* Another user's program must not run with our rights. */
        mode &= (mode_t)~SET_ID;
        outcome_note(outcome, ASPECT_SETID, -EPERM);
    }
    bool holds = acl_gave_mode ? (mode & ~0777U) == 0 : mode == change->born.mode;
    if (holds && !change->born.may_have_acl)
        return;
    int r = change_mode(change->place, mode);
    if (r < 0)
        outcome_note(outcome, ASPECT_MODE, r);
    else if (mode & SET_ID)
        check_set_id(change->place, mode, outcome);
}

/* An owner may not set attributes on a file that they cannot write: then they make it so for a
 * moment. */
static int put_xattr(
    const struct metadata_change *change, const char *name, const void *value, size_t length)
{
    int r = xattr_put(change->place, name, value, length);

    if (r != -EACCES || (change->final_mode & S_IWUSR) || S_ISLNK(change->entry->mode) ||
        change_mode(change->place, change->final_mode | S_IWUSR) < 0)
        return r;
    r = xattr_put(change->place, name, value, length);
    int back = change_mode(change->place, change->final_mode);
    return r < 0 ? r : back;
}

static void apply_xattrs(const struct metadata_change *change, struct outcome *outcome)
{
    const struct xattr_set *set = change->entry->xattrs;

    for (size_t i = 0; set && i < set->n; i++) {
        const char *name = xattr_set_name(set, i);
        enum aspect aspect = xattr_aspect(name);
        size_t length;

        if (!(aspect_keep_bit(aspect) & change->preserve) || strcmp(name, XATTR_ACL_ACCESS) == 0)
            continue;
        const void *value = xattr_set_value(set, i, &length);
        int r = put_xattr(change, name, value, length);
        if (r < 0)
            outcome_note(outcome, aspect, r);
    }
}

static void apply_times(const struct metadata_change *change, struct outcome *outcome)
{
    const struct xattr_place *place = &change->place;
    struct timespec times[] = {change->entry->atime, change->entry->mtime};
    int r = place->name ? utimensat(place->fd, place->name, times, AT_SYMLINK_NOFOLLOW)
                        : futimens(place->fd, times);
    if (r < 0)
        outcome_note(outcome, ASPECT_TIMES, -errno);
}

void metadata_apply(const struct metadata_change *change, struct outcome *outcome)
{
    bool owned = apply_owner(change, outcome);

    if (!S_ISLNK(change->entry->mode))
        apply_mode(change, owned, outcome);
    apply_xattrs(change, outcome);
    if (change->preserve & SHOAL_KEEP_TIMES)
        apply_times(change, outcome);
}
