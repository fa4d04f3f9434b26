#include "engine/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/admission.h"
#include "engine/listed.h"
#include "engine/run.h"
#include "engine/start.h"

/* A directory in listing order is taken in parts of this many names; one in order of names has to
 * be known whole. */
#define PART_NAMES (128 * 1024)

/* A directory on the way down. */
struct frame {
    struct frame *up;
    struct node *node;
    struct source_name *names;
    size_t n, room, at;
    struct bytes strings; /* the names */
    bool listed;          /* no names come after these; else the node is acquired */
};

struct walk {
    struct run *run;
    struct root *roots; /* those not begun */
    struct frame *top;
    struct entry entry; /* of the directory last entered */
};

int walk_new(struct run *run, struct root *roots, struct walk **ret)
{
    struct walk *walk = calloc(1, sizeof(*walk));

    if (!walk)
        return -ENOMEM;
    walk->run = run;
    walk->roots = roots;
    *ret = walk;
    return 0;
}

void walk_done(struct worker *worker, struct node *node)
{
    while (node && __atomic_sub_fetch(&node->pending, 1, __ATOMIC_ACQ_REL) == 0) {
        struct node *parent = node->parent;
        if (!parent) {
            start_end(worker, node);
            return;
        }
        node_close(worker->run, node);
        node_unref(node);
        node = parent;
    }
}

/* ---- frames ---- */

static void pop(struct worker *worker, struct walk *walk)
{
    struct frame *frame = walk->top;

    walk->top = frame->up;
    if (!frame->listed)
        node_release(worker, frame->node);
    worker_add_weight(worker, frame->node->weight);
    walk_done(worker, frame->node);
    bytes_free(&frame->strings);
    free(frame->names);
    free(frame);
}

void walk_free(struct worker *worker, struct walk *walk)
{
    while (walk->top)
        pop(worker, walk);
    while (walk->roots) {
        struct root *next = (struct root *)walk->roots->job.link.next;
        root_free(walk->roots);
        walk->roots = next;
    }
    free(walk);
}

/* The listing does not tell every type on every file system. */
static void learn_type(struct worker *worker, const struct node *node, struct source_name *name)
{
    struct entry entry;

    if (name->type != DT_UNKNOWN &&
        (name->type != DT_LNK || worker->run->options->follow != SHOAL_FOLLOW_ALWAYS))
        return;
    if (node->root->source->ops->look(node->source_dir, name->name, node_follows(worker->run, node),
            &worker->scratch, &entry, &worker->outcome) == 0)
        name->type = IFTODT(entry.mode);
    outcome_clear(&worker->outcome); /* whoever opens it meets the failure */
}

