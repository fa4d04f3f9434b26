#include "sink/compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "entry/xattrs.h"

/* Content is read in pieces that fit on a worker's stack and in a core's cache. */
#define PIECE_BYTES (64 * 1024)

struct sink_dir {
    struct compare_sink *sink;
    int fd;
    uint64_t dev, ino;
};

/* The first size of an inode_map. */
#define SLOTS_FIRST 256

struct met_pair {
    uint64_t target_dev, target_ino; /* ino 0: the slot is empty */
    uint64_t source_dev, source_ino;
};

/* Which inode of the source each inode here was met as. Open addressing; the slots are a power of
 * two, and at most half of them are taken. */
struct inode_map {
    pthread_mutex_t lock;
    struct met_pair *slots;
    size_t n_slots, n;
};

struct compare_sink {
    struct tree_sink tree;
    struct sink_options options;
    struct sink_dir start;
    struct inode_map met; /* those with several names */
    bool no_noatime;      /* O_NOATIME was refused: we own neither the files nor CAP_FOWNER */
};

/* The file that stands there. Several workers may compare pieces of one: the last two are atomic.
 */
struct compared_file {
    int fd;
    struct stat st;
    uint64_t end; /* as far as the source had content */
    int error;    /* the first failure to read it, negative errno */
};

/* ---- opening ---- */

static int open_quietly(struct compare_sink *sink, int dir_fd, const char *name, int flags)
{
    return open_quietly_at(dir_fd, name, flags | O_RDONLY | O_NOFOLLOW, &sink->no_noatime);
}

/* Looks at the name where an entry should be. 0; SINK_KEPT_OTHER if nothing or another type stands
 * there, which is noted; or a negative errno. */
static int look_for(const struct sink_dir *dir, const char *name, const struct entry *entry,
    struct stat *ret, struct outcome *outcome)
{
    if (fstatat(dir->fd, name, ret, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            return outcome_fail_target(outcome, "examine", -errno);
        outcome_note(outcome, ASPECT_MISSING, 0);
        return SINK_KEPT_OTHER;
    }
    if ((ret->st_mode & S_IFMT) == (entry->mode & S_IFMT))
        return 0;
    outcome_note(outcome, ASPECT_TYPE, 0);
    return SINK_KEPT_OTHER;
}

/* ---- hard links ---- */

/* The slot that the target's inode has, or would have. */
static struct met_pair *find(struct met_pair *slots, size_t n_slots, uint64_t dev, uint64_t ino)
{
    uint64_t hash = (ino ^ (dev << 32)) * 0x9e3779b97f4a7c15U; /* Fibonacci hashing */
    size_t at = (hash >> 32) & (n_slots - 1);

