/* A tree that is being made, directory by directory. The first error sticks, and every later step
 * does nothing: a layout says what is there, and only the end asks whether it worked. */
#ifndef SHOAL_WORKLOAD_MAKER_H
#define SHOAL_WORKLOAD_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "workload/shape.h"
#include "workload/sizes.h"
#include "workload/workload.h"

struct filler;

struct maker {
    const struct workload *workload;
    uint64_t seed;
    const struct workload_watch *watch;
    struct workload_totals totals; /* so far */
    struct sizes sizes;
    int fds[SHAPE_LEVELS_MAX + 2]; /* the open directories, from the parent of the top on */
    size_t depth;                  /* fds[depth - 1] is the current one */
    struct filler *filler;
    char name[WORKLOAD_NAME_MAX]; /* what is being made */
    int error;                    /* 0 or a negative errno */
};

/* `workload`, `watch` (may be NULL) and `parent_fd` stay the caller's. -ENOMEM. */
int maker_start(struct maker *maker, const struct workload *workload, uint64_t seed, int parent_fd,
    const struct workload_watch *watch);
void maker_end(struct maker *maker);

/* Begins a directory within the current one. */
void maker_enter(struct maker *maker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the current directory: its times are set now that nothing is added to it. */
void maker_leave(struct maker *maker);

/* Makes the next file, of the next size; `content`, unless the workload has it otherwise. */
void maker_file(struct maker *maker, enum content content, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
