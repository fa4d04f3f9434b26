/* A FROM that is read in one order by one reader: an archive, standard input.
 *
 * Operations return 0 or a negative errno, and say in `outcome` which step failed. */
#ifndef SHOAL_SOURCE_STREAM_SOURCE_H
#define SHOAL_SOURCE_STREAM_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "entry/entry.h"
#include "entry/outcome.h"

struct stream_source;

/* The next entry. Everything it points to is valid until the next one is asked for. */
struct stream_entry {
    const char *path; /* bytes, as the stream has it: not to be trusted as a place to write to */
    const char *hard_link; /* the path of an earlier entry that this is another name of, or NULL */
    struct entry entry;
};

struct stream_source_ops {
    /* 1: an entry; 0: the end. What was not read of the last one's content is skipped. */
    int (*next)(struct stream_source *source, struct stream_entry *ret, struct outcome *outcome);
    /* The next piece of the entry's content and where in the file it belongs; what lies between
     * pieces is a hole. Returns its length, 0 at the end. The bytes are the source's, valid until
     * the next call. */
    ssize_t (*read)(struct stream_source *source, const void **ret_bytes, uint64_t *ret_offset,
        struct outcome *outcome);
    void (*free)(struct stream_source *source);
};

struct stream_source {
    const struct stream_source_ops *ops;
};

#endif
