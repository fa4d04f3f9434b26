/* Names that the user listed (--files-from) and that are not there. */
#ifndef SHOAL_ENGINE_LISTED_H
#define SHOAL_ENGINE_LISTED_H

#include "engine/node.h"

/* Reports, as a fault, each name in the run's filter that the directory FROM of this start does not
 * have. */
void listed_tell_missing(struct worker *worker, struct node *start);

#endif
