#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "disc/disc.h"
#include "disc/make_iso.h"
#include "memory_sectors.h"

/* A directory with a few files, gone with remove_tree(). */
static int make_tree(char path[static 32])
{
    (void)snprintf(path, 32, "/tmp/shoal-iso.XXXXXX");
    assert_non_null(mkdtemp(path));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (unsigned i = 0; i < 3; i++) {
        int file = openat(fd, (const char[]){(char)('a' + i), 0}, O_WRONLY | O_CREAT, 0644);
        assert_int_equal(write(file, "text", 4), 4);
        assert_int_equal(close(file), 0);
    }
    assert_int_equal(fchmod(fd, 0750), 0);
    return fd;
}

static void remove_tree(int fd, const char *path)
{
    for (unsigned i = 0; i < 3; i++)
        (void)unlinkat(fd, (const char[]){(char)('a' + i), 0}, 0);
    (void)close(fd);
    (void)rmdir(path);
}

static int stop_after_two(void *context)
{
    return ++*(unsigned *)context == 2;
}

static void test_stopped(void **state)
{
    char path[32];
    unsigned asked = 0;
    int fd = make_tree(path), image = memfd_create("image", MFD_CLOEXEC);
    const struct make_watch watch = {.should_stop = stop_after_two, .context = &asked};
    struct make_totals totals = {.files = 77};
    struct make_failure failure = {0};

    (void)state;
    assert_int_equal(make_iso(fd, image, "", &watch, &totals, &failure), -EINTR);
    assert_int_equal(asked, 2);
    assert_int_equal(totals.files, 77);
    assert_null(failure.path);
    assert_int_equal(lseek(image, 0, SEEK_END), 0);
    (void)close(image);
    remove_tree(fd, path);
}

/* Says how far it came, and shortens the last file when the first one is in. */
static void shorten(void *context, const struct make_totals *so_far)
{
    if (so_far->files == 1)
        assert_int_equal(truncate(context, 0), 0);
}

static int never(void *context)
{
    (void)context;
    return 0;
}

static void test_made(void **state)
{
    char path[32], file[40], target[DISC_TARGET_MAX];
    int fd = make_tree(path), image = memfd_create("image", MFD_CLOEXEC);
    (void)snprintf(file, sizeof(file), "%s/c", path);
    const struct make_watch watch = {never, shorten, file};
    struct make_totals totals = {0};
    struct make_failure failure = {0};
    struct disc_fault fault = {0};
    const struct disc_options options = {.names = DISC_NAMES_ROCK_RIDGE};
    struct entry entry;
    struct disc *disc;
    uint64_t node = 0;

    (void)state;
    assert_int_equal(make_iso(fd, image, "LABEL", &watch, &totals, &failure), 0);
    assert_true(totals.files == 3 && totals.directories == 1 && totals.bytes == 8);
    assert_int_equal(iso9660_open(file_sectors_new(image), &options, &disc, &fault), 0);
    assert_string_equal(disc->label, "LABEL");
    assert_int_equal(disc->ops->look(disc, disc->root, target, &entry, &fault), 0);
    assert_int_equal(entry.mode, S_IFDIR | 0750);
    assert_int_equal(disc->ops->find(disc, disc->root, "b", &node, &fault), 0);
    assert_int_equal(disc->ops->read(disc, node, target, sizeof(target), 1, &fault), 3);
    assert_memory_equal(target, "ext", 3);
    disc->ops->free(disc);
    remove_tree(fd, path);
}

/* A descriptor that does not take what is written. */
static void test_image_that_cannot_be_written(void **state)
{
    char path[32];
    int fd = make_tree(path), image = open("/dev/full", O_RDWR | O_CLOEXEC);
    const struct make_watch watch = {0};
    struct make_totals totals = {0};
    struct make_failure failure = {0};

    (void)state;
    assert_int_equal(make_iso(fd, image, "", &watch, &totals, &failure), -ENOSPC);
    assert_null(failure.path);
    assert_null(failure.why);
    (void)close(image);
    remove_tree(fd, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_image_that_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
