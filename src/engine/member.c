#include "engine/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char zeros[64 * 1024];

/* ---- content that is stored in a file ---- */

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where stored data for an offset lie, and how far they go on there; 0 where there is a hole, and
 * then how far that goes. */
static bool locate(
    const struct member *member, uint64_t offset, uint64_t *ret_at, uint64_t *ret_length)
{
    uint64_t before = 0;

    for (size_t i = 0; i < member->n_ranges; i++) {
        const struct range *range = &member->ranges[i];
        if (offset < range->start) {
            *ret_length = range->start - offset;
            return false;
        }
        if (offset < range->end) {
            *ret_at = before + (offset - range->start);
            *ret_length = range->end - offset;
            return true;
        }
        before += range->end - range->start;
    }
    *ret_at = before + offset;
    *ret_length = member->entry.size - offset;
    return !member->ranges;
}

static ssize_t stored_read(struct source_file *file, void *buffer, size_t n, uint64_t offset)
{
    const struct member *member = file->own;
    uint64_t at = 0, length;
    ssize_t got;

    if (offset >= member->entry.size)
        return 0;
    bool is_data = locate(member, offset, &at, &length);
    n = min(n, length);
    if (!is_data) {
        memset(buffer, 0, n);
        return (ssize_t)n;
    }
    do
        got = pread(member->stored_fd, buffer, n, (off_t)(file->base + at));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return -EIO; /* the archive was cut meanwhile */
    return got < 0 ? -errno : got;
}

/* ---- content that comes in pieces ---- */

static void drop_piece(struct member *member)
{
    struct member_piece *piece = member->pieces;

    member->pieces = piece->next;
    if (!member->pieces)
        member->last_piece = NULL;
    buffer_unref(piece->buffer);
    free(piece);
}

/* With the lock held: the piece that an offset lies in or before; NULL at the end. */
static struct member_piece *await_piece(struct member *member, uint64_t offset)
{
    for (;;) {
        while (member->pieces && member->pieces->offset + member->pieces->n <= offset)
            drop_piece(member);
        if (member->pieces || member->complete)
            return member->pieces;
        (void)pthread_cond_wait(member->supplied, member->lock);
    }
}

static ssize_t pieces_peek(struct source_file *file, const void **ret, size_t n, uint64_t offset)
{
    struct member *member = file->own;
    ssize_t got = 0;

    (void)pthread_mutex_lock(member->lock);
    const struct member_piece *piece = await_piece(member, offset);
    if (piece && offset < piece->offset) { /* a hole that nobody had told of */
        *ret = zeros;
        got = (ssize_t)min(min(n, sizeof(zeros)), piece->offset - offset);
    } else if (piece) {
        *ret = piece->bytes + (offset - piece->offset);
        got = (ssize_t)min(n, piece->n - (offset - piece->offset));
    } else if (member->error < 0) {
        got = member->error;
    } else if (offset < member->entry.size) { /* and at the end */
        *ret = zeros;
        got = (ssize_t)min(min(n, sizeof(zeros)), member->entry.size - offset);
    }
    (void)pthread_mutex_unlock(member->lock);
    return got;
}

static ssize_t pieces_read(struct source_file *file, void *buffer, size_t n, uint64_t offset)
{
    const void *bytes;
    ssize_t got = pieces_peek(file, &bytes, n, offset);

    if (got > 0)
        memcpy(buffer, bytes, (size_t)got);
    return got;
}

/* ---- both ---- */

static int next_data(
    struct source_file *file, uint64_t from, uint64_t *ret_start, uint64_t *ret_end)
{
    const struct member *member = file->own;

    if (!member->ranges) {
        *ret_start = from;
        *ret_end = member->entry.size;
        return from < member->entry.size;
    }
    for (size_t i = 0; i < member->n_ranges; i++) {
        const struct range *range = &member->ranges[i];
        if (range->end <= from)
            continue;
        *ret_start = range->start > from ? range->start : from;
        *ret_end = range->end;
        return 1;
    }
    return 0;
}

static bool has_changed(struct source_file *file, const struct entry *entry)
{
    (void)file;
    (void)entry;
    return false;
}

static void close_nothing(struct source_file *file)
{
    (void)file; /* the descriptor is the stream's */
}

static const struct source_file_ops stored_ops = {
    .read = stored_read,
    .next_data = next_data,
    .has_changed = has_changed,
    .close = close_nothing,
};

