#include "disc/efs_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/open.h"
#include "disc/efs.h"

/* Links in an inode are counted in 16 bits, signed. */
#define LINKS_MAX  32767

#define TARGET_MAX 4096

struct reading {
    struct efs_tree *tree;
    const struct stat *left_out;
    const struct make_watch *watch;
    struct make_totals *totals;
    struct efs_node *at; /* what failed */
};

/* ---- nodes ---- */

static int by_inode(const void *a, const void *b)
{
    const struct efs_node *left = a, *right = b;
    if (left->st.st_dev != right->st.st_dev)
        return left->st.st_dev < right->st.st_dev ? -1 : 1;
    return (left->st.st_ino > right->st.st_ino) - (left->st.st_ino < right->st.st_ino);
}

static struct efs_node *node_new(
    struct efs_tree *tree, struct efs_node *parent, const char *name, const struct stat *st)
{
    struct efs_node *node = calloc(1, sizeof(*node));

    if (node)
        node->name = strdup(name);
    if (!node || !node->name) {
        free(node);
        return NULL;
    }
    node->st = *st;
    node->parent = parent;
    node->number = EFS_ROOT + (uint32_t)tree->n++;
    if (tree->last)
        tree->last->next = node;
    else
        tree->first = node;
    tree->last = node;
    return node;
}

void efs_tree_free(struct efs_tree *tree)
{
    for (struct efs_node *node = tree->first, *next; node; node = next) {
        next = node->next;
        for (size_t i = 0; i < node->n_names; i++)
            free(node->names[i].name);
        free(node->names);
        free(node->name);
        free(node->target);
        free(node->pieces);
        free(node->runs);
        if (tree->linked)
            (void)tdelete(node, &tree->linked, by_inode);
        free(node);
    }
    *tree = (struct efs_tree){0};
}

static int put_path(const struct efs_node *node, struct bytes *path)
{
    /* From the end: a chain may be longer than a stack is deep. */
    size_t length = node->parent ? 0 : 1;
    for (const struct efs_node *up = node; up->parent; up = up->parent)
        length += strlen(up->name) + 1;
    if (bytes_reserve(path, length) < 0)
        return -ENOMEM;
    path->n = length;
    path->data[--length] = '\0';
    for (const struct efs_node *up = node; up->parent; up = up->parent) {
        size_t n = strlen(up->name);
        memcpy(path->data + (length -= n), up->name, n);
        if (length > 0)
            path->data[--length] = '/';
    }
    return 0;
}

char *efs_node_path(const struct efs_node *node)
{
    struct bytes path = {0};
    return put_path(node, &path) < 0 ? NULL : path.data;
}

