/* Time that only goes forward, and durations as people read them. */
#ifndef SHOAL_BASE_CLOCK_H
#define SHOAL_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_SECOND 1000000000ULL

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);

/* Sleeps until clock_now_ns() reaches the deadline; a signal does not cut it short. */
void clock_sleep_until_ns(uint64_t deadline_ns);

#endif
