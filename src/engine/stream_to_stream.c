#include "engine/stream_to_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/open.h"
#include "engine/content.h"
#include "engine/events.h"
#include "engine/run.h"
#include "engine/stream_entries.h"

static const char zeros[16 * 1024];

struct converter {
    struct worker *worker;
    struct converting *converting;
    struct stream_entries entries;
    struct bytes head;
    struct bytes ranges; /* of struct range */
    int out_fd;          /* where output goes instead of the sink; -1: to the sink */
};

static int write_fd(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, data, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? -errno : -EIO;
        data += k;
        n -= (size_t)k;
    }
    return 0;
}

/* ---- output ---- */

/* A failure here is of the whole. */
static int put(struct converter *converter, const void *data, size_t n)
{
    struct converting *converting = converter->converting;
    struct worker *worker = converter->worker;
    struct stream_sink *sink = converting->sink;

    worker_is_at(worker, ACTIVITY_DESTINATION);
    int r = converter->out_fd < 0 ? sink->ops->write(sink, data, n, &worker->outcome)
                                  : write_fd(converter->out_fd, data, n);
    if (r < 0) {
        outcome_clear(&worker->outcome); /* told by whoever asked for the whole */
        converting->error = r;
        run_stop(worker->run, STOP_FULL);
        return -ECANCELED;
    }
    return 0;
}

static int put_paced(struct converter *converter, const char *data, size_t n)
{
    size_t step = content_await_pace(converter->worker, n);
    int r = 0;

    for (size_t at = 0; r == 0 && at < n; at += step) {
        if (step == 0)
            return -ECANCELED;
        step = n - at < step ? n - at : step;
        r = put(converter, data + at, step);
    }
    count(&converter->worker->counters.moved, n);
    return r;
}

static int put_zeros(struct converter *converter, uint64_t n)
{
    int r = 0;

    for (uint64_t k; n > 0 && r == 0; n -= k) {
        k = n < sizeof(zeros) ? n : sizeof(zeros);
        r = put(converter, zeros, (size_t)k);
    }
    return r;
}

/* ---- an entry's content ---- */

/* What of a file is to be written: its ranges, as far as `at` already. */
struct progress {
    const struct range *ranges;
    size_t n;
    uint64_t at;
};

/* Goes on to an offset: what was to be written before it is zeros. */
static int skip_to(struct converter *converter, struct progress *progress, uint64_t offset)
{
    int r = 0;

    while (r == 0 && progress->n > 0 && progress->at < offset) {
        uint64_t start = progress->ranges->start, end = progress->ranges->end;
        uint64_t from = progress->at > start ? progress->at : start;
        uint64_t to = end < offset ? end : offset;
        if (from < to)
            r = put_zeros(converter, to - from);
        progress->at = to > progress->at ? to : offset;
        if (progress->at >= end) {
            progress->ranges++;
            progress->n--;
        }
    }
    return r;
}

/* Writes what of a piece is to be written. */
static int put_piece(
    struct converter *converter, struct progress *progress, const struct stream_piece *piece)
{
    const char *bytes = piece->bytes;
    uint64_t end = piece->offset + piece->n;
    int r = skip_to(converter, progress, piece->offset);

    while (r == 0 && progress->n > 0 && progress->at < end) {
        const struct range *range = progress->ranges;
        uint64_t from = range->start > piece->offset ? range->start : piece->offset;
        from = from > progress->at ? from : progress->at;
        uint64_t to = range->end < end ? range->end : end;
        if (from >= to) /* the range is beyond the piece */
            break;
        r = put_paced(converter, bytes + (from - piece->offset), (size_t)(to - from));
        progress->at = to;
        if (to == range->end) {
            progress->ranges++;
            progress->n--;
        }
    }
    return r;
}

/* Writes an entry's content, as far as it lies in the ranges. Whatever the stream has of it, all of
 * them are written, since so much was promised; of a size that is unknown, what there is. 1: it was
 * told that content is missing, and none stands in for it. */
static int put_content(struct converter *converter, const struct stream_entry *entry,
    const struct range *ranges, size_t n)
{
    struct stream_source *source = converter->entries.root->stream;
    struct worker *worker = converter->worker;
    struct progress progress = {ranges, n, 0};
    struct stream_piece piece;
    int r = 0, read = 1;

    while (r == 0 && progress.n > 0) {
        worker_is_at(worker, ACTIVITY_SOURCE);
        read = source->ops->read(source, &piece, &worker->outcome);
        if (read <= 0)
            break;
        if (run_is_stopping(worker->run))
            return -ECANCELED;
        r = put_piece(converter, &progress, &piece);
    }
    if (read < 0)
        stream_entries_refuse(worker, &converter->entries, entry->path, read);
    if (r == 0 && entry->size_is_unknown)
        return read < 0;
    return r == 0 ? skip_to(converter, &progress, UINT64_MAX) : r;
}

static const struct range all_there_is = {0, UINT64_MAX};

/* ---- content of unknown size ---- */

static int open_spool(void)
{
    const char *directory = getenv("TMPDIR");

    return open_at(
        AT_FDCWD, directory && *directory ? directory : P_tmpdir, O_RDWR | O_TMPFILE, 0600);
}

/* Puts the content by in a file, so that its size is known; returns as put_content(). */
static int spool_content(struct converter *converter, const struct stream_entry *entry, int spool)
{
    int before = converter->out_fd;

    converter->out_fd = spool;
    int r = put_content(converter, entry, &all_there_is, 1);
    converter->out_fd = before;
    return r;
}

