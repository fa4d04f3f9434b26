/* Holding content to so many bytes a second, over all workers. */
#ifndef SHOAL_ENGINE_PACE_H
#define SHOAL_ENGINE_PACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pace {
    uint64_t bytes_second; /* 0: no limit */
    pthread_mutex_t lock;
    uint64_t free_ns; /* when everything granted so far has had its time */
};

void pace_init(struct pace *pace, uint64_t bytes_second);
void pace_destroy(struct pace *pace);

/* When n more bytes may be moved: the moment by clock_now_ns() to wait for, perhaps past. Absolute,
 * so that waiting too long once does not slow the whole. */
uint64_t pace_grant_ns(struct pace *pace, size_t n);

/* The most bytes to move at once, so that the rate is even and a stop is heeded soon. */
size_t pace_step_bytes(const struct pace *pace, size_t most);

#endif
