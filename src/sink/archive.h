/* Writing an archive: tar (pax, GNU, ustar) and cpio, compressed or not. */
#ifndef SHOAL_SINK_ARCHIVE_H
#define SHOAL_SINK_ARCHIVE_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>

#include "sink/stream_sink.h"

struct owner_names;

struct archive_sink_options {
    enum shoal_format format;
    enum shoal_compression compression;
    int level;           /* of compression; 0: its own default */
    size_t record_bytes; /* the stream ends at a multiple of it, as tar's -b says; 0: 10,240 */
    unsigned preserve;   /* SHOAL_KEEP_*: the attributes that are recorded */
    bool leave_acls;     /* but not access control lists */
    struct owner_names *names; /* owners' names are recorded too; NULL: numbers alone */
    const char *user, *group;  /* recorded for every entry instead; NULL: not */
};

/* Writes to a descriptor from where it stands; it stays the caller's. 0 or negative errno
 * (-EOPNOTSUPP: this compression is not to be had). */
int archive_sink_new(int fd, const struct archive_sink_options *options, struct stream_sink **ret);

#endif
