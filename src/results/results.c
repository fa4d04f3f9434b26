#include "results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "results/document.h"

/* A results file far beyond anything measured is not read into memory. */
#define FILE_BYTES_MAX ((off_t)1 << 30)

int results_to_json(const struct results *results, char **ret_text)
{
    _cleanup_json_ json_t *root = NULL;
    int r = document_new(results, &root);

    return r < 0 ? r : document_text(root, ret_text);
}

/* Reads a whole file into memory. */
static int file_read(const char *path, char **ret, size_t *ret_length)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (st.st_size > FILE_BYTES_MAX)
        return -EFBIG;
    size_t room = (size_t)st.st_size + 1, length = 0;
    _cleanup_free_ char *text = malloc(room);
    while (text) {
        ssize_t n = read(fd, text + length, room - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        length += (size_t)n;
        if (n == 0 || length == room) /* full: it grew, which a writer of ours never lets it */
            break;
    }
    if (!text)
        return -ENOMEM;
    *ret = TAKE_PTR(text);
    *ret_length = length;
    return 0;
}

/* -ENOENT if there is no such file. */
static int document_read(const char *path, json_t **ret_root, struct results **ret, char **why)
{
    _cleanup_free_ char *text = NULL;
    _cleanup_json_ json_t *root = NULL;
    size_t length = 0;
    int r = file_read(path, &text, &length);

    if (r < 0)
        return r;
    r = document_parse(text, length, &root, ret, why);
    if (r < 0)
        return r;
    if (ret_root)
        *ret_root = TAKE_PTR(root);
    return 0;
}

int results_load(const char *path, struct results **ret, char **ret_why)
{
    *ret_why = NULL;
    int r = document_read(path, NULL, ret, ret_why);

    if (r != -ENOENT)
        return r;
    struct results *results = calloc(1, sizeof(*results));
    if (!results)
        return -ENOMEM;
    *ret = results;
    return 0;
}

/* --- Appending --- */

/* Makes the directories above `path` that are not there, for the user alone as XDG asks. */
static int make_parents(const char *path)
{
    _cleanup_free_ char *copy = strdup(path);

    if (!copy)
        return -ENOMEM;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return 0;
}

static int lock_take(const char *path, int *ret_fd)
{
    _cleanup_free_ char *name = NULL;

    if (asprintf(&name, "%s.lock", path) < 0) {
        name = NULL;
        return -ENOMEM;
    }
    _cleanup_close_ int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX) < 0) /* -EINTR goes up: who waits in vain wants to leave */
        return -errno;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        text += n;
        length -= (size_t)n;
    }
    return 0;
}

static int directory_sync(const char *path)
{
    _cleanup_free_ char *copy = strdup(path);
    char *slash = copy ? strrchr(copy, '/') : NULL;

    if (!copy)
        return -ENOMEM;
    if (slash)
        slash[slash == copy] = '\0'; /* "/file" lies in "/" */
    _cleanup_close_ int fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return fsync(fd) < 0 ? -errno : 0;
}

static int file_fill(const char *name, const char *like, const char *text)
{
    _cleanup_close_ int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct stat st;

    if (fd < 0)
        return -errno;
    /* A file that its owner closed to others stays closed. */
    if (stat(like, &st) == 0 && fchmod(fd, st.st_mode & 07777) < 0)
        return -errno;
    int r = write_all(fd, text, strlen(text));
    if (r >= 0 && fsync(fd) < 0)
        r = -errno;
    if (close(TAKE_FD(fd)) < 0 && r >= 0)
        r = -errno;
    return r;
}

/* Under the lock: the text takes the place of what stands at `path`, or nothing changes. */
static int file_replace(const char *path, const char *text)
{
    _cleanup_free_ char *name = NULL;

    if (asprintf(&name, "%s.new", path) < 0) {
        name = NULL;
        return -ENOMEM;
    }
    /* One that stands there was left by a writer that was cut off: the lock is ours. */
    if (unlink(name) < 0 && errno != ENOENT)
        return -errno;
    int r = file_fill(name, path, text);
    if (r >= 0 && rename(name, path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(name); /* the first error is the one to tell */
        return r;
    }
    return directory_sync(path);
}

static int append_at(const char *path, const struct series *series, char **why)
{
    _cleanup_close_ int lock = -1;
    _cleanup_json_ json_t *root = NULL;
    _cleanup_free_ char *text = NULL;
    struct results *old = NULL;

    int r = lock_take(path, &lock);
    if (r < 0)
        return r;
    /* The document itself is extended, so keys that this program does not know stay. */
    r = document_read(path, &root, &old, why);
    results_free(old);
    if (r == -ENOENT)
        r = document_new(&(struct results){0}, &root);
    if (r >= 0)
        r = document_add(root, series);
    if (r >= 0)
        r = document_text(root, &text);
    if (r >= 0)
        r = file_replace(path, text);
    return r;
}

int results_append(const char *path, const struct series *series, char **ret_why)
{
    *ret_why = NULL;
    int r = *path ? make_parents(path) : -ENOENT;
    if (r < 0)
        return r;
    /* A symbolic link stays one: the file it leads to is replaced, and locked. */
    _cleanup_free_ char *real = realpath(path, NULL);
    if (!real && errno != ENOENT)
        return -errno;
    return append_at(real ? real : path, series, ret_why);
}

char *results_default_path(void)
{
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int n = -1;

    if (data && data[0] == '/') /* XDG: a relative one is to be ignored */
        n = asprintf(&path, "%s/shoal/results.json", data);
    else if (home && *home)
        n = asprintf(&path, "%s/.local/share/shoal/results.json", home);
    return n < 0 ? NULL : path;
}
