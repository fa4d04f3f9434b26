/* A TO that takes entries in one order: a tar stream.
 *
 * Operations return 0 or a negative errno, and say in `outcome` which step failed. */
#ifndef SHOAL_SINK_STREAM_SINK_H
#define SHOAL_SINK_STREAM_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "entry/entry.h"
#include "entry/outcome.h"

struct stream_sink;

/* A range of a file that holds data; between ranges lie holes. */
struct stream_range {
    uint64_t start, end;
};

struct stream_sink_ops {
    /* Begins an entry. `hard_link`: the path of an earlier one that it is another name of, or NULL.
     * A file's ranges come in rising order; a file without holes has one. */
    int (*begin)(struct stream_sink *sink, const char *path, const char *hard_link,
        const struct entry *entry, const struct stream_range *ranges, size_t n_ranges,
        struct outcome *outcome);
    /* The next bytes of the ranges' content: in the end as many as they hold. */
    int (*write)(struct stream_sink *sink, const void *bytes, size_t n, struct outcome *outcome);
    /* Ends the stream, and tells of any write that failed late. */
    int (*finish)(struct stream_sink *sink, struct outcome *outcome);
    void (*free)(struct stream_sink *sink);
};

struct stream_sink {
    const struct stream_sink_ops *ops;
};

#endif
