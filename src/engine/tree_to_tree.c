#include "engine/tree_to_tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/admission.h"
#include "engine/entries.h"
#include "engine/events.h"
#include "engine/finish.h"
#include "engine/links.h"
#include "engine/listed.h"
#include "engine/node.h"
#include "engine/root.h"
#include "engine/run.h"
#include "engine/start.h"

/* Idle workers are looked for after this many entries, and given half of what is left: measured,
 * see docs/performance.md. */
#define SLICE_ENTRIES 32

/* A directory with more subdirectories than this in one batch is listed on only when those are
 * done, so that what is pending stays bounded. */
#define PENDING_DIRECTORIES 256

static void run_waiter(struct worker *worker, struct job *job);
static void run_directory(struct worker *worker, struct job *job);

/* ---- ends ---- */

/* One thing that was pending in the node is done. The last one finishes it, and so on upwards. */
static void node_done(struct worker *worker, struct node *node)
{
    while (node && __atomic_sub_fetch(&node->pending, 1, __ATOMIC_ACQ_REL) == 0) {
        struct node *parent = node->parent;
        if (!parent) {
            start_end(worker, node);
            return;
        }
        directory_finish(worker, node);
        /* The parent lives: this node counts as pending in it until the next turn. */
        node_unref(node);
        node = parent;
    }
}

/* ---- names ---- */

static void push_waiters(struct worker *worker, struct link_waiter *waiters)
{
    for (struct link_waiter *waiter = waiters; waiter;
         waiter = (struct link_waiter *)waiter->job.link.next)
        waiter->job.run = run_waiter;
    if (waiters)
        pool_push_list(worker->run->pool, &waiters->job.link);
}

/* A file that one FROM has made is not replaced by another FROM of the same name. */
static void take_name(struct root *root)
{
    for (struct root *later = root->next_same; later; later = later->next_same)
        if (strcmp(later->target_name, root->target_name) == 0)
            later->name_taken = true;
}

/* Copies an entry, tells what became of it, and lets go on what waited for it. */
static void copy_entry(struct worker *worker, const struct place *place, const struct entry *entry,
    struct source_file *from)
{
    bool is_top = !place->node->parent;
    struct link_waiter *waiters = NULL;
    int r;

    if (is_top && place->node->root->name_taken)
        r = outcome_fail_target(&worker->outcome, "overwrite what was just created,", -EEXIST);
    else
        r = entries_copy(worker, place, entry, from, &waiters);
    if (r == 0 && is_top)
        take_name(place->node->root);
    if (r == 0)
        events_copied(worker, place);
    events_settle(worker, place, r);
    push_waiters(worker, waiters);
}

/* Adds a directory to those to be queued. */
static void add_directory(
    struct worker *worker, const struct place *place, struct pool_job **directories)
{
    if (!place_is_admitted(worker, place, true))
        return;
    struct node *node = node_new(place->node, place->node->root, place->name);
    if (!node) {
        events_settle(worker, place, outcome_fail(&worker->outcome, "enter directory", -ENOMEM));
        return;
    }
    node->job.run = run_directory;
    node->job.link.next = *directories;
    *directories = &node->job.link;
}

static void copy_file(
    struct worker *worker, const struct place *place, struct pool_job **directories, bool looked);

/* Copies whatever is no regular file, or not known to be one. */
static void copy_other(
    struct worker *worker, const struct place *place, struct pool_job **directories)
{
    struct node *node = place->node;
    struct entry entry;

    worker_is_at(worker, ACTIVITY_SOURCE);
    int r = node->root->source->ops->look(node->source_dir, place->name,
        node_follows(worker->run, node), &worker->scratch, &entry, &worker->outcome);
    if (r == 0 && S_ISDIR(entry.mode)) {
        add_directory(worker, place, directories);
        return;
    }
    if (r == 0 && !place_is_admitted(worker, place, false))
        return;
    if (r == 0 && S_ISREG(entry.mode)) {
        copy_file(worker, place, directories, true);
        return;
    }
    if (r == 0 && S_ISSOCK(entry.mode)) {
        count(&worker->counters.sockets, 1);
        events_note(worker, place, "socket skipped");
        return;
    }
    if (r == 0)
        copy_entry(worker, place, &entry, NULL);
    else
        events_settle(worker, place, r);
}

