#include "engine/split.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

/* Large enough that a disk or a server reads on in one go, small enough that all end at about one
 * time. */
#define PIECE_BYTES (8ULL * 1024 * 1024)

struct split {
    pthread_mutex_t lock;
    pthread_cond_t left; /* a helper has done its piece */
    unsigned refs;       /* the owner, and each helper that was asked: atomic */
    unsigned active;     /* helpers with a piece in hand */
    bool shared;         /* others were asked */
    uint64_t next, end;  /* what nobody has taken yet; next = end: nothing is left */
    uint64_t reached;
    int error;
    struct outcome outcome;
    struct content *content; /* the owner's: good only for those who are active */
    piece_copier copy;
};

struct helper {
    struct job job;
    struct split *split;
};

static void split_unref(struct split *split)
{
    if (__atomic_sub_fetch(&split->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    (void)pthread_mutex_destroy(&split->lock);
    (void)pthread_cond_destroy(&split->left);
    free(split);
}

/* With the lock held: takes the next piece. Returns false if there is none. */
static bool take_piece(struct split *split, uint64_t *ret_start, uint64_t *ret_end)
{
    uint64_t rest = split->end - split->next;

    if (rest == 0)
        return false;
    *ret_start = split->next;
    *ret_end = split->next += rest < PIECE_BYTES ? rest : PIECE_BYTES;
    return true;
}

/* With the lock held: what became of a piece. A failure ends the whole. */
static void settle_piece(struct worker *worker, struct split *split, const struct content *content,
    int r, uint64_t end, uint64_t reached)
{
    if (content->changed)
        split->content->changed = true;
    if (r == 0 && reached == end)
        return;
    if (r == 0 && reached < split->reached)
        split->reached = reached;
    if (r < 0 && split->error == 0) {
        split->error = r;
        split->outcome = worker->outcome;
    }
    split->next = split->end;
}

static void run_helper(struct worker *worker, struct job *job);

/* Asks as many idle workers as there are pieces for. */
static void ask_for_help(struct worker *worker, struct split *split)
{
    struct pool *pool = worker->run->pool;
    uint64_t pieces = (split->end - split->next) / PIECE_BYTES;

    for (unsigned n = pool_hungry(pool); n > 0 && pieces > 0; n--, pieces--) {
        struct helper *helper = malloc(sizeof(*helper));
        if (!helper)
            return; /* one alone will do it, too */
        *helper = (struct helper){.job = {.run = run_helper}, .split = split};
        __atomic_add_fetch(&split->refs, 1, __ATOMIC_RELAXED);
        split->shared = true;
        pool_push(pool, &helper->job.link);
    }
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* exists on every Linux */
    return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

/* Whether more workers would speed a copy up, by how one of its pieces went. Within a file system
 * the kernel's own copy by one worker is as fast as several; a source that is waited for gives no
 * more to several: measured, see docs/performance.md. */
static bool is_worth_sharing(
    const struct worker *worker, const struct content *content, bool waited)
{
    uint64_t across_dev = __atomic_load_n(&worker->run->no_range_dev, __ATOMIC_RELAXED);
    return across_dev == content->entry->dev && !waited;
}

/* With the lock held, which is dropped while bytes move: copies pieces until none is left. */
static void copy_pieces(struct worker *worker, struct split *split, bool is_owner)
{
    struct content content = *split->content;
    uint64_t start, end, reached;

    while (take_piece(split, &start, &end)) {
        content.split = split->shared;
        (void)pthread_mutex_unlock(&split->lock);
        uint64_t began_ns = clock_now_ns(), cpu_ns = thread_cpu_ns();
        reached = end;
        int r = split->copy(worker, &content, start, end, &reached);
        uint64_t took_ns = clock_now_ns() - began_ns;
        bool waited = thread_cpu_ns() - cpu_ns < took_ns / 2;
        (void)pthread_mutex_lock(&split->lock);
        settle_piece(worker, split, &content, r, end, reached);
        if (is_owner && !split->shared && is_worth_sharing(worker, &content, waited))
            ask_for_help(worker, split);
    }
}

static void run_helper(struct worker *worker, struct job *job)
{
    struct split *split = ((struct helper *)job)->split;

    free(job);
    (void)pthread_mutex_lock(&split->lock);
    /* By now all may be taken, and the owner gone on. */
    if (split->next < split->end) {
        split->active++;
        copy_pieces(worker, split, false);
        split->active--;
        (void)pthread_cond_signal(&split->left);
    }
    (void)pthread_mutex_unlock(&split->lock);
    outcome_clear(&worker->outcome); /* the owner has it */
    split_unref(split);
}

int split_copy(struct worker *worker, struct content *content, piece_copier copy, uint64_t start,
    uint64_t end, uint64_t *ret_reached)
{
    struct split *split = calloc(1, sizeof(*split));

    if (!split)
        return outcome_fail(&worker->outcome, "copy", -ENOMEM);
    (void)pthread_mutex_init(&split->lock, NULL); /* glibc's do not fail */
    (void)pthread_cond_init(&split->left, NULL);
    split->refs = 1;
    split->next = start;
    split->end = split->reached = end;
    split->content = content;
    split->copy = copy;

    (void)pthread_mutex_lock(&split->lock);
    copy_pieces(worker, split, true);
    while (split->active > 0)
        (void)pthread_cond_wait(&split->left, &split->lock);
    int r = split->error;
    *ret_reached = split->reached;
    if (r < 0)
        worker->outcome = split->outcome;
    (void)pthread_mutex_unlock(&split->lock);
    split_unref(split);
    return r;
}
