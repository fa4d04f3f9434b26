/* Which entries take part, by the run's filter. */
#ifndef SHOAL_ENGINE_ADMISSION_H
#define SHOAL_ENGINE_ADMISSION_H

#include <stdbool.h>

#include "engine/events.h"

/* FROM itself, if it is a directory, always does. Below a directory that does not, nothing does,
 * whatever this says of it. */
bool place_is_admitted(struct worker *worker, const struct place *place, bool is_directory);

/* The same, and that options.archive.select takes its path at TO. */
bool place_is_selected(struct worker *worker, const struct place *place, bool is_directory);

#endif
