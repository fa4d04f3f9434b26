/* What tar and cpio have in front of an entry's content. Stateless: any thread, any order. Formats'
 * facts: POSIX.1-2017, pax; GNU tar's manual, "Basic Tar Format", "Storing Sparse Files"; cpio(5),
 * "New ASCII Format". */
#ifndef SHOAL_SINK_TAR_ENCODE_H
#define SHOAL_SINK_TAR_ENCODE_H

#include <shoal/shoal.h>

#include "base/bytes.h"
#include "entry/outcome.h"
#include "sink/stream_sink.h"

struct owner_names;

struct encode_options {
    enum shoal_format format;
    unsigned preserve;
    bool leave_acls;
    struct owner_names *names; /* NULL: no names of owners are recorded */
    const char *user, *group;  /* recorded for every entry instead; NULL: not */
};

/* Whether an attribute is to be recorded at all. */
bool encode_takes_xattr(const struct encode_options *options, const char *name);

/* Appends it. -EOVERFLOW, -ENAMETOOLONG: the format cannot hold it, and nothing was appended; or
 * -ENOMEM. What of the metadata it cannot hold is noted. */
int tar_encode(const struct encode_options *options, const struct stream_record *record,
    struct bytes *out, struct outcome *outcome);
int cpio_encode(const struct encode_options *options, const struct stream_record *record,
    struct bytes *out, struct outcome *outcome);

/* How much content follows: data without holes where the format can do that. */
uint64_t tar_content_bytes(enum shoal_format format, const struct stream_record *record);

/* What ends an archive. 0 or -ENOMEM. */
int cpio_encode_end(struct bytes *out);

#endif
