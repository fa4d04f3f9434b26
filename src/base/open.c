#include "base/open.h"

#include <errno.h>
#include <fcntl.h>

int open_at(int dir_fd, const char *name, int flags, mode_t mode)
{
    int fd;

    do
        fd = openat(dir_fd, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

int open_quietly_at(int dir_fd, const char *name, int flags, bool *refused)
{
    bool quiet = !__atomic_load_n(refused, __ATOMIC_RELAXED);
    int fd = open_at(dir_fd, name, flags | (quiet ? O_NOATIME : 0), 0);

    /* EPERM: it is neither our file nor do we have CAP_FOWNER. */
    if (fd != -EPERM || !quiet)
        return fd;
    fd = open_at(dir_fd, name, flags, 0);
    if (fd >= 0)
        __atomic_store_n(refused, true, __ATOMIC_RELAXED);
    return fd;
}
