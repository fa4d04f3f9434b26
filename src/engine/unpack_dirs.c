#include "engine/unpack_dirs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/ordered_set.h"
#include "engine/events.h"
#include "engine/finish.h"
#include "engine/inode_set.h"
#include "engine/run.h"

/* A directory that is held, or being finished. */
struct live {
    const struct node *parent;
    const char *name; /* the node's */
    struct node *node;
    bool finishing;
};

struct unpack_dirs {
    pthread_mutex_t lock;
    pthread_cond_t finished;
    void *live;            /* a tree of struct live, for ordered_set_…() */
    struct inode_set done; /* made or given metadata by this run, and finished */
};

static int compare_live(const void *a, const void *b)
{
    const struct live *left = a, *right = b;

    if (left->parent != right->parent)
        return (uintptr_t)left->parent < (uintptr_t)right->parent ? -1 : 1;
    return strcmp(left->name, right->name);
}

struct unpack_dirs *unpack_dirs_new(void)
{
    struct unpack_dirs *dirs = calloc(1, sizeof(*dirs));

    if (!dirs)
        return NULL;
    (void)pthread_mutex_init(&dirs->lock, NULL); /* glibc's do not fail */
    (void)pthread_cond_init(&dirs->finished, NULL);
    return dirs;
}

void unpack_dirs_free(struct unpack_dirs *dirs)
{
    if (!dirs)
        return;
    inode_set_free(&dirs->done);
    (void)pthread_mutex_destroy(&dirs->lock);
    (void)pthread_cond_destroy(&dirs->finished);
    free(dirs);
}

static struct live *find_live(
    const struct unpack_dirs *dirs, const struct node *parent, const char *name)
{
    const struct live key = {.parent = parent, .name = name};
    return ordered_set_find(&dirs->live, &key, compare_live);
}

/* The directory if it is held by anyone, and now by the caller too; NULL if it is not. One that is
 * being finished is waited for. */
static struct node *hold_live(struct unpack_dirs *dirs, const struct node *parent, const char *name)
{
    struct live *live;
    struct node *node = NULL;

    (void)pthread_mutex_lock(&dirs->lock);
    while ((live = find_live(dirs, parent, name)) && live->finishing)
        (void)pthread_cond_wait(&dirs->finished, &dirs->lock);
    if (live) {
        node = live->node;
        __atomic_add_fetch(&node->pending, 1, __ATOMIC_RELAXED);
    }
    (void)pthread_mutex_unlock(&dirs->lock);
    return node;
}

static int add_live(struct unpack_dirs *dirs, struct node *node)
{
    struct live *live = malloc(sizeof(*live));

    if (!live)
        return -ENOMEM;
    *live = (struct live){.parent = node->parent, .name = node->name, .node = node};
    (void)pthread_mutex_lock(&dirs->lock);
    bool added = ordered_set_add(&dirs->live, live, compare_live);
    (void)pthread_mutex_unlock(&dirs->lock);
    if (!added)
        free(live);
    return added ? 0 : -ENOMEM;
}

