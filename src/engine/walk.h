/* Going through trees in one order: each directory, then what is in it; for drivers that need
 * entries one after the other. For one thread at a time. */
#ifndef SHOAL_ENGINE_WALK_H
#define SHOAL_ENGINE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/events.h"
#include "engine/node.h"
#include "entry/entry.h"

struct walk;

/* Walks the trees of roots chained by job.link.next, which it takes over. */
int walk_new(struct run *run, struct root *roots, struct walk **ret);
void walk_free(struct worker *worker, struct walk *walk);

/* Names in one directory that are no directories, as far as the listing tells. */
struct walk_names {
    struct node *node; /* pending for the caller, to be given back by walk_done() */
    size_t n;
    char *bytes; /* n times: a name and its NUL; the caller's to free */
};

/* A directory that is entered: its entry's memory is the worker's scratch. */
struct walk_directory {
    struct node *node; /* good until the next step */
    const struct entry *entry;
};

enum walk_step {
    WALK_END,
    WALK_DIRECTORY,
    WALK_NAMES,
};

/* The next step. Names come at most `most` at a time. What cannot be entered was told. */
enum walk_step walk_next(struct worker *worker, struct walk *walk, size_t most,
    struct walk_names *ret_names, struct walk_directory *ret_directory);

/* What was pending in the node is done. */
void walk_done(struct worker *worker, struct node *node);

#endif
