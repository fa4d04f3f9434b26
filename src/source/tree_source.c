#include "source/tree_source.h"

#include <stdlib.h>

void source_batch_free(struct source_batch *batch)
{
    free(batch->names);
    free(batch->buffer);
    *batch = (struct source_batch){0};
}

void source_scratch_free(struct source_scratch *scratch)
{
    free(scratch->target);
    xattr_set_free(&scratch->xattrs);
    *scratch = (struct source_scratch){0};
}
