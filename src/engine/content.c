#include "engine/content.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/hasher.h"
#include "engine/split.h"

/* Measured: see docs/performance.md, "Content". Below these sizes the plain way is as fast or
 * faster. */
#define CLONE_FROM_BYTES (16 * 1024)
#define RANGE_FROM_BYTES (16 * 1024)
#define SPLIT_FROM_BYTES (32 * 1024 * 1024)
#define PROBE_FROM_BYTES (1024 * 1024)

/* The kernel is asked to move this much at a time, so that a stop is heeded and progress shows. */
#define RANGE_STEP_BYTES (8 * 1024 * 1024)

size_t content_await_pace(struct worker *worker, size_t n)
{
    struct run *run = worker->run;

    if (run_is_stopping(run))
        return 0;
    n = pace_step_bytes(&run->pace, n);
    if (!run->pace.bytes_second)
        return n;
    uint64_t granted = pace_grant_ns(&run->pace, n);
    worker_is_at(worker, ACTIVITY_LIMIT);
    for (uint64_t now = clock_now_ns(); now < granted; now = clock_now_ns()) {
        if (run_is_stopping(run))
            return 0;
        uint64_t soon = now + NS_PER_SECOND / 20;
        clock_sleep_until_ns(granted < soon ? granted : soon);
    }
    return n;
}

static int fail_read(struct worker *worker, const struct content *content, int error)
{
    worker->outcome.damage = content->from->damage;
    return outcome_fail(&worker->outcome, "read", error);
}

static int fail_write(struct worker *worker, int error)
{
    return outcome_fail_target(&worker->outcome, "write", error);
}

/* ---- through our own buffer ---- */

/* Writes what is not zero, in blocks; what is left out becomes holes. */
static int write_sparsely(struct content *content, const char *bytes, size_t n, uint64_t offset)
{
    for (size_t at = 0, run; at < n; at += run) {
        bool zero = bytes_are_zero(bytes + at, n - at < HASH_BLOCK ? n - at : HASH_BLOCK);
        for (run = 0; at + run < n; run += HASH_BLOCK) {
            size_t rest = n - at - run;
            if (bytes_are_zero(bytes + at + run, rest < HASH_BLOCK ? rest : HASH_BLOCK) != zero)
                break;
        }
        if (run > n - at)
            run = n - at;
        int r = zero ? 0 : content->sink->write(content->to, bytes + at, run, offset + at);
        if (r < 0)
            return r;
    }
    return 0;
}

static int put_bytes(
    struct worker *worker, struct content *content, const char *bytes, size_t n, uint64_t offset)
{
    worker_is_at(worker, ACTIVITY_DESTINATION);
    int r = worker->run->options->sparse == SHOAL_ALWAYS
                ? write_sparsely(content, bytes, n, offset)
                : content->sink->write(content->to, bytes, n, offset);
    if (r < 0)
        return fail_write(worker, r);
    if (worker->hasher)
        hasher_update(worker->hasher, bytes, n, offset);
    count(&worker->counters.moved, n);
    return 0;
}

/* Fills the buffer with up to n bytes from `offset`, with as many reads as it takes; fewer only
 * where the file ends. */
static ssize_t fill_buffer(struct content *content, char *buffer, size_t n, uint64_t offset)
{
    size_t got = 0;

    while (got < n) {
        ssize_t k = content->from->ops->read(content->from, buffer + got, n - got, offset + got);
        if (k < 0)
            return k;
        if (k == 0)
            break;
        got += (size_t)k;
        /* Exactly up to the size that the file was said to have: no call is spent to be told so
         * again. Asking for one byte more has shown that it did not grow. */
        if (offset + got == content->entry->size)
            break;
    }
    return (ssize_t)got;
}

/* Copies [offset, end) of content that is in memory. It may end earlier: *ret_end says where. */
static int copy_from_memory(struct worker *worker, struct content *content, uint64_t offset,
    uint64_t end, uint64_t *ret_end)
{
    while (offset < end) {
        const void *bytes;
        size_t want = content_await_pace(worker, end - offset < SIZE_MAX ? end - offset : SIZE_MAX);
        if (want == 0)
            return -ECANCELED;
        worker_is_at(worker, ACTIVITY_SOURCE);
        ssize_t got = content->from->ops->peek(content->from, &bytes, want, offset);
        if (got < 0)
            return fail_read(worker, content, (int)got);
        if (got == 0)
            break;
        int r = put_bytes(worker, content, bytes, (size_t)got, offset);
        if (r < 0)
            return r;
        offset += (uint64_t)got;
    }
    *ret_end = offset;
    return 0;
}

