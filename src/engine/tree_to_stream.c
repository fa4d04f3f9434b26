#include "engine/tree_to_stream.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/admission.h"
#include "engine/content.h"
#include "engine/events.h"
#include "engine/links.h"
#include "engine/start.h"
#include "engine/turns.h"
#include "engine/walk.h"
#include "entry/owner_names.h"

/* A turn takes as many names as should fill a buffer, going by the mean size so far. */
#define TURN_NAMES_MAX 64

/* Content from this size on is moved by the kernel, where the sink can: measured, see
 * docs/performance.md. */
#define MOVE_FROM_BYTES (64 * 1024)

/* A file in more ranges than this is written with its smaller holes filled. */
#define RANGES_MAX 65536

static const struct range no_data;

struct filler {
    struct job job;
    struct packing *packing;
};

struct packing {
    struct run *run;
    struct stream_sink *sink;
    struct turns *turns;
    dev_t out_dev; /* of what is written: left out */
    ino_t out_ino;
    struct job emitter;
    struct filler fillers[WORKERS_ADAPTED];
    unsigned filling; /* fillers that go on: atomic */

    pthread_mutex_t walking; /* guards what follows */
    struct walk *walk;
    uint64_t names, bytes; /* taken so far, for the mean */
};

/* What a worker has in hand. */
struct packer {
    struct worker *worker;
    struct packing *packing;
    struct turn *turn;
    struct place place;
    struct bytes path;     /* of the entry in the archive */
    size_t path_directory; /* how much of it is the directory's, with its slash */
    struct entry recorded; /* the entry, with what is recorded instead of the file's own */
    struct bytes head;     /* an encoded entry */
    struct range *ranges;
    size_t n_ranges, ranges_room;
    bool has_holes; /* else the ranges mean nothing: all is data */
};

/* ---- records ---- */

/* What is recorded instead of the file's own. */
static void override_entry(const struct run *run, struct entry *entry)
{
    const struct shoal_archive_options *archive = &run->options->archive;

    if (archive->set_uid)
        entry->uid = archive->uid;
    if (archive->set_gid)
        entry->gid = archive->gid;
    if (archive->set_mtime)
        entry->mtime = entry->atime = archive->mtime;
}

static void tell_entry(struct packer *packer, const struct stream_record *record)
{
    struct run *run = packer->worker->run;
    const struct shoal_archive_options *archive = &run->options->archive;
    const struct entry *entry = record->entry;

    if (!archive->on_entry)
        return;
    bool named = !archive->numeric_owner;
    const struct shoal_entry told = {
        .path = record->path,
        .hard_link = record->hard_link,
        .link_target = entry->link_target,
        .user = archive->user ? archive->user
                : named       ? owner_names_user(run->owner_names, entry->uid)
                              : NULL,
        .group = archive->group ? archive->group
                 : named        ? owner_names_group(run->owner_names, entry->gid)
                                : NULL,
        .mode = entry->mode,
        .uid = entry->uid,
        .gid = entry->gid,
        .size = S_ISREG(entry->mode) && !record->hard_link ? entry->size : 0,
        .rdev = entry->rdev,
        .mtime = entry->mtime,
    };

    turn_tell(packer->turn, &told);
}

/* Encodes an entry into packer->head. */
static int encode(struct packer *packer, const struct entry *entry, const char *hard_link,
    struct stream_record *ret)
{
    struct worker *worker = packer->worker;
    const struct stream_sink *sink = packer->packing->sink;

    packer->recorded = *entry;
    override_entry(worker->run, &packer->recorded);
    *ret = (struct stream_record){
        .path = packer->path.data,
        .hard_link = hard_link,
        .entry = &packer->recorded,
        .ranges = !packer->has_holes     ? NULL
                  : packer->n_ranges > 0 ? packer->ranges
                                         : &no_data,
        .n_ranges = packer->n_ranges,
        .number = entry->ino,
    };
    packer->head.n = 0;
    return sink->ops->encode(sink, ret, &packer->head, &worker->outcome);
}

static int put_head(struct packer *packer, const struct stream_record *record)
{
    tell_entry(packer, record);
    return turn_put(packer->turn, packer->head.data, packer->head.n);
}

