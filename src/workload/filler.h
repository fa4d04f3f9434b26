/* The content of files that are made. */
#ifndef SHOAL_WORKLOAD_FILLER_H
#define SHOAL_WORKLOAD_FILLER_H

#include <stddef.h>
#include <stdint.h>

#include "workload/shape.h"

#define FILLER_CHUNK_BYTES 65536 /* is part of what is made: content starts anew at each */

struct filler;

/* Frees with free(). NULL: memory is out. */
struct filler *filler_new(void);

/* The content, all but CONTENT_MIXED, that begins with this state: `length` bytes, at most a chunk;
 * they stand until the next call. Text is words drawn at random, which general compressors bring to
 * about two fifths; random is bytes that none shrinks. */
const char *filler_fill(struct filler *filler, enum content content, size_t length, uint64_t state);

#endif
