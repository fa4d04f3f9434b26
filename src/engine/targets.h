/* Where each FROM lands: cp's rule for TO. */
#ifndef SHOAL_ENGINE_TARGETS_H
#define SHOAL_ENGINE_TARGETS_H

#include <stddef.h>

#include "engine/root.h"

struct run;

/* Where all copies of a run are named, and what is to be copied there. */
struct targets {
    int fd; /* the directory; the caller's to close */
    struct root
        *first; /* those that can start, chained by job.link.next; each frees itself by running */
};

/* Resolves FROMs and TO by cp's rule. A FROM that cannot be copied at all is reported as a fault
 * and left out. 0, or a negative errno that is about TO. */
int targets_resolve(
    struct run *run, const char *const *from, size_t n_from, const char *to, struct targets *ret);

/* The FROMs of an archive that is written, in the order given: trees, or one archive that is
 * converted. Each is recorded under its own name, or with options->target NAME as the top. What
 * cannot be packed was told. 0 or a negative errno. */
int targets_pack(struct run *run, const char *const *from, size_t n_from, struct root **ret);

/* A FROM that is listed: a tree, recorded as it is given, or an archive. 0, or -ECANCELED after it
 * was told why there is none, or another negative errno. */
int targets_list(struct run *run, const char *from, struct root **ret);

#endif
