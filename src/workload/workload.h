/* Trees of files to copy: ones made from a seed number, with the same names, sizes, bytes, modes
 * and times on every machine; and directories that are there already.
 *
 * Sizes come from tables of quantiles with a capped tail, scaled so that the files' total is met to
 * the byte. Modification times are whole seconds, as a disc gives them and as tar keeps them. */
#ifndef SHOAL_WORKLOAD_WORKLOAD_H
#define SHOAL_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/shape.h"

struct profile;
struct workload_kind;

#define WORKLOAD_NAME_MAX 256
#define SCALE_ONE         1000000

struct workload {
    /* Of what it is, in full: two that differ have two names, but for directories and profiles,
     * which have the last component of their path. It is the tree's top directory, too. */
    char name[WORKLOAD_NAME_MAX];
    uint64_t files, directories, bytes; /* what it holds, exactly; the top is a directory, too */
    const char *content; /* "text", "random", "text and random", "zeros"; NULL: not known */
    char *directory;     /* it is there already: its absolute path. NULL: it is to be made */

    /* How it is made. */
    const struct workload_kind *kind;
    uint64_t scale;         /* of the files, in millionths: SCALE_ONE is 1 */
    uint64_t per_directory; /* of "files=N": the most files of a directory */
    bool has_content;       /* all files have content_kind */
    enum content content_kind;
    const struct shape *shape; /* NULL: it has a layout of its own */
    struct profile *profile;   /* which the shape is of; or NULL */
};

struct workload_totals {
    uint64_t files, directories, bytes; /* the top directory counts as one */
};

/* Finds a workload:
 *   NAME[,scale=S][,content=C]                        a named one with S times the files
 *   files=N[,kb=K][,per-directory=D][,content=C]      N files of K KB in the mean (4), D to a
 *                                                     directory (1000)
 *   profile=FILE[,scale=S][,content=C]                of a shape that was learned, see profile.h
 *   DIR                                               with a '/' in it: a directory that is there;
 *                                                     it is counted, regular files only
 * S is from 0.01 to 1000, C is text, random, mixed or zero. -ENOENT: no such name (then *ret_why is
 * NULL) or file; -EINVAL: malformed; -ERANGE: too small or too large; or of a file or directory.
 * *ret_why (free it; NULL if memory is out) says what is wrong, to follow on the text. The caller
 * clears *ret. */
int workload_find(const char *text, struct workload *ret, char **ret_why);

/* Whether such a text is of a directory that is there. */
bool workload_is_directory(const char *text);

/* Frees what it owns. */
void workload_clear(struct workload *workload);

/* The named ones in order, and a line on each; NULL past the last. */
const char *workload_name(size_t i);
const char *workload_summary(size_t i);

/* Is asked between files whether to end. */
struct workload_watch {
    int (*should_stop)(void *context);
    void (*made)(void *context, const struct workload_totals *so_far);
    void *context;
};

/* Makes the tree as a new directory below `parent_fd`. -EINVAL: the workload is a directory that is
 * there; -EEXIST if the new one stands already; -EINTR if asked to stop. On failure *ret_name (room
 * for WORKLOAD_NAME_MAX bytes, may be NULL) is the last component of what could not be made, and
 * what was made stays: the caller removes it (the directory was new unless the error is -EEXIST).
 * `watch` may be NULL. */
int workload_make(const struct workload *workload, uint64_t seed, int parent_fd,
    const struct workload_watch *watch, struct workload_totals *ret_totals, char *ret_name);

#endif
