#include "workload/maker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "workload/domains.h"
#include "workload/filler.h"
#include "workload/mix.h"
#include "workload/workload.h"

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        length -= (size_t)n;
    }
    return 0;
}

static bool maker_should_stop(const struct maker *maker)
{
    return maker->watch && maker->watch->should_stop &&
           maker->watch->should_stop(maker->watch->context);
}

/* What is in a file for which `own` is meant. */
static enum content choose_content(const struct maker *maker, enum content own)
{
    const struct workload *workload = maker->workload;
    enum content content = workload->has_content ? workload->content_kind : own;

    if (content != CONTENT_MIXED)
        return content;
    return mix(maker->seed, DOMAIN_KIND, maker->totals.files) & 1 ? CONTENT_TEXT : CONTENT_RANDOM;
}

static int write_content(struct maker *maker, int fd, enum content own, uint64_t size)
{
    /* The words of the text have the first numbers of the domain. */
    uint64_t state = mix(maker->seed, DOMAIN_CONTENT, 4096 + maker->totals.files);
    enum content content = choose_content(maker, own);

    for (uint64_t done = 0; done < size; done += FILLER_CHUNK_BYTES) {
        size_t n = size - done < FILLER_CHUNK_BYTES ? (size_t)(size - done) : FILLER_CHUNK_BYTES;
        const char *chunk = filler_fill(maker->filler, content, n, mix_finish(state + done));
        int r = write_all(fd, chunk, n);
        if (r < 0)
            return r;
        if (done % (64 * FILLER_CHUNK_BYTES) == 0 && maker_should_stop(maker))
            return -EINTR;
    }
    return 0;
}

/* Sets the mode (whatever the umask) and the times: a second within two years from July 1996. */
static int finish_entry(const struct maker *maker, int fd, mode_t mode, uint64_t index)
{
    const uint64_t first = 836179200, span = 2 * 365 * 86400;
    time_t second = (time_t)(first + mix(maker->seed, DOMAIN_TIME, index) % span);
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};

    if (fchmod(fd, mode) < 0 || futimens(fd, times) < 0)
        return -errno;
    return 0;
}

static bool maker_name(struct maker *maker, const char *format, va_list arguments)
{
    if (maker->error)
        return false;
    int n = vsnprintf(maker->name, sizeof(maker->name), format, arguments);
    if (n < 0 || (size_t)n >= sizeof(maker->name))
        maker->error = -ENAMETOOLONG;
    return maker->error == 0;
}

void maker_enter(struct maker *maker, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bool go = maker_name(maker, format, arguments);
    va_end(arguments);
    if (!go)
        return;
    assert(maker->depth < ELEMENTS(maker->fds));
    int parent = maker->fds[maker->depth - 1];
    if (mkdirat(parent, maker->name, 0700) < 0) {
        maker->error = -errno;
        return;
    }
    int fd = openat(parent, maker->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        maker->error = -errno;
    else
        maker->fds[maker->depth++] = fd;
}

void maker_leave(struct maker *maker)
{
    if (maker->error)
        return;
    int fd = maker->fds[--maker->depth];
    uint64_t index = UINT64_MAX - maker->totals.directories++;
    maker->error = finish_entry(maker, fd, 0755, index);
    (void)close(fd); /* a directory read-only to us: nothing can be lost */
}

static int file_make(struct maker *maker, enum content content, uint64_t size)
{
    _cleanup_close_ int fd = openat(maker->fds[maker->depth - 1], maker->name,
        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = write_content(maker, fd, content, size);
    if (r >= 0)
        r = finish_entry(maker, fd, 0644, maker->totals.files);
    if (close(TAKE_FD(fd)) < 0 && r >= 0)
        r = -errno;
    return r;
}

void maker_file(struct maker *maker, enum content content, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bool go = maker_name(maker, format, arguments);
    va_end(arguments);
    if (!go)
        return;
    uint64_t size = sizes_next(&maker->sizes);
    maker->error = file_make(maker, content, size);
    if (maker->error)
        return;
    maker->totals.files++;
    maker->totals.bytes += size;
    if (maker->watch && maker->watch->made)
        maker->watch->made(maker->watch->context, &maker->totals);
    if (maker_should_stop(maker))
        maker->error = -EINTR;
}

int maker_start(struct maker *maker, const struct workload *workload, uint64_t seed, int parent_fd,
    const struct workload_watch *watch)
{
    *maker = (struct maker){.workload = workload, .seed = seed, .watch = watch, .depth = 1};
    maker->fds[0] = parent_fd;
    maker->filler = filler_new();
    if (!maker->filler)
        return -ENOMEM;
    const struct quantiles *table = workload->shape ? &workload->shape->sizes : NULL;
    sizes_start(&maker->sizes, table, seed, workload->files, workload->bytes);
    return 0;
}

void maker_end(struct maker *maker)
{
    while (maker->depth > 1) /* after an error */
        (void)close(maker->fds[--maker->depth]);
    free(maker->filler);
    maker->filler = NULL;
}
