#include "entry/entry.h"

void entry_from_stat(struct entry *entry, const struct stat *st)
{
    *entry = (struct entry){
        .mode = st->st_mode,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .nlink = st->st_nlink,
        .dev = st->st_dev,
        .ino = st->st_ino,
        .rdev = st->st_rdev,
        .size = (uint64_t)st->st_size,
        .allocated = (uint64_t)st->st_blocks * 512, /* stat(2): always 512-byte units */
        .atime = st->st_atim,
        .mtime = st->st_mtim,
        .ctime = st->st_ctim,
    };
}

int timespec_compare(const struct timespec *a, const struct timespec *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    if (a->tv_nsec != b->tv_nsec)
        return a->tv_nsec < b->tv_nsec ? -1 : 1;
    return 0;
}