/* Copies [offset, end). The file may end earlier: *ret_end says where. */
static int copy_by_buffer(struct worker *worker, struct content *content, uint64_t offset,
    uint64_t end, uint64_t *ret_end)
{
    uint64_t size = content->entry->size;

    while (offset < end) {
        size_t want =
            content_await_pace(worker, end - offset < BUFFER_BYTES ? end - offset : BUFFER_BYTES);
        if (want == 0)
            return -ECANCELED;
        /* One byte more than should be there tells whether the file has grown. */
        size_t probe = offset + want == size && want < BUFFER_BYTES;
        worker_is_at(worker, ACTIVITY_SOURCE);
        ssize_t got = fill_buffer(content, worker->buffer, want + probe, offset);
        if (got < 0)
            return fail_read(worker, content, (int)got);
        if ((size_t)got > want) {
            content->changed = true;
            got = (ssize_t)want;
        }
        if (got == 0)
            break;
        int r = put_bytes(worker, content, worker->buffer, (size_t)got, offset);
        if (r < 0)
            return r;
        offset += (uint64_t)got;
        if ((size_t)got < want)
            break;
    }
    *ret_end = offset;
    return 0;
}

/* Whether content can be written from where it lies. A hash, and a search for zeros, want it in
 * whole blocks. */
static bool is_in_memory(const struct worker *worker, const struct content *content)
{
    return content->from->ops->peek && !worker->hasher &&
           worker->run->options->sparse != SHOAL_ALWAYS;
}

/* A file said to be empty may be one of the kernel's own, which has content all the same. */
static int copy_unsized(struct worker *worker, struct content *content)
{
    uint64_t reached;

    if (is_in_memory(worker, content))
        return copy_from_memory(worker, content, 0, UINT64_MAX, &reached);
    for (uint64_t offset = 0;;) {
        size_t want = content_await_pace(worker, BUFFER_BYTES);
        if (want == 0)
            return -ECANCELED;
        worker_is_at(worker, ACTIVITY_SOURCE);
        ssize_t got = fill_buffer(content, worker->buffer, want, offset);
        if (got <= 0)
            return got == 0 ? 0 : fail_read(worker, content, (int)got);
        int r = put_bytes(worker, content, worker->buffer, (size_t)got, offset);
        if (r < 0)
            return r;
        offset += (uint64_t)got;
    }
}

/* ---- by the kernel ---- */

static bool both_in_kernel(const struct worker *worker, const struct content *content)
{
    /* A hash needs the bytes, and a choice about holes needs to be ours. */
    return content->from->fd >= 0 && content->to->fd >= 0 && !worker->hasher &&
           worker->run->options->sparse == SHOAL_AUTO;
}

/* Shares the source's blocks. 1: done; 0: not possible here. */
static int clone_whole(struct worker *worker, struct content *content)
{
    struct run *run = worker->run;
    enum shoal_when when = run->options->reflink;

    if (when == SHOAL_NEVER || content->from->fd < 0 || content->to->fd < 0 ||
        content->from->base > 0)
        return 0;
    if (when == SHOAL_AUTO &&
        (!both_in_kernel(worker, content) || content->entry->size < CLONE_FROM_BYTES ||
            __atomic_load_n(&run->no_clone_dev, __ATOMIC_RELAXED) == content->entry->dev))
        return 0;
    worker_is_at(worker, ACTIVITY_DESTINATION);
    if (ioctl(content->to->fd, FICLONE, content->from->fd) == 0) {
        count(&worker->counters.moved, content->entry->size);
        return 1;
    }
    int r = -errno;
    if (when == SHOAL_ALWAYS)
        return outcome_fail_target(&worker->outcome, "clone", r);
    /* Not these two file systems; what else can fail, failed for this file. */
    if (r == -EOPNOTSUPP || r == -EXDEV || r == -ENOTTY || r == -EINVAL)
        __atomic_store_n(&run->no_clone_dev, content->entry->dev, __ATOMIC_RELAXED);
    return r == -ENOSPC || r == -EDQUOT ? fail_write(worker, r) : 0;
}

/* One step of the kernel's: within a file system copy_file_range(), which may share blocks or
 * offload; across two, sendfile(), which writes at the descriptor's position. */
static ssize_t range_step(const struct content *content, bool across, uint64_t offset, size_t n)
{
    off_t in = (off_t)(content->from->base + offset), out = (off_t)offset;
    ssize_t k = across ? sendfile(content->to->fd, content->from->fd, &in, n)
                       : copy_file_range(content->from->fd, &in, content->to->fd, &out, n, 0);
    return k < 0 ? -errno : k;
}

