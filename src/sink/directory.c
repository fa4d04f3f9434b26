#include "sink/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "sink/existing.h"
#include "sink/metadata.h"

struct sink_dir {
    struct directory_sink *sink;
    int fd;
    bool fresh;     /* made by this run: whatever stands in it, this run made */
    bool gives_acl; /* has a default ACL, which files are born with */
    mode_t mode;    /* permission bits */
    mode_t found;   /* those it had when it was opened */
    uint64_t dev, ino;
    uid_t uid;
    gid_t gid;
    int birth; /* BIRTH_…, and if known: who files created here belong to */
    uid_t born_uid;
    gid_t born_gid;
};

/* Set by whichever worker creates the first file, read by all: the two ids are written before. */
enum {
    BIRTH_UNKNOWN,
    BIRTH_BEING_LEARNT,
    BIRTH_KNOWN,
};

struct directory_sink {
    struct tree_sink tree;
    struct sink_options options;
    struct sink_dir start;
};

static mode_t reduced(const struct sink_dir *dir, mode_t mode)
{
    return mode & ~dir->sink->options.umask;
}

/* A name that no other run and no other worker takes. */
static void make_temporary_name(char name[static 32])
{
    (void)snprintf(name, 32, ".shoal-%08" PRIx32 "%08" PRIx32, arc4random(), arc4random());
}

/* ---- directories ---- */

static bool has_default_acl(int fd)
{
    return fgetxattr(fd, XATTR_ACL_DEFAULT, NULL, 0) > 0;
}

static int dir_from_fd(struct directory_sink *sink, int fd, bool fresh, struct sink_dir *dir)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    *dir = (struct sink_dir){
        .sink = sink,
        .fd = fd,
        .fresh = fresh,
        .mode = st.st_mode & 07777,
        .found = st.st_mode & 07777,
        .dev = st.st_dev,
        .ino = st.st_ino,
        .uid = st.st_uid,
        .gid = st.st_gid,
    };
    return 0;
}

