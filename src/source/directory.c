#include "source/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"

/* One call lists some 4,000 names: enough for the order of inodes to matter, small enough to keep.
 */
#define LISTING_BYTES (128 * 1024)

struct source_dir {
    struct directory_source *source;
    int fd;
};

struct directory_source {
    struct tree_source tree;
    struct source_dir start;
    bool no_noatime; /* O_NOATIME was refused: we own neither the files nor CAP_FOWNER */
};

static int fill_xattrs(const struct tree_source *tree, struct xattr_place place,
    struct source_scratch *scratch, struct entry *entry, struct outcome *outcome)
{
    if (!tree->want_xattrs)
        return 0;
    int r = xattr_set_read(&scratch->xattrs, place);
    if (r < 0)
        return outcome_fail(outcome, "read the extended attributes of", r);
    if (scratch->xattrs.n > 0)
        entry->xattrs = &scratch->xattrs;
    return 0;
}

static int directory_open_dir(struct source_dir *parent, const char *name, bool follow,
    struct source_scratch *scratch, struct entry *ret_entry, struct source_dir **ret,
    struct outcome *outcome)
{
    struct directory_source *source = parent->source;
    struct stat st;
    _cleanup_close_ int fd = open_quietly_at(
        parent->fd, name, O_RDONLY | O_DIRECTORY | (follow ? 0 : O_NOFOLLOW), &source->no_noatime);
    if (fd < 0)
        return outcome_fail(outcome, "open directory", fd);
    if (fstat(fd, &st) < 0)
        return outcome_fail(outcome, "examine", -errno);
    entry_from_stat(ret_entry, &st);
    int r = fill_xattrs(&source->tree, (struct xattr_place){.fd = fd}, scratch, ret_entry, outcome);
    if (r < 0)
        return r;
    struct source_dir *dir = malloc(sizeof(*dir));
    if (!dir)
        return outcome_fail(outcome, "open directory", -ENOMEM);
    *dir = (struct source_dir){.source = source, .fd = TAKE_FD(fd)};
    *ret = dir;
    return 0;
}

static int by_position(const void *a, const void *b)
{
    const struct source_name *left = a, *right = b;
    return (left->position > right->position) - (left->position < right->position);
}

static int batch_add(struct source_batch *batch, const struct dirent64 *record)
{
    if (batch->n == batch->room) {
        size_t room = batch->room ? batch->room * 2 : 256;
        struct source_name *names = reallocarray(batch->names, room, sizeof(*names));
        if (!names)
            return -ENOMEM;
        batch->names = names;
        batch->room = room;
    }
    batch->names[batch->n++] = (struct source_name){
        .name = record->d_name,
        .type = record->d_type,
        .position = record->d_ino,
    };
    return 0;
}