/* Copies as much of [offset, end) as the kernel takes on; what is left is for the buffer. */
static int copy_by_kernel(struct worker *worker, struct content *content, uint64_t offset,
    uint64_t end, uint64_t *ret_reached)
{
    struct run *run = worker->run;
    bool across = __atomic_load_n(&run->no_range_dev, __ATOMIC_RELAXED) == content->entry->dev;

    *ret_reached = offset;
    if (!both_in_kernel(worker, content) || end - offset < RANGE_FROM_BYTES ||
        run->options->reflink == SHOAL_NEVER)
        return 0;
    /* The position is one for all workers. */
    if (across && (content->split || lseek(content->to->fd, (off_t)offset, SEEK_SET) < 0))
        return 0;
    while (offset < end) {
        uint64_t rest = end - offset;
        size_t want = content_await_pace(worker, rest < RANGE_STEP_BYTES ? rest : RANGE_STEP_BYTES);
        if (want == 0)
            return -ECANCELED;
        worker_is_at(worker, ACTIVITY_DESTINATION);
        ssize_t k = range_step(content, across, offset, want);
        if (k == -EINTR)
            continue;
        if (k == -ENOSPC || k == -EDQUOT || k == -EFBIG)
            return fail_write(worker, (int)k);
        if (k == -EXDEV && !across)
            __atomic_store_n(&run->no_range_dev, content->entry->dev, __ATOMIC_RELAXED);
        /* 0 is said at the end, but also by some file systems that cannot tell: reading decides.
         * Any other failure is reported by the plain way, should it fail as well. */
        if (k <= 0)
            break;
        offset += (uint64_t)k;
        *ret_reached = offset;
        count(&worker->counters.moved, (uint64_t)k);
    }
    return 0;
}

/* ---- the whole ---- */

/* The bytes of [start, end), by one worker. */
static int copy_piece(
    struct worker *worker, struct content *content, uint64_t start, uint64_t end, uint64_t *ret_end)
{
    if (is_in_memory(worker, content))
        return copy_from_memory(worker, content, start, end, ret_end);
    int r = copy_by_kernel(worker, content, start, end, ret_end);
    if (r < 0 || *ret_end == end)
        return r;
    return copy_by_buffer(worker, content, *ret_end, end, ret_end);
}

static int copy_range(
    struct worker *worker, struct content *content, uint64_t start, uint64_t end, uint64_t *ret_end)
{
    /* A hash wants the bytes in order, and a comparison has one reader. */
    if (end - start >= SPLIT_FROM_BYTES && !worker->hasher && content->to->fd >= 0 &&
        !content->from->ops->peek)
        return split_copy(worker, content, copy_piece, start, end, ret_end);
    return copy_piece(worker, content, start, end, ret_end);
}

static int set_size(struct worker *worker, struct content *content, uint64_t size)
{
    int r = content->sink->set_size(content->to, size);
    return r < 0 ? fail_write(worker, r) : 0;
}

/* The content ended before the size that was said: it was cut meanwhile, unless it is one of the
 * kernel's own files, which never told the truth. `sized`: the copy was given that size. */
static int end_short(struct worker *worker, struct content *content, bool sized, uint64_t reached)
{
    content->changed = content->from->ops->has_changed(content->from, content->entry);
    return sized ? set_size(worker, content, reached) : 0;
}

/* A hash is of whole blocks; a file system's own may be smaller. */
static void widen_to_blocks(uint64_t *start, uint64_t *end)
{
    *start -= *start % HASH_BLOCK;
    *end += (HASH_BLOCK - *end % HASH_BLOCK) % HASH_BLOCK;
}

/* The next range to copy at or after `at`: 1, 0 if only a hole is left, or a negative errno. */
static int next_range(struct worker *worker, struct content *content, uint64_t at,
    uint64_t *ret_start, uint64_t *ret_end)
{
    uint64_t size = content->entry->size;
    int r = at < size ? content->from->ops->next_data(content->from, at, ret_start, ret_end) : 0;

    if (r <= 0)
        return r;
    if (worker->hasher)
        widen_to_blocks(ret_start, ret_end);
    if (*ret_end > size)
        *ret_end = size;
    return *ret_start < size;
}

/* Copies the ranges that hold data. -EINVAL: the source cannot tell them. Where there is a hole,
 * the copy gets its size before its content: a file system that reserves room ahead of what is
 * written (XFS) would fill the hole with it. */