static int open_dir_at(struct sink_dir *parent, const char *name, bool fresh, struct sink_dir **ret)
{
    _cleanup_close_ int fd = open_at(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    _cleanup_free_ struct sink_dir *dir = malloc(sizeof(*dir));
    int r = dir ? dir_from_fd(parent->sink, fd, fresh, dir) : -ENOMEM;
    if (r < 0)
        return r;
    (void)TAKE_FD(fd); /* the directory has it */
    *ret = TAKE_PTR(dir);
    return 0;
}

/* An earlier copy of a read-only directory is in our way, unless we are root: for as long as we
 * work in it, it is ours to write. What it is to be in the end, its source says. */
static void open_up(struct sink_dir *dir)
{
    mode_t mode = dir->mode | S_IRWXU;

    if (dir->mode == mode || dir->uid != geteuid() ||
        !(dir->sink->options.preserve & SHOAL_KEEP_MODE) ||
        faccessat(dir->fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
        return;
    /* If this fails, what is to be made in it will, and be told. */
    if (fchmod(dir->fd, mode) == 0)
        dir->mode = mode;
}

static mode_t default_dir_mode(const struct sink_dir *dir)
{
    return 0777 & ~dir->sink->options.default_umask;
}

/* A directory made under one with a default ACL inherits it; ours gets its ACLs from the source. */
static void drop_inherited_acl(struct sink_dir *dir)
{
    (void)fremovexattr(dir->fd, XATTR_ACL_DEFAULT); /* where there is none to remove, all is well */
    (void)fremovexattr(dir->fd, XATTR_ACL_ACCESS);
}

static int directory_enter(struct sink_dir *parent, const char *name, const struct entry *entry,
    struct sink_dir **ret, struct outcome *outcome)
{
    (void)entry;
    bool keep_mode = parent->sink->options.preserve & SHOAL_KEEP_MODE;
    /* Nobody else looks in before it has its own mode. */
    bool fresh = mkdirat(parent->fd, name, keep_mode ? 0700 : default_dir_mode(parent)) == 0;
    if (!fresh && errno != EEXIST)
        return outcome_fail_target(outcome, "create directory", -errno);
    int r = open_dir_at(parent, name, fresh, ret);
    if (r == -ENOTDIR || r == -ELOOP)
        return outcome_fail_target(outcome, "overwrite with a directory", -ENOTDIR);
    if (r < 0)
        return outcome_fail_target(outcome, "open directory", r);
    open_up(*ret);
    if (fresh && parent->gives_acl && keep_mode)
        drop_inherited_acl(*ret);
    else
        (*ret)->gives_acl = fresh ? parent->gives_acl : has_default_acl((*ret)->fd);
    return 0;
}

static int directory_reopen(
    struct sink_dir *parent, const char *name, struct sink_dir **ret, struct outcome *outcome)
{
    int r = open_dir_at(parent, name, false, ret);
    if (r < 0)
        return outcome_fail_target(outcome, "open directory", r);
    (*ret)->gives_acl = has_default_acl((*ret)->fd);
    return 0;
}

static int directory_finish(
    struct sink_dir *dir, const struct entry *entry, struct outcome *outcome)
{
    const struct sink_options *options = &dir->sink->options;
    struct metadata_change change = {
        .place = {.fd = dir->fd},
        .entry = entry,
        .born = {.uid = dir->uid, .gid = dir->gid, .mode = dir->mode},
        .preserve = options->preserve,
        .final_mode = dir->mode,
    };

    if (options->preserve & SHOAL_KEEP_MODE)
        change.final_mode = metadata_final_mode(entry, options->preserve, options->default_umask);
    change.born.may_have_acl = !dir->fresh && (options->preserve & SHOAL_KEEP_MODE);
    if (change.born.may_have_acl && dir->gives_acl &&
        xattr_set_find(entry->xattrs, XATTR_ACL_DEFAULT) < 0)
        (void)fremovexattr(
            dir->fd, XATTR_ACL_DEFAULT); /* the mode, which follows, is what counts */
    metadata_apply(&change, outcome);
    return 0;
}

static void directory_close(struct sink_dir *dir)
{
    if (!dir)
        return;
    (void)close(dir->fd); /* a directory's descriptor holds no data back */
    free(dir);
}

static void directory_identity(const struct sink_dir *dir, uint64_t *ret_dev, uint64_t *ret_ino)
{
    *ret_dev = dir->dev;
    *ret_ino = dir->ino;
}

static int directory_look_dir(struct sink_dir *dir, struct xattr_set *xattrs,
    struct entry *ret_entry, struct outcome *outcome)
{
    struct stat st;

    if (fstat(dir->fd, &st) < 0)
        return outcome_fail_target(outcome, "examine", -errno);
    int r = xattr_set_read(xattrs, (struct xattr_place){.fd = dir->fd});
    if (r < 0)
        return outcome_fail_target(outcome, "read the extended attributes of", r);
    entry_from_stat(ret_entry, &st);
    ret_entry->mode = S_IFDIR | dir->found;
    if (xattrs->n > 0)
        ret_entry->xattrs = xattrs;
    return dir->fresh;
}

/* ---- what stands where something is to go ---- */

/* 0: it may be replaced; SINK_KEPT_…: it is to be left alone; negative errno: it cannot be
 * replaced. */
static int judge_existing(
    struct sink_dir *dir, const char *name, const struct entry *entry, struct outcome *outcome)
{
    struct stat st;

    if (fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : outcome_fail_target(outcome, "examine", -errno);
    return existing_judge(&st, dir->fresh, entry, &dir->sink->options, outcome);
}

/* After EEXIST: 0 with a temporary name to use instead, or what judge_existing() says. */
static int yield_to_existing(struct sink_dir *dir, const char *name, const struct entry *entry,
    char temporary[static 32], struct outcome *outcome)
{
    int r = judge_existing(dir, name, entry, outcome);
    if (r == 0)
        make_temporary_name(temporary);
    return r;
}

static int take_name(
    struct sink_dir *dir, const char *temporary, const char *name, struct outcome *outcome)
{
    if (renameat(dir->fd, temporary, dir->fd, name) == 0)
        return 0;
    int r = -errno;
    (void)unlinkat(dir->fd, temporary, 0); /* the failure that counts is the rename's */
    return outcome_fail_target(outcome, "replace", r);
}

/* ---- files ---- */

/* Whose a file is when created here: asked of the first one, since set-group-ID directories, mount
 * options and servers all have a say. Returns false where that is not known yet. */
static bool know_birth(struct sink_dir *dir, struct born *born)
{
    if (__atomic_load_n(&dir->birth, __ATOMIC_ACQUIRE) != BIRTH_KNOWN)
        return false;
    born->uid = dir->born_uid;
    born->gid = dir->born_gid;
    return true;
}

static int learn_birth(struct sink_dir *dir, int fd, struct born *born)
{
    struct stat st;
    int unknown = BIRTH_UNKNOWN;

    if (fstat(fd, &st) < 0)
        return -errno;
    born->uid = st.st_uid;
    born->gid = st.st_gid;
    if (__atomic_compare_exchange_n(
            &dir->birth, &unknown, BIRTH_BEING_LEARNT, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        dir->born_uid = st.st_uid;
        dir->born_gid = st.st_gid;
        __atomic_store_n(&dir->birth, BIRTH_KNOWN, __ATOMIC_RELEASE);
    }
    return 0;
}

static int directory_create_file(struct sink_dir *dir, const char *name, const struct entry *entry,
    struct sink_file *ret, struct outcome *outcome)
{
    const struct sink_options *options = &dir->sink->options;
    struct born born;
    bool owned = know_birth(dir, &born) && born.uid == entry->uid && born.gid == entry->gid;
    mode_t mode = metadata_creation_mode(entry, options->preserve, options->default_umask, owned);
    int flags = (options->read_back ? O_RDWR : O_WRONLY) | O_CREAT | O_EXCL | O_NOFOLLOW;

    *ret = (struct sink_file){.dir = dir, .name = name, .born_mode = reduced(dir, mode)};
    ret->fd = open_at(dir->fd, name, flags, mode);
    if (ret->fd == -EEXIST) {
        int r = yield_to_existing(dir, name, entry, ret->temporary, outcome);
        if (r != 0)
            return r;
        ret->fd = open_at(dir->fd, ret->temporary, flags, mode);
    }
    return ret->fd < 0 ? outcome_fail_target(outcome, "create", ret->fd) : 0;
}

static int directory_write(struct sink_file *file, const void *buffer, size_t n, uint64_t offset)
{
    size_t put = 0;

    while (put < n) {
        ssize_t k = pwrite(file->fd, (const char *)buffer + put, n - put, (off_t)(offset + put));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? -errno : -EIO;
        put += (size_t)k;
    }
    return 0;
}

static void directory_abort_file(struct sink_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd); /* what it wrote goes away with it */
    file->fd = -1;
    (void)unlinkat(file->dir->fd, *file->temporary ? file->temporary : file->name, 0);
}

static int directory_set_size(struct sink_file *file, uint64_t size)
{
    int r;

    do
        r = ftruncate(file->fd, (off_t)size);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

static int close_whole(struct sink_file *file, struct outcome *outcome)
{
    int r = close(file->fd) < 0 ? -errno : 0; /* where NFS and quotas tell of a write that failed */
    file->fd = -1;
    if (r < 0 && r != -EINTR) {
        directory_abort_file(file);
        return outcome_fail_target(outcome, "write", r);
    }
    return *file->temporary ? take_name(file->dir, file->temporary, file->name, outcome) : 0;
}

static int directory_commit_file(
    struct sink_file *file, const struct entry *entry, struct outcome *outcome)
{
    const struct sink_options *options = &file->dir->sink->options;
    struct metadata_change change = {
        .place = {.fd = file->fd},
        .entry = entry,
        .born = {.mode = file->born_mode, .may_have_acl = file->dir->gives_acl},
        .preserve = options->preserve,
        .final_mode = metadata_final_mode(entry, options->preserve, options->default_umask),
    };
    int r =
        know_birth(file->dir, &change.born) ? 0 : learn_birth(file->dir, file->fd, &change.born);

    if (r < 0) {
        directory_abort_file(file);
        return outcome_fail_target(outcome, "examine", r);
    }
    metadata_apply(&change, outcome);
    return close_whole(file, outcome);
}

/* ---- nodes and links ---- */

static int make_node_at(
    struct sink_dir *dir, const char *name, const struct entry *entry, mode_t mode)
{
    int r = S_ISLNK(entry->mode)
                ? symlinkat(entry->link_target, dir->fd, name)
                : mknodat(dir->fd, name, (entry->mode & S_IFMT) | mode, (dev_t)entry->rdev);
    return r < 0 ? -errno : 0;
}

static int directory_make_node(
    struct sink_dir *dir, const char *name, const struct entry *entry, struct outcome *outcome)
{
    const struct sink_options *options = &dir->sink->options;
    char temporary[32] = "";
    mode_t mode = metadata_creation_mode(entry, options->preserve, options->default_umask, false);
    struct stat st;

    int r = make_node_at(dir, name, entry, mode);
    if (r == -EEXIST) {
        r = yield_to_existing(dir, name, entry, temporary, outcome);
        if (r != 0)
            return r;
        r = make_node_at(dir, temporary, entry, mode);
    }
    if (r < 0)
        return outcome_fail_target(
            outcome, S_ISLNK(entry->mode) ? "create symbolic link" : "create", r);
    const char *born_name = *temporary ? temporary : name;
    if (fstatat(dir->fd, born_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        r = -errno;
        (void)unlinkat(dir->fd, born_name, 0); /* the failure that counts is the one before */
        return outcome_fail_target(outcome, "examine", r);
    }
    struct metadata_change change = {
        .place = {.fd = dir->fd, .name = born_name},
        .entry = entry,
        .born = {st.st_uid, st.st_gid, st.st_mode & 07777, dir->gives_acl},
        .preserve = options->preserve,
        .final_mode = metadata_final_mode(entry, options->preserve, options->default_umask),
    };
    metadata_apply(&change, outcome);
    return *temporary ? take_name(dir, temporary, name, outcome) : 0;
}

static int directory_make_link(struct sink_dir *dir, const char *name, const struct entry *entry,
    struct sink_dir *first_dir, const char *first_name, struct outcome *outcome)
{
    char temporary[32];
    struct stat first, existing;

    if (linkat(first_dir->fd, first_name, dir->fd, name, 0) == 0)
        return 0;
    if (errno != EEXIST)
        return outcome_fail_target(outcome, "create hard link", -errno);
    if (fstatat(dir->fd, name, &existing, AT_SYMLINK_NOFOLLOW) == 0 &&
        fstatat(first_dir->fd, first_name, &first, AT_SYMLINK_NOFOLLOW) == 0 &&
        existing.st_dev == first.st_dev && existing.st_ino == first.st_ino)
        return SINK_KEPT_SAME;
    int r = judge_existing(dir, name, entry, outcome);
    if (r == SINK_KEPT_SAME)
        r = 0; /* equal, but a file of its own: it is to be the same file */
    if (r != 0)
        return r;
    make_temporary_name(temporary);
    if (linkat(first_dir->fd, first_name, dir->fd, temporary, 0) < 0)
        return outcome_fail_target(outcome, "create hard link", -errno);
    return take_name(dir, temporary, name, outcome);
}

static int directory_sync(struct sink_dir *dir, struct outcome *outcome)
{
    /* syncfs(2) takes no O_PATH descriptor. */
    _cleanup_close_ int fd = open_at(dir->fd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return outcome_fail_target(outcome, "sync", fd);
    return syncfs(fd) < 0 ? outcome_fail_target(outcome, "sync", -errno) : 0;
}

static void directory_free(struct tree_sink *tree)
{
    struct directory_sink *sink = (struct directory_sink *)tree;
    (void)close(sink->start.fd); /* it was only searched */
    free(sink);
}

static const struct tree_sink_ops directory_ops = {
    .enter_dir = directory_enter,
    .reopen_dir = directory_reopen,
    .finish_dir = directory_finish,
    .close_dir = directory_close,
    .dir_identity = directory_identity,
    .look_dir = directory_look_dir,
    .create_file = directory_create_file,
    .write = directory_write,
    .set_size = directory_set_size,
    .commit_file = directory_commit_file,
    .abort_file = directory_abort_file,
    .make_node = directory_make_node,
    .make_link = directory_make_link,
    .sync = directory_sync,
    .free = directory_free,
};

int directory_sink_new(int fd, const struct sink_options *options, struct tree_sink **ret)
{
    struct directory_sink *sink = calloc(1, sizeof(*sink));
    int r = sink ? dir_from_fd(sink, fd, false, &sink->start) : -ENOMEM;
    if (r < 0) {
        (void)close(fd); /* as said in the header */
        free(sink);
        return r;
    }
    _cleanup_close_ int readable = open_at(fd, ".", O_RDONLY | O_DIRECTORY, 0);
    sink->start.gives_acl = readable >= 0 && has_default_acl(readable); /* not of an O_PATH one */
    sink->tree = (struct tree_sink){.ops = &directory_ops, .start = &sink->start};
    sink->options = *options;
    *ret = &sink->tree;
    return 0;
}
