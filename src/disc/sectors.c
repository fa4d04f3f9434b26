#include "disc/sectors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "disc/cue.h"
#include "disc/raw_sectors.h"

/* A sheet is far smaller. */
#define CUE_BYTES_MAX ((size_t)1 << 20)

int sectors_format_parse(const char *text, enum sectors_format *ret)
{
    static const char *const names[] = {
        [SECTORS_AUTO] = "auto",
        [SECTORS_PLAIN] = "2048",
        [SECTORS_RAW] = "2352",
        [SECTORS_CUE] = "cue",
    };

    for (size_t i = 0; i < ELEMENTS(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum sectors_format)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* ---- plain ---- */

/* Up to n bytes; less only at the end. */
static ssize_t read_at(int fd, char *buffer, size_t n, uint64_t offset)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, buffer + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return done > 0 ? (ssize_t)done : -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* The first sector of a range that cannot be read. */
static uint64_t find_bad(int fd, size_t n, uint64_t offset)
{
    char sector[SECTOR_BYTES];
    uint64_t first = offset / SECTOR_BYTES, end = (offset + n - 1) / SECTOR_BYTES;

    for (uint64_t lba = first; lba < end; lba++)
        if (read_at(fd, sector, sizeof(sector), lba * SECTOR_BYTES) < 0)
            return lba;
    return end;
}

static ssize_t plain_read(
    struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad)
{
    if (offset >= sectors->bytes || n == 0)
        return 0;
    if (n > sectors->bytes - offset)
        n = (size_t)(sectors->bytes - offset);
    ssize_t got = read_at(sectors->fd, buffer, n, offset);
    if (got < (ssize_t)n && ret_bad) {
        size_t done = got > 0 ? (size_t)got : 0;
        *ret_bad = got < 0 ? find_bad(sectors->fd, n, offset) : (offset + done) / SECTOR_BYTES;
    }
    return got;
}

static void plain_free(struct sectors *sectors)
{
    (void)close(sectors->fd); /* was only read from */
    free(sectors);
}

static const struct sectors_ops plain_ops = {.read = plain_read, .free = plain_free};

/* Takes the descriptor over, unless it fails. */
static int plain_new(int fd, uint64_t bytes, struct sectors **ret)
{
    struct sectors *sectors = malloc(sizeof(*sectors));

    if (!sectors)
        return -ENOMEM;
    *sectors = (struct sectors){.ops = &plain_ops, .bytes = bytes, .fd = fd};
    *ret = sectors;
    return 0;
}

/* ---- opening ---- */

static int size_of(int fd, uint64_t *ret)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (S_ISBLK(st.st_mode))
        return ioctl(fd, BLKGETSIZE64, ret) < 0 ? -errno : 0;
    if (!S_ISREG(st.st_mode))
        return -EILSEQ;
    *ret = (uint64_t)st.st_size;
    return 0;
}

static int say(char **ret_why, const char *why)
{
    *ret_why = strdup(why); /* without memory the code has to do */
    return -EILSEQ;
}

/* Opens the track that a sheet names, in the directory that the sheet is in. */
static int open_track(int dir_fd, const char *path, const struct cue_track *track,
    struct sectors **ret, char **ret_why)
{
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *directory =
        slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    uint64_t bytes = 0;

    if (!directory)
        return -ENOMEM;
    _cleanup_close_ int at = open_at(dir_fd, directory, O_PATH | O_DIRECTORY, 0);
    if (at < 0)
        return at;
    _cleanup_close_ int fd = open_at(at, track->file, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0) {
        if (asprintf(ret_why, "cannot open '%s', which the sheet names: %s", track->file,
                strerror(-fd)) < 0)
            *ret_why = NULL;
        return fd;
    }
    int r = size_of(fd, &bytes);
    if (r < 0)
        return r;
    struct raw_layout layout = {
        .offset = track->first * track->sector_bytes,
        .bytes = bytes,
        .sector_bytes = track->sector_bytes,
    };
    if (layout.offset > bytes)
        return say(ret_why, "the data track begins after the end of its file");
    if (track->end > 0 && track->end * track->sector_bytes < bytes)
        layout.bytes = track->end * track->sector_bytes;
    r = raw_sectors_new(fd, &layout, ret);
    if (r == 0)
        (void)TAKE_FD(fd);
    return r;
}

static int open_cue(int dir_fd, const char *path, int fd, struct sectors **ret, char **ret_why)
{
    _cleanup_free_ char *text = malloc(CUE_BYTES_MAX + 1);
    struct cue_track track;

    if (!text)
        return -ENOMEM;
    ssize_t n = read_at(fd, text, CUE_BYTES_MAX, 0);
    if (n < 0)
        return (int)n;
    text[n] = '\0';
    int r = cue_parse(text, &track, ret_why);
    if (r == 0)
        r = open_track(dir_fd, path, &track, ret, ret_why);
    cue_track_clear(&track);
    return r;
}

static enum sectors_format detect(int fd)
{
    char head[RAW_SECTOR_BYTES + RAW_SYNC_BYTES + 1];
    ssize_t n = read_at(fd, head, sizeof(head) - 1, 0);

    if (n < 0)
        return SECTORS_PLAIN;
    if (raw_begins_sector(head, (size_t)n))
        return SECTORS_RAW;
    head[n] = '\0';
    return cue_looks_like(head) ? SECTORS_CUE : SECTORS_PLAIN;
}

int sectors_open(
    int dir_fd, const char *path, enum sectors_format format, struct sectors **ret, char **ret_why)
{
    uint64_t bytes = 0;

    *ret_why = NULL;
    _cleanup_close_ int fd = open_at(dir_fd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    int r = size_of(fd, &bytes);
    if (r < 0)
        return r;
    if (format == SECTORS_AUTO)
        format = detect(fd);
    if (format == SECTORS_CUE)
        return open_cue(dir_fd, path, fd, ret, ret_why);
    const struct raw_layout layout = {.bytes = bytes, .sector_bytes = RAW_SECTOR_BYTES};
    r = format == SECTORS_RAW ? raw_sectors_new(fd, &layout, ret) : plain_new(fd, bytes, ret);
    if (r == -EILSEQ)
        return say(ret_why, "its sectors are not raw ones of 2,352 bytes");
    if (r == 0)
        (void)TAKE_FD(fd);
    return r;
}
