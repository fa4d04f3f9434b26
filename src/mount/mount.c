#include "mount/mount.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disc/disc.h"
#include "disc/sectors.h"

/* Nothing of a disc changes: the kernel may keep what it was told, for good. */
#define FOREVER_SECONDS 86400.0

/* The largest read that the kernel is to ask for. */
#define READ_BYTES_MAX (1024 * 1024)

/* FUSE's number of a node: 0 means none, 1 is the root. */
#define NUMBERS_RESERVED 2

static struct disc *disc_of(fuse_req_t request)
{
    return fuse_req_userdata(request);
}

static fuse_ino_t number_of(const struct disc *disc, uint64_t node)
{
    return node == disc->root ? FUSE_ROOT_ID : node + NUMBERS_RESERVED;
}

static uint64_t node_of(const struct disc *disc, fuse_ino_t number)
{
    return number == FUSE_ROOT_ID ? disc->root : number - NUMBERS_RESERVED;
}

static void fail(fuse_req_t request, int r)
{
    (void)fuse_reply_err(request, -r); /* the kernel has given the request up: nothing to do */
}

/* ---- attributes ---- */

static struct stat stat_of(const struct entry *entry)
{
    return (struct stat){
        .st_ino = entry->ino,
        .st_mode = entry->mode,
        .st_nlink = entry->nlink,
        .st_uid = entry->uid,
        .st_gid = entry->gid,
        .st_rdev = entry->rdev,
        .st_size = (off_t)entry->size,
        .st_blksize = SECTOR_BYTES,
        .st_blocks = (blkcnt_t)((entry->allocated + 511) / 512),
        .st_atim = entry->atime,
        .st_mtim = entry->mtime,
        .st_ctim = entry->ctime,
    };
}

static int look(struct disc *disc, uint64_t node, struct fuse_entry_param *ret)
{
    char target[DISC_TARGET_MAX];
    struct disc_fault fault = {0};
    struct entry entry;
    int r = disc->ops->look(disc, node, target, &entry, &fault);

    if (r < 0)
        return r;
    *ret = (struct fuse_entry_param){
        .ino = number_of(disc, node),
        .attr = stat_of(&entry),
        .attr_timeout = FOREVER_SECONDS,
        .entry_timeout = FOREVER_SECONDS,
    };
    return 0;
}

static void on_getattr(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
    struct disc *disc = disc_of(request);
    struct fuse_entry_param param;
    int r = look(disc, node_of(disc, number), &param);

    (void)info;
    if (r < 0)
        fail(request, r);
    else
        (void)fuse_reply_attr(request, &param.attr, FOREVER_SECONDS);
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct disc *disc = disc_of(request);
    struct fuse_entry_param param = {.entry_timeout = FOREVER_SECONDS}; /* that there is none */
    struct disc_fault fault = {0};
    uint64_t node;

    int r = disc->ops->find(disc, node_of(disc, parent), name, &node, &fault);
    if (r == 0)
        r = look(disc, node, &param);
    if (r < 0 && r != -ENOENT)
        fail(request, r);
    else
        (void)fuse_reply_entry(request, &param);
}

static void on_readlink(fuse_req_t request, fuse_ino_t number)
{
    struct disc *disc = disc_of(request);
    char target[DISC_TARGET_MAX];
    struct disc_fault fault = {0};
    struct entry entry;

    int r = disc->ops->look(disc, node_of(disc, number), target, &entry, &fault);
    if (r == 0 && !S_ISLNK(entry.mode))
        r = -EINVAL;
    if (r < 0)
        fail(request, r);
    else
        (void)fuse_reply_readlink(request, entry.link_target);
}

/* ---- directories ---- */

struct listed_name {
    uint64_t node;
    size_t name; /* an offset into the names' bytes */
    unsigned char type;
};

/* An open directory: all its names, as of its opening. */
struct listing {
    struct bytes entries; /* of struct listed_name */
    struct bytes names;
};

static int take_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct listing *listing = context;
    const struct listed_name entry = {node, listing->names.n, type};
    int r = bytes_append(&listing->names, name, strlen(name) + 1);

    return r == 0 ? bytes_append(&listing->entries, &entry, sizeof(entry)) : r;
}

