#include "sink/null.h"

#include <errno.h>
#include <stdlib.h>

static int null_encode(const struct stream_sink *sink, const struct stream_record *record,
    struct bytes *out, struct outcome *outcome)
{
    (void)sink;
    (void)record;
    (void)out;
    (void)outcome;
    return 0;
}

static uint64_t null_content_bytes(
    const struct stream_sink *sink, const struct stream_record *record)
{
    (void)sink;
    (void)record;
    return 0;
}

static int null_pad(const struct stream_sink *sink, uint64_t content_bytes, struct bytes *out)
{
    (void)sink;
    (void)content_bytes;
    (void)out;
    return 0;
}

static int null_write(
    struct stream_sink *sink, const void *bytes, size_t n, struct outcome *outcome)
{
    (void)sink;
    (void)bytes;
    (void)n;
    (void)outcome;
    return 0;
}

static int null_finish(struct stream_sink *sink, struct outcome *outcome)
{
    (void)sink;
    (void)outcome;
    return 0;
}

static void null_free(struct stream_sink *sink)
{
    free(sink);
}

static const struct stream_sink_ops null_ops = {
    .encode = null_encode,
    .content_bytes = null_content_bytes,
    .pad = null_pad,
    .write = null_write,
    .finish = null_finish,
    .free = null_free,
};

int null_sink_new(struct stream_sink **ret)
{
    struct stream_sink *sink = malloc(sizeof(*sink));

    if (!sink)
        return -ENOMEM;
    *sink = (struct stream_sink){.ops = &null_ops, .takes_entries_only = true};
    *ret = sink;
    return 0;
}