static const struct source_file_ops pieces_ops = {
    .read = pieces_read,
    .peek = pieces_peek,
    .next_data = next_data,
    .has_changed = has_changed,
    .close = close_nothing,
};

/* ---- members ---- */

static int copy_extras(struct member *member, const struct stream_entry *from)
{
    struct entry *entry = &member->entry;

    if (from->entry.link_target && !(entry->link_target = strdup(from->entry.link_target)))
        return -ENOMEM;
    if (from->entry.xattrs) {
        if (!(entry->xattrs = xattr_set_copy(from->entry.xattrs)))
            return -ENOMEM;
        member->footprint += entry->xattrs->bytes_room;
    }
    if (from->ranges) {
        size_t bytes = from->n_ranges * sizeof(*from->ranges);
        if (!(member->ranges = malloc(bytes + 1)))
            return -ENOMEM;
        memcpy(member->ranges, from->ranges, bytes);
        member->n_ranges = from->n_ranges;
        member->footprint += bytes;
    }
    return 0;
}

struct member *member_new(const struct stream_entry *from, struct node *node, const char *name,
    pthread_mutex_t *lock, pthread_cond_t *supplied)
{
    size_t size = strlen(name) + 1;
    struct member *member = calloc(1, sizeof(*member) + size);

    if (!member)
        return NULL;
    member->name = memcpy(member + 1, name, size);
    member->footprint = sizeof(*member) + size;
    member->refs = 1;
    member->lock = lock;
    member->supplied = supplied;
    member->entry = from->entry;
    member->entry.link_target = NULL;
    member->entry.xattrs = NULL;
    member->stored_fd = from->stored_fd;
    bool stored = from->stored_fd >= 0;
    /* The kernel can move what lies there in one piece. */
    member->content = (struct source_file){
        .ops = stored ? &stored_ops : &pieces_ops,
        .fd = stored && !from->ranges ? from->stored_fd : -1,
        .base = from->stored_at,
        .own = member,
    };
    member->complete = stored;
    if (copy_extras(member, from) < 0) {
        member_unref(member);
        return NULL;
    }
    node_ref(node);
    member->node = node;
    member->key = member_key(node, name);
    return member;
}

uint64_t member_key(const struct node *node, const char *name)
{
    uint64_t key = (uintptr_t)node;

    for (; *name; name++)
        key = (key ^ (unsigned char)*name) * 0x100000001b3U; /* FNV-1a */
    return key;
}

void member_ref(struct member *member)
{
    __atomic_add_fetch(&member->refs, 1, __ATOMIC_RELAXED);
}

void member_unref(struct member *member)
{
    if (!member || __atomic_sub_fetch(&member->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    while (member->pieces)
        drop_piece(member);
    if (member->entry.xattrs) {
        xattr_set_free((struct xattr_set *)member->entry.xattrs);
        free((struct xattr_set *)member->entry.xattrs);
    }
    free((char *)member->entry.link_target);
    free((char *)member->first_name);
    free(member->ranges);
    node_unref(member->node);
    node_unref(member->first_node);
    free(member);
}

bool member_supply(struct member *member, const struct stream_piece *from)
{
    struct member_piece *piece = malloc(sizeof(*piece));

    if (!piece) {
        member_complete(member, -ENOMEM);
        return false;
    }
    *piece = (struct member_piece){from->bytes, from->n, from->offset, from->buffer, NULL};
    (void)pthread_mutex_lock(member->lock);
    bool wanted = !member->given_up;
    if (wanted) {
        buffer_ref(piece->buffer);
        *(member->last_piece ? &member->last_piece->next : &member->pieces) = piece;
        member->last_piece = piece;
        (void)pthread_cond_broadcast(member->supplied);
    }
    (void)pthread_mutex_unlock(member->lock);
    if (!wanted)
        free(piece);
    return wanted;
}

void member_complete(struct member *member, int error)
{
    (void)pthread_mutex_lock(member->lock);
    member->complete = true;
    member->error = error;
    (void)pthread_cond_broadcast(member->supplied);
    (void)pthread_mutex_unlock(member->lock);
}

void member_give_up(struct member *member)
{
    (void)pthread_mutex_lock(member->lock);
    member->given_up = true;
    while (member->pieces)
        drop_piece(member);
    (void)pthread_mutex_unlock(member->lock);
}

bool member_is_whole(const struct member *member)
{
    return member->complete || member->first_node || !S_ISREG(member->entry.mode);
}
