/* The one record that flows from a source to a sink: what a file is, without its content. */
#ifndef SHOAL_ENTRY_ENTRY_H
#define SHOAL_ENTRY_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

struct xattr_set;

struct entry {
    mode_t mode; /* type and permission bits, as in st_mode */
    uid_t uid;
    gid_t gid;
    uint64_t nlink;
    uint64_t dev,
        ino; /* name the inode within one source; dev 0: the source is no file system of ours */
    uint64_t rdev;      /* of a device node, as makedev() packs it */
    uint64_t size;      /* bytes */
    uint64_t allocated; /* bytes that have storage; less than size: there may be holes */
    struct timespec atime, mtime, ctime;
    const char *link_target;        /* of a symbolic link, else NULL */
    const struct xattr_set *xattrs; /* NULL: none. Both belong to whoever filled the entry */
};

/* Fills all but link_target and xattrs, which become NULL. */
void entry_from_stat(struct entry *entry, const struct stat *st);

static inline bool entry_is_directory(const struct entry *entry)
{
    return S_ISDIR(entry->mode);
}

static inline bool entry_is_inode(const struct entry *entry, const struct stat *st)
{
    return entry->dev == st->st_dev && entry->ino == st->st_ino;
}

/* Less than, equal to or greater than zero as a is before, at or after b. */
int timespec_compare(const struct timespec *a, const struct timespec *b);

#endif
