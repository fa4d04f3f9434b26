/* The bench: makes each workload's tree, times each method's copies of it, and checks them.
 *
 * For one workload and place (a series): every method runs once unrecorded if the state of the
 * cache is to be warm; then in each of `runs` blocks, or more of them until enough time was
 * measured, every method runs once, in an order drawn for the block; then one copy of each method
 * is compared with the source. Every run gets a new, empty destination, with nothing left to be
 * written out from before; nothing is deleted until the whole bench is over, because creating files
 * after deleting many is slow for minutes on some file systems. */
#ifndef SHOAL_BENCH_RUN_H
#define SHOAL_BENCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/fault.h"

#define BENCH_RUNS_MAX 10000

struct bench_stop;
struct method;
struct results;
struct scratch_spec;
struct workload;

enum bench_phase {
    BENCH_FORMATTING, /* the file system of the type that `workload` names */
    BENCH_MAKING,     /* `done` of `total` files of the source tree */
    BENCH_MASTERING,  /* the disc of it */
    BENCH_WARMING,    /* the unrecorded runs */
    BENCH_RUNNING,    /* the recorded ones: the `done`-th of `total` begins */
    BENCH_CHECKING,   /* the copy of the `done`-th method of `total` */
    BENCH_REMOVING,
};

struct bench_progress {
    enum bench_phase phase;
    const char *workload, *method; /* NULL where there is none */
    uint64_t done, total;
};

/* What is emulated. */
struct bench_world {
    const char *drive;   /* see drive/profile.h */
    const char *machine; /* see model/machines.h: for methods that charge its costs; NULL: none */
};

struct bench_plan {
    const struct workload *workloads;
    size_t n_workloads;
    struct method *methods; /* their versions are filled in */
    size_t n_methods;
    unsigned runs;        /* up to BENCH_RUNS_MAX */
    uint64_t min_time_ns; /* more runs, until each method ran as long; 0: as many as `runs` */
    bool cold;            /* nothing is cached when a run begins; needs root */
    const char *from;     /* where the source trees are made; NULL: with the destinations */
    const char *to;       /* where the destinations are made */
    /* Each workload is measured on a new file system of each of these, made in `to`; sources are on
     * it too, unless `from` is given. None: in `to` itself. Needs root; the process gets a mount
     * namespace of its own. */
    const struct scratch_spec *scratches;
    size_t n_scratches;
    /* Each workload is measured off a disc made of it, in the emulated world of each of these,
     * which runs time_scale times as fast; never warm. None: off the tree itself. Takes FUSE, but
     * for methods that read images. */
    const struct bench_world *worlds;
    size_t n_worlds;
    double time_scale;
    uint64_t seed;
    struct bench_stop *stop; /* required */
    void (*on_progress)(void *context, const struct bench_progress *progress);
    /* What was made at `path` could not be removed; error is a positive errno. */
    void (*on_left_behind)(void *context, const char *path, int error);
    void *context;
};

/* Appends one series for each workload, place and drive that was measured to the end to *results,
 * which the caller has made zero or filled before; also when it returns an error for a later one. A
 * method that fails, is missing or copies wrongly is a result, no error. -EINTR: stopped. In every
 * case all that was made is removed, or on_left_behind() tells. */
int bench_run(
    const struct bench_plan *plan, struct results *results, struct bench_fault *ret_fault);

#endif
