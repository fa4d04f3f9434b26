#include "engine/stream_to_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ordered_set.h"
#include "engine/entries.h"
#include "engine/events.h"
#include "engine/member.h"
#include "engine/node.h"
#include "engine/root.h"
#include "engine/run.h"
#include "engine/stream_entries.h"
#include "engine/unpack_dirs.h"
#include "source/stream_source.h"

/* The reader goes ahead of the workers by so many members, of so much memory. */
#define AHEAD_MEMBERS 512
#define AHEAD_BYTES   (16 * 1024 * 1024)

/* Members smaller than this are handed over whole. */
#define WHOLE_BYTES (64 * 1024)

/* So many members go as one job: measured, see docs/performance.md. */
#define GATHERED_MAX 16
/* And no more content, since it lies in buffers that the reader may need. */
#define GATHERED_BYTES (256 * 1024)

/* What the reader waits for. */
enum await {
    AWAITS_NOTHING,
    AWAITS_TWIN,
    AWAITS_ROOM, /* half of what it may be ahead by: not to be woken for each */
    AWAITS_ALL,
};

struct unpacking {
    struct root *root;
    struct stream_entries entries;
    struct unpack_dirs *dirs;
    struct bytes link_path; /* a hard link's target, made safe */

    struct node *start; /* the directory that TO is named in */
    struct node **at;   /* the directories down to where the reader is, each held */
    size_t depth, room;

    struct member *gathered, *last_gathered; /* handed over soon, as one job */
    unsigned n_gathered;
    uint64_t bytes_gathered;
    struct buffers *buffers;
    struct buffer *carry; /* where pieces go that cannot be kept where they are */

    pthread_mutex_t lock;
    pthread_cond_t supplied; /* content has come */
    pthread_cond_t settled;  /* what the reader waits for may have come */
    enum await awaits;
    struct node *twin_node; /* what is waited for */
    const char *twin_name;
    void *in_flight; /* a tree of struct member, for ordered_set_…() */
    size_t n_in_flight, bytes_in_flight;
};

/* ---- members in flight ---- */

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->node != right->node)
        return (uintptr_t)left->node < (uintptr_t)right->node ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* With the lock held. */
static struct member *find_in_flight(
    const struct unpacking *unpacking, struct node *node, const char *name)
{
    const struct member key = {.node = node, .name = name, .key = member_key(node, name)};
    return ordered_set_find(&unpacking->in_flight, &key, compare_members);
}

/* With the lock held: whether what the reader waits for has come. */
static bool has_come(const struct unpacking *unpacking)
{
    switch (unpacking->awaits) {
    case AWAITS_TWIN:
        return !find_in_flight(unpacking, unpacking->twin_node, unpacking->twin_name);
    case AWAITS_ROOM:
        return unpacking->n_in_flight <= AHEAD_MEMBERS / 2 &&
               (unpacking->n_in_flight == 0 || unpacking->bytes_in_flight <= AHEAD_BYTES / 2);
    case AWAITS_ALL:
        return unpacking->n_in_flight == 0;
    case AWAITS_NOTHING:
        break;
    }
    return true;
}

/* Hands what was gathered to a worker. */
static void flush(struct worker *worker, struct unpacking *unpacking)
{
    struct member *first = unpacking->gathered;

    unpacking->gathered = unpacking->last_gathered = NULL;
    unpacking->n_gathered = 0;
    unpacking->bytes_gathered = 0;
    if (first)
        pool_append(worker->run->pool, &first->job.link);
}

/* Waits until something is so; workers tell when it may be. */
static void await(struct worker *worker, struct unpacking *unpacking, enum await what,
    struct node *node, const char *name)
{
    flush(worker, unpacking);
    (void)pthread_mutex_lock(&unpacking->lock);
    unpacking->awaits = what;
    unpacking->twin_node = node;
    unpacking->twin_name = name;
    while (!has_come(unpacking))
        (void)pthread_cond_wait(&unpacking->settled, &unpacking->lock);
    unpacking->awaits = AWAITS_NOTHING;
    (void)pthread_mutex_unlock(&unpacking->lock);
}

/* Waits until nothing of this name is on its way. Returns whether there is no room for more. */
static bool await_twin(
    struct worker *worker, struct unpacking *unpacking, struct node *node, const char *name)
{
    (void)pthread_mutex_lock(&unpacking->lock);
    const struct member *twin = find_in_flight(unpacking, node, name);
    bool full =
        unpacking->n_in_flight >= AHEAD_MEMBERS || unpacking->bytes_in_flight >= AHEAD_BYTES;
    (void)pthread_mutex_unlock(&unpacking->lock);
    if (twin)
        await(worker, unpacking, AWAITS_TWIN, node, name);
    return full;
}

