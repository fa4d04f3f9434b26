#include "engine/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run.h"

struct node *node_new(struct node *parent, struct root *root, const char *name)
{
    size_t size = strlen(name) + 1;
    struct node *node = calloc(1, sizeof(*node) + size);
    if (!node)
        return NULL;
    memcpy(node->name, name, size);
    node->root = root;
    node->refs = 1;
    node->pending = 1;
    node->parent = parent;
    if (parent) {
        node_ref(parent);
        __atomic_add_fetch(&parent->pending, 1, __ATOMIC_RELAXED);
    }
    return node;
}

void node_ref(struct node *node)
{
    __atomic_add_fetch(&node->refs, 1, __ATOMIC_RELAXED);
}

static void forget_meta(struct node *node)
{
    struct xattr_set *own = (struct xattr_set *)node->meta.xattrs;

    if (!own)
        return;
    xattr_set_free(own);
    free(own);
    node->meta.xattrs = NULL;
}

void node_unref(struct node *node)
{
    /* A loop, not a recursion: the last child of a deep chain frees all of it. */
    while (node && __atomic_sub_fetch(&node->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        struct node *parent = node->parent;
        if (!parent)
            root_free(node->root);
        forget_meta(node);
        free(node);
        node = parent;
    }
}

const char *node_target_name(const struct node *node)
{
    return node->parent && !node->parent->parent ? node->root->target_name : node->name;
}

int node_set_meta(struct node *node, const struct entry *entry)
{
    forget_meta(node);
    node->meta = *entry;
    node->meta.link_target = NULL;
    if (!entry->xattrs)
        return 0;
    node->meta.xattrs = xattr_set_copy(entry->xattrs);
    return node->meta.xattrs ? 0 : -ENOMEM;
}

static bool is_start(const struct node *node)
{
    return !node->parent;
}

static void close_directories(struct run *run, struct node *node)
{
    if (is_start(node) || !node->open)
        return; /* a start's are its source's and its sink's own */
    if (node->source_dir)
        node->root->source->ops->close_dir(node->source_dir);
    if (node->sink_dir)
        run->sink->ops->close_dir(node->sink_dir);
    node->open = false;
    node->source_dir = NULL;
    node->sink_dir = NULL;
    run->open_nodes--;
}

static int open_source_again(struct worker *worker, struct node *node)
{
    const struct root *root = node->root;
    struct source_scratch scratch = {0};
    struct entry entry;
    bool follow = worker->run->options->follow == SHOAL_FOLLOW_ALWAYS ||
                  (is_start(node->parent) && root->follow);

    int r = root->source->ops->open_dir(node->parent->source_dir, node->name, follow, &scratch,
        &entry, &node->source_dir, &worker->outcome);
    source_scratch_free(&scratch);
    return r;
}

/* With the lock held: opens one node whose parent is open. */
static int open_again(struct worker *worker, struct node *node)
{
    struct run *run = worker->run;
    int r = run->sink ? run->sink->ops->reopen_dir(node->parent->sink_dir, node_target_name(node),
                            &node->sink_dir, &worker->outcome)
                      : 0;
    if (r < 0)
        return r;
    node->open = true;
    run->open_nodes++;
    /* One that is finished is only linked to; its source may be gone by now. */
    r = node->closed || !node->root->source ? 0 : open_source_again(worker, node);
    if (r < 0)
        close_directories(run, node);
    return r;
}

static bool is_unused_listed(const struct run *run, const struct node *node)
{
    return node->older || node->newer || run->oldest_unused == node;
}

static void unlist_unused(struct run *run, struct node *node)
{
    if (!is_unused_listed(run, node))
        return;
    *(node->older ? &node->older->newer : &run->oldest_unused) = node->newer;
    *(node->newer ? &node->newer->older : &run->newest_unused) = node->older;
    node->older = node->newer = NULL;
}

/* With the lock held: an open node that nobody uses (any more) is closed if it is done with; else
 * it is kept for its children, as long as there are not too many: then those go that were used
 * longest ago, which in a deep tree are those far above. */
static void put_aside(struct run *run, struct node *node)
{
    if (is_start(node) || node->users > 0 || !node->open)
        return;
    unlist_unused(run, node);
    if (node->closed) {
        close_directories(run, node);
        return;
    }
    node->older = run->newest_unused;
    *(run->newest_unused ? &run->newest_unused->newer : &run->oldest_unused) = node;
    run->newest_unused = node;
    while (run->open_nodes > run->open_nodes_max && run->oldest_unused) {
        struct node *oldest = run->oldest_unused;
        unlist_unused(run, oldest);
        close_directories(run, oldest);
    }
}

/* With the lock held: opens a node from its nearest open ancestor down. Each on the way can be
 * closed again as soon as the next is open, so that a chain of any depth needs few descriptors. */
static int open_from_nearest(struct worker *worker, struct node *node)
{
    size_t depth = 0;
    int r = 0;

    for (struct node *up = node; !is_start(up) && !up->open; up = up->parent)
        depth++;
    struct node **chain = calloc(depth, sizeof(struct node *));
    if (!chain)
        return outcome_fail(&worker->outcome, "open directory", -ENOMEM);
    for (size_t i = depth; i > 0; i--, node = node->parent)
        chain[i - 1] = node;
    for (size_t i = 0; i < depth && r == 0; i++) {
        r = open_again(worker, chain[i]);
        if (i > 0)
            put_aside(worker->run, chain[i - 1]);
    }
    free(chain);
    return r;
}

int node_acquire(struct worker *worker, struct node *node)
{
    struct run *run = worker->run;
    int r = 0;

    (void)pthread_mutex_lock(&run->handles);
    node->users++;
    unlist_unused(run, node);
    if (!is_start(node) && !node->open)
        r = open_from_nearest(worker, node);
    if (r < 0)
        node->users--;
    (void)pthread_mutex_unlock(&run->handles);
    return r;
}

void node_release(struct worker *worker, struct node *node)
{
    struct run *run = worker->run;

    (void)pthread_mutex_lock(&run->handles);
    node->users--;
    put_aside(run, node);
    (void)pthread_mutex_unlock(&run->handles);
}

void node_opened(struct worker *worker, struct node *node, struct source_dir *source_dir,
    struct sink_dir *sink_dir)
{
    struct run *run = worker->run;

    (void)pthread_mutex_lock(&run->handles);
    node->source_dir = source_dir;
    node->sink_dir = sink_dir;
    node->open = true;
    node->users++;
    run->open_nodes++;
    (void)pthread_mutex_unlock(&run->handles);
}

void node_close(struct run *run, struct node *node)
{
    (void)pthread_mutex_lock(&run->handles);
    node->closed = true;
    put_aside(run, node);
    (void)pthread_mutex_unlock(&run->handles);
}

/* Writes the components of `node` below its start (the top's own name left out), each with a slash
 * before it, so that they end at `end`. Returns where they begin. */
static char *prepend_components(const struct node *node, char *end)
{
    for (; node->parent && node->parent->parent; node = node->parent) {
        size_t length = strlen(node->name);
        end -= length;
        memcpy(end, node->name, length);
        *--end = '/';
    }
    return end;
}

static size_t components_length(const struct node *node)
{
    size_t length = 0;
    for (; node->parent && node->parent->parent; node = node->parent)
        length += strlen(node->name) + 1;
    return length;
}

/* `top` is the path of the FROM that the node lies in. */
static char *path_below(const char *top, const struct node *node, const char *name)
{
    size_t top_length = strlen(top), middle = components_length(node);
    size_t name_length = name ? strlen(name) + 1 : 0;
    char *path = malloc(top_length + middle + name_length + 1);

    if (!path)
        return NULL;
    if (top_length > 0 && top[top_length - 1] == '/' && middle + name_length > 0)
        top_length--; /* FROM is "/": one slash is enough */
    memcpy(path, top, top_length);
    (void)prepend_components(node, path + top_length + middle);
    if (name) {
        path[top_length + middle] = '/';
        memcpy(path + top_length + middle + 1, name, name_length - 1);
    }
    path[top_length + middle + name_length] = '\0';
    if (*path == '/' && top_length == 0 && !*top)
        memmove(path, path + 1, middle + name_length); /* a stream's names stand alone */
    return path;
}

char *node_source_path(const struct node *node, const char *name)
{
    /* A name in the start is that of FROM itself. */
    return path_below(node->root->from, node, is_start(node) ? NULL : name);
}

char *node_target_path(const struct node *node, const char *name)
{
    return path_below(node->root->target, node, is_start(node) ? NULL : name);
}

long node_filter_path(struct worker *worker, const struct node *node, const char *name)
{
    size_t middle = components_length(node), name_length = strlen(name);
    size_t length = middle + name_length;

    if (length + 2 > worker->path_room) {
        char *path = realloc(worker->path, (length + 2) * 2);
        if (!path)
            return -ENOMEM;
        worker->path = path;
        worker->path_room = (length + 2) * 2;
    }
    /* Built with its leading slash, which is then left out. */
    char *path = worker->path;
    (void)prepend_components(node, path + middle);
    if (middle > 0) {
        memmove(path, path + 1, middle - 1);
        path[middle - 1] = '/';
    }
    memcpy(path + middle, name, name_length + 1);
    return (long)length;
}
