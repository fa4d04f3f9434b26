#include "entry/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/cleanup.h"

static void add(struct xattr_set *set, const char *name, const char *value)
{
    assert_int_equal(xattr_set_add(set, name, value, strlen(value)), 0);
}

static void assert_has(const struct xattr_set *set, const char *name, const char *value)
{
    size_t length;
    long i = xattr_set_find(set, name);

    assert_true(i >= 0);
    assert_string_equal(xattr_set_name(set, (size_t)i), name);
    const void *found = xattr_set_value(set, (size_t)i, &length);
    assert_int_equal(length, strlen(value));
    assert_memory_equal(found, value, length);
}

static void test_an_empty_set(void **state)
{
    struct xattr_set set = {0};

    (void)state;
    assert_int_equal(xattr_set_find(NULL, "user.a"), -1);
    assert_int_equal(xattr_set_find(&set, "user.a"), -1);
    xattr_set_clear(&set);
    xattr_set_free(&set);
    xattr_set_free(NULL);
}

static void test_adding_and_finding(void **state)
{
    struct xattr_set set = {0};

    (void)state;
    add(&set, "user.a", "one");
    add(&set, "user.empty", "");
    add(&set, "user.ab", "two");
    assert_int_equal(set.n, 3);
    assert_has(&set, "user.a", "one");
    assert_has(&set, "user.empty", "");
    assert_has(&set, "user.ab", "two");
    assert_int_equal(xattr_set_find(&set, "user."), -1);
    assert_int_equal(xattr_set_find(&set, "user.abc"), -1);
    xattr_set_free(&set);
}

/* More than its first room, filled twice: what is kept of the memory must not show. */
static void test_many(void **state)
{
    struct xattr_set set = {0};
    char name[32], value[32];

    (void)state;
    for (int round = 0; round < 2; round++) {
        xattr_set_clear(&set);
        assert_int_equal(set.n, 0);
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(name, sizeof(name), "user.%d", i);
            (void)snprintf(value, sizeof(value), "%d", i * (round + 3));
            add(&set, name, value);
        }
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(name, sizeof(name), "user.%d", i);
            (void)snprintf(value, sizeof(value), "%d", i * (round + 3));
            assert_has(&set, name, value);
        }
    }
    xattr_set_free(&set);
}

static void test_a_copy_stands_alone(void **state)
{
    struct xattr_set set = {0};

    (void)state;
    add(&set, "user.a", "one");
    add(&set, "trusted.b", "two");
    struct xattr_set *copy = xattr_set_copy(&set);
    assert_non_null(copy);
    xattr_set_clear(&set);
    add(&set, "user.other", "three");
    xattr_set_free(&set);
    assert_int_equal(copy->n, 2);
    assert_has(copy, "user.a", "one");
    assert_has(copy, "trusted.b", "two");
    xattr_set_free(copy);
    free(copy);
}

static void test_aspects(void **state)
{
    static const struct {
        const char *name;
        enum aspect aspect;
    } cases[] = {
        {"system.posix_acl_access", ASPECT_ACL},
        {"system.posix_acl_default", ASPECT_ACL},
        {"system.nfs4_acl", ASPECT_XATTR_SYSTEM},
        {"security.capability", ASPECT_CAPABILITY},
        {"security.capability2", ASPECT_XATTR_SECURITY},
        {"security.selinux", ASPECT_XATTR_SECURITY},
        {"user.security.capability", ASPECT_XATTR_USER},
        {"trusted.overlay.opaque", ASPECT_XATTR_TRUSTED},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++)
        assert_int_equal(xattr_aspect(cases[i].name), cases[i].aspect);
}

/* A directory of the test's own, for as long as it runs. */
static int make_directory(void **state)
{
    const char *above = getenv("TMPDIR");
    char *path;

    if (asprintf(&path, "%s/shoal-xattrs.XXXXXX", above ? above : "/tmp") < 0)
        return -1;
    *state = path;
    return mkdtemp(path) ? 0 : -1;
}

static int remove_directory(void **state)
{
    _cleanup_free_ char *path = *state;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)unlinkat(fd, "file", 0); /* what a failed test did not make is not there */
    (void)unlinkat(fd, "link", 0);
    return rmdir(path);
}

/* Makes "file", and "link", which leads to it. The test is skipped where files can have no
 * attributes. */
static int fill_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    _cleanup_close_ int file = openat(fd, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(symlinkat("file", fd, "link"), 0);
    int r = xattr_put((struct xattr_place){.fd = file}, "user.kind", "test", 4);
    if (r == -EOPNOTSUPP)
        skip();
    assert_int_equal(r, 0);
    return fd;
}

static void test_reading_by_name(void **state)
{
    struct xattr_set set = {0};
    _cleanup_close_ int fd = fill_directory(*state);

    assert_int_equal(xattr_set_read(&set, (struct xattr_place){.fd = fd, .name = "file"}), 0);
    assert_has(&set, "user.kind", "test");
    assert_int_equal(xattr_set_read(&set, (struct xattr_place){.fd = fd, .name = "link"}), 0);
    assert_int_equal(xattr_set_find(&set, "user.kind"), -1);
    struct xattr_place through = {.fd = fd, .name = "link", .follow = true};
    assert_int_equal(xattr_set_read(&set, through), 0);
    assert_has(&set, "user.kind", "test");
    assert_int_equal(
        xattr_set_read(&set, (struct xattr_place){.fd = fd, .name = "missing"}), -ENOENT);
    xattr_set_free(&set);
}

/* More names and longer values than the first room for them. */
static void test_reading_many(void **state)
{
    struct xattr_set set = {0};
    _cleanup_close_ int fd = fill_directory(*state);
    struct xattr_place file = {.fd = fd, .name = "file"};
    char name[64], value[1000];
    int n = 0;

    memset(value, 'v', sizeof(value));
    for (; n < 40; n++) {
        (void)snprintf(name, sizeof(name), "user.a-name-of-some-length-%d", n);
        if (xattr_put(file, name, value, n < 2 ? sizeof(value) : (size_t)n) < 0)
            break; /* the file system has no room for more */
    }
    assert_int_equal(xattr_set_read(&set, file), 0);
    for (int i = 0; i < n; i++) {
        size_t length;
        (void)snprintf(name, sizeof(name), "user.a-name-of-some-length-%d", i);
        long at = xattr_set_find(&set, name);
        assert_true(at >= 0);
        assert_memory_equal(xattr_set_value(&set, (size_t)at, &length), value, (size_t)i);
        assert_int_equal(length, i < 2 ? sizeof(value) : (size_t)i);
    }
    xattr_set_free(&set);
}

static void test_removing(void **state)
{
    struct xattr_set set = {0};
    _cleanup_close_ int fd = fill_directory(*state);
    struct xattr_place file = {.fd = fd, .name = "file"};

    assert_int_equal(xattr_remove(file, "user.kind"), 0);
    assert_int_equal(xattr_remove(file, "user.kind"), -ENODATA);
    assert_int_equal(xattr_set_read(&set, file), 0);
    assert_int_equal(xattr_set_find(&set, "user.kind"), -1);
    xattr_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_set),
        cmocka_unit_test(test_adding_and_finding),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_a_copy_stands_alone),
        cmocka_unit_test(test_aspects),
        cmocka_unit_test_setup_teardown(test_reading_by_name, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_reading_many, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_removing, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