/* Registers a member. A link to one that is on its way follows that one: true. */
static int add_in_flight(
    struct worker *worker, struct unpacking *unpacking, struct member *member, bool *ret_follows)
{
    struct member *first = NULL;

    (void)pthread_mutex_lock(&unpacking->lock);
    if (member->first_node)
        first = find_in_flight(unpacking, member->first_node, member->first_name);
    bool added = ordered_set_add(&unpacking->in_flight, member, compare_members);
    if (added) {
        unpacking->n_in_flight++;
        unpacking->bytes_in_flight += member->footprint;
    }
    if (added && first) {
        member->next = first->followers;
        first->followers = member;
    }
    (void)pthread_mutex_unlock(&unpacking->lock);
    *ret_follows = first;
    return added ? 0 : outcome_fail(&worker->outcome, "unpack", -ENOMEM);
}

/* Lets go of a member that is not handed over. */
static void drop_member(struct worker *worker, struct unpacking *unpacking, struct member *member)
{
    unpack_dirs_leave(worker, unpacking->dirs, member->node);
    if (member->first_node)
        unpack_dirs_leave(worker, unpacking->dirs, member->first_node);
    member_unref(member);
}

/* Hands a member to the workers, as soon as its elder of the same name is done and there is room.
 * Where all workers are busy, several go as one job. Takes the reference. */
static int hand_over(struct worker *worker, struct unpacking *unpacking, struct member *member)
{
    bool follows;

    if (await_twin(worker, unpacking, member->node, member->name))
        await(worker, unpacking, AWAITS_ROOM, NULL, NULL);
    int r = add_in_flight(worker, unpacking, member, &follows);
    if (r < 0)
        drop_member(worker, unpacking, member);
    if (r < 0 || follows)
        return r;
    if (unpacking->last_gathered)
        unpacking->last_gathered->next = member;
    else
        unpacking->gathered = member;
    unpacking->last_gathered = member;
    unpacking->n_gathered++;
    unpacking->bytes_gathered += member->stored_fd < 0 ? member->entry.size : 0;
    if (unpacking->n_gathered >= GATHERED_MAX || unpacking->bytes_gathered >= GATHERED_BYTES ||
        !member_is_whole(member) || pool_hungry(worker->run->pool) > 0)
        flush(worker, unpacking);
    return 0;
}

/* Takes a finished member out; returns those that waited for it. */
static struct member *settle(struct unpacking *unpacking, struct member *member)
{
    (void)pthread_mutex_lock(&unpacking->lock);
    ordered_set_remove(&unpacking->in_flight, member, compare_members);
    unpacking->n_in_flight--;
    unpacking->bytes_in_flight -= member->footprint;
    struct member *followers = member->followers;
    if (unpacking->awaits != AWAITS_NOTHING && has_come(unpacking))
        (void)pthread_cond_signal(&unpacking->settled);
    (void)pthread_mutex_unlock(&unpacking->lock);
    return followers;
}

/* ---- what workers do ---- */

static int link_member(struct worker *worker, const struct member *member)
{
    int r = node_acquire(worker, member->first_node);

    if (r < 0)
        return r;
    worker_is_at(worker, ACTIVITY_DESTINATION);
    r = worker->run->sink->ops->make_link(member->node->sink_dir, member->name, &member->entry,
        member->first_node->sink_dir, member->first_name, &worker->outcome);
    node_release(worker, member->first_node);
    if (r == 0)
        count(&worker->counters.hard_links, 1);
    else if (r > 0)
        count(&worker->counters.kept, 1);
    return r;
}

/* Makes a member in its directory, which is acquired. */
static void make_member(struct worker *worker, struct member *member, int r)
{
    struct place place = {member->node, member->name, member->name};
    struct link_waiter *none;

    if (r == 0 && run_is_stopping(worker->run))
        r = -ECANCELED;
    if (r == 0)
        r = member->first_node
                ? link_member(worker, member)
                : entries_copy(worker, &place, &member->entry, &member->content, &none);
    if (r == 0)
        events_copied(worker, &place);
    events_settle(worker, &place, r);
    member_give_up(member);
}

/* Lets go of a member that is made. Returns those to be made next: what waited for it, before what
 * waited with it. */
static struct member *end_member(struct worker *worker, struct member *member)
{
    struct unpacking *unpacking = member->owner;
    struct member *rest = member->next;

