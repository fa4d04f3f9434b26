/* A unit of the engine's work, and the worker that does it. */
#ifndef SHOAL_ENGINE_JOB_H
#define SHOAL_ENGINE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "entry/outcome.h"
#include "source/tree_source.h"

struct run;
struct worker;
struct hasher;

struct job {
    struct pool_job link;                                /* first: the pool hands this back */
    void (*run)(struct worker *worker, struct job *job); /* frees the job, or what it is part of */
};

/* Written by one worker, read by the monitor while it goes on. */
struct counters {
    uint64_t files, directories, symlinks, specials, hard_links;
    uint64_t bytes; /* of files that are whole */
    uint64_t moved; /* bytes of content so far, those of files in hand included */
    uint64_t kept, sockets;
    double weight; /* the share of the tree that is done */
};

/* What a worker is at, for the monitor to sample. */
enum activity {
    ACTIVITY_IDLE,
    ACTIVITY_SOURCE,      /* listing, opening, reading */
    ACTIVITY_DESTINATION, /* creating, writing, finishing */
    ACTIVITY_LIMIT,       /* held back by the limit on bytes a second */
    ACTIVITIES,
};

/* Content moves through a buffer of this size: measured, see docs/performance.md. */
#define BUFFER_BYTES (128 * 1024)

struct worker {
    struct run *run;
    unsigned index;
    enum activity activity;
    struct counters counters;
    struct source_batch batch;     /* of the directory being listed */
    struct source_scratch scratch; /* of the entry in hand */
    struct outcome outcome;        /* of the entry in hand */
    char *path;                    /* room for a name below FROM, as filters see it */
    size_t path_room;
    struct hasher *hasher; /* if content is verified */
    char *buffer;          /* BUFFER_BYTES, aligned for direct I/O */
};

static inline void worker_is_at(struct worker *worker, enum activity activity)
{
    __atomic_store_n(&worker->activity, activity, __ATOMIC_RELAXED);
}

/* A share of the tree is done. */
static inline void worker_add_weight(struct worker *worker, double weight)
{
    double sum = worker->counters.weight + weight;
    __atomic_store(&worker->counters.weight, &sum, __ATOMIC_RELAXED);
}

/* Adds to one of the worker's own counters: no one else writes it, so no lock is needed. */
static inline void count(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

#endif