/* An entry that has no content. */
static int put_entry(struct packer *packer, struct entry *entry, const char *hard_link)
{
    struct stream_record record;
    int r = encode(packer, entry, hard_link, &record);
    return r < 0 ? r : put_head(packer, &record);
}

/* ---- content ---- */

static int add_range(struct packer *packer, uint64_t start, uint64_t end)
{
    if (packer->n_ranges == packer->ranges_room) {
        size_t room = packer->ranges_room ? packer->ranges_room * 2 : 16;
        struct range *ranges = reallocarray(packer->ranges, room, sizeof(*ranges));
        if (!ranges)
            return -ENOMEM;
        packer->ranges = ranges;
        packer->ranges_room = room;
    }
    packer->ranges[packer->n_ranges++] = (struct range){start, end};
    return 0;
}

/* Finds the ranges that hold data, if there are holes and the source can tell. 0 or -ENOMEM. */
static int find_ranges(struct packer *packer, struct source_file *from, const struct entry *entry)
{
    uint64_t at = 0, start, end;
    int more = 0;

    packer->n_ranges = 0;
    packer->has_holes = false;
    if (packer->worker->run->options->sparse == SHOAL_NEVER || !content_may_have_holes(entry) ||
        entry->size == 0)
        return 0;
    while (at < entry->size && packer->n_ranges < RANGES_MAX &&
           (more = from->ops->next_data(from, at, &start, &end)) > 0) {
        if (start >= entry->size)
            break;
        at = end < entry->size ? end : entry->size;
        int r = add_range(packer, start, at);
        if (r < 0)
            return r;
    }
    if (more < 0)
        return 0;
    if (packer->n_ranges == RANGES_MAX && at < entry->size)
        packer->ranges[packer->n_ranges - 1].end = entry->size;
    packer->n_ranges =
        ranges_widen(packer->ranges, packer->n_ranges, STREAM_RANGE_UNIT, entry->size);
    packer->has_holes = !ranges_are_whole(packer->ranges, packer->n_ranges, entry->size);
    return 0;
}

/* Reads a range into the turn's buffers. What is missing at the file's end becomes zeros, and is
 * told of. */
static int put_range(
    struct packer *packer, struct source_file *from, const struct range *range, bool *changed)
{
    struct worker *worker = packer->worker;

    for (uint64_t at = range->start; at < range->end;) {
        uint64_t rest = range->end - at;
        size_t room;
        char *to = turn_room(packer->turn, &room);
        if (!to)
            return -ECANCELED;
        size_t want = rest < room ? (size_t)rest : room;
        worker_is_at(worker, ACTIVITY_SOURCE);
        ssize_t got = *changed ? 0 : from->ops->read(from, to, want, at);
        if (got < 0) {
            worker->outcome.damage = from->damage;
            return outcome_fail(&worker->outcome, "read", (int)got);
        }
        if (got == 0) {
            *changed = true;
            memset(to, 0, want);
            got = (ssize_t)want;
        }
        turn_advance(packer->turn, (size_t)got);
        count(&worker->counters.moved, (uint64_t)got);
        at += (uint64_t)got;
    }
    return 0;
}

/* Whether content is left to the emitter, which lets the kernel move it. */
static bool is_to_be_moved(
    const struct packer *packer, const struct source_file *from, uint64_t content)
{
    return from->fd >= 0 && content >= MOVE_FROM_BYTES && packer->packing->sink->ops->move &&
           !packer->has_holes;
}

/* The content, then what follows it. Once something of an entry is in the stream, the rest must
 * follow: a read that fails then is told of, and zeros stand in. */