/* Copies a regular file; `looked`: it was seen to be one, and is not looked at again. */
static void copy_file(
    struct worker *worker, const struct place *place, struct pool_job **directories, bool looked)
{
    struct node *node = place->node;
    const struct tree_source_ops *source = node->root->source->ops;
    struct source_file from;
    struct entry entry;

    worker_is_at(worker, ACTIVITY_SOURCE);
    int r = source->open_file(node->source_dir, place->name, node_follows(worker->run, node),
        &worker->scratch, &entry, &from, &worker->outcome);
    if (r == -ESTALE && !looked) {
        copy_other(worker, place, directories);
        return;
    }
    if (r == 0) {
        copy_entry(worker, place, &entry, &from);
        from.ops->close(&from);
        return;
    }
    if (r == -ESTALE)
        (void)outcome_fail(&worker->outcome, "open (it keeps changing its type)", r);
    events_settle(worker, place, r);
}

static void copy_name(struct worker *worker, const struct place *place, unsigned char type,
    struct pool_job **directories)
{
    if (type == DT_REG && place_is_admitted(worker, place, false))
        copy_file(worker, place, directories, false);
    else if (type != DT_REG)
        copy_other(worker, place, directories);
}

static void push_directories(struct worker *worker, struct pool_job *directories)
{
    if (directories)
        pool_push_list(worker->run->pool, directories);
}

static void run_waiter(struct worker *worker, struct job *job)
{
    struct link_waiter *waiter = (struct link_waiter *)job;
    struct place place = {waiter->node, waiter->name, waiter->target_name};
    struct pool_job *directories = NULL;
    int r = run_is_stopping(worker->run) ? -ECANCELED : node_acquire(worker, waiter->node);

    if (r == 0) {
        copy_name(worker, &place, DT_UNKNOWN, &directories);
        push_directories(worker, directories);
        node_release(worker, waiter->node);
    } else {
        events_settle(worker, &place, r);
    }
    node_done(worker, waiter->node);
    link_waiter_free(waiter);
}

/* ---- slices: part of a directory's names, for another worker ---- */

struct slice {
    struct job job;
    struct node *node;
    size_t n;
    char bytes[]; /* n times: a type, a name and its NUL */
};

static void copy_names(
    struct worker *worker, struct node *node, struct source_name *names, size_t n);

static void run_slice(struct worker *worker, struct job *job)
{
    struct slice *slice = (struct slice *)job;
    struct node *node = slice->node;
    struct source_name *names = calloc(slice->n, sizeof(*names));
    struct place place = {node, NULL, NULL};
    int r = names ? node_acquire(worker, node) : outcome_fail(&worker->outcome, "copy", -ENOMEM);

    if (r == 0) {
        char *at = slice->bytes;
        for (size_t i = 0; i < slice->n; i++) {
            names[i] = (struct source_name){.name = at + 1, .type = (unsigned char)*at};
            at += strlen(at + 1) + 2;
        }
        copy_names(worker, node, names, slice->n);
        node_release(worker, node);
    }
    events_settle(worker, &place, r);
    free(names);
    free(slice);
    node_done(worker, node);
}

/* Gives names away. Returns false if there is no memory to do so. */
static bool push_slice(
    struct worker *worker, struct node *node, const struct source_name *names, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(names[i].name) + 2;
    struct slice *slice = malloc(sizeof(*slice) + bytes);
    if (!slice)
        return false;
    *slice = (struct slice){.job = {.run = run_slice}, .node = node, .n = n};
    char *at = slice->bytes;
    for (size_t i = 0; i < n; i++) {
        *at++ = (char)names[i].type;
        at = stpcpy(at, names[i].name) + 1;
    }
    __atomic_add_fetch(&node->pending, 1, __ATOMIC_RELAXED);
    pool_push(worker->run->pool, &slice->job.link);
    return true;
}

