#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

/* A worker needs little stack: directories are jobs, never recursion. */
#define STACK_BYTES (1024 * 1024)

struct pool {
    const struct pool_ops *ops;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job was queued, or the end has come */
    pthread_cond_t done; /* nothing is queued and nobody is busy */
    struct pool_job *top, *bottom;
    unsigned queued, idle, alive;
    unsigned hungry_hint, queued_hint; /* copies for readers without the lock */
    bool ending;
    unsigned max_threads, started;
    pthread_t threads[];
};

int pool_new(const struct pool_ops *ops, void *context, unsigned max_threads, struct pool **ret)
{
    struct pool *pool = calloc(1, sizeof(*pool) + max_threads * sizeof(pthread_t));
    pthread_condattr_t monotonic;

    if (!pool)
        return -ENOMEM;
    pool->ops = ops;
    pool->context = context;
    pool->max_threads = max_threads;
    (void)pthread_mutex_init(&pool->lock, NULL); /* glibc's initialisers do not fail */
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pool->work, NULL);
    (void)pthread_cond_init(&pool->done, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    *ret = pool;
    return 0;
}

/* With the lock held: what changed may be news to those who read without it. */
static void publish_hints(struct pool *pool)
{
    unsigned hungry = pool->idle > pool->queued ? pool->idle - pool->queued : 0;
    __atomic_store_n(&pool->hungry_hint, hungry, __ATOMIC_RELAXED);
    __atomic_store_n(&pool->queued_hint, pool->queued, __ATOMIC_RELAXED);
}

static bool all_done(const struct pool *pool)
{
    return pool->queued == 0 && pool->idle == pool->alive;
}

/* Waits for a job; NULL when the pool ends. */
static struct pool_job *take_job(struct pool *pool)
{
    struct pool_job *job = NULL;

    (void)pthread_mutex_lock(&pool->lock);
    pool->idle++;
    publish_hints(pool);
    if (all_done(pool))
        (void)pthread_cond_broadcast(&pool->done);
    while (!pool->top && !pool->ending)
        (void)pthread_cond_wait(&pool->work, &pool->lock);
    if (pool->top) {
        job = pool->top;
        pool->top = job->next;
        pool->queued--;
        pool->idle--;
        publish_hints(pool);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *thread_main(void *argument)
{
    struct pool *pool = argument;
    struct pool_job *job;

    (void)pthread_mutex_lock(&pool->lock);
    unsigned index = pool->alive++;
    (void)pthread_mutex_unlock(&pool->lock);

    void *worker = pool->ops->begin(pool->context, index);
    while ((job = take_job(pool)))
        pool->ops->run(worker, job);
    pool->ops->end(worker);

    (void)pthread_mutex_lock(&pool->lock);
    pool->idle--; /* it left take_job() idle */
    pool->alive--;
    publish_hints(pool);
    (void)pthread_cond_broadcast(&pool->done);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

unsigned pool_grow(struct pool *pool, unsigned threads)
{
    pthread_attr_t attributes;
    sigset_t all, old;

    if (threads > pool->max_threads)
        threads = pool->max_threads;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Signals are for the thread that called the library. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->started < threads) {
        if (pthread_create(&pool->threads[pool->started], &attributes, thread_main, pool) != 0)
            break;
        pool->started++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attributes);
    return pool->started;
}

/* With the lock held: n jobs were queued. */
static void announce(struct pool *pool, unsigned n)
{
    pool->queued += n;
    publish_hints(pool);
    if (pool->idle > 0 && n == 1)
        (void)pthread_cond_signal(&pool->work);
    else if (pool->idle > 0)
        (void)pthread_cond_broadcast(&pool->work);
}

void pool_push_list(struct pool *pool, struct pool_job *first)
{
    struct pool_job *last = first;
    unsigned n = 1;

    for (; last->next; last = last->next)
        n++;
    (void)pthread_mutex_lock(&pool->lock);
    last->next = pool->top;
    if (!pool->top)
        pool->bottom = last;
    pool->top = first;
    announce(pool, n);
    (void)pthread_mutex_unlock(&pool->lock);
}

void pool_append(struct pool *pool, struct pool_job *job)
{
    job->next = NULL;
    (void)pthread_mutex_lock(&pool->lock);
    *(pool->top ? &pool->bottom->next : &pool->top) = job;
    pool->bottom = job;
    announce(pool, 1);
    (void)pthread_mutex_unlock(&pool->lock);
}

void pool_push(struct pool *pool, struct pool_job *job)
{
    job->next = NULL;
    pool_push_list(pool, job);
}

unsigned pool_hungry(const struct pool *pool)
{
    return __atomic_load_n(&pool->hungry_hint, __ATOMIC_RELAXED);
}

unsigned pool_queued(const struct pool *pool)
{
    return __atomic_load_n(&pool->queued_hint, __ATOMIC_RELAXED);
}

bool pool_wait(struct pool *pool, uint64_t deadline_ns)
{
    struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / NS_PER_SECOND),
        .tv_nsec = (long)(deadline_ns % NS_PER_SECOND),
    };
    int r = 0;

    (void)pthread_mutex_lock(&pool->lock);
    while (!all_done(pool) && r == 0)
        r = pthread_cond_timedwait(&pool->done, &pool->lock, &deadline);
    bool done = all_done(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    return done;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_cond_destroy(&pool->done);
    free(pool);
}
