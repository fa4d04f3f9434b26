/* Scope-bound release of descriptors and memory, and moving them out of a scope. */
#ifndef SHOAL_BASE_CLEANUP_H
#define SHOAL_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_p(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_close_p(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* nothing was promised about a descriptor that is dropped by scope */
}

static inline void cleanup_fclose_p(FILE **f)
{
    if (*f)
        (void)fclose(*f); /* as above: whoever wrote through it has checked before */
}

static inline void cleanup_closedir_p(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

#define _cleanup_(f)       __attribute__((cleanup(f)))
#define _cleanup_free_     _cleanup_(cleanup_free_p)
#define _cleanup_close_    _cleanup_(cleanup_close_p)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose_p)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir_p)

/* TAKE_FD(fd): the descriptor moves to the caller; the variable becomes -1. */
#define TAKE_FD(fd)                                                                                \
    ({                                                                                             \
        int take_fd_ = (fd);                                                                       \
        (fd) = -1;                                                                                 \
        take_fd_;                                                                                  \
    })

/* TAKE_PTR(p): the pointer moves to the caller; the variable becomes NULL. */
#define TAKE_PTR(p)                                                                                \
    ({                                                                                             \
        __typeof__(p) take_ptr_ = (p);                                                             \
        (p) = NULL;                                                                                \
        take_ptr_;                                                                                 \
    })

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#endif
