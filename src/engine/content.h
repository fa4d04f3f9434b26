/* Moving a file's content from a source to a sink: the one place where bytes flow. */
#ifndef SHOAL_ENGINE_CONTENT_H
#define SHOAL_ENGINE_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

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

/* Waits for leave to move up to n bytes; returns how many, 0 if the run is to stop. */
size_t content_await_pace(struct worker *worker, size_t n);

/* Whether it is worth asking where the file's holes are. */
bool content_may_have_holes(const struct entry *entry);

#endif
