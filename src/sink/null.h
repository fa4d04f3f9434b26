/* A TO that takes entries and keeps nothing: what listing a tree writes to. */
#ifndef SHOAL_SINK_NULL_H
#define SHOAL_SINK_NULL_H

#include "sink/stream_sink.h"

/* 0 or -ENOMEM. */
int null_sink_new(struct stream_sink **ret);

#endif
