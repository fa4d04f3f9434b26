#include "engine/stream_to_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A failure here is of the whole. */
static int put(struct converter *converter, const void *data, size_t n)
{
    struct converting *converting = converter->converting;
    struct worker *worker = converter->worker;
    struct stream_sink *sink = converting->sink;

    worker_is_at(worker, ACTIVITY_DESTINATION);
    int r = sink ? sink->ops->write(sink, data, n, &worker->outcome)
                 : write_fd(converting->content_fd, data, n);
    if (r < 0) {
        outcome_clear(&worker->outcome); /* told by whoever asked for the whole */
        converting->error = r;
        run_stop(worker->run, STOP_FULL);
        return -ECANCELED;
    }
    return 0;
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

/* Writes an entry's content: `content` bytes in all, which are its data alone, or with the holes
 * written out. Whatever the stream has of it, so many bytes are written: they were promised. */
static int put_content(struct converter *converter, const struct stream_entry *entry,
    uint64_t content, bool with_holes)
{
    struct stream_source *source = converter->entries.root->stream;
    struct worker *worker = converter->worker;
    struct stream_piece piece;
    uint64_t done = 0;
    int r = 0, read = 1;

    while (r == 0 && done < content) {
        worker_is_at(worker, ACTIVITY_SOURCE);
        read = source->ops->read(source, &piece, &worker->outcome);
        if (read <= 0)
            break;
        if (run_is_stopping(worker->run))
            return -ECANCELED;
        if (with_holes && piece.offset > done) {
            uint64_t gap = piece.offset < content ? piece.offset - done : content - done;
            r = put_zeros(converter, gap);
            done += gap;
        }
        size_t n = piece.n < content - done ? piece.n : (size_t)(content - done);
        size_t step = content_await_pace(worker, n);
        for (size_t at = 0; r == 0 && at < n; at += step) {
            if (step == 0)
                return -ECANCELED;
            step = n - at < step ? n - at : step;
            r = put(converter, (const char *)piece.bytes + at, step);
        }
        done += n;
        count(&worker->counters.moved, n);
    }
    if (read < 0)
        stream_entries_refuse(worker, &converter->entries, entry->path, read);
    return r == 0 ? put_zeros(converter, content - done) : r;
}

static int convert_entry(struct converter *converter, const struct stream_entry *entry)
{
    struct stream_sink *sink = converter->converting->sink;
    struct worker *worker = converter->worker;
    struct stream_record record = {
        .path = *converter->entries.path.data ? converter->entries.path.data : ".",
        .hard_link = entry->hard_link,
        .entry = &entry->entry,
        .ranges = entry->ranges,
        .n_ranges = entry->n_ranges,
    };

    converter->head.n = 0;
    int r = sink->ops->encode(sink, &record, &converter->head, &worker->outcome);
    if (r == 0)
        r = put(converter, converter->head.data, converter->head.n);
    if (r < 0)
        return r;
    uint64_t content = sink->ops->content_bytes(sink, &record);
    bool with_holes = !entry->ranges || content == entry->entry.size;
    r = put_content(converter, entry, content, with_holes);
    converter->head.n = 0;
    if (r == 0)
        r = sink->ops->pad(sink, content, &converter->head);
    return r == 0 ? put(converter, converter->head.data, converter->head.n) : r;
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
    struct converter converter = {.worker = worker, .converting = converting};
    struct stream_entry entry;

    stream_entries_begin(worker, converting->root, &converter.entries);
    while (stream_entries_next(worker, &converter.entries, &entry)) {
        int r = 0;
        if (converting->sink)
            r = convert_entry(&converter, &entry);
        else if (converting->content_fd >= 0 && S_ISREG(entry.entry.mode) && !entry.hard_link)
            r = put_content(&converter, &entry, entry.entry.size, true);
        if (r == 0)
            count_entry(&worker->counters, &entry);
        else
            stream_entries_refuse(worker, &converter.entries, entry.path, r);
    }
    stream_entries_end(&converter.entries);
    bytes_free(&converter.head);
}
