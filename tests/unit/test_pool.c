#include "base/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/clock.h"

/* Longer than any of this takes: a hang becomes a failure. */
#define SOON (clock_now_ns() + 60 * NS_PER_SECOND)

struct group {
    struct pool *pool;
    unsigned begun, ended;
    unsigned ran;
    unsigned order[8]; /* the jobs' numbers, as one thread ran them */
    pthread_barrier_t all_in;
};

struct test_job {
    struct pool_job link; /* first: the pool hands this back */
    unsigned number;
    unsigned children; /* each has one less */
    void (*run)(struct group *group, struct test_job *job);
};

static void *begin(void *context, unsigned index)
{
    struct group *group = context;
    (void)index;
    __atomic_add_fetch(&group->begun, 1, __ATOMIC_RELAXED);
    return group;
}

static void run(void *worker, struct pool_job *job)
{
    struct group *group = worker;
    ((struct test_job *)job)->run(group, (struct test_job *)job);
    __atomic_add_fetch(&group->ran, 1, __ATOMIC_RELAXED);
    free(job);
}

static void end(void *worker)
{
    struct group *group = worker;
    __atomic_add_fetch(&group->ended, 1, __ATOMIC_RELAXED);
}

static const struct pool_ops ops = {begin, run, end};

static struct test_job *new_job(
    unsigned number, void (*what)(struct group *group, struct test_job *job))
{
    struct test_job *job = calloc(1, sizeof(*job));
    assert_non_null(job);
    job->number = number;
    job->run = what;
    return job;
}

static void new_pool(struct group *group, unsigned max_threads)
{
    *group = (struct group){0};
    assert_int_equal(pool_new(&ops, group, max_threads, &group->pool), 0);
}

static void nothing(struct group *group, struct test_job *job)
{
    (void)group;
    (void)job;
}

static void note_order(struct group *group, struct test_job *job)
{
    group->order[group->ran] = job->number;
}

static void multiply(struct group *group, struct test_job *job)
{
    for (unsigned i = 0; i < job->children; i++) {
        struct test_job *child = new_job(i, multiply);
        child->children = job->children - 1;
        pool_push(group->pool, &child->link);
    }
}

static void meet(struct group *group, struct test_job *job)
{
    (void)job;
    (void)pthread_barrier_wait(&group->all_in);
}

static void test_nothing_to_do(void **state)
{
    struct group group;

    (void)state;
    new_pool(&group, 4);
    assert_true(pool_wait(group.pool, SOON));
    assert_int_equal(pool_grow(group.pool, 4), 4);
    assert_true(pool_wait(group.pool, SOON));
    pool_free(group.pool);
    assert_int_equal(group.begun, 4);
    assert_int_equal(group.ended, 4);
    pool_free(NULL);
}

static void test_threads_are_bounded(void **state)
{
    struct group group;

    (void)state;
    new_pool(&group, 3);
    assert_int_equal(pool_grow(group.pool, 2), 2);
    assert_int_equal(pool_grow(group.pool, 1), 2);
    assert_int_equal(pool_grow(group.pool, 100), 3);
    pool_free(group.pool);
    assert_int_equal(group.begun, 3);
}

static void test_queued_jobs_wait_for_a_thread(void **state)
{
    struct group group;

    (void)state;
    new_pool(&group, 1);
    for (unsigned i = 0; i < 5; i++)
        pool_push(group.pool, &new_job(i, nothing)->link);
    assert_int_equal(pool_queued(group.pool), 5);
    assert_int_equal(pool_hungry(group.pool), 0);
    assert_false(pool_wait(group.pool, clock_now_ns()));
    assert_int_equal(pool_grow(group.pool, 1), 1);
    assert_true(pool_wait(group.pool, SOON));
    assert_int_equal(group.ran, 5);
    assert_int_equal(pool_queued(group.pool), 0);
    pool_free(group.pool);
}

/* The newest first; those of a list in its order. */
static void test_order(void **state)
{
    struct test_job *first = new_job(3, note_order), *second = new_job(4, note_order);
    struct group group;

    (void)state;
    new_pool(&group, 1);
    pool_push(group.pool, &new_job(1, note_order)->link);
    pool_push(group.pool, &new_job(2, note_order)->link);
    first->link.next = &second->link;
    pool_push_list(group.pool, &first->link);
    assert_int_equal(pool_grow(group.pool, 1), 1);
    assert_true(pool_wait(group.pool, SOON));
    const unsigned expected[] = {3, 4, 2, 1};
    assert_memory_equal(group.order, expected, sizeof(expected));
    pool_free(group.pool);
}

static void test_jobs_that_push_jobs(void **state)
{
    struct group group;

    (void)state;
    new_pool(&group, 8);
    assert_int_equal(pool_grow(group.pool, 8), 8);
    for (unsigned round = 1; round <= 3; round++) {
        struct test_job *job = new_job(0, multiply);
        job->children = 7;
        pool_push(group.pool, &job->link);
        assert_true(pool_wait(group.pool, SOON));
        /* 1 + 7 + 7*6 + … + 7! */
        assert_int_equal(group.ran, round * 13700);
    }
    pool_free(group.pool);
    assert_int_equal(group.ended, 8);
}

/* A list wakes as many threads as it has jobs: else the barrier never opens. */
static void test_all_threads_work(void **state)
{
    struct pool_job *list = NULL;
    struct group group;

    (void)state;
    new_pool(&group, 6);
    assert_int_equal(pthread_barrier_init(&group.all_in, NULL, 6), 0);
    assert_int_equal(pool_grow(group.pool, 6), 6);
    assert_true(pool_wait(group.pool, SOON));
    for (unsigned i = 0; i < 6; i++) {
        struct test_job *job = new_job(i, meet);
        job->link.next = list;
        list = &job->link;
    }
    pool_push_list(group.pool, list);
    assert_true(pool_wait(group.pool, SOON));
    assert_int_equal(group.ran, 6);
    pool_free(group.pool);
    (void)pthread_barrier_destroy(&group.all_in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_threads_are_bounded),
        cmocka_unit_test(test_queued_jobs_wait_for_a_thread),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_jobs_that_push_jobs),
        cmocka_unit_test(test_all_threads_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
