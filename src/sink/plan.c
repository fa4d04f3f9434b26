#include "sink/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "sink/existing.h"

struct sink_dir {
    struct plan_sink *sink;
    int fd;           /* -1: it does not exist yet, and so nothing in it */
    int create_error; /* negative errno: why no name could be made in it; 0 if it could */
    uint64_t dev, ino;
};

struct plan_sink {
    struct tree_sink tree;
    struct sink_options options;
    struct sink_dir start;
};

/* ---- directories ---- */

/* Our own read-only directory would be opened up while we work in it (but for the start, whose
 * options are not known yet). */
static int find_create_error(const struct plan_sink *sink, int fd, const struct stat *st)
{
    if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
        return 0;
    if (errno == EACCES && st->st_uid == geteuid() && (sink->options.preserve & SHOAL_KEEP_MODE))
        return 0;
    return -errno;
}

/* Takes over the descriptor, even when it fails. */
static int dir_from_fd(struct plan_sink *sink, int fd, struct sink_dir *ret)
{
    struct stat st;

    *ret = (struct sink_dir){.sink = sink, .fd = fd};
    if (fstat(fd, &st) < 0) {
        int r = -errno;
        (void)close(fd); /* was only looked at */
        return r;
    }
    ret->dev = st.st_dev;
    ret->ino = st.st_ino;
    ret->create_error = find_create_error(sink, fd, &st);
    return 0;
}

/* Opens what is there; what is not becomes a planned directory. */
static int dir_open(struct sink_dir *parent, const char *name, struct sink_dir **ret)
{
    int fd = -ENOENT, r = 0;
    struct sink_dir *dir = malloc(sizeof(*dir));

    if (!dir)
        return -ENOMEM;
    if (parent->fd >= 0)
        fd = open_at(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd >= 0)
        r = dir_from_fd(parent->sink, fd, dir);
    else if (fd == -ENOENT)
        *dir = (struct sink_dir){.sink = parent->sink, .fd = -1};
    else
        r = fd;
    if (r < 0) {
        free(dir);
        return r;
    }
    *ret = dir;
    return 0;
}

static int plan_enter_dir(struct sink_dir *parent, const char *name, const struct entry *entry,
    struct sink_dir **ret, struct outcome *outcome)
{
    (void)entry;
    int r = dir_open(parent, name, ret);
    if (r == -ENOTDIR || r == -ELOOP)
        return outcome_fail_target(outcome, "overwrite with a directory", -ENOTDIR);
    if (r < 0)
        return outcome_fail_target(outcome, "open directory", r);
    if ((*ret)->fd < 0 && parent->create_error) {
        free(*ret);
        return outcome_fail_target(outcome, "create directory", parent->create_error);
    }
    return 0;
}

static int plan_reopen_dir(
    struct sink_dir *parent, const char *name, struct sink_dir **ret, struct outcome *outcome)
{
    int r = dir_open(parent, name, ret);
    return r < 0 ? outcome_fail_target(outcome, "open directory", r) : 0;
}

static int plan_finish_dir(struct sink_dir *dir, const struct entry *entry, struct outcome *outcome)
{
    (void)dir;
    (void)entry;
    (void)outcome;
    return 0;
}

static void plan_close_dir(struct sink_dir *dir)
{
    if (!dir)
        return;
    if (dir->fd >= 0)
        (void)close(dir->fd); /* was only looked at */
    free(dir);
}

static void plan_dir_identity(const struct sink_dir *dir, uint64_t *ret_dev, uint64_t *ret_ino)
{
    *ret_dev = dir->dev;
    *ret_ino = dir->ino;
}

/* ---- names ---- */

/* Looks at what stands where a name is to go: 1, or 0 if nothing does; or negative errno. */
static int look_at(
    const struct sink_dir *dir, const char *name, struct stat *ret, struct outcome *outcome)
{
    if (dir->fd < 0)
        return 0;
    if (fstatat(dir->fd, name, ret, AT_SYMLINK_NOFOLLOW) == 0)
        return 1;
    return errno == ENOENT ? 0 : outcome_fail_target(outcome, "examine", -errno);
}

