/* Taking the entries of a stream source one after the other, as far as the user wants them: what
 * every driver that reads a stream begins with. */
#ifndef SHOAL_ENGINE_STREAM_ENTRIES_H
#define SHOAL_ENGINE_STREAM_ENTRIES_H

#include <stdbool.h>

#include "base/bytes.h"
#include "engine/job.h"
#include "engine/member_path.h"
#include "engine/root.h"
#include "source/stream_source.h"

struct stream_entries {
    struct root *root; /* its stream is read */
    struct member_rule rule;
    bool told_absolute; /* that a leading slash was left out */
    struct bytes path;  /* of the entry in hand, made safe and relative */
};

void stream_entries_begin(struct worker *worker, struct root *root, struct stream_entries *entries);
void stream_entries_end(struct stream_entries *entries);

/* The next entry that takes part, told to options.archive.on_entry; what is wrong with others was
 * told as faults. False at the end, or if the run is to stop. */
bool stream_entries_next(
    struct worker *worker, struct stream_entries *entries, struct stream_entry *ret);

/* Makes another path of the stream safe: 0; 1: nothing is left of it; or a negative errno. */
int stream_entries_resolve(
    struct worker *worker, struct stream_entries *entries, const char *path, struct bytes *out);

/* Tells, as a fault, what the worker's outcome holds of an entry, by the path that the stream has.
 */
void stream_entries_refuse(
    struct worker *worker, struct stream_entries *entries, const char *path, int r);

#endif
