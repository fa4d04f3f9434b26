/* The bytes of an archive in order, unpacked if the file or pipe is compressed. */
#ifndef SHOAL_SOURCE_BYTE_STREAM_H
#define SHOAL_SOURCE_BYTE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffers.h"

struct byte_stream;

/* Takes the descriptor over, also where it fails. `buffers` lends the memory that windows lie in
 * and outlives the stream. Compression (gzip, bzip2, xz, lzma, zstd, lz4, compress, lzip) is known
 * by the first bytes. 0 or negative errno. */
int byte_stream_open(int fd, struct buffers *buffers, struct byte_stream **ret);
void byte_stream_free(struct byte_stream *stream);

/* Shows what comes next, in one piece: at least `want` bytes (at most a buffer's size) unless the
 * stream ends before. Returns how many are at *ret, 0 at the end, or a negative errno (-EBADMSG:
 * the compressed data are damaged). They are valid until the next call; whoever refers to
 * *ret_buffer (may be NULL as an argument) keeps them for longer. */
ssize_t byte_stream_window(
    struct byte_stream *stream, size_t want, const char **ret, struct buffer **ret_buffer);

/* Goes n bytes on, which leaves the window's bytes valid and may be beyond it; past the end is an
 * end (found by the next window). 0 or negative errno. */
int byte_stream_advance(struct byte_stream *stream, uint64_t n);

/* Goes to a position, where byte_stream_stored_fd() is a descriptor. */
void byte_stream_seek(struct byte_stream *stream, uint64_t position);

/* Where the next byte is: from 0, or, in a file whose bytes these are, its offset there. */
uint64_t byte_stream_position(const struct byte_stream *stream);

/* The descriptor where these bytes are the file's own, so that pread() gives at an offset what the
 * stream has at that position; else -1 (a pipe, a compressed file). It stays the stream's. */
int byte_stream_stored_fd(const struct byte_stream *stream);

#endif