/* What making a name would answer, whatever it is; `operation` is how its failure is called. */
static int plan_name(struct sink_dir *dir, const char *name, const struct entry *entry,
    const char *operation, struct outcome *outcome)
{
    struct stat existing;

    int r = look_at(dir, name, &existing, outcome);
    if (r > 0)
        r = existing_judge(&existing, false, entry, &dir->sink->options, outcome);
    if (r != 0)
        return r;
    return dir->create_error ? outcome_fail_target(outcome, operation, dir->create_error) : 0;
}

static int plan_create_file(struct sink_dir *dir, const char *name, const struct entry *entry,
    struct sink_file *ret, struct outcome *outcome)
{
    *ret = (struct sink_file){.fd = -1, .dir = dir, .name = name};
    return plan_name(dir, name, entry, "create", outcome);
}

static int plan_write(struct sink_file *file, const void *buffer, size_t n, uint64_t offset)
{
    (void)file;
    (void)buffer;
    (void)n;
    (void)offset;
    return 0;
}

static int plan_set_size(struct sink_file *file, uint64_t size)
{
    (void)file;
    (void)size;
    return 0;
}

static int plan_commit_file(
    struct sink_file *file, const struct entry *entry, struct outcome *outcome)
{
    (void)file;
    (void)entry;
    (void)outcome;
    return 0;
}

static void plan_abort_file(struct sink_file *file)
{
    (void)file;
}

static int plan_make_node(
    struct sink_dir *dir, const char *name, const struct entry *entry, struct outcome *outcome)
{
    const char *operation = S_ISLNK(entry->mode) ? "create symbolic link" : "create";
    return plan_name(dir, name, entry, operation, outcome);
}

static bool are_one_inode(const struct sink_dir *dir, const char *name,
    const struct sink_dir *first_dir, const char *first_name)
{
    struct stat st, first;

    return dir->fd >= 0 && first_dir->fd >= 0 &&
           fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(first_dir->fd, first_name, &first, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_dev == first.st_dev && st.st_ino == first.st_ino;
}

static int plan_make_link(struct sink_dir *dir, const char *name, const struct entry *entry,
    struct sink_dir *first_dir, const char *first_name, struct outcome *outcome)
{
    if (are_one_inode(dir, name, first_dir, first_name))
        return SINK_KEPT_SAME;
    int r = plan_name(dir, name, entry, "create hard link", outcome);
    return r == SINK_KEPT_SAME ? 0 : r; /* equal, but a file of its own: it would become the same */
}

static int plan_sync(struct sink_dir *dir, struct outcome *outcome)
{
    (void)dir;
    (void)outcome;
    return 0;
}

static void plan_free(struct tree_sink *tree)
{
    struct plan_sink *sink = (struct plan_sink *)tree;
    (void)close(sink->start.fd); /* was only searched */
    free(sink);
}

static const struct tree_sink_ops plan_ops = {
    .enter_dir = plan_enter_dir,
    .reopen_dir = plan_reopen_dir,
    .finish_dir = plan_finish_dir,
    .close_dir = plan_close_dir,
    .dir_identity = plan_dir_identity,
    .create_file = plan_create_file,
    .write = plan_write,
    .set_size = plan_set_size,
    .commit_file = plan_commit_file,
    .abort_file = plan_abort_file,
    .make_node = plan_make_node,
    .make_link = plan_make_link,
    .sync = plan_sync,
    .free = plan_free,
};

int plan_sink_new(int fd, const struct sink_options *options, struct tree_sink **ret)
{
    struct plan_sink *sink = calloc(1, sizeof(*sink));
    if (!sink) {
        (void)close(fd); /* as said in the header */
        return -ENOMEM;
    }
    int r = dir_from_fd(sink, fd, &sink->start);
    if (r < 0) {
        free(sink);
        return r;
    }
    sink->tree = (struct tree_sink){.ops = &plan_ops, .start = &sink->start};
    sink->options = *options;
    *ret = &sink->tree;
    return 0;
}
