#include "disc/make_iso.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "disc/make_iso_dates.h"

#define BUFFER_BYTES ((size_t)256 * 1024)
#define TARGET_ROOM  4096

struct first_name {
    dev_t dev;
    ino_t ino;
    char path[];
};

struct maker {
    struct archive *archive;
    struct archive_entry *entry;
    const struct make_watch *watch;
    struct make_totals totals;
    struct make_failure *failure;
    struct stat top, image;
    int image_fd;
    int write_error;   /* negative errno, of the image */
    bool is_abandoned; /* what libarchive still has for the image is not wanted */
    bool has_rr_moved; /* the tree does, at its top: the name under which relocated ones go */
    void *first_names; /* a tree of struct first_name, of files with several */
    char *buffer;
};

/* Keeps the first failure. */
static int fail(struct maker *maker, int error, const char *path, const char *why)
{
    if (!maker->failure->path && !maker->failure->why) {
        maker->failure->path = path ? strdup(path) : NULL;
        maker->failure->why = why ? strdup(why) : NULL;
    }
    return error;
}

static int fail_archive(struct maker *maker, const char *path)
{
    int error = archive_errno(maker->archive);

    if (maker->write_error)
        return maker->write_error;
    return fail(maker, error > 0 ? -error : -EIO, path, archive_error_string(maker->archive));
}

static int compare_first_names(const void *a, const void *b)
{
    const struct first_name *x = a, *y = b;

    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino == y->ino ? 0 : x->ino < y->ino ? -1 : 1;
}

/* The path by which a file of several names was added before, or NULL: then this is the first. */
static int find_first_name(
    struct maker *maker, const struct stat *st, const char *path, const char **ret)
{
    struct first_name *name = malloc(sizeof(*name) + strlen(path) + 1);

    if (!name)
        return -ENOMEM;
    name->dev = st->st_dev;
    name->ino = st->st_ino;
    memcpy(name->path, path, strlen(path) + 1);
    struct first_name **found = tsearch(name, &maker->first_names, compare_first_names);
    if (!found || *found != name)
        free(name);
    if (!found)
        return -ENOMEM;
    *ret = *found == name ? NULL : (*found)->path;
    return 0;
}

static int ask(struct maker *maker)
{
    if (maker->watch->added)
        maker->watch->added(maker->watch->context, &maker->totals);
    return maker->watch->should_stop && maker->watch->should_stop(maker->watch->context) ? -EINTR
                                                                                         : 0;
}

static int write_all(struct maker *maker, const char *path, const char *bytes, size_t n)
{
    while (n > 0) {
        la_ssize_t r = archive_write_data(maker->archive, bytes, n);
        if (r <= 0)
            return fail_archive(maker, path);
        bytes += r;
        n -= (size_t)r;
    }
    return 0;
}

