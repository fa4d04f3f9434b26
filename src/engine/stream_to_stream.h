/* The driver from a stream source to a stream sink, or to nothing but telling what is there. One
 * thread is enough. */
#ifndef SHOAL_ENGINE_STREAM_TO_STREAM_H
#define SHOAL_ENGINE_STREAM_TO_STREAM_H

#include "engine/job.h"
#include "engine/root.h"
#include "sink/stream_sink.h"

/* The job of converting a root's stream. */
struct converting {
    struct job job;
    struct root *root;
    struct stream_sink *sink; /* NULL: entries are told, and content goes to content_fd */
    int content_fd;           /* if there is no sink: -1 for nowhere */
    int error;                /* out: the first failure of the sink or of content_fd */
};

/* To be set as the job's `run`. The root stays the caller's. */
void stream_to_stream_run(struct worker *worker, struct job *job);

#endif
