#include "engine/start.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "engine/events.h"
#include "engine/run.h"
#include "source/directory.h"
#include "source/disc.h"

static int open_source(const struct run *run, struct root *root)
{
    if (root->disc)
        return disc_source_new(root->disc, root->disc_start, &root->source);
    _cleanup_close_ int fd = open_at(AT_FDCWD, root->parent_path, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    bool want_xattrs = run->options->preserve & (SHOAL_KEEP_XATTR | SHOAL_KEEP_MODE);
    return directory_source_new(TAKE_FD(fd), want_xattrs, &root->source);
}

static void end_root(struct worker *worker, struct root *root)
{
    if (root->next_same)
        pool_push(worker->run->pool, &root->next_same->job.link);
    if (root->source)
        root->source->ops->free(root->source);
    root->source = NULL;
}

int start_new(struct worker *worker, struct root *root, struct node **ret)
{
    int r = open_source(worker->run, root);
    struct node *start = r == 0 ? node_new(NULL, root, "") : NULL;

    if (!start) {
        r = r < 0 ? r : -ENOMEM;
        events_fault_path(worker->run, "open directory", root->parent_path, r);
        worker_add_weight(worker, root->weight);
        end_root(worker, root);
        root_free(root);
        return r;
    }
    start->source_dir = root->source->start;
    start->sink_dir = worker->run->sink ? worker->run->sink->start : NULL;
    start->weight = root->weight;
    *ret = start;
    return 0;
}

void start_end(struct worker *worker, struct node *start)
{
    end_root(worker, start->root);
    node_unref(start); /* which frees the root, when nothing links into it any more */
}

bool node_follows(const struct run *run, const struct node *node)
{
    enum shoal_follow follow = run->options->follow;
    return follow == SHOAL_FOLLOW_ALWAYS || (!node->parent && node->root->follow);
}

bool node_is_cycle(const struct node *node, const struct entry *entry)
{
    for (const struct node *up = node->parent; up; up = up->parent)
        if (up->ino == entry->ino && up->dev == entry->dev)
            return true;
    return false;
}
