#include "source/tar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "entry/owner_names.h"
#include "source/tar_header.h"
#include "source/tar_pax.h"
#include "source/tar_sparse.h"

/* Content from this size on is left where it lies in a file; less of it is quicker read here,
 * together with the headers around it: measured, see docs/performance.md. */
#define STORED_FROM_BYTES (64 * 1024)

struct tar_source {
    struct stream_source source;
    struct byte_stream *stream;
    struct archive_source_options options;
    uint64_t file_size; /* of a stored stream */

    /* What is known of the entry to come. */
    char block[TAR_BLOCK];
    struct tar_header header;
    struct tar_pax global, local;
    bool has_long_path, has_long_link;
    struct bytes path, link, user, group, records, ranges;

    /* What is left of the entry's content. */
    int64_t left, padding;
    uint64_t offset; /* in the file, of the next piece */
    size_t range;    /* it lies in, if the file is sparse */
    bool is_sparse;
    bool lost; /* a block was no header, and was told of: the next one is searched */
};

static const char too_early[] = "read (the archive ends too early)";

static int64_t padding_of(int64_t size)
{
    return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

/* ---- blocks ---- */

/* The next block, copied out: 1; 0: the stream ends; or a negative errno. */
static int read_block(struct tar_source *tar, char *block, struct outcome *outcome)
{
    const char *bytes;
    ssize_t n = byte_stream_window(tar->stream, TAR_BLOCK, &bytes, NULL);

    if (n < 0)
        return outcome_fail(outcome, "read", (int)n);
    if (n == 0)
        return 0;
    if (n < TAR_BLOCK)
        return outcome_fail(outcome, too_early, -EIO);
    memcpy(block, bytes, TAR_BLOCK);
    int r = byte_stream_advance(tar->stream, TAR_BLOCK);
    return r < 0 ? outcome_fail(outcome, "read", r) : 1;
}

/* Reads what a header announces, and its padding, into `out`. A longer one than is allowed is
 * passed over. */
static int read_metadata(struct tar_source *tar, struct bytes *out, struct outcome *outcome)
{
    int64_t left = tar->header.size, padding = padding_of(left);

    out->n = 0;
    if (left > TAR_METADATA_BYTES) {
        tar->left = left;
        tar->padding = padding;
        return outcome_fail(outcome, "keep the names and attributes of", -EBADMSG);
    }
    while (left > 0) {
        const char *bytes;
        ssize_t n = byte_stream_window(tar->stream, 1, &bytes, NULL);
        if (n <= 0)
            return outcome_fail(outcome, n < 0 ? "read" : too_early, n < 0 ? (int)n : -EIO);
        if (n > left)
            n = (ssize_t)left;
        int r = bytes_append(out, bytes, (size_t)n);
        if (r == 0)
            r = byte_stream_advance(tar->stream, (uint64_t)n);
        if (r < 0)
            return outcome_fail(outcome, "read", r);
        left -= n;
    }
    int r = byte_stream_advance(tar->stream, (uint64_t)padding);
    return r < 0 ? outcome_fail(outcome, "read", r) : 0;
}

/* Passes over what is left of an entry. */
static int skip_content(struct tar_source *tar, struct outcome *outcome)
{
    uint64_t n = (uint64_t)tar->left + (uint64_t)tar->padding;

    tar->left = tar->padding = 0;
    int r = n > 0 ? byte_stream_advance(tar->stream, n) : 0;
    return r < 0 ? outcome_fail(outcome, "read", r) : 0;
}

/* Whoever writes to a pipe still writes what pads the end, and would be told that nobody reads. */
static void drain(struct tar_source *tar)
{
    const char *bytes;
    ssize_t n;

    if (byte_stream_stored_fd(tar->stream) >= 0)
        return;
    while ((n = byte_stream_window(tar->stream, 1, &bytes, NULL)) > 0)
        if (byte_stream_advance(tar->stream, (uint64_t)n) < 0)
            return;
}

/* The next header of any kind: 1; 0: the end; or a negative errno. After a block that is none,
 * those that follow are searched. */
static int read_header(struct tar_source *tar, struct outcome *outcome)
{
    for (;;) {
        int r = read_block(tar, tar->block, outcome);
        if (r <= 0)
            return r;
        if (tar_is_zeros(tar->block)) {
            if (tar->options.ignore_zeros)
                continue;
            drain(tar);
            return 0;
        }
        if (tar_is_header(tar->block)) {
            tar->lost = false;
            return 1;
        }
        if (!tar->lost) {
            tar->lost = true;
            return outcome_fail(outcome, "find the next header in", -EBADMSG);
        }
    }
}

/* ---- what precedes an entry ---- */

/* A long name of GNU's, without the NUL that it may end in. */
static int take_long_name(struct tar_source *tar, struct bytes *to, struct outcome *outcome)
{
    int r = read_metadata(tar, &tar->records, outcome);
    if (r < 0)
        return r;
    to->n = 0;
    const char *name = tar->records.n > 0 ? tar->records.data : "";
    r = bytes_append(to, name, strnlen(name, tar->records.n));
    if (r == 0)
        r = bytes_append(to, "", 1);
    return r < 0 ? outcome_fail(outcome, "read", r) : 0;
}

static int take_pax(struct tar_source *tar, struct tar_pax *pax, struct outcome *outcome)
{
    const struct tar_pax_reader reader = {
        pax, tar->options.want_xattrs, tar->options.leave_acls, tar->options.names};
    int r = read_metadata(tar, &tar->records, outcome);

    if (r == 0) {
        r = tar_pax_parse(&reader, tar->records.data, tar->records.n);
        if (r < 0)
            return outcome_fail(outcome, "understand the pax header of", r);
    }
    return r;
}

/* Headers that speak of the next one: 1: this was one; 0: it is an entry's own; or a negative
 * errno. */
static int take_prelude(struct tar_source *tar, struct outcome *outcome)
{
    int r = 0;

    switch (tar->header.type) {
    case TAR_GNU_LONG_NAME:
        tar->has_long_path = true;
        r = take_long_name(tar, &tar->path, outcome);
        break;
    case TAR_GNU_LONG_LINK:
        tar->has_long_link = true;
        r = take_long_name(tar, &tar->link, outcome);
        break;
    case TAR_PAX:
    case TAR_PAX_SOLARIS:
        r = take_pax(tar, &tar->local, outcome);
        break;
    case TAR_PAX_GLOBAL:
        r = take_pax(tar, &tar->global, outcome);
        tar->global.has &= PAX_USER | PAX_GROUP | PAX_UID | PAX_GID | PAX_MTIME | PAX_ATIME;
        xattr_set_clear(&tar->global.xattrs);
        break;
    case TAR_GNU_LABEL:
        tar->left = tar->header.size;
        tar->padding = padding_of(tar->header.size);
        r = skip_content(tar, outcome);
        break;
    default:
        return 0;
    }
    return r < 0 ? r : 1;
}

/* ---- an entry ---- */

/* The pax header that says something: the entry's own, else the global one; NULL: neither. */
static const struct tar_pax *who_has(const struct tar_source *tar, unsigned bit)
{
    if (tar->local.has & bit)
        return &tar->local;
    return tar->global.has & bit ? &tar->global : NULL;
}

static int set_text(struct bytes *to, const char *text, size_t length)
{
    to->n = 0;
    int r = bytes_append(to, text, length);
    return r == 0 ? bytes_append(to, "", 1) : r;
}

static int find_names(struct tar_source *tar)
{
    size_t length;
    int r = 0;

    if (tar->local.has & PAX_SPARSE_NAME) {
        r = set_text(&tar->path, tar->local.sparse_name.data, tar->local.sparse_name.n - 1);
    } else if (tar->local.has & PAX_PATH) {
        r = set_text(&tar->path, tar->local.path.data, tar->local.path.n - 1);
    } else if (!tar->has_long_path) {
        tar->path.n = 0;
        r = tar_header_path(tar->block, tar->header.flavour, &tar->path);
    }
    if (r == 0 && (tar->local.has & PAX_LINK)) {
        r = set_text(&tar->link, tar->local.link.data, tar->local.link.n - 1);
    } else if (r == 0 && !tar->has_long_link) {
        const char *link = tar_header_link(tar->block, &length);
        r = set_text(&tar->link, link, length);
    }
    return r;
}

static int find_owner_text(const struct tar_source *tar, unsigned bit, struct bytes *to)
{
    const struct tar_pax *pax = who_has(tar, bit);
    size_t length = 0;
    const char *text = "";

    if (pax) {
        const struct bytes *own = bit == PAX_USER ? &pax->user : &pax->group;
        return set_text(to, own->data, own->n - 1);
    }
    if (tar->header.flavour != TAR_V7)
        text = bit == PAX_USER ? tar_header_user(tar->block, &length)
                               : tar_header_group(tar->block, &length);
    return set_text(to, text, length);
}

/* The owner: by name if it is one here, else by number. */
static int find_owner(struct tar_source *tar, struct stream_entry *ret)
{
    const struct tar_pax *uid_pax = who_has(tar, PAX_UID), *gid_pax = who_has(tar, PAX_GID);
    int64_t uid = uid_pax ? uid_pax->uid : tar->header.uid;
    int64_t gid = gid_pax ? gid_pax->gid : tar->header.gid;
    struct owner_names *names = tar->options.names;

    int r = find_owner_text(tar, PAX_USER, &tar->user);
    if (r == 0)
        r = find_owner_text(tar, PAX_GROUP, &tar->group);
    if (r < 0)
        return r;
    ret->user = *tar->user.data ? tar->user.data : NULL;
    ret->group = *tar->group.data ? tar->group.data : NULL;
    bool by_name = names && ret->user && owner_names_find_user(names, ret->user, &ret->entry.uid);
    /* The last number means "leave it" to chown(2). */
    if (!by_name && (uid < 0 || uid >= UINT32_MAX))
        return -EBADMSG;
    if (!by_name)
        ret->entry.uid = (uid_t)uid;
    by_name = names && ret->group && owner_names_find_group(names, ret->group, &ret->entry.gid);
    if (!by_name && (gid < 0 || gid >= UINT32_MAX))
        return -EBADMSG;
    if (!by_name)
        ret->entry.gid = (gid_t)gid;
    return 0;
}

static void find_times(const struct tar_source *tar, struct entry *entry)
{
    const struct tar_pax *mtime = who_has(tar, PAX_MTIME), *atime = who_has(tar, PAX_ATIME);

    entry->mtime = mtime ? mtime->mtime : (struct timespec){.tv_sec = tar->header.mtime};
    entry->ctime = entry->mtime;
    entry->atime = entry->mtime;
    if (atime)
        entry->atime = atime->atime;
    else if (tar->header.atime != 0)
        entry->atime = (struct timespec){.tv_sec = tar->header.atime};
}

static mode_t type_of(const struct tar_source *tar)
{
    size_t length = strlen(tar->path.data);

    switch (tar->header.type) {
    case '2':
        return S_IFLNK;
    case '3':
        return S_IFCHR;
    case '4':
        return S_IFBLK;
    case '5':
    case TAR_GNU_DUMPDIR:
        return S_IFDIR;
    case '6':
        return S_IFIFO;
    case '\0':
    case '0':
        /* How v7 tells directories. */
        return length > 0 && tar->path.data[length - 1] == '/' ? S_IFDIR : S_IFREG;
    default:
        return S_IFREG;
    }
}

static int find_device(const struct tar_source *tar, struct entry *entry)
{
    const struct tar_pax *pax = &tar->local;
    int64_t major = pax->has & PAX_MAJOR ? pax->major : tar->header.major;
    int64_t minor = pax->has & PAX_MINOR ? pax->minor : tar->header.minor;

    if (!S_ISCHR(entry->mode) && !S_ISBLK(entry->mode))
        return 0;
    if (major < 0 || major > UINT32_MAX || minor < 0 || minor > UINT32_MAX)
        return -EBADMSG;
    entry->rdev = makedev((unsigned)major, (unsigned)minor);
    return 0;
}

/* ---- content ---- */

/* Reads the lines of the map that precedes the data: as many as its first one says, and to the end
 * of a block. */
static int read_map_text(struct tar_source *tar, struct outcome *outcome)
{
    struct bytes *text = &tar->records;
    int64_t lines = 0, wanted = 1;
    char block[TAR_BLOCK];

    text->n = 0;
    while (lines < wanted) {
        if (tar->left < TAR_BLOCK || text->n >= TAR_METADATA_BYTES)
            return -EBADMSG;
        int r = read_block(tar, block, outcome);
        if (r <= 0)
            return r < 0 ? r : outcome_fail(outcome, too_early, -EIO);
        tar->left -= TAR_BLOCK;
        r = bytes_append(text, block, sizeof(block));
        if (r < 0)
            return r;
        for (size_t i = 0; i < sizeof(block); i++)
            lines += block[i] == '\n';
        if (wanted == 1 && lines > 0) {
            const char *end = memchr(text->data, '\n', text->n);
            r = tar_pax_parse_number(text->data, (size_t)(end - text->data), &wanted);
            if (r < 0 || wanted < 0 || wanted > TAR_METADATA_BYTES)
                return -EBADMSG;
            wanted = wanted * 2 + 1;
        }
    }
    return 0;
}

static int read_sparse_map(struct tar_source *tar, struct outcome *outcome)
{
    int r = read_map_text(tar, outcome);

    if (r == 0)
        r = tar_sparse_parse_map(tar->records.data, tar->records.n, &tar->ranges);
    return r < 0 ? outcome_fail(outcome, "understand the sparse map of", r) : 0;
}

static int read_old_sparse(struct tar_source *tar, int64_t *ret_size, struct outcome *outcome)
{
    char block[TAR_BLOCK];
    int more = tar_sparse_parse_header(tar->block, &tar->ranges, ret_size);

    while (more > 0) {
        if (tar->ranges.n >= TAR_METADATA_BYTES)
            more = -EBADMSG;
        int r = more > 0 ? read_block(tar, block, outcome) : 0;
        if (r < 0)
            return r;
        if (r == 0 && more > 0)
            return outcome_fail(outcome, too_early, -EIO);
        if (r > 0)
            more = tar_sparse_parse_extension(block, &tar->ranges);
    }
    return more < 0 ? outcome_fail(outcome, "understand the sparse map of", more) : 0;
}

/* Where a sparse file holds data. 0, or a negative errno. */
static int find_ranges(struct tar_source *tar, int64_t *ret_size, struct outcome *outcome)
{
    const struct tar_pax *pax = &tar->local;
    int r = 0;

    tar->ranges.n = 0;
    tar->is_sparse = true;
    if (tar->header.type == TAR_GNU_SPARSE) {
        r = read_old_sparse(tar, ret_size, outcome);
    } else if ((pax->has & PAX_SPARSE_1) && (pax->has & PAX_REAL_SIZE)) {
        *ret_size = pax->real_size;
        r = read_sparse_map(tar, outcome);
    } else if ((pax->has & PAX_SPARSE_MAP) && (pax->has & PAX_REAL_SIZE)) {
        *ret_size = pax->real_size;
        r = bytes_append(&tar->ranges, pax->ranges.data, pax->ranges.n);
    } else {
        tar->is_sparse = false;
    }
    if (r == 0 && tar->is_sparse)
        r = tar_sparse_check(&tar->ranges, *ret_size, tar->left);
    return r < 0 ? outcome_fail(outcome, "understand the sparse map of", r) : 0;
}

/* Whether as much content is there as was announced. */
static bool is_cut(const struct tar_source *tar)
{
    return byte_stream_stored_fd(tar->stream) >= 0 && tar->left > 0 &&
           byte_stream_position(tar->stream) + (uint64_t)tar->left > tar->file_size;
}

/* What content the entry has. */
static int find_content(struct tar_source *tar, struct stream_entry *ret, struct outcome *outcome)
{
    int64_t size = tar->local.has & PAX_SIZE ? tar->local.size : tar->header.size;
    bool is_link = tar->header.type == '1';

    if (size < 0 || size > INT64_MAX - TAR_BLOCK)
        return outcome_fail(outcome, "believe the size of", -EBADMSG);
    /* Others announce sizes that nothing follows for. */
    bool has_content =
        (S_ISREG(ret->entry.mode) && !is_link) || tar->header.type == TAR_GNU_DUMPDIR;
    tar->left = has_content ? size : 0;
    tar->padding = padding_of(tar->left);
    tar->offset = tar->range = 0;
    tar->is_sparse = false;
    if (S_ISDIR(ret->entry.mode)) { /* a list of names, which is of no use here */
        tar->padding += tar->left;
        tar->left = 0;
    }
    if (!has_content || S_ISDIR(ret->entry.mode))
        return 0;
    int r = find_ranges(tar, &size, outcome);
    if (r < 0)
        return r;
    if (is_cut(tar))
        return outcome_fail(outcome, too_early, -EBADMSG);
    ret->entry.size = (uint64_t)size;
    ret->entry.allocated = (uint64_t)tar->left;
    if (tar->is_sparse) {
        static const struct range none;
        ret->n_ranges = tar->ranges.n / sizeof(struct range);
        ret->ranges = ret->n_ranges > 0 ? (const struct range *)tar->ranges.data : &none;
    }
    if (tar->left >= STORED_FROM_BYTES) {
        ret->stored_fd = byte_stream_stored_fd(tar->stream);
        ret->stored_at = byte_stream_position(tar->stream);
    }
    return 0;
}

/* ---- the source ---- */

static int make_entry(struct tar_source *tar, struct stream_entry *ret, struct outcome *outcome)
{
    struct entry *entry = &ret->entry;

    *ret = (struct stream_entry){.stored_fd = -1};
    int r = find_names(tar);
    if (r < 0)
        return outcome_fail(outcome, "read", r);
    ret->path = tar->path.data;
    entry->mode = tar->header.mode | type_of(tar);
    entry->nlink = 1;
    if (tar->header.type == '1')
        ret->hard_link = tar->link.data;
    if (S_ISLNK(entry->mode))
        entry->link_target = tar->link.data;
    if (tar->local.xattrs.n > 0)
        entry->xattrs = &tar->local.xattrs;
    find_times(tar, entry);
    r = find_content(tar, ret, outcome);
    if (r < 0)
        return r;
    if (tar->header.type == TAR_GNU_CONTINUED)
        return outcome_fail(outcome, "unpack part of a multi-volume archive,", -EBADMSG);
    r = find_device(tar, entry);
    if (r < 0)
        return outcome_fail(outcome, "believe the device number of", r);
    r = find_owner(tar, ret);
    return r < 0 ? outcome_fail(outcome, "believe the owner of", r) : 0;
}

static int tar_next(struct stream_source *source, struct stream_entry *ret, struct outcome *outcome)
{
    struct tar_source *tar = (struct tar_source *)source;
    int r = skip_content(tar, outcome);

    tar->has_long_path = tar->has_long_link = false;
    tar_pax_clear(&tar->local);
    ret->path = NULL;
    while (r == 0) {
        r = read_header(tar, outcome);
        if (r <= 0)
            return r;
        r = tar_header_parse(tar->block, &tar->header);
        if (r < 0) {
            tar->lost = true;
            return outcome_fail(outcome, "understand a header in", r);
        }
        r = take_prelude(tar, outcome);
        if (r == 0)
            break;
        if (r > 0)
            r = 0;
    }
    if (r == 0)
        r = make_entry(tar, ret, outcome);
    return r < 0 ? r : 1;
}

static int tar_read(struct stream_source *source, struct stream_piece *ret, struct outcome *outcome)
{
    struct tar_source *tar = (struct tar_source *)source;
    size_t size = buffers_size(tar->options.buffers);
    uint64_t most = (uint64_t)tar->left;
    struct buffer *buffer;
    const char *bytes;

    if (tar->left == 0)
        return 0;
    if (tar->is_sparse) {
        const struct range *ranges = (const struct range *)tar->ranges.data;
        while (tar->offset >= ranges[tar->range].end)
            tar->range++;
        if (tar->offset < ranges[tar->range].start)
            tar->offset = ranges[tar->range].start;
        most = ranges[tar->range].end - tar->offset;
    }
    /* A small member comes whole, a large one as it is read. */
    ssize_t n =
        byte_stream_window(tar->stream, most <= size ? (size_t)most : size / 4, &bytes, &buffer);
    if (n <= 0)
        return outcome_fail(outcome, n < 0 ? "read" : too_early, n < 0 ? (int)n : -EIO);
    if ((uint64_t)n > most)
        n = (ssize_t)most;
    *ret = (struct stream_piece){bytes, (size_t)n, tar->offset, buffer};
    tar->offset += (uint64_t)n;
    tar->left -= n;
    int r = byte_stream_advance(tar->stream, (uint64_t)n);
    return r < 0 ? outcome_fail(outcome, "read", r) : 1;
}

static void tar_free(struct stream_source *source)
{
    struct tar_source *tar = (struct tar_source *)source;

    byte_stream_free(tar->stream);
    tar_pax_free(&tar->global);
    tar_pax_free(&tar->local);
    bytes_free(&tar->path);
    bytes_free(&tar->link);
    bytes_free(&tar->user);
    bytes_free(&tar->group);
    bytes_free(&tar->records);
    bytes_free(&tar->ranges);
    free(tar);
}

int tar_source_new(struct byte_stream *stream, const struct archive_source_options *options,
    struct stream_source **ret)
{
    static const struct stream_source_ops ops = {tar_next, tar_read, tar_free};
    struct tar_source *tar = calloc(1, sizeof(*tar));
    struct stat st;

    if (!tar) {
        byte_stream_free(stream);
        return -ENOMEM;
    }
    tar->source.ops = &ops;
    tar->stream = stream;
    tar->options = *options;
    int fd = byte_stream_stored_fd(stream);
    if (fd >= 0 && fstat(fd, &st) == 0)
        tar->file_size = (uint64_t)st.st_size;
    *ret = &tar->source;
    return 0;
}
