#include "engine/stream_entries.h"

#include <errno.h>
#include <string.h>

#include "engine/events.h"
#include "engine/run.h"
#include "entry/filter.h"

void stream_entries_begin(struct worker *worker, struct root *root, struct stream_entries *entries)
{
    const struct shoal_archive_options *archive = &worker->run->options->archive;

    *entries = (struct stream_entries){
        .root = root,
        .rule = {.strip = archive->strip_components,
            .top = archive->top,
            .part = root->part,
            .base = root->base},
    };
}

void stream_entries_end(struct stream_entries *entries)
{
    bytes_free(&entries->path);
}

void stream_entries_refuse(
    struct worker *worker, struct stream_entries *entries, const char *path, int r)
{
    struct outcome *outcome = &worker->outcome;

    if (r != -ECANCELED)
        events_fault_entry(worker->run, entries->root,
            outcome->operation ? outcome->operation : "unpack", path ? path : "", r);
    if (outcome->at_target && (r == -ENOSPC || r == -EDQUOT))
        run_stop(worker->run, STOP_FULL);
    outcome_clear(outcome);
}

int stream_entries_resolve(
    struct worker *worker, struct stream_entries *entries, const char *path, struct bytes *out)
{
    struct outcome *outcome = &worker->outcome;
    bool was_absolute;

    switch (member_path_resolve(&entries->rule, path, out, &was_absolute)) {
    case MEMBER_TAKEN:
        if (was_absolute && !entries->told_absolute)
            events_note_path(worker->run, "leading '/' removed from names", path);
        entries->told_absolute |= was_absolute;
        return 0;
    case MEMBER_LEFT_OUT:
        return 1;
    case MEMBER_ESCAPES:
        return outcome_fail(outcome, "follow '..' out of the destination for", -EPERM);
    case MEMBER_TOO_LONG:
        return outcome_fail(outcome, "unpack", -ENAMETOOLONG);
    case MEMBER_NO_MEMORY:
        break;
    }
    return outcome_fail(outcome, "unpack", -ENOMEM);
}

/* Whether filters take a safe path: each directory on its way, and itself. */
static bool is_admitted(const struct run *run, const struct bytes *path, bool is_directory)
{
    const struct shoal_filter *filter = run->options->filter;
    const char *text = path->data;

    if (!filter || !*text)
        return true;
    for (const char *slash = text; (slash = strchr(slash, '/')); slash++)
        if (!filter_admits(filter, text, (size_t)(slash - text), true))
            return false;
    return filter_admits(filter, text, path->n - 1, is_directory);
}

static void tell_entry(struct run *run, const struct stream_entry *from)
{
    const struct shoal_entry entry = {
        .path = from->path,
        .hard_link = from->hard_link,
        .link_target = from->entry.link_target,
        .user = from->user,
        .group = from->group,
        .mode = from->entry.mode,
        .uid = from->entry.uid,
        .gid = from->entry.gid,
        .size = from->entry.size,
        .rdev = from->entry.rdev,
        .mtime = from->entry.mtime,
    };
    events_entry(run, &entry);
}

/* 1: it takes part; 0: it does not; or a negative errno. */
static int judge(
    struct worker *worker, struct stream_entries *entries, const struct stream_entry *entry)
{
    const struct shoal_options *options = worker->run->options;
    bool is_directory = S_ISDIR(entry->entry.mode);

    if (options->archive.select &&
        !options->archive.select(options->context, entry->path, is_directory))
        return 0;
    int r = stream_entries_resolve(worker, entries, entry->path, &entries->path);
    if (r != 0)
        return r < 0 ? r : 0;
    return is_admitted(worker->run, &entries->path, is_directory);
}

bool stream_entries_next(
    struct worker *worker, struct stream_entries *entries, struct stream_entry *ret)
{
    struct stream_source *source = entries->root->stream;

    while (!run_is_stopping(worker->run)) {
        *ret = (struct stream_entry){.stored_fd = -1};
        worker_is_at(worker, ACTIVITY_SOURCE);
        int r = source->ops->next(source, ret, &worker->outcome);
        if (r == 0)
            return false;
        bool is_last = r < 0 && r != -EBADMSG;
        if (r > 0)
            r = judge(worker, entries, ret);
        if (r > 0) {
            tell_entry(worker->run, ret);
            if (worker->run->options->archive.mask_modes && !S_ISLNK(ret->entry.mode))
                ret->entry.mode &= S_IFMT | (0777 & ~worker->run->umask);
            return true;
        }
        if (r < 0)
            stream_entries_refuse(worker, entries, ret->path, r);
        if (is_last)
            return false;
    }
    return false;
}
