#include "engine/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "base/path.h"
#include "engine/events.h"
#include "engine/stream_to_stream.h"
#include "engine/tree_to_stream.h"
#include "entry/archive_name.h"
#include "sink/archive.h"
#include "sink/null.h"

/* Looks at what a root's FROM is; `follow`: it was named with a trailing slash. 0, or -ECANCELED
 * after the reason was told. */
static int examine(struct root *root, bool follow)
{
    struct stat st;
    int fd = open_at(AT_FDCWD, root->parent_path, O_PATH | O_DIRECTORY, 0);

    root->follow = root->run->options->follow != SHOAL_FOLLOW_NEVER || follow;
    int r = fd < 0 ? fd : 0;
    if (r == 0 && fstatat(fd, root->source_name, &st, root->follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
        r = -errno;
    if (fd >= 0)
        (void)close(fd); /* O_PATH: nothing to lose */
    if (r < 0) {
        events_fault_path(root->run, "examine", root->from, r);
        return -ECANCELED;
    }
    root->from_dev = st.st_dev;
    root->from_ino = st.st_ino;
    if (S_ISDIR(st.st_mode)) {
        root->dev = st.st_dev;
        root->ino = st.st_ino;
    }
    return 0;
}

int pack_root_new(
    struct run *run, const char *directory, const char *path, const char *target, struct root **ret)
{
    struct root *root = calloc(1, sizeof(*root));
    _cleanup_free_ char *parent = NULL;
    int r = -ENOMEM;

    if (!root || !(root->from = path_without_slashes(path)) ||
        !(root->target = path_without_slashes(target)) ||
        path_split(root->from, &parent, &root->source_name) < 0)
        goto fail;
    root->run = run;
    root->parent_path =
        !directory || *parent == '/' ? strdup(parent) : path_join(directory, parent);
    root->target_name = strdup(root->source_name);
    if (!root->parent_path || !root->target_name)
        goto fail;
    r = examine(root, path_ends_in_slash(path));
    if (r < 0)
        goto fail;
    *ret = root;
    return 0;

fail:
    root_free(root);
    return r;
}

int pack_root(struct run *run, const char *from, bool at_top, struct root **ret)
{
    _cleanup_free_ char *path = path_without_slashes(from), *parent = NULL, *name = NULL;

    if (!path || path_split(path, &parent, &name) < 0)
        return -ENOMEM;
    return pack_root_new(run, NULL, from, at_top ? "." : name, ret);
}

static void free_roots(struct root *roots)
{
    struct root_chain chain = {.first = roots};
    root_chain_free(&chain);
}

static int pack_stream(struct run *run, struct root *root, struct stream_sink *sink)
{
    struct converting converting = {
        .job = {.run = stream_to_stream_run}, .root = root, .sink = sink, .content_fd = -1};

    pool_push(run->pool, &converting.job.link);
    int r = run_work(run);
    return r < 0 ? r : converting.error;
}

static int pack_trees(struct run *run, struct root *roots, struct stream_sink *sink, int fd)
{
    struct packing *packing;
    int r = packing_begin(run, sink, fd, roots, &packing);

    if (r < 0) {
        free_roots(roots);
        return r;
    }
    r = run_work(run);
    int error = packing_end(packing);
    return r < 0 ? r : error;
}

int pack_list(struct run *run, struct root *root)
{
    struct stream_sink *sink;
    int r = null_sink_new(&sink);

    if (r < 0) {
        free_roots(root);
        return r;
    }
    r = pack_trees(run, root, sink, -1);
    sink->ops->free(sink);
    return r;
}

int pack_roots(struct run *run, struct root *roots, int fd)
{
    const struct shoal_archive_options *archive = &run->options->archive;
    struct outcome outcome = {0};
    struct stream_sink *sink;
    struct archive_sink_options options = {
        .format = archive->format,
        .compression = archive->compression,
        .level = archive->level,
        .preserve = run->options->preserve,
        .leave_acls = archive->leave_acls,
        .record_bytes = archive->record_bytes,
        .names = archive->numeric_owner ? NULL : run->owner_names,
        .user = archive->user,
        .group = archive->group,
    };

    int r = archive_sink_new(fd, &options, &sink);
    if (r < 0) {
        free_roots(roots);
        return r;
    }
    if (roots && roots->stream) {
        r = pack_stream(run, roots, sink);
        free_roots(roots);
    } else if (roots) {
        r = pack_trees(run, roots, sink, fd);
    }
    if (r == 0 && run->stop == STOP_NONE)
        r = sink->ops->finish(sink, &outcome);
    sink->ops->free(sink);
    return r;
}

static int sync_all(int fd, int directory)
{
    return fsync(fd) < 0 || fsync(directory) < 0 ? -errno : 0;
}

/* Writes a new file in a directory under a temporary name, then gives it its own. */
static int pack_new_file(struct run *run, struct root *roots, int directory, const char *name)
{
    char temporary[32];
    mode_t mode = 0666 & ~run->umask;

    (void)snprintf(
        temporary, sizeof(temporary), ".shoal-%08" PRIx32 "%08" PRIx32, arc4random(), arc4random());
    _cleanup_close_ int fd =
        open_at(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0) {
        free_roots(roots);
        return fd;
    }
    int r = pack_roots(run, roots, fd);
    if (r == 0 && run->stop != STOP_NONE)
        r = -ECANCELED;
    if (r == 0 && run->options->sync)
        r = sync_all(fd, directory);
    if (r == 0 && renameat(directory, temporary, directory, name) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(directory, temporary, 0); /* the failure that counts is the one before */
    return r == -ECANCELED ? 0 : r;
}

/* What is no regular file (a tape, a FIFO) is written to as it stands. */
static int pack_into(struct run *run, struct root *roots, const char *to)
{
    _cleanup_close_ int fd = open_at(AT_FDCWD, to, O_WRONLY | O_NOCTTY, 0);
    if (fd < 0) {
        free_roots(roots);
        return fd;
    }
    return pack_roots(run, roots, fd);
}

int pack_roots_to(struct run *run, struct root *roots, const char *to)
{
    _cleanup_free_ char *parent = NULL, *name = NULL, *target = NULL;
    struct stat st;
    bool exists = stat(to, &st) == 0;

    if (strcmp(to, "-") == 0)
        return pack_roots(run, roots, STDOUT_FILENO);
    if (exists && !S_ISREG(st.st_mode))
        return pack_into(run, roots, to);
    if (exists && run->options->existing == SHOAL_EXISTING_KEEP) {
        free_roots(roots);
        return -EEXIST;
    }
    target = exists ? realpath(to, NULL) : path_without_slashes(to);
    int r = target ? path_split(target, &parent, &name) : -ENOMEM;
    _cleanup_close_ int directory =
        r == 0 ? open_at(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0) : r;
    if (directory < 0) {
        free_roots(roots);
        return directory;
    }
    return pack_new_file(run, roots, directory, name);
}