static void free_listing(struct listing *listing)
{
    bytes_free(&listing->entries);
    bytes_free(&listing->names);
    free(listing);
}

/* Of a damaged directory, what can be read is shown. */
static void on_opendir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
    struct disc *disc = disc_of(request);
    struct listing *listing = calloc(1, sizeof(*listing));
    struct disc_fault fault = {0};
    int r = listing ? disc->ops->list(disc, node_of(disc, number), take_name, listing, &fault)
                    : -ENOMEM;

    if (r < 0 && (!listing || listing->entries.n == 0)) {
        free(listing);
        fail(request, r);
        return;
    }
    info->fh = (uintptr_t)listing;
    info->cache_readdir = 1;
    info->keep_cache = 1;
    if (fuse_reply_open(request, info) < 0) /* it was interrupted: no release follows */
        free_listing(listing);
}

static void on_releasedir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
    (void)number;
    free_listing((struct listing *)(uintptr_t)info->fh);
    (void)fuse_reply_err(request, 0);
}

/* Adds a name to the answer; how much room that takes, which may be more than there is. */
static size_t add_name(fuse_req_t request, char *at, size_t room, const struct listing *listing,
    const struct listed_name *entry, off_t next, bool with_attributes)
{
    struct disc *disc = disc_of(request);
    const char *name = listing->names.data + entry->name;
    struct fuse_entry_param param = {
        .attr = {.st_ino = entry->node, .st_mode = (mode_t)entry->type << 12}};

    if (!with_attributes)
        return fuse_add_direntry(request, at, room, name, &param.attr, next);
    if (look(disc, entry->node, &param) < 0)
        param.ino = 0; /* the name alone: asked for itself it fails, and says how */
    return fuse_add_direntry_plus(request, at, room, name, &param, next);
}

static void reply_names(fuse_req_t request, size_t size, off_t offset,
    const struct fuse_file_info *info, bool with_attributes)
{
    const struct listing *listing = (const struct listing *)(uintptr_t)info->fh;
    const struct listed_name *entries = (const struct listed_name *)listing->entries.data;
    size_t n = listing->entries.n / sizeof(*entries), used = 0;
    _cleanup_free_ char *answer = malloc(size);

    if (!answer) {
        fail(request, -ENOMEM);
        return;
    }
    for (size_t i = (size_t)offset; i < n; i++) {
        size_t more = add_name(request, answer + used, size - used, listing, &entries[i],
            (off_t)i + 1, with_attributes);
        if (more > size - used)
            break;
        used += more;
    }
    (void)fuse_reply_buf(request, answer, used);
}

static void on_readdir(
    fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *info)
{
    (void)number;
    reply_names(request, size, offset, info, false);
}

static void on_readdirplus(
    fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *info)
{
    (void)number;
    reply_names(request, size, offset, info, true);
}

/* ---- content ---- */

static void on_read(
    fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *info)
{
    struct disc *disc = disc_of(request);
    uint64_t node = node_of(disc, number);
    struct disc_fault fault = {0};
    size_t done = 0;

    (void)info;
    _cleanup_free_ char *content = malloc(size);
    ssize_t got = content ? 1 : -ENOMEM;
    while (got > 0 && done < size) {
        got = disc->ops->read(
            disc, node, content + done, size - done, (uint64_t)offset + done, &fault);
        done += got > 0 ? (size_t)got : 0;
    }
    if (got < 0 && done == 0) /* else what there is; the next read meets the damage at once */
        fail(request, (int)got);
    else
        (void)fuse_reply_buf(request, content, done);
}

/* ---- the whole ---- */

static void on_open(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
    (void)number;
    (void)info;
    (void)fuse_reply_err(request, ENOSYS); /* the kernel then opens files without asking */
}

