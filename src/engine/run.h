/* One call of the library: what all its workers share. */
#ifndef SHOAL_ENGINE_RUN_H
#define SHOAL_ENGINE_RUN_H

#include <pthread.h>
#include <shoal/shoal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "engine/job.h"
#include "engine/pace.h"
#include "sink/tree_sink.h"

struct links;
struct owner_names;
struct node;

/* No more workers than this if the user says how many; and if not, however long each waits. */
#define WORKERS_MAX     256
#define WORKERS_ADAPTED 64

enum stop_reason {
    STOP_NONE,
    STOP_ASKED,
    STOP_FULL, /* the destination has no room left: what follows would fail too */
};

struct loss {
    uint64_t files;
    int error; /* of the first, negative errno */
};

struct run {
    const struct shoal_options *options;
    struct tree_sink *sink;
    bool comparing; /* the sink compares: what it notes are differences, not losses */
    struct pool *pool;
    struct worker *workers[WORKERS_MAX];
    unsigned n_workers;
    unsigned threads_apart; /* that are needed beside the workers: to read or write a stream */
    struct links *links;
    struct owner_names *owner_names;
    struct pace pace;
    enum stop_reason stop;
    uint64_t start_ns;
    mode_t umask;                        /* the user's */
    bool own_umask;                      /* workers have an umask of their own, of 0 */
    uint64_t no_clone_dev, no_range_dev; /* source devices found unable to share or range-copy */

    pthread_mutex_t events; /* held around callbacks and what they count */
    uint64_t faults[SHOAL_FAULT_KINDS];
    uint64_t differences;
    struct loss losses[ASPECTS];

    pthread_mutex_t handles; /* guards the open directories of all nodes */
    unsigned open_nodes, open_nodes_max;
    struct node *oldest_unused, *newest_unused; /* the first to be closed, the last */
};

/* Whether workers should come to an end: asked to from outside, or no room. */
bool run_is_stopping(struct run *run);

/* The first reason counts. */
void run_stop(struct run *run, enum stop_reason reason);

/* How the sink is to be opened for this run. */
struct sink_options run_sink_options(const struct run *run);

/* Prepares a run. 0 or negative errno; run_end() is due either way. */
int run_begin(struct run *run, const struct shoal_options *options);

/* Works until the jobs in the pool, and all that come of them, are done; reports progress, and
 * starts more workers where those there are wait for their devices. 0 or negative errno. */
int run_work(struct run *run);

/* Writes what the sink holds to the device. 0 or negative errno. */
int run_sync(struct run *run);

/* Frees what the run holds (the sink too) and fills the summary (may be NULL). */
void run_end(struct run *run, struct shoal_summary *ret_summary);

#endif
