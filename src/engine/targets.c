#include "engine/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "base/path.h"
#include "engine/events.h"
#include "engine/from.h"
#include "engine/pack.h"
#include "engine/root.h"
#include "engine/run.h"
#include "engine/stream_to_tree.h"
#include "engine/tree_to_tree.h"

/* TO, as far as it is the same for every FROM. */
struct destination {
    int fd;                 /* the directory that copies are named in */
    const char *path;       /* as given; what messages begin with */
    bool into;              /* copies go into it under their own names */
    char *name;             /* else: the name of the only copy */
    bool must_be_directory; /* TO ends in a slash, and nothing stands there */
};

/* ---- TO ---- */

/* What TO stands for, should it be a symbolic link: with `follow`, what it leads to. Else cp's
 * rule: a file is written through one that leads to a file (the file that is replaced is then the
 * one it leads to), and one that leads nowhere is refused. NULL with *ret_error set if that fails.
 */
static char *resolve_final_link(const char *to, const char *from, bool follow, int *ret_error)
{
    struct stat link, target, source;

    *ret_error = -ENOMEM;
    if (follow && stat(to, &target) == 0)
        return realpath(to, NULL);
    if (lstat(to, &link) < 0 || !S_ISLNK(link.st_mode) || lstat(from, &source) < 0 ||
        !S_ISREG(source.st_mode))
        return path_without_slashes(to);
    if (stat(to, &target) < 0) {
        *ret_error = -errno;
        return NULL;
    }
    char *path = S_ISREG(target.st_mode) ? realpath(to, NULL) : path_without_slashes(to);
    if (!path)
        *ret_error = -errno;
    return path;
}

static int open_directory(const char *path)
{
    return open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
}

static int resolve_new_name(
    const char *to, const char *from, bool follow, struct destination *destination)
{
    _cleanup_free_ char *parent = NULL;
    int r;
    _cleanup_free_ char *path = resolve_final_link(to, from, follow, &r);

    if (!path)
        return r;
    r = path_split(path, &parent, &destination->name);
    if (r < 0)
        return r;
    destination->must_be_directory = path_ends_in_slash(to);
    destination->fd = open_directory(parent);
    return destination->fd < 0 ? destination->fd : 0;
}

static int resolve_destination(const struct run *run, const char *const *from, size_t n_from,
    const char *to, struct destination *destination)
{
    const struct shoal_options *options = run->options;
    struct stat st;
    bool exists = stat(to, &st) == 0;

    *destination = (struct destination){.fd = -1, .path = to};
    destination->into = options->target == SHOAL_TARGET_DIRECTORY || n_from > 1 ||
                        (options->target == SHOAL_TARGET_AUTO && exists && S_ISDIR(st.st_mode));
    if (n_from > 1 && options->target == SHOAL_TARGET_NAME)
        return -EINVAL;
    if (!destination->into)
        return resolve_new_name(to, from[0],
            run->comparing && (options->follow != SHOAL_FOLLOW_NEVER || path_ends_in_slash(to)),
            destination);
    destination->fd = open_directory(to);
    return destination->fd < 0 ? destination->fd : 0;
}

/* ---- FROM ---- */

/* Whether the directory `fd`, or one above it, is the inode. */
static bool is_at_or_below(int fd, const struct stat *inode)
{
    _cleanup_close_ int at = open_at(fd, ".", O_PATH | O_DIRECTORY, 0);
    struct stat here, above;

    if (at < 0 || fstat(at, &here) < 0)
        return false;
    for (;;) {
        if (here.st_dev == inode->st_dev && here.st_ino == inode->st_ino)
            return true;
        int up = open_at(at, "..", O_PATH | O_DIRECTORY, 0);
        if (up < 0)
            return false;
        (void)close(at); /* O_PATH: nothing to lose */
        at = up;
        if (fstat(at, &above) < 0 || (above.st_dev == here.st_dev && above.st_ino == here.st_ino))
            return false;
        here = above;
    }
}

/* What cp calls "the same file", and a directory that would be copied into itself: NULL if neither.
 */
static const char *find_conflict(
    const struct destination *destination, const char *target_name, const struct stat *from)
{
    struct stat target;

    if (fstatat(destination->fd, target_name, &target, AT_SYMLINK_NOFOLLOW) == 0 &&
        target.st_dev == from->st_dev && target.st_ino == from->st_ino)
        return "copy onto itself";
    if (S_ISDIR(from->st_mode) && is_at_or_below(destination->fd, from))
        return "copy into itself";
    return NULL;
}