static bool is_dot_or_dotdot(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static int directory_list(
    struct source_dir *dir, struct source_batch *batch, struct outcome *outcome)
{
    batch->n = 0;
    if (!batch->buffer) {
        batch->buffer = malloc(LISTING_BYTES);
        if (!batch->buffer)
            return outcome_fail(outcome, "list directory", -ENOMEM);
    }
    while (batch->n == 0) {
        ssize_t length = getdents64(dir->fd, batch->buffer, LISTING_BYTES);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return length == 0 ? 0 : outcome_fail(outcome, "list directory", -errno);
        for (ssize_t at = 0; at < length;) {
            const struct dirent64 *record = (const struct dirent64 *)(batch->buffer + at);
            at += record->d_reclen;
            if (is_dot_or_dotdot(record->d_name))
                continue;
            int r = batch_add(batch, record);
            if (r < 0)
                return outcome_fail(outcome, "list directory", r);
        }
    }
    /* ext4 lists in the order of a hash; inodes lie on the disk in the order of their numbers. */
    qsort(batch->names, batch->n, sizeof(*batch->names), by_position);
    return 1;
}

/* Reads a symbolic link's target, of whatever length, into the scratch. */
static int read_target(int dir_fd, const char *name, struct source_scratch *scratch)
{
    for (size_t room = scratch->target_room ? scratch->target_room : 512;; room *= 2) {
        if (room > scratch->target_room) {
            char *target = realloc(scratch->target, room);
            if (!target)
                return -ENOMEM;
            scratch->target = target;
            scratch->target_room = room;
        }
        ssize_t length = readlinkat(dir_fd, name, scratch->target, room);
        if (length < 0)
            return -errno;
        if ((size_t)length < room) {
            scratch->target[length] = '\0';
            return 0;
        }
    }
}

static int directory_look(struct source_dir *dir, const char *name, bool follow,
    struct source_scratch *scratch, struct entry *ret_entry, struct outcome *outcome)
{
    struct stat st;

    if (fstatat(dir->fd, name, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
        return outcome_fail(outcome, "examine", -errno);
    entry_from_stat(ret_entry, &st);
    if (S_ISLNK(st.st_mode)) {
        int r = read_target(dir->fd, name, scratch);
        if (r < 0)
            return outcome_fail(outcome, "read symbolic link", r);
        ret_entry->link_target = scratch->target;
    }
    struct xattr_place place = {.fd = dir->fd, .name = name, .follow = follow};
    return fill_xattrs(&dir->source->tree, place, scratch, ret_entry, outcome);
}

static ssize_t file_read(struct source_file *file, void *buffer, size_t n, uint64_t offset)
{
    ssize_t got;

    do
        got = pread(file->fd, buffer, n, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static int file_next_data(
    struct source_file *file, uint64_t from, uint64_t *ret_start, uint64_t *ret_end)
{
    off_t start = lseek(file->fd, (off_t)from, SEEK_DATA);
    if (start < 0)
        return errno == ENXIO ? 0 : -errno;
    off_t end = lseek(file->fd, start, SEEK_HOLE);
    if (end < 0)
        return errno == ENXIO ? 0 : -errno; /* the file was cut in between */
    *ret_start = (uint64_t)start;
    *ret_end = (uint64_t)end;
    return 1;
}

static bool file_has_changed(struct source_file *file, const struct entry *entry)
{
    struct stat st;
    return fstat(file->fd, &st) < 0 || (uint64_t)st.st_size != entry->size ||
           timespec_compare(&st.st_mtim, &entry->mtime) != 0;
}

static void file_close(struct source_file *file)
{
    (void)close(file->fd); /* was only read from: nothing can be lost */
    file->fd = -1;
}

static const struct source_file_ops file_ops = {
    .read = file_read,
    .next_data = file_next_data,
    .has_changed = file_has_changed,
    .close = file_close,
};

static int directory_open_file(struct source_dir *dir, const char *name, bool follow,
    struct source_scratch *scratch, struct entry *ret_entry, struct source_file *ret,
    struct outcome *outcome)
{
    struct stat st;
    /* O_NONBLOCK: should a FIFO stand there by now, the open must not wait for its writer. */
    _cleanup_close_ int fd = open_quietly_at(dir->fd, name,
        O_RDONLY | O_NOCTTY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW), &dir->source->no_noatime);
    if (fd == -ELOOP || fd == -ENXIO) /* a symbolic link, a socket */
        return -ESTALE;
    if (fd < 0)
        return outcome_fail(outcome, "open", fd);
    if (fstat(fd, &st) < 0)
        return outcome_fail(outcome, "examine", -errno);
    if (!S_ISREG(st.st_mode))
        return -ESTALE;
    entry_from_stat(ret_entry, &st);
    int r = fill_xattrs(
        &dir->source->tree, (struct xattr_place){.fd = fd}, scratch, ret_entry, outcome);
    if (r < 0)
        return r;
    *ret = (struct source_file){.ops = &file_ops, .fd = TAKE_FD(fd)};
    return 0;
}

static void directory_close_dir(struct source_dir *dir)
{
    if (!dir)
        return;
    (void)close(dir->fd); /* was only read from */
    free(dir);
}

static void directory_free(struct tree_source *tree)
{
    struct directory_source *source = (struct directory_source *)tree;
    (void)close(source->start.fd); /* was only searched */
    free(source);
}

static const struct tree_source_ops directory_ops = {
    .open_dir = directory_open_dir,
    .list = directory_list,
    .look = directory_look,
    .open_file = directory_open_file,
    .close_dir = directory_close_dir,
    .free = directory_free,
};

int directory_source_new(int fd, bool want_xattrs, struct tree_source **ret)
{
    struct directory_source *source = calloc(1, sizeof(*source));
    if (!source) {
        (void)close(fd); /* as said in the header */
        return -ENOMEM;
    }
    source->start = (struct source_dir){.source = source, .fd = fd};
    source->tree = (struct tree_source){
        .ops = &directory_ops,
        .start = &source->start,
        .want_xattrs = want_xattrs,
    };
    *ret = &source->tree;
    return 0;
}
