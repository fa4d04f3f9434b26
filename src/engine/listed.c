#include "engine/listed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/events.h"
#include "engine/run.h"
#include "entry/filter.h"

/* Looks for a path, component by component. `path` is cut apart on the way. 0 or negative errno. */
static int find_below(struct worker *worker, const struct root *root, char *path)
{
    const struct tree_source_ops *source = root->source->ops;
    bool follow = worker->run->options->follow == SHOAL_FOLLOW_ALWAYS;
    struct source_dir *at = root->source->start, *next;
    const char *name = root->source_name;
    bool follow_name = follow || root->follow;
    struct entry entry;
    int r;

    for (char *rest = path; rest;) {
        r = source->open_dir(
            at, name, follow_name, &worker->scratch, &entry, &next, &worker->outcome);
        if (at != root->source->start)
            source->close_dir(at);
        if (r < 0)
            return r;
        at = next;
        name = strsep(&rest, "/");
        follow_name = follow;
    }
    r = source->look(at, name, follow, &worker->scratch, &entry, &worker->outcome);
    source->close_dir(at);
    return r;
}

void listed_tell_missing(struct worker *worker, struct node *start)
{
    const struct root *root = start->root;
    const char *name;
    size_t cursor = 0, length;

    while (filter_next_name(worker->run->options->filter, &cursor, &name, &length)) {
        _cleanup_free_ char *path = strndup(name, length), *whole = NULL;
        int r = path ? find_below(worker, root, path) : -ENOMEM;
        outcome_clear(&worker->outcome);
        if (r != -ENOENT && r != -ENOTDIR)
            continue; /* it is there; whatever else is wrong with it, the copy will say */
        if (asprintf(&whole, "%s/%.*s", root->from, (int)length, name) < 0)
            whole = NULL;
        events_fault_path(worker->run, "find the listed", whole ? whole : root->from, r);
    }
}
