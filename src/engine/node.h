/* A directory under way, from the moment it is found until its last child is done: what is kept of
 * it is little, and its descriptors can be closed and opened again, since there may be many. */
#ifndef SHOAL_ENGINE_NODE_H
#define SHOAL_ENGINE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/job.h"
#include "engine/root.h"
#include "entry/entry.h"

struct node {
    struct job job;
    struct node *parent; /* NULL: the place a FROM and its copy are named in */
    struct root *root;
    unsigned refs;    /* who knows of it: atomic */
    unsigned pending; /* what is not done in it, itself included: atomic */
    unsigned users;   /* who needs its descriptors now: under run->handles */
    bool entered;     /* its copy stands and is to be finished */
    bool open;        /* under run->handles */
    bool closed; /* its descriptors are to go as soon as nobody uses them: under run->handles */
    struct node *older, *newer;    /* among those that are open and unused: under run->handles */
    struct source_dir *source_dir; /* NULL: FROM is no tree */
    struct sink_dir *sink_dir;     /* NULL: TO is no tree */
    double weight;                 /* its share of the tree, less what it gave to its children */
    uint64_t dev, ino;             /* of the source */
    struct entry meta;             /* what it is to have in the end: owner, mode, times, xattrs */
    char name[];
};

/* A new node, known and pending to its maker; it counts as pending in its parent. NULL: no memory.
 */
struct node *node_new(struct node *parent, struct root *root, const char *name);

void node_ref(struct node *node);
void node_unref(struct node *node);

/* The name of its copy: the same, except at the top. */
const char *node_target_name(const struct node *node);

/* Opens the node's directories unless they are open, and keeps them so until node_release().
 * 0 or negative errno, with the step that failed in the worker's outcome. */
int node_acquire(struct worker *worker, struct node *node);
void node_release(struct worker *worker, struct node *node);

/* The node's directories have just been opened: they are its own now, and acquired. */
void node_opened(struct worker *worker, struct node *node, struct source_dir *source_dir,
    struct sink_dir *sink_dir);

/* Keeps what it is to have in the end. 0 or -ENOMEM. */
int node_set_meta(struct node *node, const struct entry *entry);

/* Closes its directories for good. */
void node_close(struct run *run, struct node *node);

/* Paths for people, as reached from FROM and from TO; `name` (may be NULL) is appended. Free them;
 * NULL when memory is out. */
char *node_source_path(const struct node *node, const char *name);
char *node_target_path(const struct node *node, const char *name);

/* The path below FROM, without a leading slash, of `name` in the node, into the worker's room for
 * it. Returns its length, or -ENOMEM. */
long node_filter_path(struct worker *worker, const struct node *node, const char *name);

#endif
