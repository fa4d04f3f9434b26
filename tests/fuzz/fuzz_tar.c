/* libFuzzer target: any bytes as a tar archive, once from a file and once from a pipe. Whatever
 * they are, the reader must end, and hold to what stream_source.h promises. Checksums are put right
 * first, since no mutation would. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffers.h"
#include "entry/owner_names.h"
#include "entry/xattrs.h"
#include "source/byte_stream.h"
#include "source/tar.h"
#include "source/tar_header.h"

#define BUFFER_BYTES ((size_t)64 * 1024)
#define PIPE_BYTES   60000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "not so: %s\n", what);
    abort();
}

static void fix_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + TAR_BLOCK <= size; at += TAR_BLOCK) {
        unsigned sum = 8 * ' ';
        char text[9];
        if (memcmp(data + at + 257, "ustar", 5) != 0)
            continue;
        for (size_t i = 0; i < TAR_BLOCK; i++)
            sum += i >= 148 && i < 156 ? 0 : data[at + i];
        (void)snprintf(text, sizeof(text), "%06o", sum);
        memcpy(data + at + 148, text, 7);
        data[at + 155] = ' ';
    }
}

static void check_ranges(const struct stream_entry *entry)
{
    uint64_t at = 0;

    for (size_t i = 0; i < entry->n_ranges; i++) {
        const struct range *range = &entry->ranges[i];
        check(range->start >= at && range->end >= range->start, "ranges rise");
        check(range->end <= entry->entry.size, "ranges lie within the size");
        at = range->end;
    }
}

static void check_entry(const struct stream_entry *entry, size_t size)
{
    const struct entry *it = &entry->entry;

    check(entry->path != NULL, "an entry has a path");
    check(!S_ISLNK(it->mode) || it->link_target, "a symbolic link has a target");
    check(it->uid != (uid_t)-1 && it->gid != (gid_t)-1, "owners are none that mean no change");
    check(it->mtime.tv_nsec >= 0 && it->mtime.tv_nsec < 1000000000, "nanoseconds are such");
    check(it->allocated <= size || entry->stored_fd < 0, "stored content is there");
    check(entry->stored_fd < 0 || entry->stored_at + it->allocated <= size,
        "stored content lies within the file");
    for (size_t i = 0; it->xattrs && i < it->xattrs->n; i++)
        check(*xattr_set_name(it->xattrs, i), "attributes have names");
    check_ranges(entry);
}

static void read_content(struct stream_source *source, const struct stream_entry *entry)
{
    struct outcome outcome = {0};
    struct stream_piece piece;
    uint64_t at = 0;
    int r;

    while ((r = source->ops->read(source, &piece, &outcome)) > 0) {
        check(piece.n > 0, "pieces are not empty");
        check(piece.offset >= at, "pieces rise");
        at = piece.offset + piece.n;
        check(at <= entry->entry.size, "pieces lie within the size");
        volatile uint8_t last = ((const uint8_t *)piece.bytes)[piece.n - 1];
        (void)last;
    }
    check(r == 0 || outcome.operation, "a failure says what failed");
}

static void read_all(int fd, size_t size, bool ignore_zeros)
{
    struct buffers *buffers;
    struct byte_stream *stream;
    struct stream_source *source;
    struct owner_names *names = owner_names_new();

    check(buffers_new(BUFFER_BYTES, 4, &buffers) == 0 && names, "there is memory");
    const struct archive_source_options options = {
        .buffers = buffers, .names = names, .want_xattrs = true, .ignore_zeros = ignore_zeros};
    if (byte_stream_open(fd, buffers, &stream) == 0 &&
        tar_source_new(stream, &options, &source) == 0) {
        struct outcome outcome = {0};
        struct stream_entry entry;
        int r;
        while ((r = source->ops->next(source, &entry, &outcome)) != 0) {
            check(r > 0 || outcome.operation, "a failure says what failed");
            if (r < 0 && r != -EBADMSG)
                break;
            if (r > 0) {
                check_entry(&entry, size);
                read_content(source, &entry);
            }
            outcome_clear(&outcome);
        }
        source->ops->free(source);
    }
    buffers_free(buffers);
    owner_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    int file = memfd_create("tar", MFD_CLOEXEC), ends[2];

    check(copy && file >= 0 && pipe2(ends, O_CLOEXEC) == 0, "there is what is needed");
    memcpy(copy, data, size);
    fix_checksums(copy, size);
    /* Compressed input is another parser's matter. */
    if (size >= TAR_BLOCK && tar_is_header(copy)) {
        check(write(file, copy, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0, "write");
        read_all(file, size, size % 2);
        file = -1;
        if (size < PIPE_BYTES && write(ends[1], copy, size) == (ssize_t)size) {
            (void)close(ends[1]);
            ends[1] = -1;
            read_all(ends[0], size, false);
            ends[0] = -1;
        }
    }
    free(copy);
    if (file >= 0)
        (void)close(file);
    if (ends[0] >= 0)
        (void)close(ends[0]);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    return 0;
}
