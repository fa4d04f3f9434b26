#include "results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "results/document.h"
#include "results/record.h"
#include "results/store.h"

/* A results file far beyond anything measured is not read into memory. */
#define FILE_BYTES_MAX ((size_t)1 << 30)

/* What a database of SQLite's begins with. */
#define DATABASE_MAGIC "SQLite format 3"

/* --- The database --- */

int results_load(const char *path, struct results **ret, char **ret_why)
{
    _cleanup_(cleanup_store_p) struct store *store = NULL;

    *ret_why = NULL;
    int r = store_open(path, false, &store, ret_why);
    if (r == 0)
        return store_load(store, ret, ret_why);
    if (r != -ENOENT)
        return r;
    struct results *results = calloc(1, sizeof(*results));
    if (!results)
        return -ENOMEM;
    *ret = results;
    return 0;
}

int results_append(const char *path, const struct series *series, char **ret_why)
{
    _cleanup_(cleanup_store_p) struct store *store = NULL;

    *ret_why = NULL;
    int r = store_open(path, true, &store, ret_why);
    return r < 0 ? r : store_add(store, series, ret_why);
}

int results_import(
    const char *path, const struct results *results, struct imported *ret, char **ret_why)
{
    _cleanup_(cleanup_store_p) struct store *store = NULL;

    *ret = (struct imported){0};
    *ret_why = NULL;
    int r = store_open(path, true, &store, ret_why);
    for (size_t i = 0; i < results->n_series && r == 0; i++) {
        r = store_add(store, &results->series[i], ret_why);
        ret->n_added += r == 0;
        ret->n_skipped += r == -EEXIST;
        if (r == -EEXIST)
            r = 0;
    }
    return r;
}

/* --- JSON --- */

int results_to_json(const struct results *results, char **ret_text)
{
    return document_write(results, ret_text);
}

/* Reads all there is into memory; *ret has a NUL after it. */
static int read_all(int fd, char **ret, size_t *ret_length)
{
    size_t room = 1 << 16, length = 0;
    _cleanup_free_ char *text = malloc(room);

    while (text) {
        ssize_t n = read(fd, text + length, room - length - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        length += (size_t)n;
        if (length >= FILE_BYTES_MAX)
            return -EFBIG;
        if (room - length > 1)
            continue;
        char *more = realloc(text, room *= 2);
        if (!more)
            return -ENOMEM;
        text = more;
    }
    if (!text)
        return -ENOMEM;
    text[length] = '\0';
    *ret = TAKE_PTR(text);
    *ret_length = length;
    return 0;
}

int results_read_json(int fd, struct results **ret, char **ret_why)
{
    _cleanup_free_ char *text = NULL;
    size_t length = 0;

    *ret_why = NULL;
    int r = read_all(fd, &text, &length);
    if (r < 0)
        return r;
    if (length >= sizeof(DATABASE_MAGIC) &&
        memcmp(text, DATABASE_MAGIC, sizeof(DATABASE_MAGIC)) == 0)
        return why_set(ret_why, "this is a database, not JSON text");
    return document_parse(text, length, ret, ret_why);
}

/* Whether the descriptor, at its beginning, is a database's; it stays there. */
static bool is_database(int fd)
{
    char head[sizeof(DATABASE_MAGIC)];

    return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
           memcmp(head, DATABASE_MAGIC, sizeof(head)) == 0;
}

int results_read(const char *path, struct results **ret, char **ret_why)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

    *ret_why = NULL;
    if (fd < 0)
        return -errno;
    return is_database(fd) ? results_load(path, ret, ret_why) : results_read_json(fd, ret, ret_why);
}

/* --- Writing a JSON file --- */

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

/* The text takes the place of what stands at `path`, or nothing changes. */
static int file_replace(const char *path, const char *text)
{
    _cleanup_free_ char *name = NULL;

    if (asprintf(&name, "%s.%d.new", path, (int)getpid()) < 0) {
        name = NULL;
        return -ENOMEM;
    }
    int r = file_fill(name, path, text);
    if (r >= 0 && rename(name, path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(name); /* the first error is the one to tell */
        return r;
    }
    return directory_sync(path);
}

/* A device or a pipe is written to as it stands. */
static int file_write(const char *path, const char *text)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int r = write_all(fd, text, strlen(text));
    if (close(TAKE_FD(fd)) < 0 && r >= 0)
        r = -errno;
    return r;
}

int results_write_json(const char *path, const struct results *results, char **ret_why)
{
    _cleanup_free_ char *text = NULL, *line = NULL;
    struct stat st;

    *ret_why = NULL;
    /* A symbolic link stays one: the file it leads to is replaced. */
    _cleanup_free_ char *real = realpath(path, NULL);
    if (!real && errno != ENOENT)
        return -errno;
    int r = results_to_json(results, &text);
    if (r < 0)
        return r;
    if (asprintf(&line, "%s\n", text) < 0) {
        line = NULL;
        return -ENOMEM;
    }
    if (!real)
        return file_replace(path, line);
    if (stat(real, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return file_write(real, line);
    _cleanup_close_ int fd = open(real, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && is_database(fd))
        return why_set(ret_why, "a database stands there");
    return file_replace(real, line);
}

char *results_default_path(void)
{
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int n = -1;

    if (data && data[0] == '/') /* XDG: a relative one is to be ignored */
        n = asprintf(&path, "%s/shoal/results.db", data);
    else if (home && *home)
        n = asprintf(&path, "%s/.local/share/shoal/results.db", home);
    return n < 0 ? NULL : path;
}