static int put_content(struct packer *packer, struct source_file *from, const struct entry *entry,
    const struct stream_record *record, uint64_t content)
{
    const struct stream_sink *sink = packer->packing->sink;
    const struct range whole = {0, content};
    bool all = !record->ranges || content == record->entry->size;
    const struct range *ranges = all ? &whole : record->ranges;
    size_t n = all ? 1 : record->n_ranges;
    bool changed = false;

    for (size_t i = 0; i < n; i++) {
        int r = put_range(packer, from, &ranges[i], &changed);
        if (r == -ECANCELED)
            return r;
        if (r < 0) {
            events_settle(packer->worker, &packer->place, r);
            changed = true;
            i--; /* the same again, as zeros */
            continue;
        }
    }
    if (changed || from->ops->has_changed(from, entry))
        events_changed(packer->worker, &packer->place);
    packer->head.n = 0;
    int r = sink->ops->pad(sink, content, &packer->head);
    return r < 0 ? r : turn_put(packer->turn, packer->head.data, packer->head.n);
}

/* Takes `from` over. */
static int put_file(struct packer *packer, struct entry *entry, struct source_file *from)
{
    const struct stream_sink_ops *sink = packer->packing->sink->ops;
    struct worker *worker = packer->worker;
    struct stream_record record;

    int r = find_ranges(packer, from, entry);
    if (r == 0)
        r = encode(packer, entry, NULL, &record);
    if (r < 0) {
        from->ops->close(from);
        return r;
    }
    uint64_t content = sink->content_bytes(packer->packing->sink, &record);
    if (is_to_be_moved(packer, from, content)) {
        r = put_head(packer, &record);
        if (r == 0)
            r = turn_put_file(packer->turn, from, entry, &packer->place);
        else
            from->ops->close(from);
    } else {
        r = put_head(packer, &record);
        if (r == 0)
            r = put_content(packer, from, entry, &record, content);
        from->ops->close(from);
    }
    packer->has_holes = false;
    if (r < 0)
        return r;
    count(&worker->counters.files, 1);
    count(&worker->counters.bytes, entry->size);
    return 0;
}

/* ---- hard links ---- */

/* Whether the entry's inode may come again. */
static bool is_linked(const struct run *run, const struct entry *entry)
{
    return (run->options->preserve & SHOAL_KEEP_LINKS) && entry->dev != 0 &&
           !S_ISDIR(entry->mode) &&
           (entry->nlink > 1 || run->options->follow == SHOAL_FOLLOW_ALWAYS);
}

/* Records an entry as another name of one that came before. 1: it was; 0: it is the first; or a
 * negative errno. Asked in the order of the stream, so that a link never comes before its target.
 */
static int put_link(struct packer *packer, struct entry *entry)
{
    struct worker *worker = packer->worker;
    struct links *links = worker->run->links;
    const struct place *place = &packer->place;
    struct link_first first;
    struct link *link;

    if (!turn_await(packer->turn))
        return -ECANCELED;
    switch (
        links_claim(links, entry, place->node, place->name, place->target_name, &link, &first)) {
    case LINKS_FIRST:
        (void)links_settle(links, link, true, place->node, place->target_name);
        return 0;
    case LINKS_READY:
        break;
    default:
        return outcome_fail(&worker->outcome, "copy", -ENOMEM);
    }
    char *path = node_target_path(first.node, first.name);
    int r = path ? put_entry(packer, entry, path) : outcome_fail(&worker->outcome, "copy", -ENOMEM);
    links_linked(links, link);
    free(path);
    if (r == 0)
        count(&worker->counters.hard_links, 1);
    return r < 0 ? r : 1;
}

/* ---- names ---- */

static bool is_output(const struct packing *packing, const struct entry *entry)
{
    return packing->out_ino != 0 && entry->ino == packing->out_ino &&
           entry->dev == packing->out_dev;
}

/* An entry of which no content was written. */
static void count_entry(struct counters *counters, const struct entry *entry)
{
    if (S_ISREG(entry->mode)) {
        count(&counters->files, 1);
        count(&counters->bytes, entry->size);
    } else {
        count(S_ISLNK(entry->mode) ? &counters->symlinks : &counters->specials, 1);
    }
}

/* Takes `from` over; NULL where no content is to be written. 0; 1: it takes no part; or a negative
 * errno. */
