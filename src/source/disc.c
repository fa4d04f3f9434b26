#include "source/disc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "disc/disc.h"
#include "disc/sectors.h"

/* Symbolic links that are followed, one after the other, before that is taken for a loop. */
#define LINKS_MAX 40

struct source_dir {
    struct disc_source *source;
    uint64_t node;
    bool is_listed;
    int error; /* of the listing, yet to be told */
    struct disc_fault fault;
};

struct disc_source {
    struct tree_source tree;
    struct disc *disc;
    struct source_dir start;
};

/* An open file. */
struct disc_file {
    struct disc *disc;
    uint64_t node;
};

/* Says what failed, and at which sector. */
static int fail(
    struct outcome *outcome, const char *operation, const struct disc_fault *fault, int r)
{
    if (!outcome->operation)
        outcome->damage = (struct damage){fault->what, fault->sector};
    return outcome_fail(outcome, operation, r);
}

/* ---- names ---- */

/* The node of a name; "." is the directory itself. */
static int find(struct disc *disc, uint64_t directory, const char *name, uint64_t *ret,
    struct disc_fault *fault)
{
    if (strcmp(name, ".") != 0)
        return disc->ops->find(disc, directory, name, ret, fault);
    *ret = directory;
    return 0;
}

static int reserve_target(struct source_scratch *scratch)
{
    if (scratch->target_room >= DISC_TARGET_MAX)
        return 0;
    char *target = realloc(scratch->target, DISC_TARGET_MAX);
    if (!target)
        return -ENOMEM;
    scratch->target = target;
    scratch->target_room = DISC_TARGET_MAX;
    return 0;
}

/* Where the walk along a path is: in the directory `at`, with `links` followed so far. */
struct walk {
    uint64_t at;
    unsigned links;
};

/* The parent of a directory is not on every disc: what leads out of the start is refused, and so is
 * "..". */
static int follow_path(
    struct disc_source *source, struct walk *walk, const char *path, struct disc_fault *fault);

/* Takes one component of a path. */
static int follow_component(
    struct disc_source *source, struct walk *walk, const char *name, struct disc_fault *fault)
{
    struct disc *disc = source->disc;
    char target[DISC_TARGET_MAX];
    struct entry entry;
    uint64_t node = 0;

    if (strcmp(name, "..") == 0)
        return -EOPNOTSUPP;
    int r = find(disc, walk->at, name, &node, fault);
    if (r == 0)
        r = disc->ops->look(disc, node, target, &entry, fault);
    if (r < 0)
        return r;
    if (!S_ISLNK(entry.mode)) {
        walk->at = node;
        return 0;
    }
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    return follow_path(source, walk, target, fault);
}

static int follow_path(
    struct disc_source *source, struct walk *walk, const char *path, struct disc_fault *fault)
{
    char name[256];

    if (*path == '/')
        walk->at = source->disc->root;
    while (*(path += strspn(path, "/"))) {
        size_t length = strcspn(path, "/");
        if (length >= sizeof(name))
            return -ENAMETOOLONG;
        memcpy(name, path, length);
        name[length] = '\0';
        int r = follow_component(source, walk, name, fault);
        if (r < 0)
            return r;
        path += length;
    }
    return 0;
}

/* Finds a name and looks at it: what it leads to with `follow`. */
static int look_at(struct source_dir *dir, const char *name, bool follow,
    struct source_scratch *scratch, uint64_t *ret_node, struct entry *ret, struct disc_fault *fault)
{
    struct disc *disc = dir->source->disc;
    struct walk walk = {.at = dir->node};

    int r = reserve_target(scratch);
    if (r == 0)
        r = follow ? follow_path(dir->source, &walk, name, fault)
                   : find(disc, dir->node, name, &walk.at, fault);
    if (r == 0)
        r = disc->ops->look(disc, walk.at, scratch->target, ret, fault);
    if (r == 0)
        *ret_node = walk.at;
    return r;
}

/* ---- directories ---- */

static int disc_open_dir(struct source_dir *parent, const char *name, bool follow,
    struct source_scratch *scratch, struct entry *ret_entry, struct source_dir **ret,
    struct outcome *outcome)
{
    struct disc_fault fault = {0};
    uint64_t node = 0;
    int r = look_at(parent, name, follow, scratch, &node, ret_entry, &fault);

    if (r == 0 && !S_ISDIR(ret_entry->mode))
        r = -ENOTDIR;
    if (r < 0)
        return fail(outcome, "open directory", &fault, r);
    struct source_dir *dir = malloc(sizeof(*dir));
    if (!dir)
        return outcome_fail(outcome, "open directory", -ENOMEM);
    *dir = (struct source_dir){.source = parent->source, .node = node};
    *ret = dir;
    return 0;
}

/* The names that are gathered into a batch. */
struct listing {
    struct disc *disc;
    struct source_batch *batch;
    size_t used, room; /* of the batch's buffer, which the names move with */
};

/* Where a file's content begins, so that a drive need not go back and forth. */
static uint64_t position_of(struct disc *disc, uint64_t node, unsigned char type)
{
    struct disc_fault fault = {0};
    uint64_t at, length;

    if (type != DT_REG || disc->ops->map(disc, node, 0, &at, &length, &fault) < 0)
        return 0;
    return at == UINT64_MAX ? 0 : at;
}