static int copy_between_holes(struct worker *worker, struct content *content)
{
    uint64_t size = content->entry->size, at = 0, start, end, reached;
    bool sized = worker->run->options->sparse == SHOAL_ALWAYS;
    int r = sized ? set_size(worker, content, size) : 0;
    int more;

    if (r < 0)
        return r;
    for (; (more = next_range(worker, content, at, &start, &end)) > 0; at = end) {
        if (!sized && (start > at || end < size)) {
            r = set_size(worker, content, size);
            sized = true;
        }
        if (r == 0)
            r = copy_range(worker, content, start, end, &reached);
        if (r < 0)
            return r;
        if (reached < end)
            return end_short(worker, content, sized, reached);
    }
    if (more < 0)
        return at == 0 ? -EINVAL : fail_read(worker, content, more);
    return sized || at == size ? 0 : set_size(worker, content, size);
}

static int copy_dense(struct worker *worker, struct content *content)
{
    bool sized = worker->run->options->sparse == SHOAL_ALWAYS;
    uint64_t size = content->entry->size, reached = 0;
    int r = sized ? set_size(worker, content, size) : 0;

    if (r == 0)
        r = copy_range(worker, content, 0, size, &reached);
    if (r < 0 || reached == size)
        return r;
    return end_short(worker, content, sized, reached);
}

bool content_may_have_holes(const struct entry *entry)
{
    /* What was allocated ahead and never written shows by asking only, which for a file that is not
     * small costs nothing that could be measured. */
    return entry->allocated < entry->size || entry->size >= PROBE_FROM_BYTES;
}

static bool may_have_holes(const struct worker *worker, const struct content *content)
{
    /* A comparison needs to see the zeros of both sides. */
    return worker->run->options->sparse != SHOAL_NEVER && content->to->fd >= 0 &&
           content_may_have_holes(content->entry);
}

static int copy_all(struct worker *worker, struct content *content)
{
    int r = clone_whole(worker, content);
    if (r != 0)
        return r < 0 ? r : 0;
    if (content->entry->size == 0)
        return copy_unsized(worker, content);
    if (may_have_holes(worker, content)) {
        r = copy_between_holes(worker, content);
        if (r != -EINVAL)
            return r;
    }
    return copy_dense(worker, content);
}

/* ---- reading back ---- */

/* Makes the next reads come from the device: direct I/O where the file system has it, else its
 * pages are written and dropped. Returns whether reads must be direct. */
static bool bypass_cache(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0)
        return true;
    if (fdatasync(fd) == 0)
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* only a wish */
    return false;
}

/* Fills the buffer from the file; fewer bytes only at its end. *direct: reads go past the cache, as
 * long as they may. */
static ssize_t read_back(int fd, char *buffer, uint64_t offset, bool *direct)
{
    size_t got = 0;

    while (got < BUFFER_BYTES) {
        ssize_t n = pread(fd, buffer + got, BUFFER_BYTES - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EINVAL && *direct) {
            /* Accepted as a flag, but not at this place or length. */
            (void)fcntl(fd, F_SETFL, O_RDWR);
            *direct = false;
            continue;
        }
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static int hash_again(struct worker *worker, int fd)
{
    bool direct = bypass_cache(fd);

    for (uint64_t offset = 0;;) {
        ssize_t n = read_back(fd, worker->buffer, offset, &direct);
        if (n < 0)
            return outcome_fail_target(&worker->outcome, "read back", (int)n);
        hasher_update(worker->hasher, worker->buffer, (size_t)n, offset);
        offset += (uint64_t)n;
        if (n < BUFFER_BYTES)
            return 0;
    }
}

static int verify_written(struct worker *worker, struct content *content)
{
    struct hash wanted = hasher_digest(worker->hasher);

    worker_is_at(worker, ACTIVITY_DESTINATION);
    hasher_reset(worker->hasher);
    int r = hash_again(worker, content->to->fd);
    if (r < 0)
        return r;
    if (!hash_equal(wanted, hasher_digest(worker->hasher)))
        return outcome_fail_target(
            &worker->outcome, "verify (other bytes come back than were written)", -EIO);
    return 0;
}

int content_copy(struct worker *worker, struct content *content)
{
    if (worker->hasher)
        hasher_reset(worker->hasher);
    int r = copy_all(worker, content);
    if (r < 0)
        return r;
    /* A file copied with a single read is as it was at one moment; a longer copy takes time enough.
     */
    if (content->entry->size >= BUFFER_BYTES && !content->changed)
        content->changed = content->from->ops->has_changed(content->from, content->entry);
    return worker->hasher && content->to->fd >= 0 ? verify_written(worker, content) : 0;
}
