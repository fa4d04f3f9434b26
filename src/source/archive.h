/* Opening an archive of any kind: tar by our own reader (source/tar.h), everything else by
 * libarchive. */
#ifndef SHOAL_SOURCE_ARCHIVE_H
#define SHOAL_SOURCE_ARCHIVE_H

#include <stdbool.h>

#include "source/stream_source.h"

struct buffers;
struct owner_names;

struct archive_source_options {
    struct buffers *buffers; /* lends the memory that content travels in; outlives the source */
    struct owner_names
        *names; /* owners are found by their names first, as tar does; NULL: by number alone */
    bool want_xattrs;  /* entries come with their extended attributes and ACLs */
    bool leave_acls;   /* but not those */
    bool ignore_zeros; /* a tar's end may be followed by another tar */
};

/* Takes the descriptor over, also where it fails. -EILSEQ: this is no archive that is known. */
int archive_source_open(int fd, const struct archive_source_options *options,
    struct stream_source **ret, struct outcome *outcome);

#endif
