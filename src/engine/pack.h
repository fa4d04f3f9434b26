/* Writing roots to an archive, whichever kind they are. */
#ifndef SHOAL_ENGINE_PACK_H
#define SHOAL_ENGINE_PACK_H

#include "engine/root.h"
#include "engine/run.h"

/* A root for a tree to be packed: `path`, looked up in `directory` (NULL: the current one),
 * recorded as `target`. 0; -ECANCELED after it was told why there is none; or -ENOMEM. */
int pack_root_new(struct run *run, const char *directory, const char *path, const char *target,
    struct root **ret);

/* The same for a FROM by cp's rule: under its own name, or (`at_top`) as the top itself. */
int pack_root(struct run *run, const char *from, bool at_top, struct root **ret);

/* Tells of a tree's entries in order, and writes nothing; takes the root over. 0 or negative errno.
 */
int pack_list(struct run *run, struct root *root);

/* Writes trees, chained by job.link.next and taken over, or one stream, to a descriptor. 0 or
 * negative errno. */
int pack_roots(struct run *run, struct root *roots, int fd);

/* The same to a file of a name: a new one takes the name when it is whole. */
int pack_roots_to(struct run *run, struct root *roots, const char *to);

#endif
