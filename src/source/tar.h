/* Reading tar: v7, ustar, pax, GNU (long names, sparse files of all its formats), star. Formats'
 * facts: POSIX.1-2017, pax, "EXTENDED DESCRIPTION"; GNU tar's manual, "Basic Tar Format" and
 * "Storing Sparse Files". */
#ifndef SHOAL_SOURCE_TAR_H
#define SHOAL_SOURCE_TAR_H

#include "source/archive.h"
#include "source/byte_stream.h"

/* What precedes an entry's content (names, pax records, sparse maps) may have so many bytes. */
#define TAR_METADATA_BYTES (8 * 1024 * 1024)

/* Takes the stream over, also where it fails. 0 or -ENOMEM. */
int tar_source_new(struct byte_stream *stream, const struct archive_source_options *options,
    struct stream_source **ret);

#endif