static int take_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct listing *listing = context;
    struct source_batch *batch = listing->batch;
    size_t size = strlen(name) + 1;

    if (batch->n == batch->room) {
        size_t room = batch->room ? batch->room * 2 : 256;
        struct source_name *names = reallocarray(batch->names, room, sizeof(*names));
        if (!names)
            return -ENOMEM;
        batch->names = names;
        batch->room = room;
    }
    if (listing->room - listing->used < size) {
        size_t room = listing->room * 2 + size + 4096;
        char *buffer = realloc(batch->buffer, room);
        if (!buffer)
            return -ENOMEM;
        batch->buffer = buffer;
        listing->room = room;
    }
    memcpy(batch->buffer + listing->used, name, size);
    batch->names[batch->n++] = (struct source_name){
        .name = (const char *)listing->used, /* an offset as long as the buffer may move */
        .type = type,
        .position = position_of(listing->disc, node, type),
    };
    listing->used += size;
    return 0;
}

static int by_position(const void *a, const void *b)
{
    const struct source_name *left = a, *right = b;
    return (left->position > right->position) - (left->position < right->position);
}

/* A directory is one batch. What can be read of a damaged one is given first, and the failure told
 * at the next call. */
static int disc_list(struct source_dir *dir, struct source_batch *batch, struct outcome *outcome)
{
    struct disc *disc = dir->source->disc;
    struct listing listing = {.disc = disc, .batch = batch};

    batch->n = 0;
    if (dir->is_listed)
        return dir->error < 0 ? fail(outcome, "list directory", &dir->fault, dir->error) : 0;
    free(batch->buffer);
    batch->buffer = NULL;
    dir->error = disc->ops->list(disc, dir->node, take_name, &listing, &dir->fault);
    for (size_t i = 0; i < batch->n; i++)
        batch->names[i].name = batch->buffer + (size_t)batch->names[i].name;
    dir->is_listed = true;
    if (batch->n == 0)
        return disc_list(dir, batch, outcome);
    qsort(batch->names, batch->n, sizeof(*batch->names), by_position);
    return 1;
}

static void disc_close_dir(struct source_dir *dir)
{
    free(dir);
}

/* ---- files ---- */

static int disc_look(struct source_dir *dir, const char *name, bool follow,
    struct source_scratch *scratch, struct entry *ret_entry, struct outcome *outcome)
{
    struct disc_fault fault = {0};
    uint64_t node = 0;
    int r = look_at(dir, name, follow, scratch, &node, ret_entry, &fault);
    return r < 0 ? fail(outcome, "examine", &fault, r) : 0;
}

static ssize_t file_read(struct source_file *file, void *buffer, size_t n, uint64_t offset)
{
    const struct disc_file *own = file->own;
    struct disc_fault fault = {0};
    ssize_t got = own->disc->ops->read(own->disc, own->node, buffer, n, offset, &fault);

    if (got < 0)
        file->damage = (struct damage){fault.what, fault.sector};
    return got;
}

static int file_next_data(
    struct source_file *file, uint64_t from, uint64_t *ret_start, uint64_t *ret_end)
{
    const struct disc_file *own = file->own;
    struct disc_fault fault = {0};
    uint64_t at, length;
    int r;

    while ((r = own->disc->ops->map(own->disc, own->node, from, &at, &length, &fault)) == 0 &&
           at == UINT64_MAX)
        from += length;
    if (r < 0)
        return r == -ENODATA ? 0 : r;
    *ret_start = from;
    while (r == 0 && at != UINT64_MAX) {
        from += length;
        r = own->disc->ops->map(own->disc, own->node, from, &at, &length, &fault);
    }
    *ret_end = from;
    return 1;
}

static bool file_has_changed(struct source_file *file, const struct entry *entry)
{
    (void)file;
    (void)entry;
    return false;
}

static void file_close(struct source_file *file)
{
    free(file->own);
}

static const struct source_file_ops file_ops = {
    .read = file_read,
    .next_data = file_next_data,
    .has_changed = file_has_changed,
    .close = file_close,
};

/* Lets the kernel read content that lies in one piece. */
static void expose(struct disc *disc, uint64_t node, uint64_t size, struct source_file *file)
{
    struct disc_fault fault = {0};
    uint64_t at, length;

    if (disc->sectors->fd < 0 || size == 0 ||
        disc->ops->map(disc, node, 0, &at, &length, &fault) < 0 || at == UINT64_MAX ||
        length < size || at + size > disc->sectors->bytes)
        return;
    file->fd = disc->sectors->fd;
    file->base = at;
}

static int disc_open_file(struct source_dir *dir, const char *name, bool follow,
    struct source_scratch *scratch, struct entry *ret_entry, struct source_file *ret,
    struct outcome *outcome)
{
    struct disc *disc = dir->source->disc;
    struct disc_fault fault = {0};
    uint64_t node = 0;
    int r = look_at(dir, name, follow, scratch, &node, ret_entry, &fault);

    if (r < 0)
        return fail(outcome, "open", &fault, r);
    if (!S_ISREG(ret_entry->mode))
        return -ESTALE;
    struct disc_file *own = malloc(sizeof(*own));
    if (!own)
        return outcome_fail(outcome, "open", -ENOMEM);
    *own = (struct disc_file){disc, node};
    *ret = (struct source_file){.ops = &file_ops, .fd = -1, .own = own};
    expose(disc, node, ret_entry->size, ret);
    return 0;
}

static void disc_source_free(struct tree_source *tree)
{
    free(tree);
}

static const struct tree_source_ops disc_ops = {
    .open_dir = disc_open_dir,
    .list = disc_list,
    .look = disc_look,
    .open_file = disc_open_file,
    .close_dir = disc_close_dir,
    .free = disc_source_free,
};

int disc_source_new(struct disc *disc, uint64_t start, struct tree_source **ret)
{
    struct disc_source *source = calloc(1, sizeof(*source));

    if (!source)
        return -ENOMEM;
    source->disc = disc;
    source->start = (struct source_dir){.source = source, .node = start};
    source->tree = (struct tree_source){.ops = &disc_ops, .start = &source->start};
    *ret = &source->tree;
    return 0;
}
