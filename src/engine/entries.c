#include "engine/entries.h"

#include <errno.h>

#include "engine/content.h"
#include "engine/run.h"

/* What a sink kept is not an error, but it is no copy either. Returns whether r was such an answer.
 */
static bool count_kept(struct worker *worker, int r)
{
    if (r == SINK_KEPT_OTHER || r == SINK_KEPT_SAME)
        count(&worker->counters.kept, 1);
    return r > 0;
}

static int write_content(struct worker *worker, const struct place *place,
    const struct entry *entry, struct source_file *from, struct sink_file *to)
{
    const struct tree_sink_ops *sink = worker->run->sink->ops;
    struct content content = {
        .from = from,
        .sink = sink,
        .to = to,
        .entry = entry,
    };

    int r = worker->run->options->dry_run ? 0 : content_copy(worker, &content);
    if (r < 0) {
        sink->abort_file(to);
        return r;
    }
    worker_is_at(worker, ACTIVITY_DESTINATION);
    r = sink->commit_file(to, entry, &worker->outcome);
    if (r == 0 && content.changed)
        events_changed(worker, place);
    return r;
}

/* 0: the file was made; SINK_KEPT_…, or a negative errno. */
static int make_file(struct worker *worker, const struct place *place, const struct entry *entry,
    struct source_file *from)
{
    struct sink_file to;

    worker_is_at(worker, ACTIVITY_DESTINATION);
    int r = worker->run->sink->ops->create_file(
        place->node->sink_dir, place->target_name, entry, &to, &worker->outcome);
    if (count_kept(worker, r) || r < 0)
        return r;
    r = write_content(worker, place, entry, from, &to);
    if (r < 0)
        return r;
    count(&worker->counters.files, 1);
    count(&worker->counters.bytes, entry->size);
    return 0;
}

static int make_node(struct worker *worker, const struct place *place, const struct entry *entry)
{
    worker_is_at(worker, ACTIVITY_DESTINATION);
    int r = worker->run->sink->ops->make_node(
        place->node->sink_dir, place->target_name, entry, &worker->outcome);
    if (count_kept(worker, r) || r < 0)
        return r;
    count(S_ISLNK(entry->mode) ? &worker->counters.symlinks : &worker->counters.specials, 1);
    return 0;
}

static int make_entry(struct worker *worker, const struct place *place, const struct entry *entry,
    struct source_file *from)
{
    return S_ISREG(entry->mode) ? make_file(worker, place, entry, from)
                                : make_node(worker, place, entry);
}

/* ---- hard links ---- */

/* Whether other names of this inode are to become names of one file. */
static bool is_linked(const struct worker *worker, const struct entry *entry)
{
    const struct shoal_options *options = worker->run->options;
    return (options->preserve & SHOAL_KEEP_LINKS) && entry->dev != 0 &&
           (entry->nlink > 1 || options->follow == SHOAL_FOLLOW_ALWAYS);
}

/* Whether a link that cannot be had is to be a file of its own instead. */
static bool link_is_impossible(int r)
{
    return r == -EXDEV || r == -EMLINK || r == -EPERM || r == -EOPNOTSUPP || r == -ENOENT;
}

/* Makes `place` another name of `first`. 0, SINK_KEPT_…, a negative errno; -EXDEV and its like: the
 * entry is to be copied instead. */
static int make_link(struct worker *worker, const struct place *place, const struct entry *entry,
    const struct link_first *first)
{
    int r = node_acquire(worker, first->node);
    if (r < 0) {
        outcome_clear(&worker->outcome);
        return -ENOENT;
    }
    worker_is_at(worker, ACTIVITY_DESTINATION);
    r = worker->run->sink->ops->make_link(place->node->sink_dir, place->target_name, entry,
        first->node->sink_dir, first->name, &worker->outcome);
    node_release(worker, first->node);
    if (count_kept(worker, r) || r < 0)
        return r;
    count(&worker->counters.hard_links, 1);
    return 0;
}

/* Copies an entry that has other names: the first is made, others are linked to it. */
static int copy_linked(struct worker *worker, const struct place *place, const struct entry *entry,
    struct source_file *from, struct link_waiter **ret_waiters)
{
    struct links *links = worker->run->links;
    struct link_first first;
    struct link *link;
    int r;

    switch (
        links_claim(links, entry, place->node, place->name, place->target_name, &link, &first)) {
    case LINKS_WAITS:
        return SINK_KEPT_OTHER; /* nothing was made now: its turn comes */
    case LINKS_NO_MEMORY:
        return outcome_fail(&worker->outcome, "copy", -ENOMEM);
    case LINKS_READY:
        r = make_link(worker, place, entry, &first);
        links_linked(links, link);
        if (!link_is_impossible(r))
            return r;
        outcome_clear(&worker->outcome);
        outcome_note(&worker->outcome, ASPECT_HARD_LINK, r);
        return make_entry(worker, place, entry, from);
    case LINKS_FIRST:
        break;
    }
    r = make_entry(worker, place, entry, from);
    *ret_waiters =
        links_settle(links, link, r == 0 || r == SINK_KEPT_SAME, place->node, place->target_name);
    return r;
}

int entries_copy(struct worker *worker, const struct place *place, const struct entry *entry,
    struct source_file *from, struct link_waiter **ret_waiters)
{
    *ret_waiters = NULL;
    return is_linked(worker, entry) ? copy_linked(worker, place, entry, from, ret_waiters)
                                    : make_entry(worker, place, entry, from);
}