    unpack_dirs_leave(worker, unpacking->dirs, member->node);
    if (member->first_node)
        unpack_dirs_leave(worker, unpacking->dirs, member->first_node);
    /* The last thing that is done with what is shared: the reader waits for it. */
    struct member *followers = settle(unpacking, member);
    struct member **last = &followers;
    while (*last)
        last = &(*last)->next;
    *last = rest;
    member_unref(member);
    return followers;
}

static void run_member(struct worker *worker, struct job *job)
{
    struct member *member = (struct member *)job;
    struct node *open = NULL; /* acquired */

    while (member) {
        struct node *node = member->node;
        int r = 0;
        if (open != node) {
            if (open)
                node_release(worker, open);
            r = node_acquire(worker, node);
            open = r == 0 ? node : NULL;
        }
        make_member(worker, member, r);
        /* One that waits beside this one holds the directory; else it may be finished now. */
        bool keep = member->next && member->next->node == node;
        if (open && !keep) {
            node_release(worker, open);
            open = NULL;
        }
        member = end_member(worker, member);
    }
}

/* ---- the way down ---- */

static int push(struct worker *worker, struct unpacking *unpacking, struct node *node)
{
    if (unpacking->depth == unpacking->room) {
        size_t room = unpacking->room ? unpacking->room * 2 : 64;
        struct node **at = reallocarray(unpacking->at, room, sizeof(struct node *));
        if (!at)
            return outcome_fail(&worker->outcome, "enter directory", -ENOMEM);
        unpacking->at = at;
        unpacking->room = room;
    }
    unpacking->at[unpacking->depth++] = node;
    return 0;
}

/* Leaves all directories below a depth, the deepest first. */
static void leave_below(struct worker *worker, struct unpacking *unpacking, size_t depth)
{
    while (unpacking->depth > depth)
        unpack_dirs_leave(worker, unpacking->dirs, unpacking->at[--unpacking->depth]);
}

static int enter(struct worker *worker, struct unpacking *unpacking, struct node *parent,
    const char *name, const struct entry *entry, struct node **ret)
{
    (void)await_twin(worker, unpacking, parent, name); /* a directory takes no room */
    return unpack_dirs_enter(worker, unpacking->dirs, parent, name, entry, ret);
}

/* Enters the top, which is TO itself. */
static int enter_top(struct worker *worker, struct unpacking *unpacking, const struct entry *entry)
{
    struct node *node;
    int r = enter(worker, unpacking, unpacking->start, unpacking->root->target_name, entry, &node);

    if (r == 0 && push(worker, unpacking, node) < 0) {
        unpack_dirs_leave(worker, unpacking->dirs, node);
        r = -ENOMEM;
    }
    return r;
}

/* How many of the directories where the reader is lie on the way to a path's last component. */
static size_t common_depth(const struct unpacking *unpacking, const char *path)
{
    size_t depth = unpacking->depth > 0 ? 1 : 0;

    for (; depth > 0 && depth < unpacking->depth; depth++) {
        size_t length = strcspn(path, "/");
        const char *name = unpacking->at[depth]->name;
        if (path[length] != '/' || strncmp(name, path, length) != 0 || name[length])
            break;
        path += length + 1;
    }
    return depth;
}

/* Goes to the directory that the last component of a safe path lies in, and returns that component.
 * NULL where that fails. The path is cut at its slashes and put together again. */
static const char *go_to_parent(struct worker *worker, struct unpacking *unpacking, char *path)
{
    leave_below(worker, unpacking, common_depth(unpacking, path));
    if (unpacking->depth == 0 && enter_top(worker, unpacking, NULL) < 0)
        return NULL;
    for (size_t i = 1; i < unpacking->depth; i++)
        path = strchr(path, '/') + 1;
    for (char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        struct node *node;
        *slash = '\0';
        int r = enter(worker, unpacking, unpacking->at[unpacking->depth - 1], path, NULL, &node);
        *slash = '/';
        if (r < 0)
            return NULL;
        if (push(worker, unpacking, node) < 0) {
            unpack_dirs_leave(worker, unpacking->dirs, node);
            return NULL;
        }
    }
    return path;
}

/* Holds the directory that a hard link's target lies in. */
static int find_first(struct worker *worker, struct unpacking *unpacking, char *path,
    struct node **ret_node, const char **ret_name)
{
    struct node *node = unpacking->start, *next;
    const char *name = unpacking->root->target_name;
    char *slash = NULL;
    int r;

    __atomic_add_fetch(&node->pending, 1, __ATOMIC_RELAXED);
    do {
        r = unpack_dirs_find(worker, unpacking->dirs, node, name, &next);
        if (slash)
            *slash = '/';
        unpack_dirs_leave(worker, unpacking->dirs, node);
        if (r < 0)
            return r;
        node = next;
        name = path;
        slash = strchr(path, '/');
        if (slash) {
            *slash = '\0';
            path = slash + 1;
        }
    } while (slash);
    *ret_node = node;
    *ret_name = name;
    return 0;
}

