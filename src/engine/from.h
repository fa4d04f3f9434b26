/* What a FROM is. */
#ifndef SHOAL_ENGINE_FROM_H
#define SHOAL_ENGINE_FROM_H

#include "engine/root.h"
#include "engine/run.h"

/* Opens a FROM that is not to be taken as a file or directory on disk: an archive (then
 * root->stream is set), or a disc (root->disc). *ret_part, to be freed, is the path in it that is
 * asked for, NULL for all of it. 1: it is open; 0: it is a file or directory; -ECANCELED after it
 * was told why it cannot be read; or another negative errno. */
int from_open(struct run *run, const char *from, struct root *root, char **ret_part);

#endif
