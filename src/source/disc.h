/* A file system on a disc image as a tree source. */
#ifndef SHOAL_SOURCE_DISC_H
#define SHOAL_SOURCE_DISC_H

#include <stdint.h>

#include "source/tree_source.h"

struct disc;

/* Names are looked up in the directory of the node `start`. The disc stays the caller's, and
 * outlives the source. 0 or -ENOMEM. */
int disc_source_new(struct disc *disc, uint64_t start, struct tree_source **ret);

#endif