/* Opens the directory that a node is in, component by component: no path is too long. */
static int open_parent(int directory_fd, const struct efs_node *node)
{
    _cleanup_free_ char *path = efs_node_path(node->parent);
    int at = open_at(directory_fd, ".", O_PATH | O_DIRECTORY, 0);
    char *rest = path;

    for (char *name; path && at >= 0 && (name = strsep(&rest, "/"));) {
        if (!*name)
            continue;
        int next = open_at(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        (void)close(at); /* O_PATH: nothing to lose */
        at = next;
    }
    if (!path && at >= 0)
        (void)close(at); /* O_PATH: nothing to lose */
    return path ? at : -ENOMEM;
}

int efs_node_open(int directory_fd, const struct efs_node *node)
{
    _cleanup_close_ int parent = open_parent(directory_fd, node);
    struct stat st;

    if (parent < 0)
        return parent;
    _cleanup_close_ int fd =
        open_at(parent, node->name, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    return st.st_dev == node->st.st_dev && st.st_ino == node->st.st_ino ? TAKE_FD(fd) : -ESTALE;
}

/* ---- reading ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct efs_name *)a)->name, ((const struct efs_name *)b)->name);
}

static bool is_dot_or_dotdot(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* The names of a directory, sorted: without nodes yet. Takes the descriptor over. */
static int list_names(int fd, struct efs_node *node)
{
    _cleanup_closedir_ DIR *listing = fdopendir(fd);
    const struct dirent *record;
    size_t room = 0;

    if (!listing) {
        int r = -errno;
        (void)close(fd); /* was only read from */
        return r;
    }
    for (errno = 0; (record = readdir(listing)); errno = 0) {
        if (is_dot_or_dotdot(record->d_name))
            continue;
        if (node->n_names == room) {
            room = room ? room * 2 : 16;
            struct efs_name *names = reallocarray(node->names, room, sizeof(*names));
            if (!names)
                return -ENOMEM;
            node->names = names;
        }
        char *name = strdup(record->d_name);
        if (!name)
            return -ENOMEM;
        node->names[node->n_names++] = (struct efs_name){.name = name};
    }
    if (errno != 0)
        return -errno;
    if (node->n_names > 0)
        qsort(node->names, node->n_names, sizeof(*node->names), by_name);
    return 0;
}

static int read_target(int fd, struct efs_node *node)
{
    char target[TARGET_MAX + 1];
    ssize_t n = readlinkat(fd, node->name, target, sizeof(target));

    if (n < 0)
        return -errno;
    if ((size_t)n > TARGET_MAX - 1)
        return -ENAMETOOLONG;
    node->st.st_size = n;
    node->target = strndup(target, (size_t)n);
    return node->target ? 0 : -ENOMEM;
}

static int check_size(const struct efs_node *node)
{
    return S_ISREG(node->st.st_mode) && node->st.st_size > INT32_MAX ? -EFBIG : 0;
}

/* The node of a name: a new one, or one that has another name already. */
static int take_node(struct reading *reading, struct efs_node *parent, int fd,
    struct efs_name *name, struct stat *st)
{
    struct efs_tree *tree = reading->tree;
    bool is_linked = !S_ISDIR(st->st_mode) && st->st_nlink > 1;
    const struct efs_node wanted = {.st = *st};
    struct efs_node **known =
        is_linked ? (struct efs_node **)tfind(&wanted, &tree->linked, by_inode) : NULL;

    if (known) {
        name->node = *known;
        return (*known)->links++ < LINKS_MAX ? 0 : -EMLINK;
    }
    struct efs_node *node = node_new(tree, parent, name->name, st);
    if (!node)
        return -ENOMEM;
    name->node = reading->at = node;
    node->links = 1;
    if (is_linked && !tsearch(node, &tree->linked, by_inode))
        return -ENOMEM;
    if (st->st_uid > UINT16_MAX || st->st_gid > UINT16_MAX)
        reading->totals->owners++;
    int r = S_ISLNK(st->st_mode) ? read_target(fd, node) : check_size(node);
    if (r == 0 && !S_ISDIR(st->st_mode))
        reading->totals->files++;
    if (r == 0 && S_ISREG(st->st_mode))
        reading->totals->bytes += (uint64_t)st->st_size;
    return r;
}

/* Sockets, and the image itself, are no names of the disc. */
static bool is_left_out(struct reading *reading, const struct stat *st)
{
    reading->totals->sockets += S_ISSOCK(st->st_mode);
    return S_ISSOCK(st->st_mode) ||
           (st->st_dev == reading->left_out->st_dev && st->st_ino == reading->left_out->st_ino);
}

/* 1: the name is the disc's, too; 0: it is left out, and empty now; or a negative errno. */
static int take_name(struct reading *reading, struct efs_node *node, int fd, struct efs_name *name)
{
    const struct make_watch *watch = reading->watch;
    struct stat st;

    reading->at = node;
    if (watch->should_stop && watch->should_stop(watch->context))
        return -EINTR;
    if (fstatat(fd, name->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (is_left_out(reading, &st)) {
        free(TAKE_PTR(name->name));
        return 0;
    }
    int r = take_node(reading, node, fd, name, &st);
    if (r == 0 && S_ISDIR(st.st_mode) && node->links++ >= LINKS_MAX)
        r = -EMLINK;
    return r < 0 ? r : 1;
}

/* Fills a directory, whose descriptor is taken over; its own directories are only noted: they
 * follow in the order of their numbers. */
static int read_directory(struct reading *reading, int fd, struct efs_node *node)
{
    int listed = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    _cleanup_close_ int at = fd;
    size_t kept = 0;
    int r = listed < 0 ? -errno : list_names(listed, node);

    node->links = 2;
    for (size_t i = 0; i < node->n_names && r >= 0; i++)
        r = take_name(reading, node, at, &node->names[i]);
    for (size_t i = 0; i < node->n_names && r >= 0; i++)
        if (node->names[i].name)
            node->names[kept++] = node->names[i];
    if (r >= 0)
        node->n_names = kept;
    reading->totals->directories++;
    return r < 0 ? r : 0;
}

static int open_directory(int directory_fd, const struct efs_node *node)
{
    if (!node->parent)
        return open_at(directory_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    _cleanup_close_ int parent = open_parent(directory_fd, node);
    return parent < 0 ? parent
                      : open_at(parent, node->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

int efs_tree_read(int directory_fd, const struct stat *left_out, const struct make_watch *watch,
    struct efs_tree *ret, struct make_totals *totals, char **ret_path)
{
    struct reading reading = {.tree = ret, .left_out = left_out, .watch = watch, .totals = totals};
    struct stat st;
    int r = fstat(directory_fd, &st) < 0 ? -errno : 0;

    *ret = (struct efs_tree){0};
    if (r == 0 && !node_new(ret, NULL, "", &st))
        r = -ENOMEM;
    /* Directories that are met are added behind: each is read once, without recursion. */
    for (struct efs_node *node = ret->first; node && r == 0; node = node->next) {
        if (!S_ISDIR(node->st.st_mode))
            continue;
        reading.at = node;
        int fd = open_directory(directory_fd, node);
        r = fd < 0 ? fd : read_directory(&reading, fd, node);
    }
    if (r < 0 && r != -EINTR && reading.at)
        *ret_path = efs_node_path(reading.at);
    return r;
}
