/* Moving a file's content from a source to a sink: the one place where bytes flow. */
#ifndef SHOAL_ENGINE_CONTENT_H
#define SHOAL_ENGINE_CONTENT_H

#include <stdbool.h>

#include "engine/job.h"
#include "engine/run.h"
#include "entry/entry.h"
#include "sink/tree_sink.h"
#include "source/source_file.h"

struct content {
    struct source_file *from;
    const struct tree_sink_ops *sink;
    struct sink_file *to;
    const struct entry *entry;
    bool split;   /* several workers are at it */
    bool changed; /* out: the source was not the same at the end as at the beginning */
};

/* Copies all content, and reads it back where the run verifies. 0, or a negative errno with the
 * step that failed in the worker's outcome; -ECANCELED if the run is to stop. */
int content_copy(struct worker *worker, struct content *content);

#endif