static struct root *root_new(
    struct run *run, const struct destination *destination, const char *from)
{
    struct root *root = calloc(1, sizeof(*root));

    if (!root)
        return NULL;
    root->run = run;
    root->job.run = tree_to_tree_run_root;
    root->from = path_without_slashes(from);
    if (!root->from || path_split(root->from, &root->parent_path, &root->source_name) < 0)
        goto no_memory;
    root->target_name = strdup(destination->into ? root->source_name : destination->name);
    if (!root->target_name)
        goto no_memory;
    root->target = destination->into ? path_join(destination->path, root->target_name)
                                     : path_without_slashes(destination->path);
    if (!root->target)
        goto no_memory;
    return root;

no_memory:
    root_free(root);
    return NULL;
}

/* ---- FROM as an archive or a disc ---- */

/* The name that the top, or the part that is taken, gets. */
static int name_part_target(
    struct root *root, const struct destination *destination, const char *part)
{
    _cleanup_free_ char *whole = part ? path_without_slashes(part) : NULL, *parent = NULL;

    if (!destination->into)
        root->target_name = strdup(destination->name);
    else if (!whole)
        root->target_name = strdup(".");
    else if (path_split(whole, &parent, &root->target_name) < 0)
        return -ENOMEM;
    if (!root->target_name)
        return -ENOMEM;
    root->target = destination->into ? path_join(destination->path, root->target_name)
                                     : path_without_slashes(destination->path);
    return root->target ? 0 : -ENOMEM;
}

/* A root for what is not on disk as it is: 1; 0: it is; or as from_open(). */
static int packed_root_new(
    struct run *run, const struct destination *destination, const char *from, struct root **ret)
{
    struct root *root = calloc(1, sizeof(*root));
    _cleanup_free_ char *part = NULL;
    int r = root ? from_open(run, from, root, &part) : -ENOMEM;

    if (r == 1 && name_part_target(root, destination, part) < 0)
        r = -ENOMEM;
    if (r == 1 && root->disc && root->ino == 0 && destination->must_be_directory) {
        events_fault_path(run, "create", destination->path, -ENOTDIR);
        r = -ECANCELED;
    }
    if (r <= 0) {
        if (r < 0 && r != -ECANCELED)
            events_fault_path(run, r == -EILSEQ ? "understand the archive" : "read", from, r);
        root_free(root);
        return r < 0 ? -ECANCELED : 0;
    }
    root->job.run = root->stream ? stream_to_tree_run_root : tree_to_tree_run_root;
    if (root->stream)
        run->threads_apart = 1;
    *ret = root;
    return 1;
}

/* ---- each FROM ---- */

