/* A TO that takes entries in one order: a tar stream.
 *
 * Entries are encoded by any thread at any time and written by one, in order: what precedes an
 * entry's content depends on nothing but the entry. Operations return 0 or a negative errno, and
 * say in `outcome` which step failed. */
#ifndef SHOAL_SINK_STREAM_SINK_H
#define SHOAL_SINK_STREAM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "entry/entry.h"
#include "entry/outcome.h"
#include "entry/range.h"

struct stream_sink;

/* Ranges of data begin and end at multiples of it, but the last one may end with the file: GNU tar
 * reads zeros for what lies between a range's end and the end of its block. */
#define STREAM_RANGE_UNIT 512

/* An entry to be encoded. */
struct stream_record {
    const char *path;      /* bytes; a directory's without a trailing slash */
    const char *hard_link; /* the path of an earlier entry that it is another name of, or NULL */
    const struct entry *entry;
    const struct range *ranges; /* where the content holds data, in whole units and rising order;
                                 * NULL: everywhere */
    size_t n_ranges;
    uint64_t number; /* names the inode where a format wants a number: the same for all its names */
};

struct stream_sink_ops {
    /* Appends to `out` what precedes the entry's content. -EOVERFLOW, -ENAMETOOLONG, -EOPNOTSUPP:
     * the format cannot hold it; nothing was appended. */
    int (*encode)(const struct stream_sink *sink, const struct stream_record *record,
        struct bytes *out, struct outcome *outcome);
    /* How many bytes of content encode() promised for this record: 0 for all but files. */
    uint64_t (*content_bytes)(const struct stream_sink *sink, const struct stream_record *record);
    /* Appends to `out` what follows that many bytes of content. 0 or -ENOMEM. */
    int (*pad)(const struct stream_sink *sink, uint64_t content_bytes, struct bytes *out);

    /* Writes what was encoded, or content. */
    int (*write)(struct stream_sink *sink, const void *bytes, size_t n, struct outcome *outcome);
    /* Writes up to n bytes of a file by the kernel alone: how many; 0: it cannot, or fails, or the
     * file has ended: write() is to be used. */
    size_t (*move)(struct stream_sink *sink, int fd, uint64_t offset, size_t n);
    /* Ends the stream, and tells of any write that failed late. */
    int (*finish)(struct stream_sink *sink, struct outcome *outcome);
    /* Undoes or leaves what is there, where finish() was not reached. */
    void (*free)(struct stream_sink *sink);
};

struct stream_sink {
    const struct stream_sink_ops *ops;
    bool takes_entries_only; /* sockets too, and no content: nothing is opened for it */
};

#endif
