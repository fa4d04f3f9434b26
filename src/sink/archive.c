#include "sink/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sink/tar_encode.h"

#define PIPE_BYTES   (1024 * 1024)
#define TAR_BLOCK    512
#define RECORD_BYTES 10240
#define CPIO_ALIGN   4

struct archive_sink {
    struct stream_sink sink;
    struct encode_options encode;
    size_t record_bytes;
    int fd;
    uint64_t written; /* before compression */
    bool is_pipe, cannot_move;
    struct archive *packer; /* NULL: nothing is compressed */
    int error;              /* of the packer's writes: negative errno */
};

/* ---- encoding ---- */

static int archive_encode(const struct stream_sink *sink, const struct stream_record *record,
    struct bytes *out, struct outcome *outcome)
{
    const struct encode_options *options = &((const struct archive_sink *)sink)->encode;
    return options->format == SHOAL_FORMAT_CPIO ? cpio_encode(options, record, out, outcome)
                                                : tar_encode(options, record, out, outcome);
}

static uint64_t archive_content_bytes(
    const struct stream_sink *sink, const struct stream_record *record)
{
    return tar_content_bytes(((const struct archive_sink *)sink)->encode.format, record);
}

static int archive_pad(const struct stream_sink *sink, uint64_t content_bytes, struct bytes *out)
{
    bool is_cpio = ((const struct archive_sink *)sink)->encode.format == SHOAL_FORMAT_CPIO;
    size_t align = is_cpio ? CPIO_ALIGN : TAR_BLOCK;
    return bytes_append_zeros(out, (align - content_bytes % align) % align);
}

/* ---- writing ---- */

static int write_fd(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, bytes, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? -errno : -EIO;
        bytes += k;
        n -= (size_t)k;
    }
    return 0;
}

/* What the packer writes. */
static la_ssize_t drain(struct archive *packer, void *context, const void *bytes, size_t n)
{
    struct archive_sink *sink = context;
    int r = write_fd(sink->fd, bytes, n);

    if (r < 0) {
        sink->error = r;
        archive_set_error(packer, -r, "write");
        return -1;
    }
    return (la_ssize_t)n;
}

static int packer_error(const struct archive_sink *sink)
{
    return sink->error < 0 ? sink->error : -EIO;
}

static int archive_write_bytes(
    struct stream_sink *stream, const void *bytes, size_t n, struct outcome *outcome)
{
    struct archive_sink *sink = (struct archive_sink *)stream;
    int r = 0;

    if (!sink->packer)
        r = write_fd(sink->fd, bytes, n);
    else if (n > 0 && archive_write_data(sink->packer, bytes, n) != (la_ssize_t)n)
        r = packer_error(sink);
    if (r < 0)
        return outcome_fail_target(outcome, "write", r);
    sink->written += n;
    return 0;
}

static size_t archive_move(struct stream_sink *stream, int fd, uint64_t offset, size_t n)
{
    struct archive_sink *sink = (struct archive_sink *)stream;
    off_t from = (off_t)offset;
    ssize_t k;

    if (sink->cannot_move || sink->packer)
        return 0;
    do
        k = sink->is_pipe ? splice(fd, &from, sink->fd, NULL, n, 0)
                          : sendfile(sink->fd, fd, &from, n);
    while (k < 0 && errno == EINTR);
    if (k < 0) {
        /* Appending, say; or one of the two ends fails: to read and to write shows which. */
        sink->cannot_move = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        return 0;
    }
    sink->written += (uint64_t)k;
    return (size_t)k;
}

/* ---- the end ---- */

static int put_end(struct archive_sink *sink, struct bytes *out)
{
    bool is_cpio = sink->encode.format == SHOAL_FORMAT_CPIO;
    size_t align = is_cpio ? TAR_BLOCK : sink->record_bytes;
    int r = is_cpio ? cpio_encode_end(out) : bytes_append_zeros(out, (size_t)TAR_BLOCK * 2);
    size_t over = (size_t)((sink->written + out->n) % align);

    return r == 0 && over > 0 ? bytes_append_zeros(out, align - over) : r;
}

