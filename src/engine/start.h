/* The beginning of a FROM that is a tree, and its end: the node for the directory that FROM is
 * named in. */
#ifndef SHOAL_ENGINE_START_H
#define SHOAL_ENGINE_START_H

#include <stdbool.h>

#include "engine/node.h"

/* Opens the root's source and makes its start. 0, or a negative errno, which was told; then the
 * root is gone, and what waits for it goes on. */
int start_new(struct worker *worker, struct root *root, struct node **ret);

/* Nothing is pending in the start any more: ends its root. */
void start_end(struct worker *worker, struct node *start);

/* Whether symbolic links among the node's names are followed. */
bool node_follows(const struct run *run, const struct node *node);

/* Whether the directory is its own ancestor, by symbolic links that are followed. */
bool node_is_cycle(const struct node *node, const struct entry *entry);

#endif