/* Copies all but the directories among the names. Whenever others are idle, they get half. */
static void copy_names(
    struct worker *worker, struct node *node, struct source_name *names, size_t n)
{
    struct pool *pool = worker->run->pool;
    struct pool_job *directories = NULL;

    for (size_t i = 0; i < n && !run_is_stopping(worker->run); i++) {
        struct place place = {node, names[i].name, names[i].name};
        if (names[i].type != DT_DIR)
            copy_name(worker, &place, names[i].type, &directories);
        if (i % SLICE_ENTRIES == 0 && n - i > 2 * SLICE_ENTRIES && pool_hungry(pool) > 0) {
            size_t half = i + 1 + (n - i) / 2;
            if (push_slice(worker, node, names + half, n - half))
                n = half;
        }
    }
    push_directories(worker, directories);
}

/* ---- directories ---- */

static int guard_source(const struct worker *worker, const struct node *node,
    const struct entry *entry, struct outcome *outcome)
{
    const struct root *root = node->root;

    if (entry->dev == 0 || worker->run->comparing)
        return 0;
    if (root->made_ino && entry->dev == root->made_dev && entry->ino == root->made_ino)
        return outcome_fail(outcome, "copy into itself", -EINVAL);
    if (worker->run->options->follow == SHOAL_FOLLOW_ALWAYS && node_is_cycle(node, entry))
        return outcome_fail(outcome, "follow in a circle", -ELOOP);
    return 0;
}

/* Enters the source's directory and makes or enters the sink's. 0; SINK_KEPT_OTHER where a
 * comparison found none; or a negative errno. */
static int enter_both(struct worker *worker, struct node *node, struct entry *ret_entry)
{
    const struct tree_source_ops *source = node->root->source->ops;
    const struct tree_sink_ops *sink = worker->run->sink->ops;
    struct outcome *outcome = &worker->outcome;
    struct source_dir *source_dir;
    struct sink_dir *sink_dir;
    uint64_t dev, ino;

    worker_is_at(worker, ACTIVITY_SOURCE);
    int r = source->open_dir(node->parent->source_dir, node->name,
        node_follows(worker->run, node->parent), &worker->scratch, ret_entry, &source_dir, outcome);
    if (r < 0)
        return r;
    r = guard_source(worker, node, ret_entry, outcome);
    if (r == 0) {
        worker_is_at(worker, ACTIVITY_DESTINATION);
        r = sink->enter_dir(
            node->parent->sink_dir, node_target_name(node), ret_entry, &sink_dir, outcome);
    }
    if (r < 0) {
        source->close_dir(source_dir);
        return r;
    }
    if (r > 0) {
        source->close_dir(source_dir);
        return r;
    }
    node_opened(worker, node, source_dir, sink_dir);
    sink->dir_identity(sink_dir, &dev, &ino);
    if (!node->parent->parent) {
        node->root->made_dev = dev;
        node->root->made_ino = ino;
    } else if (node->root->ino && dev == node->root->dev && ino == node->root->ino &&
               !worker->run->comparing) {
        return outcome_fail_target(outcome, "copy over its own source", -EINVAL);
    }
    return 0;
}

/* 1: entered, and to be listed; 0: entered, but nothing in it takes part; or negative errno. */
static int enter_directory(struct worker *worker, struct node *node)
{
    struct place place = {node, NULL, NULL};
    struct entry entry;
    int r = node_acquire(worker, node->parent);

    if (r < 0)
        return r;
    r = enter_both(worker, node, &entry);
    node_release(worker, node->parent);
    if (r != 0)
        return r < 0 ? r : 0;
    r = node_set_meta(node, &entry);
    if (r < 0)
        return outcome_fail(&worker->outcome, "enter directory", r);
    node->entered = true;
    node->dev = entry.dev;
    node->ino = entry.ino;
    events_copied(worker, &place);
    if (!node->parent->parent)
        node->root->dev = entry.dev;
    return !worker->run->options->one_file_system || entry.dev == node->root->dev;
}

