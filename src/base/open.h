/* Opening by name in a directory. */
#ifndef SHOAL_BASE_OPEN_H
#define SHOAL_BASE_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

/* openat(2), O_CLOEXEC added, again after EINTR (user space and network file systems give it).
 * Returns a descriptor or a negative errno. */
int open_at(int dir_fd, const char *name, int flags, mode_t mode);

/* The same for reading without leaving a trace in the access time, where that is allowed. *refused
 * remembers that it was not, so that it is tried once only; several threads may share it. */
int open_quietly_at(int dir_fd, const char *name, int flags, bool *refused);

#endif
