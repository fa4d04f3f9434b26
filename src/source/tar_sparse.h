/* Where sparse files in tar hold data: GNU's old format and its pax formats 0.0, 0.1 and 1.0. */
#ifndef SHOAL_SOURCE_TAR_SPARSE_H
#define SHOAL_SOURCE_TAR_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Appends the ranges (struct range) of an old GNU header, or of one of its extension blocks.
 * Returns whether an extension follows, or a negative errno. */
int tar_sparse_parse_header(const void *block, struct bytes *ranges, int64_t *ret_real_size);
int tar_sparse_parse_extension(const void *block, struct bytes *ranges);

/* Appends the ranges of a map of format 1.0: lines of numbers, the first of which says how many
 * ranges there are. 0 or a negative errno. */
int tar_sparse_parse_map(const char *text, size_t length, struct bytes *ranges);

/* Checks that ranges rise, keep within the size, and hold just `stored` bytes; drops empty ones.
 * -EBADMSG. */
int tar_sparse_check(struct bytes *ranges, int64_t real_size, int64_t stored);

#endif
