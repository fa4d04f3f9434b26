#include "source/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "entry/acl.h"
#include "entry/owner_names.h"
#include "entry/xattrs.h"
#include "source/byte_stream.h"
#include "source/deferred_links.h"
#include "source/tar.h"
#include "source/tar_header.h"

struct archive_source {
    struct stream_source source;
    struct archive_source_options options;
    struct byte_stream *stream;
    struct archive *archive;
    struct archive_entry *entry;
    locale_t locale; /* UTF-8, whatever the program's is: libarchive converts names by it */
    struct xattr_set xattrs;
    struct bytes ranges;
    struct deferred_links *deferred; /* of a cpio archive */
};

/* ---- what libarchive reads ---- */

static la_ssize_t feed(struct archive *archive, void *context, const void **ret)
{
    struct archive_source *source = context;
    const char *bytes = NULL;
    ssize_t n = byte_stream_window(source->stream, 1, &bytes, NULL);

    if (n > 0 && byte_stream_advance(source->stream, (uint64_t)n) < 0)
        n = -EIO;
    if (n < 0)
        archive_set_error(archive, (int)-n, "read");
    *ret = bytes;
    return n < 0 ? -1 : n;
}

static la_int64_t skip(struct archive *archive, void *context, la_int64_t n)
{
    struct archive_source *source = context;

    (void)archive;
    return byte_stream_advance(source->stream, (uint64_t)n) == 0 ? n : ARCHIVE_FATAL;
}

static la_int64_t seek(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    struct archive_source *source = context;
    int fd = byte_stream_stored_fd(source->stream);
    struct stat st;

    (void)archive;
    if (fd < 0 || fstat(fd, &st) < 0)
        return ARCHIVE_FATAL;
    if (whence == SEEK_CUR)
        offset += (la_int64_t)byte_stream_position(source->stream);
    else if (whence == SEEK_END)
        offset += st.st_size;
    if (offset < 0)
        return ARCHIVE_FATAL;
    byte_stream_seek(source->stream, (uint64_t)offset);
    return offset;
}

/* ---- entries ---- */

static int fail_archive(struct archive_source *source, int r, struct outcome *outcome)
{
    int error = archive_errno(source->archive);
    bool encrypted = archive_read_has_encrypted_entries(source->archive) > 0;

    if (encrypted)
        return outcome_fail(
            outcome, "read (it is encrypted)", r == ARCHIVE_FATAL ? -EIO : -EBADMSG);
    if (r != ARCHIVE_FATAL)
        return outcome_fail(outcome, "read", -EBADMSG);
    return outcome_fail(outcome, "read", error == ENOMEM ? -ENOMEM : -EIO);
}

static int add_acl(struct archive_source *source, const char *name, int type)
{
    struct bytes acl = {0};
    ssize_t length;
    char *text = archive_entry_acl_to_text(source->entry, &length,
        type | ARCHIVE_ENTRY_ACL_STYLE_EXTRA_ID | ARCHIVE_ENTRY_ACL_STYLE_SEPARATOR_COMMA);

    int r = text ? acl_from_text(text, (size_t)length, source->options.names, &acl) : 0;
    if (text && r == 0)
        r = xattr_set_add(&source->xattrs, name, acl.data, acl.n);
    free(text);
    bytes_free(&acl);
    return r == -EINVAL ? 0 : r;
}

static int take_xattrs(struct archive_source *source, struct entry *entry)
{
    const char *name;
    const void *value;
    size_t length;
    int r = 0;

    xattr_set_clear(&source->xattrs);
    if (!source->options.want_xattrs)
        return 0;
    if (archive_entry_xattr_reset(source->entry) > 0)
        while (
            r == 0 && archive_entry_xattr_next(source->entry, &name, &value, &length) == ARCHIVE_OK)
            r = xattr_set_add(&source->xattrs, name, value, length);
    int types = source->options.leave_acls ? 0 : archive_entry_acl_types(source->entry);
    if (r == 0 && (types & ARCHIVE_ENTRY_ACL_TYPE_ACCESS))
        r = add_acl(source, XATTR_ACL_ACCESS, ARCHIVE_ENTRY_ACL_TYPE_ACCESS);
    if (r == 0 && (types & ARCHIVE_ENTRY_ACL_TYPE_DEFAULT))
        r = add_acl(source, XATTR_ACL_DEFAULT, ARCHIVE_ENTRY_ACL_TYPE_DEFAULT);
    if (source->xattrs.n > 0)
        entry->xattrs = &source->xattrs;
    return r;
}

