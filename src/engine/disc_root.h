/* A root whose tree is on a disc. */
#ifndef SHOAL_ENGINE_DISC_ROOT_H
#define SHOAL_ENGINE_DISC_ROOT_H

#include "engine/root.h"
#include "engine/run.h"

/* Opens the image or drive at `path` as the root's FROM: all of it, or (`part` not NULL) what lies
 * there in it. -EILSEQ: there is no disc that is known. -ECANCELED: it is one, and it was told why
 * it cannot be used. */
int disc_root_open(struct run *run, struct root *root, const char *path, const char *part);

#endif