static int add_names(struct worker *worker, struct frame *frame)
{
    const struct source_batch *batch = &worker->batch;

    if (frame->n + batch->n > frame->room) {
        size_t room = (frame->n + batch->n) * 2;
        struct source_name *names = reallocarray(frame->names, room, sizeof(*names));
        if (!names)
            return -ENOMEM;
        frame->names = names;
        frame->room = room;
    }
    for (size_t i = 0; i < batch->n; i++) {
        struct source_name name = batch->names[i];
        learn_type(worker, frame->node, &name);
        size_t at = frame->strings.n;
        if (bytes_append(&frame->strings, name.name, strlen(name.name) + 1) < 0)
            return -ENOMEM;
        name.name = (const char *)at; /* the memory may still move: see list_names() */
        frame->names[frame->n++] = name;
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct source_name *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Directories last, so that the others go in long runs. */
static int by_position(const void *a, const void *b)
{
    const struct source_name *left = a, *right = b;

    if ((left->type == DT_DIR) != (right->type == DT_DIR))
        return left->type == DT_DIR ? 1 : -1;
    return (left->position > right->position) - (left->position < right->position);
}

/* Lists the frame's next names. Returns how many there are, or a negative errno. */
static long list_names(struct worker *worker, struct frame *frame)
{
    const struct tree_source_ops *source = frame->node->root->source->ops;
    bool sort = worker->run->options->archive.sort_names;
    int r = 1;

    frame->n = frame->at = frame->strings.n = 0;
    while (!frame->listed && (sort || frame->n < PART_NAMES)) {
        worker_is_at(worker, ACTIVITY_SOURCE);
        r = source->list(frame->node->source_dir, &worker->batch, &worker->outcome);
        if (r <= 0)
            break;
        r = add_names(worker, frame);
        if (r < 0) {
            (void)outcome_fail(&worker->outcome, "list directory", r);
            break;
        }
    }
    if (r <= 0 && !frame->listed) {
        frame->listed = true;
        node_release(worker, frame->node);
    }
    for (size_t i = 0; i < frame->n; i++)
        frame->names[i].name = frame->strings.data + (size_t)frame->names[i].name;
    if (frame->n > 0)
        qsort(frame->names, frame->n, sizeof(*frame->names), sort ? by_name : by_position);
    if (r < 0) {
        struct place place = {frame->node, NULL, NULL};
        events_settle(worker, &place, r);
    }
    return (long)frame->n;
}

/* Each directory among the names gets its share of the weight. */
static void share_weight(struct frame *frame)
{
    size_t n = 1;

    for (size_t i = 0; i < frame->n; i++)
        n += frame->names[i].type == DT_DIR;
    frame->node->weight /= (double)n;
}

/* ---- directories ---- */

static int open_directory(struct worker *worker, struct node *node, struct entry *ret_entry)
{
    struct node *parent = node->parent;
    const struct tree_source_ops *source = node->root->source->ops;
    struct source_dir *dir;
    int r = node_acquire(worker, parent);

    if (r < 0)
        return r;
    worker_is_at(worker, ACTIVITY_SOURCE);
    r = source->open_dir(parent->source_dir, node->name, node_follows(worker->run, parent),
        &worker->scratch, ret_entry, &dir, &worker->outcome);
    node_release(worker, parent);
    if (r == 0)
        node_opened(worker, node, dir, NULL);
    return r;
}

/* 1: it is to be listed; 0: only itself takes part; or a negative errno. The node is acquired
 * unless that. */
static int enter_directory(struct worker *worker, struct node *node, struct entry *ret_entry)
{
    const struct shoal_options *options = worker->run->options;
    int r = open_directory(worker, node, ret_entry);

    if (r < 0)
        return r;
    node->dev = ret_entry->dev;
    node->ino = ret_entry->ino;
    if (!node->parent->parent)
        node->root->dev = ret_entry->dev;
    if (options->follow == SHOAL_FOLLOW_ALWAYS && node_is_cycle(node, ret_entry)) {
        node_release(worker, node);
        return outcome_fail(&worker->outcome, "follow in a circle", -ELOOP);
    }
    return !options->archive.no_recursion &&
           (!options->one_file_system || ret_entry->dev == node->root->dev);
}

/* Enters a directory: true with its entry in the worker's scratch, or what is wrong was told. */
static bool go_down(struct worker *worker, struct walk *walk, struct node *parent, const char *name,
    double weight, struct entry *ret_entry)
{
    struct place place = {parent, name, name};
    struct frame *frame = calloc(1, sizeof(*frame));
    struct node *node = frame ? node_new(parent, parent->root, name) : NULL;
    int r = node ? enter_directory(worker, node, ret_entry)
                 : outcome_fail(&worker->outcome, "enter directory", -ENOMEM);

    if (r < 0) {
        events_settle(worker, &place, r);
        if (node)
            walk_done(worker, node);
        free(frame);
        worker_add_weight(worker, weight);
        return false;
    }
    node->weight = weight;
    frame->node = node;
    frame->listed = r == 0;
    if (frame->listed)
        node_release(worker, node);
    frame->up = walk->top;
    walk->top = frame;
    return true;
}

/* ---- steps ---- */

static bool take_names(struct frame *frame, size_t most, struct walk_names *ret)
{
    struct bytes bytes = {0};
    size_t n = 0;

    for (; n < most && frame->at < frame->n && frame->names[frame->at].type != DT_DIR; n++) {
        const char *name = frame->names[frame->at].name;
        if (bytes_append(&bytes, name, strlen(name) + 1) < 0)
            break;
        frame->at++;
    }
    if (n == 0)
        return false;
    __atomic_add_fetch(&frame->node->pending, 1, __ATOMIC_RELAXED);
    *ret = (struct walk_names){frame->node, n, bytes.data};
    return true;
}

/* The next root's own entry: a directory that is entered, or a name in its start. */
static enum walk_step begin_root(
    struct worker *worker, struct walk *walk, struct walk_names *ret_names, struct entry *ret_entry)
{
    struct root *root = walk->roots;
    struct node *start;

    walk->roots = (struct root *)root->job.link.next;
    if (start_new(worker, root, &start) < 0)
        return WALK_END;
    if (worker->run->options->filter && root->ino)
        listed_tell_missing(worker, start);
    struct source_name name = {.name = root->source_name, .type = root->ino ? DT_DIR : DT_REG};
    if (name.type == DT_DIR) {
        struct place place = {start, name.name, root->target_name};
        bool entered = place_is_selected(worker, &place, true) &&
                       go_down(worker, walk, start, name.name, root->weight, ret_entry);
        walk_done(worker, start);
        return entered ? WALK_DIRECTORY : WALK_END;
    }
    worker_add_weight(worker, root->weight);
    char *bytes = strdup(name.name);
    *ret_names = (struct walk_names){start, bytes ? 1 : 0, bytes};
    return WALK_NAMES;
}

enum walk_step walk_next(struct worker *worker, struct walk *walk, size_t most,
    struct walk_names *ret_names, struct walk_directory *ret_directory)
{
    enum walk_step step = WALK_END;

    while (step == WALK_END && !run_is_stopping(worker->run) && (walk->top || walk->roots)) {
        struct frame *frame = walk->top;
        if (!frame) {
            step = begin_root(worker, walk, ret_names, &walk->entry);
        } else if (frame->at == frame->n) {
            if (frame->listed || list_names(worker, frame) == 0)
                pop(worker, walk);
            else
                share_weight(frame);
        } else if (frame->names[frame->at].type == DT_DIR) {
            const char *name = frame->names[frame->at++].name;
            struct place place = {frame->node, name, name};
            if (place_is_selected(worker, &place, true) &&
                go_down(worker, walk, frame->node, name, frame->node->weight, &walk->entry))
                step = WALK_DIRECTORY;
        } else if (take_names(frame, most, ret_names)) {
            step = WALK_NAMES;
        } else {
            struct place place = {frame->node, NULL, NULL};
            events_settle(worker, &place, outcome_fail(&worker->outcome, "list", -ENOMEM));
            frame->at = frame->n;
        }
    }
    if (step == WALK_DIRECTORY)
        *ret_directory = (struct walk_directory){walk->top->node, &walk->entry};
    return step;
}
