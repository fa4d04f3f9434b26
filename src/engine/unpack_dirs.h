/* The directories of a stream's copy: entered by one reader as its paths ask, finished by whichever
 * thread is done last in them; entered anew if a later path leads there again. */
#ifndef SHOAL_ENGINE_UNPACK_DIRS_H
#define SHOAL_ENGINE_UNPACK_DIRS_H

#include "engine/node.h"

struct unpack_dirs;

/* NULL: no memory. */
struct unpack_dirs *unpack_dirs_new(void);
/* None of its directories may be held any more. */
void unpack_dirs_free(struct unpack_dirs *dirs);

/* Enters the directory of this name in `parent`, which the caller holds, and holds it. `entry`:
 * what it is to have in the end, or NULL where it is only passed through; then it keeps what it
 * has, or, if it is made now, gets what any new directory has. For the reader alone. 0, or a
 * negative errno with the step that failed in the worker's outcome. */
int unpack_dirs_enter(struct worker *worker, struct unpack_dirs *dirs, struct node *parent,
    const char *name, const struct entry *entry, struct node **ret);

/* The same without making anything: for what must be there already. */
int unpack_dirs_find(struct worker *worker, struct unpack_dirs *dirs, struct node *parent,
    const char *name, struct node **ret);

/* One who held the directory is done with it; the last one finishes it, and so on upwards. For any
 * thread. */
void unpack_dirs_leave(struct worker *worker, struct unpack_dirs *dirs, struct node *node);

#endif
