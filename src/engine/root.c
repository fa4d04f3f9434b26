#include "engine/root.h"

#include <stdlib.h>

#include "base/buffers.h"
#include "disc/disc.h"
#include "source/stream_source.h"

void root_free(struct root *root)
{
    if (!root)
        return;
    free(root->from);
    free(root->target);
    free(root->parent_path);
    free(root->source_name);
    free(root->target_name);
    if (root->stream)
        root->stream->ops->free(root->stream);
    buffers_free(root->buffers);
    disc_free(root->disc);
    free(root->part);
    free(root->base);
    free(root);
}

void root_chain_append(struct root_chain *chain, struct root *root)
{
    root->job.link.next = NULL;
    if (chain->last)
        chain->last->job.link.next = &root->job.link;
    else
        chain->first = root;
    chain->last = root;
}

void root_chain_free(struct root_chain *chain)
{
    while (chain->first) {
        struct root *next = (struct root *)chain->first->job.link.next;
        root_free(chain->first);
        chain->first = next;
    }
    chain->last = NULL;
}