static int pack_entry(struct packer *packer, struct entry *entry, struct source_file *from)
{
    struct worker *worker = packer->worker;
    int r = 0;

    bool is_socket = S_ISSOCK(entry->mode) && !packer->packing->sink->takes_entries_only;
    if (is_socket || is_output(packer->packing, entry)) {
        events_note(worker, &packer->place,
            is_socket ? "socket skipped" : "is the archive itself: left out");
        count(&worker->counters.sockets, is_socket);
        r = 1;
    } else if (is_linked(worker->run, entry)) {
        r = put_link(packer, entry);
    }
    if (r != 0) {
        if (from)
            from->ops->close(from);
        return r;
    }
    if (from)
        return put_file(packer, entry, from);
    r = put_entry(packer, entry, NULL);
    if (r == 0)
        count_entry(&worker->counters, entry);
    return r;
}

/* Opens or looks at a name, and packs it. */
static int pack_name(struct packer *packer)
{
    struct worker *worker = packer->worker;
    struct node *node = packer->place.node;
    const struct tree_source_ops *source = node->root->source->ops;
    bool entry_only = packer->packing->sink->takes_entries_only;
    bool follow = node_follows(worker->run, node);
    struct source_file from;
    struct entry entry;
    int r = -ESTALE;

    worker_is_at(worker, ACTIVITY_SOURCE);
    if (!entry_only)
        r = source->open_file(node->source_dir, packer->place.name, follow, &worker->scratch,
            &entry, &from, &worker->outcome);
    if (r == 0)
        return pack_entry(packer, &entry, &from);
    if (r != -ESTALE)
        return r;
    r = source->look(
        node->source_dir, packer->place.name, follow, &worker->scratch, &entry, &worker->outcome);
    if (r < 0)
        return r;
    if ((S_ISREG(entry.mode) && !entry_only) ||
        S_ISDIR(entry.mode)) /* it was something else a moment ago */
        return outcome_fail(&worker->outcome, "open (it keeps changing its type)", -ESTALE);
    return pack_entry(packer, &entry, NULL);
}

/* The path of a name in the archive. 0 or -ENOMEM. */
static int set_path(struct packer *packer, const char *name)
{
    packer->path.n = packer->path_directory;
    return bytes_append(&packer->path, name, strlen(name) + 1);
}

/* The path of the directory that names are in. At the top, the name is the whole path. */
static int set_path_directory(struct packer *packer, const struct node *node)
{
    packer->path_directory = packer->path.n = 0;
    if (!node->parent)
        return 0;
    char *path = node_target_path(node, NULL);
    int r = path ? bytes_append(&packer->path, path, strlen(path)) : -ENOMEM;
    free(path);
    if (r == 0 && packer->path.n > 0 && packer->path.data[packer->path.n - 1] != '/')
        r = bytes_append(&packer->path, "/", 1);
    packer->path_directory = packer->path.n;
    return r;
}

static void pack_names(struct packer *packer, const struct walk_names *names)
{
    struct worker *worker = packer->worker;
    struct node *node = names->node;
    struct place directory = {node, NULL, NULL};
    int r = node_acquire(worker, node);

    if (r == 0)
        r = set_path_directory(packer, node);
    const char *name = names->bytes;
    for (size_t i = 0; i < names->n && r == 0; i++, name += strlen(name) + 1) {
        packer->place = (struct place){node, name, node->parent ? name : node->root->target_name};
        if (run_is_stopping(worker->run))
            break;
        r = set_path(packer, node->parent ? name : node->root->target);
        if (r == 0 && place_is_selected(worker, &packer->place, false))
            events_settle(worker, &packer->place, pack_name(packer));
    }
    events_settle(worker, &directory, r);
    node_release(worker, node);
    walk_done(worker, node);
    free(names->bytes);
}

/* ---- turns ---- */

static size_t turn_names(const struct packing *packing)
{
    uint64_t mean = packing->names > 0 ? packing->bytes / packing->names : 32768;
    uint64_t n = TURN_BUFFER_BYTES / (mean + 1024);

    return n < 1 ? 1 : n > TURN_NAMES_MAX ? TURN_NAMES_MAX : (size_t)n;
}