/* Whether the caller was not the last to hold it: that needs no lock. */
static bool leave_early(struct node *node)
{
    unsigned pending = __atomic_load_n(&node->pending, __ATOMIC_RELAXED);

    while (pending > 1)
        if (__atomic_compare_exchange_n(
                &node->pending, &pending, pending - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return true;
    return false;
}

void unpack_dirs_leave(struct worker *worker, struct unpack_dirs *dirs, struct node *node)
{
    while (node && !leave_early(node)) {
        struct node *parent = node->parent;

        (void)pthread_mutex_lock(&dirs->lock);
        bool last = __atomic_sub_fetch(&node->pending, 1, __ATOMIC_ACQ_REL) == 0;
        struct live *live = last && parent ? find_live(dirs, parent, node->name) : NULL;
        if (live)
            live->finishing = true;
        (void)pthread_mutex_unlock(&dirs->lock);
        if (!last)
            return;
        if (parent)
            directory_finish(worker, node);
        (void)pthread_mutex_lock(&dirs->lock);
        if (node->entered && node->ino)
            (void)inode_set_add(
                &dirs->done, node->dev, node->ino); /* without it, its mtime may become newer */
        if (live)
            ordered_set_remove(&dirs->live, live, compare_live);
        (void)pthread_cond_broadcast(&dirs->finished);
        (void)pthread_mutex_unlock(&dirs->lock);
        free(live);
        node_unref(node);
        node = parent;
    }
}

static bool was_finished(struct unpack_dirs *dirs, const struct entry *entry)
{
    (void)pthread_mutex_lock(&dirs->lock);
    bool has = inode_set_has(&dirs->done, entry->dev, entry->ino);
    (void)pthread_mutex_unlock(&dirs->lock);
    return has;
}

/* Learns what an entered directory is, and so what it is to be if the stream does not say. */
static int learn_directory(struct worker *worker, struct unpack_dirs *dirs, struct node *node)
{
    const struct tree_sink_ops *sink = worker->run->sink->ops;
    struct entry now;

    if (!sink->look_dir)
        return 0;
    int fresh = sink->look_dir(node->sink_dir, &worker->scratch.xattrs, &now, &worker->outcome);
    if (fresh < 0)
        return fresh;
    node->dev = now.dev;
    node->ino = now.ino;
    node->entered = fresh || was_finished(dirs, &now);
    if (fresh)
        now.mode = S_IFDIR | (0777 & ~worker->run->umask);
    return node->entered ? node_set_meta(node, &now) : 0;
}

typedef int (*opener)(struct worker *worker, struct node *node, const struct entry *entry);

static int make_or_enter(struct worker *worker, struct node *node, const struct entry *entry)
{
    static const struct entry any = {.mode = S_IFDIR | 0777};
    struct sink_dir *dir;
    int r = worker->run->sink->ops->enter_dir(node->parent->sink_dir, node_target_name(node),
        entry ? entry : &any, &dir, &worker->outcome);

    if (r == 0)
        node_opened(worker, node, NULL, dir);
    return r > 0 ? -ENOENT : r;
}

static int open_existing(struct worker *worker, struct node *node, const struct entry *entry)
{
    struct sink_dir *dir;
    int r = worker->run->sink->ops->reopen_dir(
        node->parent->sink_dir, node_target_name(node), &dir, &worker->outcome);

    (void)entry;
    if (r == 0)
        node_opened(worker, node, NULL, dir);
    return r;
}

/* One that is only passed through is opened as it is, unless it is this run's own work. */
static int pass_through(struct worker *worker, struct node *node, const struct entry *entry)
{
    int r = open_existing(worker, node, entry);

    if (r != -ENOENT)
        return r;
    outcome_clear(&worker->outcome);
    return make_or_enter(worker, node, entry);
}

static int open_node(struct worker *worker, struct unpack_dirs *dirs, struct node *node,
    const struct entry *entry, opener open)
{
    int r = node_acquire(worker, node->parent);

    if (r < 0)
        return r;
    worker_is_at(worker, ACTIVITY_DESTINATION);
    r = open(worker, node, entry);
    node_release(worker, node->parent);
    if (r < 0)
        return r;
    r = learn_directory(worker, dirs, node);
    node_release(worker, node);
    return r;
}

static int enter(struct worker *worker, struct unpack_dirs *dirs, struct node *parent,
    const char *name, const struct entry *entry, opener open, struct node **ret)
{
    struct node *node = hold_live(dirs, parent, name);
    int r = 0;

    if (!node) {
        node = node_new(parent, parent->root, name);
        if (!node)
            return outcome_fail(&worker->outcome, "enter directory", -ENOMEM);
        r = open_node(worker, dirs, node, entry, open);
        if (r == 0)
            r = add_live(dirs, node);
    }
    if (r == 0 && entry) {
        node->entered = true;
        r = node_set_meta(node, entry);
    }
    if (r < 0) {
        (void)outcome_fail(&worker->outcome, "enter directory", r);
        unpack_dirs_leave(worker, dirs, node);
        return r;
    }
    *ret = node;
    return 0;
}

int unpack_dirs_enter(struct worker *worker, struct unpack_dirs *dirs, struct node *parent,
    const char *name, const struct entry *entry, struct node **ret)
{
    return enter(worker, dirs, parent, name, entry, entry ? make_or_enter : pass_through, ret);
}

int unpack_dirs_find(struct worker *worker, struct unpack_dirs *dirs, struct node *parent,
    const char *name, struct node **ret)
{
    return enter(worker, dirs, parent, name, NULL, open_existing, ret);
}
