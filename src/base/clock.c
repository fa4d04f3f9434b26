#include "base/clock.h"

#include <errno.h>
#include <time.h>

uint64_t clock_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail: the clock exists on every Linux */
    return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

void clock_sleep_until_ns(uint64_t deadline_ns)
{
    struct timespec t = {
        .tv_sec = (time_t)(deadline_ns / NS_PER_SECOND),
        .tv_nsec = (long)(deadline_ns % NS_PER_SECOND),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}
