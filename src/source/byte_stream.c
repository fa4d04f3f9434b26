#include "source/byte_stream.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A file is read in steps from the first size, after something was passed over, to the last. */
#define AHEAD_FIRST_BYTES ((size_t)16 * 1024)
#define AHEAD_LAST_BYTES  ((size_t)256 * 1024)

/* As large as an unprivileged user may make a pipe: fewer turns between writer and reader. */
#define PIPE_BYTES       (1024 * 1024)

#define COMPRESSED_BYTES (128 * 1024)

/* So much is read to see how a stream begins. */
#define START_BYTES 16

struct byte_stream {
    int fd;
    struct buffers *buffers;
    uint64_t position;

    struct buffer *buffer;
    size_t at;    /* where the position is in it; it is filled up to its `used` */
    bool stored;  /* the file's bytes are the stream's */
    size_t ahead; /* of a stored stream: how much to read at a time */

    /* Of one that is not stored. */
    char start[START_BYTES];
    size_t start_n;
    struct archive *unpacker; /* NULL: nothing is compressed */
    char *compressed;
};

/* ---- reading ---- */

static ssize_t read_fd(int fd, void *to, size_t n)
{
    ssize_t got;

    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

/* Feeds the unpacker, with what was read already first. */
static la_ssize_t feed(struct archive *unpacker, void *context, const void **ret)
{
    struct byte_stream *stream = context;
    ssize_t n = (ssize_t)stream->start_n;

    *ret = stream->start;
    if (n > 0) {
        stream->start_n = 0;
        return n;
    }
    *ret = stream->compressed;
    n = read_fd(stream->fd, stream->compressed, COMPRESSED_BYTES);
    if (n < 0)
        archive_set_error(unpacker, (int)-n, "read");
    return n < 0 ? -1 : n;
}

/* Reads on in a file, from where the buffer's bytes end. */
static ssize_t read_stored(struct byte_stream *stream, char *to, size_t n, size_t want)
{
    uint64_t at = stream->position + (stream->buffer->used - stream->at);
    size_t step = want > stream->ahead ? want : stream->ahead;
    ssize_t got;

    if (stream->ahead < AHEAD_LAST_BYTES)
        stream->ahead *= 2;
    do
        got = pread(stream->fd, to, step < n ? step : n, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

/* The next bytes: a count, 0 at the end. */
static ssize_t read_some(struct byte_stream *stream, char *to, size_t n, size_t want)
{
    if (stream->stored)
        return read_stored(stream, to, n, want);
    if (stream->unpacker) {
        la_ssize_t got = archive_read_data(stream->unpacker, to, n);
        int error = got < 0 ? archive_errno(stream->unpacker) : 0;
        if (got < 0)
            return error == EIO || error == ENOMEM ? -error : -EBADMSG;
        return got;
    }
    if (stream->start_n > 0) {
        size_t k = stream->start_n < n ? stream->start_n : n;
        memcpy(to, stream->start, k);
        memmove(stream->start, stream->start + k, stream->start_n - k);
        stream->start_n -= k;
        return (ssize_t)k;
    }
    return read_fd(stream->fd, to, n);
}

/* ---- windows ---- */

/* Makes the buffer one with room for `want` bytes from where the stream is. */
static int make_room(struct byte_stream *stream, size_t want)
{
    struct buffer *old = stream->buffer;

    if (old && stream->at + want <= buffers_size(stream->buffers))
        return 0;
    struct buffer *buffer = buffers_get(stream->buffers);
    if (!buffer)
        return -ENOMEM;
    if (old) {
        buffer->used = old->used - stream->at;
        memcpy(buffer->bytes, old->bytes + stream->at, buffer->used);
        buffer_unref(old);
    }
    stream->buffer = buffer;
    stream->at = 0;
    return 0;
}

ssize_t byte_stream_window(
    struct byte_stream *stream, size_t want, const char **ret, struct buffer **ret_buffer)
{
    if (ret_buffer)
        *ret_buffer = NULL;
    int r = make_room(stream, want);
    if (r < 0)
        return r;
    struct buffer *buffer = stream->buffer;
    while (buffer->used - stream->at < want) {
        size_t room = buffers_size(stream->buffers) - buffer->used;
        ssize_t n = read_some(
            stream, buffer->bytes + buffer->used, room, want - (buffer->used - stream->at));
        if (n < 0)
            return n;
        if (n == 0)
            break;
        buffer->used += (size_t)n;
    }
    *ret = buffer->bytes + stream->at;
    if (ret_buffer)
        *ret_buffer = buffer;
    return (ssize_t)(buffer->used - stream->at);
}

int byte_stream_advance(struct byte_stream *stream, uint64_t n)
{
    if (stream->stored) {
        byte_stream_seek(stream, stream->position + n);
        return 0;
    }
    stream->position += n;
    while (n > 0) {
        size_t there = stream->buffer ? stream->buffer->used - stream->at : 0;
        if (there >= n) {
            stream->at += (size_t)n;
            return 0;
        }
        n -= there;
        const char *bytes;
        if (stream->buffer)
            stream->at = stream->buffer->used;
        ssize_t more = byte_stream_window(stream, 1, &bytes, NULL);
        if (more <= 0)
            return (int)more;
    }
    return 0;
}

void byte_stream_seek(struct byte_stream *stream, uint64_t position)
{
    struct buffer *buffer = stream->buffer;

    if (buffer && position >= stream->position &&
        position - stream->position <= buffer->used - stream->at) {
        stream->at += (size_t)(position - stream->position);
    } else if (buffer) {
        stream->at = buffer->used; /* what is there stays for those who refer to it */
        stream->ahead = AHEAD_FIRST_BYTES;
    }
    stream->position = position;
}

uint64_t byte_stream_position(const struct byte_stream *stream)
{
    return stream->position;
}

int byte_stream_stored_fd(const struct byte_stream *stream)
{
    return stream->stored ? stream->fd : -1;
}

/* ---- opening ---- */

static bool is_compressed(const char *start, size_t n)
{
    static const struct {
        size_t n;
        const char *bytes;
    } magics[] = {
        {2, "\x1f\x8b"}, /* gzip: RFC 1952 */
        {3, "BZh"},      /* bzip2 */
        {6, "\xfd"
            "7zXZ\0"},         /* xz */
        {5, "\x5d\0\0\x80\0"}, /* lzma, with the dictionary sizes that its tools choose */
        {5, "\x5d\0\0\0\x04"}, {4, "LZIP"}, {4, "\x28\xb5\x2f\xfd"}, /* zstd: RFC 8878 */
        {4, "\x04\x22\x4d\x18"},                                     /* lz4, frame format */
        {2, "\x1f\x9d"},                                             /* compress */
    };

    for (size_t i = 0; i < ELEMENTS(magics); i++)
        if (n >= magics[i].n && memcmp(start, magics[i].bytes, magics[i].n) == 0)
            return true;
    return false;
}

/* The filters that libarchive has within itself: never a program. */
static int support_filters(struct archive *unpacker)
{
    int (*const filters[])(struct archive *) = {
        archive_read_support_filter_gzip,
        archive_read_support_filter_bzip2,
        archive_read_support_filter_xz,
        archive_read_support_filter_lzma,
        archive_read_support_filter_lzip,
        archive_read_support_filter_zstd,
        archive_read_support_filter_lz4,
        archive_read_support_filter_compress,
    };

    for (size_t i = 0; i < ELEMENTS(filters); i++)
        if (filters[i](unpacker) != ARCHIVE_OK)
            return -EOPNOTSUPP;
    return archive_read_support_format_raw(unpacker) == ARCHIVE_OK ? 0 : -EOPNOTSUPP;
}

static int open_unpacker(struct byte_stream *stream)
{
    struct archive_entry *entry;

    stream->compressed = malloc(COMPRESSED_BYTES);
    stream->unpacker = archive_read_new();
    if (!stream->compressed || !stream->unpacker)
        return -ENOMEM;
    int r = support_filters(stream->unpacker);
    if (r < 0)
        return r;
    if (archive_read_open(stream->unpacker, stream, NULL, feed, NULL) != ARCHIVE_OK)
        return -EBADMSG;
    r = archive_read_next_header(stream->unpacker, &entry);
    if (r == ARCHIVE_EOF) { /* nothing was compressed */
        archive_read_free(stream->unpacker);
        stream->unpacker = NULL;
        return 0;
    }
    return r == ARCHIVE_OK || r == ARCHIVE_WARN ? 0 : -EBADMSG;
}

static int read_start(struct byte_stream *stream)
{
    while (stream->start_n < START_BYTES) {
        ssize_t n =
            read_fd(stream->fd, stream->start + stream->start_n, START_BYTES - stream->start_n);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        stream->start_n += (size_t)n;
    }
    return 0;
}

static int begin(struct byte_stream *stream)
{
    struct stat st;
    off_t at =
        fstat(stream->fd, &st) == 0 && S_ISREG(st.st_mode) ? lseek(stream->fd, 0, SEEK_CUR) : -1;
    int r = read_start(stream);

    if (r < 0)
        return r;
    if (is_compressed(stream->start, stream->start_n))
        return open_unpacker(stream);
    if (at < 0) {
        /* Only a wish: it may be no pipe, or the system may not give so much. */
        (void)fcntl(stream->fd, F_SETPIPE_SZ, PIPE_BYTES);
        return 0;
    }
    stream->stored = true;
    stream->start_n = 0;
    stream->position = (uint64_t)at;
    stream->ahead = AHEAD_FIRST_BYTES;
    return 0;
}

int byte_stream_open(int fd, struct buffers *buffers, struct byte_stream **ret)
{
    struct byte_stream *stream = calloc(1, sizeof(*stream));

    if (!stream) {
        (void)close(fd); /* as said in the header */
        return -ENOMEM;
    }
    stream->fd = fd;
    stream->buffers = buffers;
    int r = begin(stream);
    if (r < 0)
        byte_stream_free(stream);
    else
        *ret = stream;
    return r;
}

void byte_stream_free(struct byte_stream *stream)
{
    if (!stream)
        return;
    if (stream->unpacker)
        (void)archive_read_free(stream->unpacker); /* was only read from */
    buffer_unref(stream->buffer);
    (void)close(stream->fd); /* was only read from */
    free(stream->compressed);
    free(stream);
}