/* As many bytes as the header promised. */
static int add_content(struct maker *maker, int fd, const char *path, uint64_t size)
{
    for (uint64_t left = size; left > 0;) {
        ssize_t n = read(fd, maker->buffer, left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(maker, -errno, path, NULL);
        if (n == 0)
            return fail(maker, -ESTALE, path, "it shrank while it was read");
        int r = write_all(maker, path, maker->buffer, (size_t)n);
        if (r == 0)
            r = ask(maker);
        if (r < 0)
            return r;
        left -= (uint64_t)n;
        maker->totals.bytes += (uint64_t)n;
    }
    return 0;
}

/* Nothing that differs from run to run: no times but of modification, no inode numbers. */
static void describe(struct archive_entry *entry, const struct stat *st, const char *path)
{
    const struct timespec *mtime = &st->st_mtim;

    archive_entry_clear(entry);
    archive_entry_set_pathname(entry, path);
    archive_entry_set_mode(entry, st->st_mode);
    archive_entry_set_uid(entry, st->st_uid);
    archive_entry_set_gid(entry, st->st_gid);
    archive_entry_set_nlink(entry, S_ISDIR(st->st_mode) ? 1 : (unsigned)st->st_nlink);
    archive_entry_set_mtime(entry, mtime->tv_sec, mtime->tv_nsec);
    archive_entry_set_atime(entry, mtime->tv_sec, mtime->tv_nsec);
    archive_entry_set_ctime(entry, mtime->tv_sec, mtime->tv_nsec);
    archive_entry_set_size(entry, S_ISREG(st->st_mode) ? st->st_size : 0);
    if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
        archive_entry_set_rdev(entry, st->st_rdev);
}

static int add_header(struct maker *maker, const char *path)
{
    return archive_write_header(maker->archive, maker->entry) < ARCHIVE_WARN
               ? fail_archive(maker, path)
               : 0;
}

static int add_regular(struct maker *maker, int directory_fd, const char *name, const char *path)
{
    _cleanup_close_ int fd = open_at(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    const char *first = NULL;
    struct stat st;
    int r = fd < 0 ? fd : 0;

    if (r == 0 && fstat(fd, &st) < 0)
        r = -errno;
    if (r == 0 && !S_ISREG(st.st_mode))
        r = -ESTALE;
    if (r == 0 && st.st_nlink > 1)
        r = find_first_name(maker, &st, path, &first);
    if (r < 0)
        return fail(maker, r, path, NULL);
    describe(maker->entry, &st, path);
    if (first)
        archive_entry_set_hardlink(maker->entry, first);
    r = add_header(maker, path);
    return r < 0 || first ? r : add_content(maker, fd, path, (uint64_t)st.st_size);
}

/* A symbolic link, a device or a pipe: what needs no opening. */
static int add_other(struct maker *maker, int directory_fd, const char *name, const struct stat *st,
    const char *path)
{
    char target[TARGET_ROOM];
    ssize_t n = 0;

    describe(maker->entry, st, path);
    if (S_ISLNK(st->st_mode)) {
        n = readlinkat(directory_fd, name, target, sizeof(target) - 1);
        if (n < 0)
            return fail(maker, -errno, path, NULL);
        target[n] = '\0';
        archive_entry_set_symlink(maker->entry, target);
    }
    return add_header(maker, path);
}

static int add_directory(struct maker *maker, int fd, const char *path);

static int add_subdirectory(
    struct maker *maker, int directory_fd, const char *name, const char *path)
{
    _cleanup_close_ int fd = open_at(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

    return fd < 0 ? fail(maker, fd, path, NULL) : add_directory(maker, fd, path);
}

static int add_name(struct maker *maker, int directory_fd, const char *name, const char *above)
{
    _cleanup_free_ char *path = NULL;
    struct stat st;
    int r;

    if (asprintf(&path, "%s%s%s", above, *above ? "/" : "", name) < 0)
        return -ENOMEM;
    if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(maker, -errno, path, NULL);
    if (st.st_dev == maker->image.st_dev && st.st_ino == maker->image.st_ino)
        return 0;
    if (S_ISSOCK(st.st_mode)) {
        maker->totals.sockets++;
        return 0;
    }
    if (strcasecmp(path, "rr_moved") == 0)
        maker->has_rr_moved = true;
    if (S_ISDIR(st.st_mode))
        return add_subdirectory(maker, directory_fd, name, path);
    r = S_ISREG(st.st_mode) ? add_regular(maker, directory_fd, name, path)
                            : add_other(maker, directory_fd, name, &st, path);
    if (r < 0)
        return r;
    maker->totals.files++;
    return ask(maker);
}

static int is_no_dot(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The top directory's path is "". */
static int add_directory(struct maker *maker, int fd, const char *path)
{
    struct dirent **names = NULL;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(maker, -errno, path, NULL);
    if (!*path)
        maker->top = st;
    describe(maker->entry, &st, *path ? path : ".");
    int r = add_header(maker, path);
    if (r < 0)
        return r;
    maker->totals.directories++;
    int n = scandirat(fd, ".", &names, is_no_dot, compare_names);
    if (n < 0)
        return fail(maker, -errno, path, NULL);
    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = add_name(maker, fd, names[i]->d_name, path);
        free(names[i]);
    }
    free(names);
    return r;
}

static int set_options(struct maker *maker, const char *label)
{
    static const char *const options[][2] = {
        {"iso-level", "3"}, {"rockridge", "strict"}, {"joliet", "long"}, {"zisofs", NULL}};
    struct archive *archive = maker->archive;
    int r = archive_write_set_format_iso9660(archive);

    for (size_t i = 0; r == ARCHIVE_OK && i < ELEMENTS(options); i++)
        r = archive_write_set_format_option(archive, "iso9660", options[i][0], options[i][1]);
    if (r == ARCHIVE_OK && *label)
        r = archive_write_set_format_option(archive, "iso9660", "volume-id", label);
    return r == ARCHIVE_OK ? 0 : fail_archive(maker, NULL);
}

/* -1 has libarchive end, and free what it has. */
static la_ssize_t write_block(struct archive *archive, void *context, const void *bytes, size_t n)
{
    struct maker *maker = context;

    while (!maker->is_abandoned) {
        ssize_t r = write(maker->image_fd, bytes, n);
        if (r >= 0)
            return r;
        if (errno == EINTR)
            continue;
        maker->write_error = -errno;
        break;
    }
    archive_set_error(archive, EIO, "the image cannot be written");
    return -1;
}

static int write_image(struct maker *maker, int directory_fd, const char *label)
{
    int r = fstat(maker->image_fd, &maker->image) < 0 ? -errno : set_options(maker, label);

    if (r == 0 && archive_write_open(maker->archive, maker, NULL, write_block, NULL) != ARCHIVE_OK)
        r = fail_archive(maker, NULL);
    if (r == 0)
        r = add_directory(maker, directory_fd, "");
    if (r < 0) {
        maker->is_abandoned = true;
        return r;
    }
    return archive_write_close(maker->archive) == ARCHIVE_OK ? 0 : fail_archive(maker, NULL);
}

int make_iso(int directory_fd, int image_fd, const char *label, const struct make_watch *watch,
    struct make_totals *ret, struct make_failure *failure)
{
    struct maker maker = {
        .archive = archive_write_new(),
        .entry = archive_entry_new(),
        .watch = watch,
        .failure = failure,
        .image_fd = image_fd,
        .buffer = malloc(BUFFER_BYTES),
    };
    /* libarchive takes names for what the locale says they are; those of Joliet have to be UTF-8.
     */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    int r = -ENOMEM;

    if (maker.archive && maker.entry && maker.buffer)
        r = write_image(&maker, directory_fd, label);
    if (maker.archive)
        (void)archive_write_free(maker.archive);
    archive_entry_free(maker.entry);
    free(maker.buffer);
    tdestroy(maker.first_names, free);
    if (utf8) {
        (void)uselocale(before);
        freelocale(utf8);
    }
    if (r == 0)
        r = make_iso_settle(image_fd, &maker.top, !maker.has_rr_moved);
    if (r == 0)
        *ret = maker.totals;
    return r;
}