/* Looks at what FROM is. Returns 0, or -ECANCELED after the reason was told. */
static int examine_root(struct root *root, const struct destination *destination, const char *from)
{
    struct run *run = root->run;
    struct stat st;

    root->follow = run->options->follow != SHOAL_FOLLOW_NEVER || path_ends_in_slash(from);
    if ((root->follow ? stat(from, &st) : lstat(from, &st)) < 0) {
        events_fault_path(run, "examine", from, -errno);
        return -ECANCELED;
    }
    if (!S_ISDIR(st.st_mode) && destination->must_be_directory) {
        events_fault_path(run, "create", destination->path, -ENOTDIR);
        return -ECANCELED;
    }
    const char *conflict =
        run->comparing ? NULL : find_conflict(destination, root->target_name, &st);
    if (conflict) {
        events_fault_path(run, conflict, root->from, -EINVAL);
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

/* A FROM given twice is copied once, as cp does. */
static bool is_repeated(struct root *const *roots, size_t n, const struct root *root)
{
    for (size_t i = 0; i < n; i++)
        if (!root->stream && !roots[i]->stream && roots[i]->from_dev == root->from_dev &&
            roots[i]->from_ino == root->from_ino &&
            strcmp(roots[i]->target_name, root->target_name) == 0)
            return true;
    return false;
}

static int by_target_name(const void *a, const void *b)
{
    const struct root *left = *(const struct root *const *)a,
                      *right = *(const struct root *const *)b;
    int order = strcmp(left->target_name, right->target_name);
    return order ? order : (left->order > right->order) - (left->order < right->order);
}

/* Chains the roots for the pool; those that go to one name wait for each other, so that a later one
 * is laid over an earlier one. One that goes to "." can meet any other there: then all wait. */
static struct root *chain_roots(struct root **roots, size_t n)
{
    struct root *first = NULL;
    bool all_wait = false;

    for (size_t i = 0; i < n; i++)
        all_wait |= roots[i]->stream || strcmp(roots[i]->target_name, ".") == 0;
    if (!all_wait)
        qsort(roots, n, sizeof(*roots), by_target_name);
    for (size_t i = n; i > 0; i--) {
        struct root *root = roots[i - 1];
        root->weight = 1.0 / (double)n;
        root->job.link.next = NULL;
        if (i < n && (all_wait || strcmp(root->target_name, roots[i]->target_name) == 0)) {
            root->next_same = roots[i];
            root->job.link.next = roots[i]->job.link.next;
            roots[i]->job.link.next = NULL;
        } else {
            root->job.link.next = first ? &first->job.link : NULL;
        }
        first = root;
    }
    return first;
}

/* A root for one FROM. 0; -ECANCELED after it was told why there is none; or a negative errno. */
static int make_root(
    struct run *run, const struct destination *destination, const char *from, struct root **ret)
{
    int r = packed_root_new(run, destination, from, ret);

    if (r != 0)
        return r < 0 ? r : 0;
    struct root *root = root_new(run, destination, from);
    r = root ? examine_root(root, destination, from) : -ENOMEM;
    if (r < 0)
        root_free(root);
    else
        *ret = root;
    return r;
}

int targets_resolve(
    struct run *run, const char *const *from, size_t n_from, const char *to, struct targets *ret)
{
    struct destination destination;
    _cleanup_free_ struct root **roots = calloc(n_from, sizeof(*roots));
    size_t n = 0;

    int r = roots ? resolve_destination(run, from, n_from, to, &destination) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n_from; i++) {
        struct root *root;
        r = make_root(run, &destination, from[i], &root);
        if (r == -ECANCELED) {
            r = 0;
        } else if (r == 0 && is_repeated(roots, n, root)) {
            events_note_path(run, "given more than once", root->from);
            root_free(root);
        } else if (r == 0) {
            root->order = i;
            roots[n++] = root;
        }
    }
    if (roots)
        free(destination.name);
    if (r < 0) {
        for (size_t i = 0; i < n; i++)
            root_free(roots[i]);
        if (roots && destination.fd >= 0)
            (void)close(destination.fd); /* O_PATH: nothing to lose */
        return r;
    }
    ret->fd = destination.fd;
    ret->first = n > 0 ? chain_roots(roots, n) : NULL;
    return 0;
}

/* The path under which what is on a disc is recorded. */
static int name_recorded(struct root *root, bool at_top)
{
    root->target_name = strdup(root->source_name);
    root->target = strdup(at_top ? "." : root->source_name);
    return root->target_name && root->target ? 0 : -ENOMEM;
}

/* A root for what is not on disk as it is, to be packed: 1; 0: it is; or a negative errno. */
static int packed_root(struct run *run, const char *from, bool at_top, struct root **ret)
{
    struct root *root = calloc(1, sizeof(*root));
    _cleanup_free_ char *part = NULL;
    int r = root ? from_open(run, from, root, &part) : -ENOMEM;

    if (r == 1 && root->disc && name_recorded(root, at_top) < 0)
        r = -ENOMEM;
    if (r == 1)
        *ret = root;
    else
        root_free(root);
    return r;
}

int targets_pack(struct run *run, const char *const *from, size_t n_from, struct root **ret)
{
    bool at_top = run->options->target == SHOAL_TARGET_NAME;
    struct root_chain chain = {0};
    int r = 0;

    for (size_t i = 0; i < n_from && r >= 0; i++) {
        struct root *root = NULL;
        r = packed_root(run, from[i], at_top, &root);
        if (r == 0)
            r = pack_root(run, from[i], at_top, &root);
        if (r >= 0)
            root_chain_append(&chain, root);
        if (r >= 0 && root->stream && n_from > 1)
            r = -EINVAL; /* an archive is converted alone */
        if (r == -ECANCELED)
            r = 0;
    }
    if (r >= 0) {
        *ret = chain.first;
        return 0;
    }
    root_chain_free(&chain);
    return r;
}

int targets_list(struct run *run, const char *from, struct root **ret)
{
    int r = packed_root(run, from, false, ret);

    if (r == 0)
        r = pack_root_new(run, NULL, from, from, ret);
    return r < 0 ? r : 0;
}
