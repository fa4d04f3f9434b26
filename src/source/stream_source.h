/* A FROM that is read in one order by one reader: an archive, standard input.
 *
 * Operations return 0 (or what is said) or a negative errno, and say in `outcome` which step
 * failed. Nothing in a stream is to be trusted: not its paths, not its sizes. */
#ifndef SHOAL_SOURCE_STREAM_SOURCE_H
#define SHOAL_SOURCE_STREAM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffers.h"
#include "entry/entry.h"
#include "entry/outcome.h"
#include "entry/range.h"

struct stream_source;

/* The next entry. Everything it points to is valid until the next one is asked for. */
struct stream_entry {
    const char *path; /* bytes, as the stream has it: not to be trusted as a place to write to */
    const char *hard_link; /* the path of an earlier entry that this is another name of, or NULL */
    const char *user, *group; /* the owner's names as the stream has them, NULL where it has none */
    struct entry entry;       /* dev and ino are 0: hard_link is how links are told */
    bool size_is_unknown;     /* until the content is read; entry.size is 0 */
    const struct range
        *ranges; /* where content with holes holds data, in rising order; NULL: all of it */
    size_t n_ranges;
    /* Where the content lies in a file as it is, its data one range after the other: a descriptor
     * of the source's, good for pread() from any thread until the source is freed, or -1 where it
     * can only be had by read(). */
    int stored_fd;
    uint64_t stored_at;
};

/* A piece of an entry's content. */
struct stream_piece {
    const void *bytes;
    size_t n;
    uint64_t offset; /* where in the file it belongs; what lies between pieces is a hole */
    struct buffer
        *buffer; /* refer to it to keep the bytes beyond the next call; NULL: they cannot be kept */
};

struct stream_source_ops {
    /* 1: an entry; 0: the end. What was not read of the last one's content is skipped.
     * -EBADMSG: this entry is damaged or not to be believed, the next one may be had; ret->path is
     * its name if that is known, else NULL. Any other failure is the end. */
    int (*next)(struct stream_source *source, struct stream_entry *ret, struct outcome *outcome);
    /* The next piece of the entry's content, in rising order: 1, or 0 at its end. */
    int (*read)(struct stream_source *source, struct stream_piece *ret, struct outcome *outcome);
    void (*free)(struct stream_source *source);
};

struct stream_source {
    const struct stream_source_ops *ops;
};

#endif