/* ---- content ---- */

/* Puts a piece that cannot be kept where it is into a buffer of ours, as far as there is room:
 * small members share one. */
static int keep_piece(struct unpacking *unpacking, struct stream_piece *piece)
{
    size_t size = buffers_size(unpacking->buffers);

    if (unpacking->carry && unpacking->carry->used == size) {
        buffer_unref(unpacking->carry);
        unpacking->carry = NULL;
    }
    if (!unpacking->carry && !(unpacking->carry = buffers_get(unpacking->buffers)))
        return -ENOMEM;
    struct buffer *carry = unpacking->carry;
    if (piece->n > size - carry->used)
        piece->n = size - carry->used;
    piece->bytes = memcpy(carry->bytes + carry->used, piece->bytes, piece->n);
    piece->buffer = carry;
    carry->used += piece->n;
    return 0;
}

/* Supplies one piece, whatever memory it lies in. False: no more is wanted. */
static bool supply_piece(
    struct unpacking *unpacking, struct member *member, const struct stream_piece *whole)
{
    struct stream_piece rest = *whole, part;

    if (rest.buffer)
        return member_supply(member, &rest);
    for (; rest.n > 0;
         rest.bytes = (const char *)rest.bytes + part.n, rest.n -= part.n, rest.offset += part.n) {
        part = rest;
        if (keep_piece(unpacking, &part) < 0) {
            member_complete(member, -ENOMEM);
            return false;
        }
        if (!member_supply(member, &part))
            return false;
    }
    return true;
}

/* Reads a member's content and hands it over, the small when they are whole. Takes the reference.
 * Returns 0, or what is wrong with the stream. */
static int supply(struct worker *worker, struct unpacking *unpacking, struct member *member)
{
    struct stream_source *source = unpacking->root->stream;
    struct stream_piece piece;
    uint64_t supplied = 0;
    bool handed_over = false, wanted = true;
    int r = 0, read = 0;

    while (r == 0 && wanted && !run_is_stopping(worker->run)) {
        worker_is_at(worker, ACTIVITY_SOURCE);
        read = source->ops->read(source, &piece, &worker->outcome);
        if (read <= 0)
            break;
        wanted = supply_piece(unpacking, member, &piece);
        supplied += piece.n;
        if (!handed_over && supplied >= WHOLE_BYTES) {
            member_ref(member);
            r = hand_over(worker, unpacking, member);
            handed_over = true;
        }
    }
    member_complete(member, read > 0 ? -ECANCELED : read);
    if (handed_over)
        member_unref(member);
    else
        r = hand_over(worker, unpacking, member);
    /* A worker tells of content that ended early. */
    outcome_clear(&worker->outcome);
    return r;
}

/* ---- entries ---- */

static int take_directory(
    struct worker *worker, struct unpacking *unpacking, const struct entry *entry)
{
    struct node *node;

    if (!*unpacking->entries.path.data) {
        leave_below(worker, unpacking, 0);
        return enter_top(worker, unpacking, entry);
    }
    const char *name = go_to_parent(worker, unpacking, unpacking->entries.path.data);
    if (!name)
        return worker->outcome.error;
    int r = enter(worker, unpacking, unpacking->at[unpacking->depth - 1], name, entry, &node);
    if (r == 0 && (r = push(worker, unpacking, node)) < 0)
        unpack_dirs_leave(worker, unpacking->dirs, node);
    return r;
}

/* The directory that a member is made in, and its name there. */
static struct node *find_place(
    struct worker *worker, struct unpacking *unpacking, const char **ret_name)
{
    if (*unpacking->entries.path.data) {
        *ret_name = go_to_parent(worker, unpacking, unpacking->entries.path.data);
        return *ret_name ? unpacking->at[unpacking->depth - 1] : NULL;
    }
    /* The part that was asked for is no directory: then it is TO itself. */
    leave_below(worker, unpacking, 0);
    *ret_name = unpacking->root->target_name;
    return unpacking->start;
}

/* What a hard link is to be another name of. */
static int aim_link(
    struct worker *worker, struct unpacking *unpacking, const char *target, struct member *member)
{
    const char *name;
    int r = stream_entries_resolve(worker, &unpacking->entries, target, &unpacking->link_path);