static void run_listing(struct worker *worker, struct job *job);

/* Queues the directories of a batch, each with its share of the weight. If they are many, the rest
 * of the listing is queued behind them. Returns whether it was. */
static bool queue_directories(struct worker *worker, struct node *node)
{
    struct source_batch *batch = &worker->batch;
    struct pool_job *directories = NULL;
    size_t n = 0;

    for (size_t i = batch->n; i > 0; i--) {
        const struct source_name *name = &batch->names[i - 1];
        struct place place = {node, name->name, name->name};
        if (name->type == DT_DIR)
            add_directory(worker, &place, &directories);
    }
    for (struct pool_job *job = directories; job; job = job->next)
        n++;
    double share = node->weight / (double)(n + 1);
    struct pool_job **end = &directories;
    for (; *end; end = &(*end)->next)
        ((struct node *)*end)->weight = share;
    node->weight = share;
    bool later = n > PENDING_DIRECTORIES;
    if (later) {
        /* The node is the other job's from now on; what is left to do here needs a hold of its own.
         */
        (void)node_acquire(worker, node); /* it is open: nothing can fail */
        __atomic_add_fetch(&node->pending, 1, __ATOMIC_RELAXED);
        node->job.run = run_listing;
        node->job.link.next = NULL;
        *end = &node->job.link;
    }
    push_directories(worker, directories);
    return later;
}

/* Lists (on) and copies. The node's directories are acquired, and released when the listing is
 * over, which may be in a later job. */
static void list_directory(struct worker *worker, struct node *node)
{
    const struct tree_source_ops *source = node->root->source->ops;
    struct place place = {node, NULL, NULL};
    int r = 0;

    while (!run_is_stopping(worker->run)) {
        worker_is_at(worker, ACTIVITY_SOURCE);
        r = source->list(node->source_dir, &worker->batch, &worker->outcome);
        if (r <= 0)
            break;
        bool later = queue_directories(worker, node);
        copy_names(worker, node, worker->batch.names, worker->batch.n);
        if (later) {
            node_release(worker, node);
            node_done(worker, node);
            return;
        }
    }
    events_settle(worker, &place, r);
    worker_add_weight(worker, node->weight);
    node_release(worker, node);
    node_done(worker, node);
}

static void run_listing(struct worker *worker, struct job *job)
{
    list_directory(worker, (struct node *)job);
}

static void run_directory(struct worker *worker, struct job *job)
{
    struct node *node = (struct node *)job;
    struct place place = {node, NULL, NULL};
    int r = run_is_stopping(worker->run) ? -ECANCELED : enter_directory(worker, node);

    if (r > 0) {
        list_directory(worker, node);
        return;
    }
    events_settle(worker, &place, r);
    worker_add_weight(worker, node->weight);
    if (node->open)
        node_release(worker, node);
    node_done(worker, node);
}

/* ---- roots ---- */

void tree_to_tree_run_root(struct worker *worker, struct job *job)
{
    struct root *root = (struct root *)job;
    struct pool_job *directories = NULL;
    struct node *start = NULL;

    if (start_new(worker, root, &start) < 0)
        return;
    struct place place = {start, root->source_name, root->target_name};
    if (worker->run->options->filter && root->ino)
        listed_tell_missing(worker, start);
    if (!run_is_stopping(worker->run))
        copy_name(worker, &place, DT_UNKNOWN, &directories);
    if (directories)
        ((struct node *)directories)->weight = root->weight;
    else
        worker_add_weight(worker, root->weight);
    push_directories(worker, directories);
    node_done(worker, start);
}