static void on_statfs(fuse_req_t request, fuse_ino_t number)
{
    const struct disc *disc = disc_of(request);
    const struct statvfs st = {
        .f_bsize = disc->block_bytes,
        .f_frsize = disc->block_bytes,
        .f_blocks = disc->blocks,
        .f_bfree = disc->blocks - disc->blocks_used,
        .f_files = disc->nodes,
        .f_namemax = 255,
    };

    (void)number;
    (void)fuse_reply_statfs(request, &st);
}

static void on_init(void *context, struct fuse_conn_info *connection)
{
    (void)context;
    /* Who lists a directory of a disc asks for the attributes, too. */
    connection->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
    /* Two splices and a vmsplice cost more than the copy of so little: measured. */
    connection->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE);
    connection->max_read = READ_BYTES_MAX;
    connection->max_write =
        READ_BYTES_MAX; /* which bounds the pages of a request, of reads as well */
    connection->max_readahead = READ_BYTES_MAX;
}

static const struct fuse_lowlevel_ops operations = {
    .init = on_init,
    .lookup = on_lookup,
    .getattr = on_getattr,
    .readlink = on_readlink,
    .open = on_open,
    .read = on_read,
    .opendir = on_opendir,
    .readdir = on_readdir,
    .readdirplus = on_readdirplus,
    .releasedir = on_releasedir,
    .statfs = on_statfs,
};

static int serve(struct fuse_session *session, bool one_thread)
{
    if (one_thread)
        return fuse_session_loop(session);
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (!config)
        return -ENOMEM;
    fuse_loop_cfg_set_clone_fd(config, 1);
    int r = fuse_session_loop_mt(session, config);
    fuse_loop_cfg_destroy(config);
    return r;
}

static int run_session(
    struct fuse_session *session, const char *directory, const struct mount_options *options)
{
    if (fuse_set_signal_handlers(session) < 0)
        return -EIO;
    int r = fuse_session_mount(session, directory) < 0 ? -EIO : 0;
    if (r == 0) {
        if (fuse_daemonize(options->foreground) < 0)
            r = -EIO;
        if (r == 0)
            r = serve(session, options->one_thread);
        fuse_session_unmount(session);
    }
    fuse_remove_signal_handlers(session);
    return r > 0 ? 0 : r; /* the number of a signal: it was asked to end */
}

/* What mount(8) would be given: names with commas and backslashes are escaped as libfuse wants it.
 */
static int make_mount_options(
    const struct disc *disc, const struct mount_options *options, char **ret)
{
    struct bytes text = {0};
    int r = bytes_append(&text, "fsname=", 7);

    for (const char *at = options->source; *at && r == 0; at++) {
        if (*at == ',' || *at == '\\')
            r = bytes_append(&text, "\\", 1);
        if (r == 0)
            r = bytes_append(&text, at, 1);
    }
    if (r == 0)
        r = bytes_append(&text, "", 1);
    const char *safe = options->set_id_devices ? "" : ",nosuid,nodev";
    const char *others = geteuid() == 0 ? ",allow_other" : "";
    if (r == 0 && asprintf(ret, "%s,subtype=shoal.%s,ro,default_permissions,max_read=%d%s%s",
                      text.data, disc->kind, READ_BYTES_MAX, safe, others) < 0)
        r = -ENOMEM;
    bytes_free(&text);
    return r;
}

int mount_disc(struct disc *disc, const char *directory, const struct mount_options *options)
{
    _cleanup_free_ char *given = NULL, *place = realpath(directory, NULL);
    struct fuse_args arguments = FUSE_ARGS_INIT(0, NULL);

    if (!place)
        return -errno;
    int r = make_mount_options(disc, options, &given);
    if (r < 0)
        return r;
    if (fuse_opt_add_arg(&arguments, "shoal") < 0 || fuse_opt_add_arg(&arguments, "-o") < 0 ||
        fuse_opt_add_arg(&arguments, given) < 0) {
        fuse_opt_free_args(&arguments);
        return -ENOMEM;
    }
    struct fuse_session *session =
        fuse_session_new(&arguments, &operations, sizeof(operations), disc);
    fuse_opt_free_args(&arguments);
    if (!session)
        return -EIO;
    r = run_session(session, place, options);
    fuse_session_destroy(session);
    return r;
}
