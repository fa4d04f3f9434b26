/* The end of a directory: when the last of its children is done. */
#ifndef SHOAL_ENGINE_FINISH_H
#define SHOAL_ENGINE_FINISH_H

#include "engine/node.h"

/* Gives a directory that was entered its metadata, counts it and tells what was lost; a comparison
 * tells what stands in it that the source does not have. Closes the node. */
void directory_finish(struct worker *worker, struct node *node);

#endif