static int archive_finish(struct stream_sink *stream, struct outcome *outcome)
{
    struct archive_sink *sink = (struct archive_sink *)stream;
    struct bytes end = {0};
    int r = put_end(sink, &end);

    if (r == 0)
        r = archive_write_bytes(stream, end.data, end.n, outcome);
    bytes_free(&end);
    if (r == 0 && sink->packer && archive_write_close(sink->packer) != ARCHIVE_OK)
        r = outcome_fail_target(outcome, "write", packer_error(sink));
    return r;
}

static void archive_free_sink(struct stream_sink *stream)
{
    struct archive_sink *sink = (struct archive_sink *)stream;

    if (sink->packer) {
        (void)archive_write_fail(sink->packer); /* what was not finished is not to be */
        (void)archive_write_free(sink->packer);
    }
    free(sink);
}

/* ---- opening ---- */

static unsigned usable_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* The filter, which must be libarchive's own and no program. */
static int add_filter(struct archive *packer, enum shoal_compression compression)
{
    static int (*const filters[])(struct archive *) = {
        [SHOAL_COMPRESSION_GZIP] = archive_write_add_filter_gzip,
        [SHOAL_COMPRESSION_BZIP2] = archive_write_add_filter_bzip2,
        [SHOAL_COMPRESSION_XZ] = archive_write_add_filter_xz,
        [SHOAL_COMPRESSION_ZSTD] = archive_write_add_filter_zstd,
        [SHOAL_COMPRESSION_LZ4] = archive_write_add_filter_lz4,
    };

    if (compression >= ELEMENTS(filters) || filters[compression](packer) != ARCHIVE_OK)
        return -EOPNOTSUPP;
    return 0;
}

static void set_filter_options(
    struct archive *packer, enum shoal_compression compression, int level)
{
    char number[16];

    /* What a version of the library does not know, it does without. */
    if (compression == SHOAL_COMPRESSION_GZIP)
        (void)archive_write_set_filter_option(packer, "gzip", "timestamp", NULL);
    (void)snprintf(number, sizeof(number), "%u", usable_cores());
    if (compression == SHOAL_COMPRESSION_XZ || compression == SHOAL_COMPRESSION_ZSTD)
        (void)archive_write_set_filter_option(packer, NULL, "threads", number);
    (void)snprintf(number, sizeof(number), "%d", level);
    if (level > 0)
        (void)archive_write_set_filter_option(packer, NULL, "compression-level", number);
}

static int open_packer(struct archive_sink *sink, const struct archive_sink_options *options)
{
    struct archive_entry *entry = archive_entry_new();
    int r = -ENOMEM;

    sink->packer = archive_write_new();
    if (sink->packer && entry)
        r = add_filter(sink->packer, options->compression);
    if (r == 0) {
        set_filter_options(sink->packer, options->compression, options->level);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_pathname(entry, "archive"); /* which raw data do not record */
        (void)archive_write_set_bytes_in_last_block(sink->packer, 1);
        if (archive_write_set_format_raw(sink->packer) != ARCHIVE_OK ||
            archive_write_open(sink->packer, sink, NULL, drain, NULL) != ARCHIVE_OK ||
            archive_write_header(sink->packer, entry) != ARCHIVE_OK)
            r = packer_error(sink);
    }
    archive_entry_free(entry);
    return r;
}

int archive_sink_new(int fd, const struct archive_sink_options *options, struct stream_sink **ret)
{
    static const struct stream_sink_ops ops = {
        .encode = archive_encode,
        .content_bytes = archive_content_bytes,
        .pad = archive_pad,
        .write = archive_write_bytes,
        .move = archive_move,
        .finish = archive_finish,
        .free = archive_free_sink,
    };
    struct archive_sink *sink = calloc(1, sizeof(*sink));
    struct stat st;

    if (!sink)
        return -ENOMEM;
    sink->sink.ops = &ops;
    sink->fd = fd;
    sink->record_bytes = options->record_bytes ? options->record_bytes : RECORD_BYTES;
    sink->encode = (struct encode_options){options->format, options->preserve, options->leave_acls,
        options->names, options->user, options->group};
    sink->is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (sink->is_pipe) /* only a wish: the system may not give so much */
        (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
    int r = options->compression == SHOAL_COMPRESSION_NONE ? 0 : open_packer(sink, options);
    if (r < 0)
        archive_free_sink(&sink->sink);
    else
        *ret = &sink->sink;
    return r;
}
