#include "bench/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DROP_CACHES "/proc/sys/vm/drop_caches"

int scratch_make(const char *parent, char **ret_path)
{
    _cleanup_free_ char *real = realpath(parent, NULL), *path = NULL;

    if (!real)
        return -errno;
    if (asprintf(&path, "%s/shoal-bench-XXXXXX", strcmp(real, "/") == 0 ? "" : real) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    if (!mkdtemp(path))
        return -errno;
    *ret_path = TAKE_PTR(path);
    return 0;
}

int scratch_has_room(const char *path, uint64_t files, uint64_t bytes, uint64_t *ret_free_bytes)
{
    struct statvfs st;

    if (statvfs(path, &st) < 0)
        return -errno;
    *ret_free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
    if (*ret_free_bytes < bytes || (st.f_files > 0 && st.f_favail < files))
        return -ENOSPC;
    return 0;
}

int scratch_flush(const char *path)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    return syncfs(fd) < 0 ? -errno : 0;
}

int scratch_can_drop_caches(void)
{
    _cleanup_close_ int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : 0;
}

int scratch_drop_caches(void)
{
    _cleanup_close_ int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    sync(); /* only clean pages are dropped */
    return write(fd, "3\n", 2) == 2 ? 0 : -errno;
}

/* Opens a directory to empty it; one that its mode closes to its owner is opened first. */
static int open_to_empty(int parent_fd, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent_fd, name, flags);

    if (fd < 0 && errno == EACCES && fchmodat(parent_fd, name, 0700, 0) == 0)
        fd = openat(parent_fd, name, flags);
    if (fd < 0)
        return -errno;
    (void)fchmod(fd, 0700); /* if it cannot be, the removals below say why */
    return fd;
}

static int remove_below(int fd, bool (*should_stop)(const void *context), const void *context)
{
    _cleanup_closedir_ DIR *dir = fdopendir(fd);
    const struct dirent *entry;
    int first = 0;

    if (!dir) {
        first = -errno;
        (void)close(fd);
        return first;
    }
    for (errno = 0; (entry = readdir(dir)); errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int r = scratch_remove(dirfd(dir), entry->d_name, should_stop, context);
        if (r == -EINTR)
            return r;
        if (r < 0 && first == 0)
            first = r;
    }
    return errno != 0 && first == 0 ? -errno : first;
}

int scratch_remove(
    int parent_fd, const char *name, bool (*should_stop)(const void *context), const void *context)
{
    if (should_stop && should_stop(context))
        return -EINTR;
    if (unlinkat(parent_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM) /* EPERM: POSIX's word for a directory */
        return -errno;
    int fd = open_to_empty(parent_fd, name);
    if (fd < 0)
        return fd == -ENOTDIR ? -EPERM : fd;
    int r = remove_below(fd, should_stop, context);
    if (r < 0)
        return r;
    return unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