static void take_owner(struct archive_source *source, struct stream_entry *ret)
{
    struct owner_names *names = source->options.names;
    struct entry *entry = &ret->entry;

    ret->user = archive_entry_uname(source->entry);
    ret->group = archive_entry_gname(source->entry);
    entry->uid = (uid_t)archive_entry_uid(source->entry);
    entry->gid = (gid_t)archive_entry_gid(source->entry);
    if (names && ret->user)
        (void)owner_names_find_user(names, ret->user, &entry->uid); /* else the number stays */
    if (names && ret->group)
        (void)owner_names_find_group(names, ret->group, &entry->gid);
}

static struct timespec entry_time(bool set, time_t seconds, long ns, struct timespec otherwise)
{
    return set ? (struct timespec){.tv_sec = seconds, .tv_nsec = ns} : otherwise;
}

static int take_ranges(struct archive_source *source, struct stream_entry *ret)
{
    la_int64_t offset, length;
    int r = 0;

    source->ranges.n = 0;
    if (archive_entry_sparse_reset(source->entry) == 0)
        return 0;
    while (r == 0 && archive_entry_sparse_next(source->entry, &offset, &length) == ARCHIVE_OK) {
        const struct range range = {(uint64_t)offset, (uint64_t)(offset + length)};
        r = bytes_append(&source->ranges, &range, sizeof(range));
        ret->entry.allocated += (uint64_t)length;
    }
    ret->ranges = (const struct range *)source->ranges.data;
    ret->n_ranges = source->ranges.n / sizeof(struct range);
    return r;
}

static int fill_entry(struct archive_source *source, struct stream_entry *ret)
{
    struct archive_entry *from = source->entry;
    struct entry *entry = &ret->entry;

    *ret = (struct stream_entry){
        .path = archive_entry_pathname(from),
        .hard_link = archive_entry_hardlink(from),
        .stored_fd = -1,
        .entry = {.mode = archive_entry_mode(from), .nlink = 1},
    };
    if (!(entry->mode & S_IFMT))
        entry->mode |= S_IFREG;
    entry->mtime = entry_time(archive_entry_mtime_is_set(from), archive_entry_mtime(from),
        archive_entry_mtime_nsec(from), (struct timespec){0});
    entry->ctime = entry->mtime;
    entry->atime = entry_time(archive_entry_atime_is_set(from), archive_entry_atime(from),
        archive_entry_atime_nsec(from), entry->mtime);
    if (S_ISLNK(entry->mode) && !(entry->link_target = archive_entry_symlink(from)))
        return -EBADMSG;
    if (S_ISCHR(entry->mode) || S_ISBLK(entry->mode))
        entry->rdev = archive_entry_rdev(from);
    ret->size_is_unknown =
        S_ISREG(entry->mode) && !ret->hard_link && !archive_entry_size_is_set(from);
    if (S_ISREG(entry->mode) && archive_entry_size_is_set(from) && archive_entry_size(from) > 0)
        entry->size = (uint64_t)archive_entry_size(from);
    take_owner(source, ret);
    int r = take_ranges(source, ret);
    if (!ret->ranges)
        entry->allocated = entry->size;
    return r == 0 ? take_xattrs(source, entry) : r;
}

/* The next entry as libarchive has it: 1; 0: the end; or a negative errno. */
static int read_entry(
    struct archive_source *source, struct stream_entry *ret, struct outcome *outcome)
{
    int r;

    do
        r = archive_read_next_header(source->archive, &source->entry);
    while (r == ARCHIVE_RETRY);
    if (r == ARCHIVE_EOF)
        return 0;
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return fail_archive(source, r, outcome);
    r = fill_entry(source, ret);
    if (r == 0 && !ret->path)
        r = -EBADMSG;
    return r < 0 ? outcome_fail(outcome, "understand an entry of", r) : 1;
}