    if (r > 0 || (r == 0 && !*unpacking->link_path.data))
        r = outcome_fail(&worker->outcome, "find what it is linked to, for", -ENOENT);
    if (r < 0)
        return r;
    r = find_first(worker, unpacking, unpacking->link_path.data, &member->first_node, &name);
    if (r < 0)
        return r;
    node_ref(member->first_node);
    member->first_name = strdup(name);
    if (member->first_name)
        return 0;
    unpack_dirs_leave(worker, unpacking->dirs, member->first_node);
    return outcome_fail(&worker->outcome, "unpack", -ENOMEM);
}

static int take_member(
    struct worker *worker, struct unpacking *unpacking, const struct stream_entry *entry)
{
    const char *name;
    struct node *node = find_place(worker, unpacking, &name);
    if (!node)
        return worker->outcome.error;
    struct member *member = member_new(entry, node, name, &unpacking->lock, &unpacking->supplied);
    if (!member)
        return outcome_fail(&worker->outcome, "unpack", -ENOMEM);
    member->owner = unpacking;
    member->job.run = run_member;
    int r = entry->hard_link ? aim_link(worker, unpacking, entry->hard_link, member) : 0;
    if (r < 0) {
        member_unref(member);
        return r;
    }
    __atomic_add_fetch(&node->pending, 1, __ATOMIC_RELAXED);
    if (entry->hard_link || !S_ISREG(entry->entry.mode) || member->complete)
        return hand_over(worker, unpacking, member);
    return supply(worker, unpacking, member);
}

static int take_entry(
    struct worker *worker, struct unpacking *unpacking, const struct stream_entry *entry)
{
    mode_t mode = entry->entry.mode;

    if (entry->hard_link)
        return take_member(worker, unpacking, entry);
    if ((S_ISCHR(mode) || S_ISBLK(mode)) && !worker->run->options->archive.devices)
        return outcome_fail(&worker->outcome, "make the device", -EPERM);
    if (S_ISSOCK(mode)) {
        count(&worker->counters.sockets, 1);
        events_note_path(worker->run, "socket skipped", entry->path);
        return 0;
    }
    return S_ISDIR(mode) ? take_directory(worker, unpacking, &entry->entry)
                         : take_member(worker, unpacking, entry);
}

/* Takes entries until the stream ends, or the run. */
static void read_stream(struct worker *worker, struct unpacking *unpacking)
{
    struct stream_entry entry;

    while (stream_entries_next(worker, &unpacking->entries, &entry)) {
        int r = take_entry(worker, unpacking, &entry);
        if (r < 0)
            stream_entries_refuse(worker, &unpacking->entries, entry.path, r);
    }
}

/* ---- roots ---- */

static int begin(struct worker *worker, struct unpacking *unpacking, struct root *root)
{
    *unpacking = (struct unpacking){
        .root = root,
        .buffers = root->buffers,
    };
    stream_entries_begin(worker, root, &unpacking->entries);
    (void)pthread_mutex_init(&unpacking->lock, NULL); /* glibc's do not fail */
    (void)pthread_cond_init(&unpacking->supplied, NULL);
    (void)pthread_cond_init(&unpacking->settled, NULL);
    unpacking->dirs = unpack_dirs_new();
    unpacking->start = node_new(NULL, root, "");
    if (!unpacking->dirs || !unpacking->start)
        return outcome_fail(&worker->outcome, "unpack", -ENOMEM);
    unpacking->start->sink_dir = worker->run->sink->start;
    return 0;
}

static void end(struct worker *worker, struct unpacking *unpacking)
{
    leave_below(worker, unpacking, 0);
    await(worker, unpacking, AWAITS_ALL, NULL, NULL);
    buffer_unref(unpacking->carry);
    if (unpacking->root->next_same)
        pool_push(worker->run->pool, &unpacking->root->next_same->job.link);
    if (unpacking->start)
        unpack_dirs_leave(worker, unpacking->dirs, unpacking->start);
    else
        root_free(unpacking->root);
    unpack_dirs_free(unpacking->dirs);
    stream_entries_end(&unpacking->entries);
    bytes_free(&unpacking->link_path);
    free(unpacking->at);
    (void)pthread_mutex_destroy(&unpacking->lock);
    (void)pthread_cond_destroy(&unpacking->supplied);
    (void)pthread_cond_destroy(&unpacking->settled);
}

void stream_to_tree_run_root(struct worker *worker, struct job *job)
{
    struct root *root = (struct root *)job;
    struct unpacking unpacking;
    int r = begin(worker, &unpacking, root);

    if (r == 0)
        read_stream(worker, &unpacking);
    else
        stream_entries_refuse(worker, &unpacking.entries, NULL, r);
    end(worker, &unpacking);
}
