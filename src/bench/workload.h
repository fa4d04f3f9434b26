/* Trees of files made from a seed number: the same names, sizes, bytes, modes and times on every
 * machine.
 *
 * Sizes are drawn from a fixed table of quantiles, lognormal in shape with a capped tail, and
 * scaled so that the files' total is met to the byte. Text files hold words drawn at random
 * (general compressors bring them to about two fifths); figures hold pseudo-random bytes (which no
 * compressor shrinks), as pictures do. Modification times are whole seconds, as a disc gives them
 * and as tar keeps them. */
#ifndef SHOAL_BENCH_WORKLOAD_H
#define SHOAL_BENCH_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

struct workload_shape;

#define WORKLOAD_NAME_MAX 96

struct workload {
    char name[WORKLOAD_NAME_MAX]; /* of the tree's top directory, too */
    uint64_t files, bytes;        /* what it holds, exactly */
    uint64_t per_directory;       /* of a parametrised one: the most files of a directory */
    const struct workload_shape *shape;
};

struct workload_totals {
    uint64_t files, directories, bytes; /* the top directory counts as one */
};

/* Finds a workload by name, or reads a parametrised one: "files=N[,kb=K][,per-directory=D]", N
 * files of K KB in the mean (4), D to a directory (1000). -ENOENT: no such name; -EINVAL: malformed
 * parameters; -ERANGE: past N 100,000,000 or K 1,048,576. */
int workload_find(const char *text, struct workload *ret);

/* The named ones in order, and a line on each; NULL past the last. */
const char *workload_name(size_t i);
const char *workload_summary(size_t i);

/* Is asked between files whether to end. */
struct workload_watch {
    int (*should_stop)(void *context);
    void (*made)(void *context, const struct workload_totals *so_far);
    void *context;
};

/* Makes the tree as a new directory below `parent_fd`. -EEXIST if that stands; -EINTR if asked to
 * stop. On failure *ret_name (room for WORKLOAD_NAME_MAX bytes, may be NULL) is the last component
 * of what could not be made, and what was made stays: the caller removes it (the directory was new
 * unless the error is -EEXIST). `watch` may be NULL. */
int workload_make(const struct workload *workload, uint64_t seed, int parent_fd,
    const struct workload_watch *watch, struct workload_totals *ret_totals, char *ret_name);

#endif
