/* Where series are measured: directories made for the destinations and the source trees, on what is
 * there or on a file system of their own. */
#ifndef SHOAL_BENCH_PLACE_H
#define SHOAL_BENCH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/scratch_fs.h"

struct bench_fault;
struct bench_plan;
struct workload;

struct place {
    const struct bench_plan *plan;
    struct bench_fault *fault;
    char *to_dir, *from_dir;   /* new directories, for the destinations and the sources */
    bool from_is_apart;        /* from_dir is not within to_dir */
    struct scratch_fs scratch; /* zero: the file system stood before */
    unsigned n_destinations;
    uint64_t need_bytes, free_bytes; /* of all copies that are planned; when it was made */
};

/* Whether there will be room for a file system of `spec` for this workload: -ENOSPC. `place` is as
 * before place_make(). */
int place_check(
    const struct place *place, const struct workload *workload, const struct scratch_spec *spec);

/* Makes a place with room for these workloads; on a file system of `spec` unless that is NULL.
 * place_unmake() is due in any case. */
int place_make(struct place *place, const struct workload *workloads, size_t n_workloads,
    const struct scratch_spec *spec);

/* Makes a new directory in it for a copy; its path, which the caller frees. */
int place_add_destination(struct place *place, char **ret);

/* Makes a new directory in it and one of that name in this, to mount a disc at; both paths, which
 * the caller frees. */
int place_add_mount_point(
    struct place *place, const char *name, char **ret_parent, char **ret_path);

/* Whether there is still room for one more block of all methods. */
bool place_has_room(const struct place *place, const struct workload *workload);

/* Removes all that is in it, unless it is urgent to end; what stays is told to the plan. */
void place_unmake(struct place *place);

#endif