/* A directory's own entry is encoded where the walk is. */
static void pack_directory(struct packer *packer, const struct walk_directory *directory)
{
    struct worker *worker = packer->worker;
    struct entry entry = *directory->entry;
    struct place place = {directory->node, NULL, NULL};

    packer->place = place;
    int r = set_path_directory(packer, directory->node);
    if (r == 0 && packer->path.n > 1) /* less the slash, which is the encoder's to add */
        packer->path.n--;
    if (r == 0)
        r = bytes_append(&packer->path, "", 1);
    if (r == 0)
        r = put_entry(packer, &entry, NULL);
    if (r == 0)
        count(&worker->counters.directories, 1);
    events_settle(worker, &place, r);
}

static void free_packer(struct packer *packer)
{
    bytes_free(&packer->path);
    bytes_free(&packer->head);
    free(packer->ranges);
}

/* Takes the walk's next step as a turn. False: there is none. */
static bool take_turn(struct worker *worker, struct packing *packing)
{
    struct packer packer = {.worker = worker, .packing = packing};
    struct walk_directory directory;
    struct walk_names names;

    (void)pthread_mutex_lock(&packing->walking);
    enum walk_step step = walk_next(worker, packing->walk, turn_names(packing), &names, &directory);
    packer.turn = step == WALK_END ? NULL : turn_begin(packing->turns);
    if (packer.turn && step == WALK_DIRECTORY)
        pack_directory(&packer, &directory);
    (void)pthread_mutex_unlock(&packing->walking);
    uint64_t before = worker->counters.bytes;
    if (packer.turn && step == WALK_NAMES)
        pack_names(&packer, &names);
    free_packer(&packer);
    if (!packer.turn)
        return false;
    turn_end(packer.turn);
    (void)pthread_mutex_lock(&packing->walking);
    packing->names += step == WALK_NAMES ? names.n : 0;
    packing->bytes += worker->counters.bytes - before;
    (void)pthread_mutex_unlock(&packing->walking);
    return true;
}

/* ---- jobs ---- */

static void end_walk(struct worker *worker, struct packing *packing)
{
    walk_free(worker, packing->walk);
    turns_close(packing->turns);
}

static void run_filler(struct worker *worker, struct job *job)
{
    struct packing *packing = ((struct filler *)job)->packing;

    if (take_turn(worker, packing))
        pool_append(worker->run->pool, &job->link);
    else if (__atomic_sub_fetch(&packing->filling, 1, __ATOMIC_ACQ_REL) == 0)
        end_walk(worker, packing);
}

static void run_emitter(struct worker *worker, struct job *job)
{
    struct packing *packing = (struct packing *)((char *)job - offsetof(struct packing, emitter));
    turns_emit(worker, packing->turns);
}

static void begin_jobs(struct run *run, struct packing *packing)
{
    packing->emitter.run = run_emitter;
    packing->filling = ELEMENTS(packing->fillers);
    for (size_t i = 0; i < ELEMENTS(packing->fillers); i++) {
        struct filler *filler = &packing->fillers[i];
        *filler = (struct filler){.job = {.run = run_filler}, .packing = packing};
        pool_push(run->pool, &filler->job.link);
    }
    /* On top of the stack: it is never without a thread. */
    pool_push(run->pool, &packing->emitter.link);
    run->threads_apart = 1;
}

int packing_begin(
    struct run *run, struct stream_sink *sink, int out, struct root *roots, struct packing **ret)
{
    struct packing *packing = calloc(1, sizeof(*packing));
    struct stat st;
    int r = packing ? turns_new(run, sink, &packing->turns) : -ENOMEM;

    if (r == 0)
        r = walk_new(run, roots, &packing->walk);
    if (r < 0) {
        turns_free(packing ? packing->turns : NULL);
        free(packing);
        return r;
    }
    packing->run = run;
    packing->sink = sink;
    if (out >= 0 && fstat(out, &st) == 0 && S_ISREG(st.st_mode)) {
        packing->out_dev = st.st_dev;
        packing->out_ino = st.st_ino;
    }
    (void)pthread_mutex_init(&packing->walking, NULL); /* glibc's does not fail */
    begin_jobs(run, packing);
    *ret = packing;
    return 0;
}

int packing_end(struct packing *packing)
{
    int r = turns_error(packing->turns);

    turns_free(packing->turns);
    (void)pthread_mutex_destroy(&packing->walking);
    free(packing);
    return r;
}
