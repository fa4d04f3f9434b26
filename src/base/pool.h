/* Threads that take jobs from one stack, newest first, so that work in progress ends before new
 * work begins and what is pending stays small. */
#ifndef SHOAL_BASE_POOL_H
#define SHOAL_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct pool;

/* Embedded in the user's own job; the pool only links it. */
struct pool_job {
    struct pool_job *next;
};

struct pool_ops {
    /* Called by each thread as it starts; what it returns is its `worker` below. Cannot fail: what
     * it needs is made before pool_grow(). */
    void *(*begin)(void *context, unsigned index);
    /* Does one job, and frees it where that is due. */
    void (*run)(void *worker, struct pool_job *job);
    /* Called by each thread as it ends. */
    void (*end)(void *worker);
};

/* Makes a pool without threads. Returns 0 or -ENOMEM. */
int pool_new(const struct pool_ops *ops, void *context, unsigned max_threads, struct pool **ret);

/* Starts threads until there are `threads` (or the maximum). Returns how many there are: 0 only if
 * none could be started. Not for use from within a job. */
unsigned pool_grow(struct pool *pool, unsigned threads);

/* Hands a job to whichever thread is free first. */
void pool_push(struct pool *pool, struct pool_job *job);

/* Hands a list of jobs (linked by next, the last one's NULL) in one go; the first runs first. */
void pool_push_list(struct pool *pool, struct pool_job *first);

/* Hands a job to be run after all that are queued, for jobs that are to begin in order. */
void pool_append(struct pool *pool, struct pool_job *job);

/* How many threads wait with nothing queued for them: a hint, read without a lock. */
unsigned pool_hungry(const struct pool *pool);

/* How many jobs no thread has taken yet: a hint, read without a lock. */
unsigned pool_queued(const struct pool *pool);

/* Waits until no job is queued or running, or clock_now_ns() reaches the deadline.
 * Returns true when all is done. Jobs may push jobs; nothing else may while all is done. */
bool pool_wait(struct pool *pool, uint64_t deadline_ns);

/* Ends and joins all threads, and frees the pool. All must be done. */
void pool_free(struct pool *pool);

#endif