    while (slots[at].target_ino && (slots[at].target_ino != ino || slots[at].target_dev != dev))
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static int make_room(struct inode_map *map)
{
    size_t n_slots = map->n_slots ? map->n_slots * 2 : SLOTS_FIRST;

    if (map->n < map->n_slots / 2)
        return 0;
    struct met_pair *slots = calloc(n_slots, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (const struct met_pair *pair = map->slots; pair < map->slots + map->n_slots; pair++)
        if (pair->target_ino)
            *find(slots, n_slots, pair->target_dev, pair->target_ino) = *pair;
    free(map->slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return 0;
}

/* With the lock held: 1 if the inode here was not met before, or as this very inode of the source;
 * 0 if as another one; or -ENOMEM. */
static int claim(struct inode_map *map, const struct stat *target, const struct entry *source)
{
    int r = make_room(map);
    if (r < 0)
        return r;
    struct met_pair *pair = find(map->slots, map->n_slots, target->st_dev, target->st_ino);
    if (pair->target_ino)
        return pair->source_dev == source->dev && pair->source_ino == source->ino;
    *pair = (struct met_pair){target->st_dev, target->st_ino, source->dev, source->ino};
    map->n++;
    return 1;
}

/* Notes where a file bears a name of its own at the source, but shares its inode with another one
 * here: who changes the one would change both. */
static int compare_links(struct compare_sink *sink, const struct stat *st,
    const struct entry *entry, struct outcome *outcome)
{
    if (!(sink->options.preserve & SHOAL_KEEP_LINKS) || st->st_nlink < 2 || entry->dev == 0)
        return 0;
    (void)pthread_mutex_lock(&sink->met.lock);
    int r = claim(&sink->met, st, entry);
    (void)pthread_mutex_unlock(&sink->met.lock);
    if (r < 0)
        return outcome_fail_target(outcome, "compare", r);
    if (r == 0)
        outcome_note(outcome, ASPECT_HARD_LINK, 0);
    return 0;
}

/* ---- metadata ---- */

static bool same_value(
    const struct xattr_set *a, size_t at_a, const struct xattr_set *b, size_t at_b)
{
    size_t length_a, length_b;
    const void *value_a = xattr_set_value(a, at_a, &length_a);
    const void *value_b = xattr_set_value(b, at_b, &length_b);
    return length_a == length_b && memcmp(value_a, value_b, length_a) == 0;
}

/* Notes each attribute of `set` that `other` (may be NULL) has not, or has with another value. */
static void note_differing_xattrs(const struct xattr_set *set, const struct xattr_set *other,
    unsigned preserve, struct outcome *outcome)
{
    for (size_t i = 0; set && i < set->n; i++) {
        const char *name = xattr_set_name(set, i);
        enum aspect aspect = xattr_aspect(name);
        long found = xattr_set_find(other, name);

        if (!(aspect_keep_bit(aspect) & preserve))
            continue;
        if (found < 0 || !same_value(set, i, other, (size_t)found))
            outcome_note(outcome, aspect, 0);
    }
}

static int compare_xattrs(
    struct xattr_place place, const struct entry *entry, unsigned preserve, struct outcome *outcome)
{
    struct xattr_set set = {0};
    int r = xattr_set_read(&set, place);

    if (r < 0) {
        (void)outcome_fail_target(outcome, "read the extended attributes of", r);
    } else {
        note_differing_xattrs(&set, entry->xattrs, preserve, outcome);
        note_differing_xattrs(entry->xattrs, &set, preserve, outcome);
    }
    xattr_set_free(&set);
    return r;
}

/* Not the access time: reading the file, by whoever it was, has changed it. */
static int compare_metadata(const struct compare_sink *sink, struct xattr_place place,
    const struct stat *st, const struct entry *entry, struct outcome *outcome)
{
    unsigned preserve = sink->options.preserve;

    /* The permission bits of a symbolic link mean nothing, and cannot be set. */
    if ((preserve & SHOAL_KEEP_MODE) && !S_ISLNK(st->st_mode) && st->st_mode != entry->mode)
        outcome_note(outcome, ASPECT_MODE, 0);
    if ((preserve & SHOAL_KEEP_OWNER) && (st->st_uid != entry->uid || st->st_gid != entry->gid))
        outcome_note(outcome, ASPECT_OWNER, 0);
    if ((preserve & SHOAL_KEEP_TIMES) && timespec_compare(&st->st_mtim, &entry->mtime) != 0)
        outcome_note(outcome, ASPECT_TIMES, 0);
    if (!(preserve & (SHOAL_KEEP_XATTR | SHOAL_KEEP_MODE)))
        return 0;
    return compare_xattrs(place, entry, preserve, outcome);
}

/* ---- directories ---- */

static int dir_open(struct sink_dir *parent, const char *name, struct sink_dir **ret)
{
    struct stat st;
    _cleanup_close_ int fd = open_quietly(parent->sink, parent->fd, name, O_DIRECTORY);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    struct sink_dir *dir = malloc(sizeof(*dir));
    if (!dir)
        return -ENOMEM;
    *dir = (struct sink_dir){
        .sink = parent->sink,
        .fd = TAKE_FD(fd),
        .dev = st.st_dev,
        .ino = st.st_ino,
    };
    *ret = dir;
    return 0;
}

static int compare_enter_dir(struct sink_dir *parent, const char *name, const struct entry *entry,
    struct sink_dir **ret, struct outcome *outcome)
{
    (void)entry; /* what it is to be is compared when it is finished */
    int r = dir_open(parent, name, ret);
    if (r == 0)
        return 0;
    if (r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
        return outcome_fail_target(outcome, "open directory", r);
    outcome_note(outcome, r == -ENOENT ? ASPECT_MISSING : ASPECT_TYPE, 0);
    return SINK_KEPT_OTHER;
}

static int compare_reopen_dir(
    struct sink_dir *parent, const char *name, struct sink_dir **ret, struct outcome *outcome)
{
    int r = dir_open(parent, name, ret);
    return r < 0 ? outcome_fail_target(outcome, "open directory", r) : 0;
}

static int compare_finish_dir(
    struct sink_dir *dir, const struct entry *entry, struct outcome *outcome)
{
    struct stat st;

    if (fstat(dir->fd, &st) < 0)
        return outcome_fail_target(outcome, "examine", -errno);
    return compare_metadata(dir->sink, (struct xattr_place){.fd = dir->fd}, &st, entry, outcome);
}

static void compare_close_dir(struct sink_dir *dir)
{
    if (!dir)
        return;
    (void)close(dir->fd); /* was only read from */
    free(dir);
}

static void compare_dir_identity(const struct sink_dir *dir, uint64_t *ret_dev, uint64_t *ret_ino)
{
    *ret_dev = dir->dev;
    *ret_ino = dir->ino;
}

static bool is_dot_or_dotdot(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static int compare_for_each_name(struct sink_dir *dir,
    void (*each)(void *context, const char *name), void *context, struct outcome *outcome)
{
    /* A descriptor of its own: its position starts at the beginning. */
    int fd = open_quietly(dir->sink, dir->fd, ".", O_DIRECTORY);
    if (fd < 0)
        return outcome_fail_target(outcome, "list directory", fd);
    _cleanup_closedir_ DIR *listing = fdopendir(fd);
    if (!listing) {
        int r = -errno;
        (void)close(fd); /* was only read from */
        return outcome_fail_target(outcome, "list directory", r);
    }
    for (;;) {
        errno = 0;
        const struct dirent *record = readdir(listing);
        if (!record)
            return errno ? outcome_fail_target(outcome, "list directory", -errno) : 0;
        if (!is_dot_or_dotdot(record->d_name))
            each(context, record->d_name);
    }
}

/* ---- files ---- */

static int open_compared(
    struct sink_dir *dir, const char *name, const struct stat *st, struct compared_file **ret)
{
    struct stat opened;
    /* O_NONBLOCK: should a FIFO stand there by now, the open must not wait for its writer. */
    _cleanup_close_ int fd = open_quietly(dir->sink, dir->fd, name, O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    if (fstat(fd, &opened) < 0)
        return -errno;
    if (opened.st_dev != st->st_dev || opened.st_ino != st->st_ino)
        return -ESTALE;
    struct compared_file *file = malloc(sizeof(*file));
    if (!file)
        return -ENOMEM;
    *file = (struct compared_file){.fd = TAKE_FD(fd), .st = opened};
    *ret = file;
    return 0;
}

static void close_compared(struct compared_file *file)
{
    (void)close(file->fd); /* was only read from */
    free(file);
}

static int compare_create_file(struct sink_dir *dir, const char *name, const struct entry *entry,
    struct sink_file *ret, struct outcome *outcome)
{
    struct compared_file *file = NULL;
    struct stat st;

    /* Looked at first: to open a device can move it. */
    int r = look_for(dir, name, entry, &st, outcome);
    if (r != 0)
        return r;
    r = open_compared(dir, name, &st, &file);
    if (r < 0)
        return outcome_fail_target(outcome, "open", r);
    r = compare_links(dir->sink, &st, entry, outcome);
    if (r < 0) {
        close_compared(file);
        return r;
    }
    *ret = (struct sink_file){.fd = -1, .dir = dir, .name = name, .own = file};
    return 0;
}

/* Compares up to PIECE_BYTES. 1: equal; 0: *ret_differs, or the file ends before; or negative
 * errno. */
static int compare_piece(const struct compared_file *file, const char *bytes, size_t n,
    uint64_t offset, bool *ret_differs)
{
    char there[PIECE_BYTES];
    size_t got = 0;

    while (got < n) {
        ssize_t k = pread(file->fd, there + got, n - got, (off_t)(offset + got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -errno;
        if (k == 0)
            break;
        got += (size_t)k;
    }
    *ret_differs = memcmp(bytes, there, got) != 0;
    return got == n && !*ret_differs;
}

/* Raises `end` to at least the offset. */
static void reach(struct compared_file *file, uint64_t offset)
{
    uint64_t end = __atomic_load_n(&file->end, __ATOMIC_RELAXED);
    while (end < offset && !__atomic_compare_exchange_n(
                               &file->end, &end, offset, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* A file that ends too early is told by its size alone. A failure is kept for
 * compare_commit_file(), which can name the step that failed. */
static int compare_write(struct sink_file *to, const void *buffer, size_t n, uint64_t offset)
{
    struct compared_file *file = to->own;
    const char *bytes = buffer;
    bool differs = false;
    int r = 1;

    reach(file, offset + n);
    if (__atomic_load_n(&to->differs, __ATOMIC_RELAXED) ||
        __atomic_load_n(&file->error, __ATOMIC_RELAXED))
        return 0;
    for (size_t at = 0, k; at < n && r > 0; at += k) {
        k = n - at < PIECE_BYTES ? n - at : PIECE_BYTES;
        r = compare_piece(file, bytes + at, k, offset + at, &differs);
    }
    if (r < 0)
        __atomic_store_n(&file->error, r, __ATOMIC_RELAXED);
    if (differs)
        __atomic_store_n(&to->differs, true, __ATOMIC_RELAXED);
    return 0;
}

static int compare_set_size(struct sink_file *file, uint64_t size)
{
    reach(file->own, size);
    return 0;
}

static void compare_abort_file(struct sink_file *to)
{
    close_compared(to->own);
    to->own = NULL;
}

static int compare_commit_file(
    struct sink_file *to, const struct entry *entry, struct outcome *outcome)
{
    struct compared_file *file = to->own;
    struct xattr_place place = {.fd = file->fd};
    /* A file said to be empty may be one of the kernel's own, whose copy has its content. */
    uint64_t size = entry->size > 0 ? entry->size : file->end;

    int r = file->error;
    if (r < 0) {
        (void)outcome_fail_target(outcome, "read", r);
    } else {
        if (to->differs)
            outcome_note(outcome, ASPECT_CONTENT, 0);
        if ((uint64_t)file->st.st_size != size)
            outcome_note(outcome, ASPECT_SIZE, 0);
        r = compare_metadata(to->dir->sink, place, &file->st, entry, outcome);
    }
    compare_abort_file(to);
    return r;
}

/* ---- nodes and links ---- */

/* Whether the symbolic link leads where it should: 1 or 0, or negative errno. */
static int same_target(
    const struct sink_dir *dir, const char *name, const char *target, struct outcome *outcome)
{
    size_t length = strlen(target), room = length + 2; /* one byte more tells a longer one */
    _cleanup_free_ char *there = malloc(room);

    if (!there)
        return outcome_fail_target(outcome, "read symbolic link", -ENOMEM);
    ssize_t n = readlinkat(dir->fd, name, there, room);
    if (n < 0)
        return outcome_fail_target(outcome, "read symbolic link", -errno);
    return (size_t)n == length && memcmp(there, target, length) == 0;
}

static int compare_make_node(
    struct sink_dir *dir, const char *name, const struct entry *entry, struct outcome *outcome)
{
    struct stat st;

    int r = look_for(dir, name, entry, &st, outcome);
    if (r == 0)
        r = compare_links(dir->sink, &st, entry, outcome);
    if (r != 0)
        return r;
    if (S_ISLNK(entry->mode)) {
        r = same_target(dir, name, entry->link_target, outcome);
        if (r < 0)
            return r;
        if (r == 0)
            outcome_note(outcome, ASPECT_LINK_TARGET, 0);
    }
    if ((S_ISCHR(entry->mode) || S_ISBLK(entry->mode)) && st.st_rdev != entry->rdev)
        outcome_note(outcome, ASPECT_DEVICE, 0);
    return compare_metadata(
        dir->sink, (struct xattr_place){.fd = dir->fd, .name = name}, &st, entry, outcome);
}

/* -EXDEV has the driver note that it is no link, and compare it as a file of its own. */
static int compare_make_link(struct sink_dir *dir, const char *name, const struct entry *entry,
    struct sink_dir *first_dir, const char *first_name, struct outcome *outcome)
{
    struct stat st, first;

    int r = look_for(dir, name, entry, &st, outcome);
    if (r != 0)
        return r;
    if (fstatat(first_dir->fd, first_name, &first, AT_SYMLINK_NOFOLLOW) < 0)
        return outcome_fail_target(outcome, "examine", -errno);
    return st.st_dev == first.st_dev && st.st_ino == first.st_ino ? 0 : -EXDEV;
}

static int compare_sync(struct sink_dir *dir, struct outcome *outcome)
{
    (void)dir;
    (void)outcome;
    return 0;
}

static void compare_free(struct tree_sink *tree)
{
    struct compare_sink *sink = (struct compare_sink *)tree;
    (void)close(sink->start.fd); /* it was only searched */
    free(sink->met.slots);
    (void)pthread_mutex_destroy(&sink->met.lock);
    free(sink);
}

static const struct tree_sink_ops compare_ops = {
    .enter_dir = compare_enter_dir,
    .reopen_dir = compare_reopen_dir,
    .finish_dir = compare_finish_dir,
    .close_dir = compare_close_dir,
    .dir_identity = compare_dir_identity,
    .create_file = compare_create_file,
    .write = compare_write,
    .set_size = compare_set_size,
    .commit_file = compare_commit_file,
    .abort_file = compare_abort_file,
    .make_node = compare_make_node,
    .make_link = compare_make_link,
    .for_each_name = compare_for_each_name,
    .sync = compare_sync,
    .free = compare_free,
};

int compare_sink_new(int fd, const struct sink_options *options, struct tree_sink **ret)
{
    struct compare_sink *sink = calloc(1, sizeof(*sink));
    if (!sink) {
        (void)close(fd); /* as said in the header */
        return -ENOMEM;
    }
    (void)pthread_mutex_init(&sink->met.lock, NULL); /* glibc's does not fail */
    sink->start = (struct sink_dir){.sink = sink, .fd = fd};
    sink->tree = (struct tree_sink){.ops = &compare_ops, .start = &sink->start};
    sink->options = *options;
    *ret = &sink->tree;
    return 0;
}
