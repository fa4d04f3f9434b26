#include "engine/pace.h"

#include "base/clock.h"

/* Time that passed unused is lost but for this much. */
#define BURST_NS (NS_PER_SECOND / 10)

void pace_init(struct pace *pace, uint64_t bytes_second)
{
    pace->bytes_second = bytes_second;
    pace->free_ns = 0;
    (void)pthread_mutex_init(&pace->lock, NULL); /* glibc's does not fail */
}

void pace_destroy(struct pace *pace)
{
    (void)pthread_mutex_destroy(&pace->lock);
}

uint64_t pace_grant_ns(struct pace *pace, size_t n)
{
    uint64_t now = clock_now_ns();
    uint64_t takes = (uint64_t)((double)n * (double)NS_PER_SECOND / (double)pace->bytes_second);

    (void)pthread_mutex_lock(&pace->lock);
    if (pace->free_ns + BURST_NS < now)
        pace->free_ns = now - BURST_NS;
    uint64_t granted = pace->free_ns;
    pace->free_ns += takes;
    (void)pthread_mutex_unlock(&pace->lock);
    return granted;
}

size_t pace_step_bytes(const struct pace *pace, size_t most)
{
    if (!pace->bytes_second)
        return most;
    /* Whole blocks: a file system and a hash like them. */
    uint64_t step = pace->bytes_second / 20 / 4096 * 4096;
    if (step < 4096)
        step = 4096;
    return step < most ? (size_t)step : most;
}
