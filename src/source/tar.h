/* Reading tar: v7, ustar, pax, GNU (long names, sparse files of all its formats), star. Formats'
 * facts: POSIX.1-2017, pax, "EXTENDED DESCRIPTION"; GNU tar's manual, "Basic Tar Format" and
 * "Storing Sparse Files". */
#ifndef SHOAL_SOURCE_TAR_H
#define SHOAL_SOURCE_TAR_H

#include <stdbool.h>

#include "source/archive.h"
#include "source/byte_stream.h"

#define TAR_BLOCK 512

/* Whether a block is a tar header by its checksum, as signed or unsigned bytes; a block of zeros is
 * not. */
bool tar_is_header(const void *block);

/* Takes the stream over, also where it fails. */
int tar_source_new(struct byte_stream *stream, const struct archive_source_options *options,
    struct stream_source **ret);

#endif