static int put_spooled(struct converter *converter, int spool, uint64_t size)
{
    char buffer[sizeof(zeros)];
    int r = 0;

    for (uint64_t at = 0; r == 0 && at < size;) {
        ssize_t got = pread(spool, buffer, sizeof(buffer), (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO;
        r = put(converter, buffer, (size_t)got);
        at += (uint64_t)got;
    }
    return r;
}

/* ---- entries ---- */

/* The ranges of a record, in whole units. 0 or -ENOMEM. */
static int set_ranges(
    struct converter *converter, const struct stream_entry *entry, struct stream_record *record)
{
    struct bytes *ranges = &converter->ranges;

    if (!entry->ranges)
        return 0;
    ranges->n = 0;
    int r = bytes_append(ranges, entry->ranges, entry->n_ranges * sizeof(*entry->ranges));
    if (r == 0)
        r = bytes_reserve(ranges, 1); /* a list of none is one, too */
    if (r < 0)
        return r;
    struct range *wide = (struct range *)ranges->data;
    size_t n = ranges_widen(wide, entry->n_ranges, STREAM_RANGE_UNIT, entry->entry.size);
    if (!ranges_are_whole(wide, n, entry->entry.size)) {
        record->ranges = wide;
        record->n_ranges = n;
    }
    return 0;
}

/* Writes what stands before the content. */
static int put_head(
    struct converter *converter, const struct stream_entry *entry, struct stream_record *ret_record)
{
    const struct stream_sink *sink = converter->converting->sink;

    *ret_record = (struct stream_record){
        .path = *converter->entries.path.data ? converter->entries.path.data : ".",
        .hard_link = entry->hard_link,
        .entry = &entry->entry,
    };
    converter->head.n = 0;
    int r = set_ranges(converter, entry, ret_record);
    if (r == 0)
        r = sink->ops->encode(sink, ret_record, &converter->head, &converter->worker->outcome);
    return r == 0 ? put(converter, converter->head.data, converter->head.n) : r;
}

static int put_padding(struct converter *converter, uint64_t content)
{
    const struct stream_sink *sink = converter->converting->sink;

    converter->head.n = 0;
    int r = sink->ops->pad(sink, content, &converter->head);
    return r == 0 ? put(converter, converter->head.data, converter->head.n) : r;
}

static int convert_unsized(struct converter *converter, struct stream_entry *entry)
{
    struct stream_record record;
    _cleanup_close_ int spool = open_spool();

    if (spool < 0)
        return outcome_fail(
            &converter->worker->outcome, "make a temporary file for the content of", spool);
    int r = spool_content(converter, entry, spool);
    if (r != 0)
        return r;
    entry->entry.size = (uint64_t)lseek(spool, 0, SEEK_CUR); /* a regular file: cannot fail */
    r = put_head(converter, entry, &record);
    if (r == 0)
        r = put_spooled(converter, spool, entry->entry.size);
    return r == 0 ? put_padding(converter, entry->entry.size) : r;
}

static int convert_entry(struct converter *converter, struct stream_entry *entry)
{
    const struct stream_sink *sink = converter->converting->sink;
    struct stream_record record;

    if (entry->size_is_unknown)
        return convert_unsized(converter, entry);
    int r = put_head(converter, entry, &record);
    if (r < 0)
        return r;
    uint64_t content = sink->ops->content_bytes(sink, &record);
    const struct range whole = {0, content};
    bool is_sparse = record.ranges && content != entry->entry.size;
    r = put_content(converter, entry, is_sparse ? record.ranges : &whole,
        is_sparse ? record.n_ranges : content > 0);
    return r == 0 ? put_padding(converter, content) : r;
}

/* Writes a file's content alone. */
static int put_file(struct converter *converter, const struct stream_entry *entry)
{
    const struct range whole = {0, entry->entry.size};

    if (entry->size_is_unknown)
        return put_content(converter, entry, &all_there_is, 1);
    return put_content(converter, entry, &whole, entry->entry.size > 0);
}

static void count_entry(struct counters *counters, const struct stream_entry *entry)
{
    mode_t mode = entry->entry.mode;

    if (entry->hard_link)
        count(&counters->hard_links, 1);
    else if (S_ISDIR(mode))
        count(&counters->directories, 1);
    else if (S_ISLNK(mode))
        count(&counters->symlinks, 1);
    else if (!S_ISREG(mode))
        count(&counters->specials, 1);
    if (entry->hard_link || !S_ISREG(mode))
        return;
    count(&counters->files, 1);
    count(&counters->bytes, entry->entry.size);
}

void stream_to_stream_run(struct worker *worker, struct job *job)
{
    struct converting *converting = (struct converting *)job;
    struct converter converter = {
        .worker = worker,
        .converting = converting,
        .out_fd = converting->sink ? -1 : converting->content_fd,
    };
    struct stream_entry entry;

    stream_entries_begin(worker, converting->root, &converter.entries);
    while (stream_entries_next(worker, &converter.entries, &entry)) {
        int r = 0;
        if (converting->sink)
            r = convert_entry(&converter, &entry);
        else if (converting->content_fd >= 0 && S_ISREG(entry.entry.mode) && !entry.hard_link)
            r = put_file(&converter, &entry);
        if (r == 0)
            count_entry(&worker->counters, &entry);
        else if (r < 0)
            stream_entries_refuse(worker, &converter.entries, entry.path, r);
    }
    stream_entries_end(&converter.entries);
    bytes_free(&converter.head);
    bytes_free(&converter.ranges);
}