static bool is_cpio(const struct archive_source *source)
{
    return (archive_format(source->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_CPIO;
}

/* A cpio archive may hold the content of a file with several names with the last of them: those
 * before wait. */
static int next_entry(
    struct archive_source *source, struct stream_entry *ret, struct outcome *outcome)
{
    for (;;) {
        int r = source->deferred ? deferred_links_next(source->deferred, ret) : 0;
        if (r == 0)
            r = read_entry(source, ret, outcome);
        if (r == 0 && source->deferred && deferred_links_end(source->deferred))
            continue;
        if (r <= 0 || !is_cpio(source))
            return r;
        if (!source->deferred && !(source->deferred = deferred_links_new()))
            return outcome_fail(outcome, "read", -ENOMEM);
        r = deferred_links_take(source->deferred, (uint64_t)archive_entry_dev(source->entry),
            (uint64_t)archive_entry_ino64(source->entry), archive_entry_nlink(source->entry), ret);
        if (r != 0)
            return r < 0 ? outcome_fail(outcome, "read", r) : 1;
    }
}

static int archive_next(
    struct stream_source *stream, struct stream_entry *ret, struct outcome *outcome)
{
    struct archive_source *source = (struct archive_source *)stream;
    locale_t before = uselocale(source->locale);
    int r = next_entry(source, ret, outcome);

    (void)uselocale(before); /* it was valid */
    return r;
}

static int archive_read_piece(
    struct stream_source *stream, struct stream_piece *ret, struct outcome *outcome)
{
    struct archive_source *source = (struct archive_source *)stream;
    const void *bytes;
    size_t n = 0;
    la_int64_t offset;
    int r;

    do
        r = archive_read_data_block(source->archive, &bytes, &n, &offset);
    while (r == ARCHIVE_RETRY || ((r == ARCHIVE_OK || r == ARCHIVE_WARN) && n == 0));
    if (r == ARCHIVE_EOF)
        return 0;
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return fail_archive(source, r, outcome);
    *ret = (struct stream_piece){bytes, n, (uint64_t)offset, NULL};
    return 1;
}

static void archive_free_source(struct stream_source *stream)
{
    struct archive_source *source = (struct archive_source *)stream;

    if (source->archive)
        (void)archive_read_free(source->archive); /* was only read from */
    byte_stream_free(source->stream);
    if (source->locale)
        freelocale(source->locale);
    deferred_links_free(source->deferred);
    xattr_set_free(&source->xattrs);
    bytes_free(&source->ranges);
    free(source);
}

/* ---- opening ---- */

static int support_formats(struct archive *archive)
{
    int (*const formats[])(struct archive *) = {
        archive_read_support_format_cpio,
        archive_read_support_format_zip,
        archive_read_support_format_7zip,
        archive_read_support_format_rar,
        archive_read_support_format_rar5,
        archive_read_support_format_cab,
        archive_read_support_format_lha,
        archive_read_support_format_ar,
        archive_read_support_format_xar,
    };

    for (size_t i = 0; i < ELEMENTS(formats); i++)
        if (formats[i](archive) < ARCHIVE_WARN)
            return -ENOMEM;
    return 0;
}

static int open_archive(struct archive_source *source)
{
    source->archive = archive_read_new();
    source->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!source->archive || !source->locale)
        return -ENOMEM;
    int r = support_formats(source->archive);
    if (r < 0)
        return r;
    (void)archive_read_set_read_callback(source->archive, feed);
    (void)archive_read_set_skip_callback(source->archive, skip);
    if (byte_stream_stored_fd(source->stream) >= 0)
        (void)archive_read_set_seek_callback(source->archive, seek);
    (void)archive_read_set_callback_data(source->archive, source);
    locale_t before = uselocale(source->locale);
    r = archive_read_open1(source->archive);
    (void)uselocale(before); /* it was valid */
    return r == ARCHIVE_OK || r == ARCHIVE_WARN ? 0 : -EILSEQ;
}

static int open_other(struct byte_stream *stream, const struct archive_source_options *options,
    struct stream_source **ret)
{
    static const struct stream_source_ops ops = {
        archive_next, archive_read_piece, archive_free_source};
    struct archive_source *source = calloc(1, sizeof(*source));

    if (!source) {
        byte_stream_free(stream);
        return -ENOMEM;
    }
    source->source.ops = &ops;
    source->options = *options;
    source->stream = stream;
    int r = open_archive(source);
    if (r < 0)
        archive_free_source(&source->source);
    else
        *ret = &source->source;
    return r;
}

int archive_source_open(int fd, const struct archive_source_options *options,
    struct stream_source **ret, struct outcome *outcome)
{
    struct byte_stream *stream;
    const char *start;
    int r = byte_stream_open(fd, options->buffers, &stream);

    if (r < 0)
        return outcome_fail(outcome, "read", r);
    ssize_t n = byte_stream_window(stream, TAR_BLOCK, &start, NULL);
    if (n < 0) {
        byte_stream_free(stream);
        return outcome_fail(outcome, "read", (int)n);
    }
    if (n == 0) {
        byte_stream_free(stream);
        return outcome_fail(outcome, "understand the archive", -EILSEQ);
    }
    bool is_tar = n >= TAR_BLOCK && (tar_is_header(start) || tar_is_zeros(start));
    r = is_tar ? tar_source_new(stream, options, ret) : open_other(stream, options, ret);
    return r < 0 ? outcome_fail(outcome, "understand the archive", r) : 0;
}
