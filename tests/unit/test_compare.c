#include "sink/compare.h"

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
#include "entry/xattrs.h"

#define CONTENT "some content"

/* A directory with "file", which holds CONTENT; "twin", a hard link to it; "alone", of the same
 * content; "link", a symbolic link to it; "below", a directory. */
struct fixture {
    char path[64];
    int fd;
    struct tree_sink *sink;
    struct outcome outcome;
};

static void make_file(int fd, const char *name)
{
    _cleanup_close_ int file = openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    assert_true(file >= 0);
    assert_int_equal(write(file, CONTENT, strlen(CONTENT)), strlen(CONTENT));
}

static int set_up(void **state)
{
    const struct sink_options options = {.preserve = SHOAL_KEEP_ALL};
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    (void)snprintf(fixture->path, sizeof(fixture->path), "/tmp/shoal-compare.XXXXXX");
    assert_non_null(mkdtemp(fixture->path));
    fixture->fd = open(fixture->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fixture->fd >= 0);
    make_file(fixture->fd, "file");
    make_file(fixture->fd, "alone");
    assert_int_equal(linkat(fixture->fd, "file", fixture->fd, "twin", 0), 0);
    assert_int_equal(symlinkat("file", fixture->fd, "link"), 0);
    assert_int_equal(mkdirat(fixture->fd, "below", 0750), 0);
    assert_int_equal(
        compare_sink_new(fcntl(fixture->fd, F_DUPFD_CLOEXEC, 0), &options, &fixture->sink), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = {"file", "alone", "twin", "link"};
    struct fixture *fixture = *state;

    fixture->sink->ops->free(fixture->sink);
    for (size_t i = 0; i < ELEMENTS(files); i++)
        assert_int_equal(unlinkat(fixture->fd, files[i], 0), 0);
    assert_int_equal(unlinkat(fixture->fd, "below", AT_REMOVEDIR), 0);
    assert_int_equal(rmdir(fixture->path), 0);
    (void)close(fixture->fd);
    free(fixture);
    return 0;
}

/* The entry that what stands there is equal to. Attributes are none that a test has set. */
static struct entry entry_of(const struct fixture *fixture, const char *name)
{
    struct entry entry;
    struct stat st;

    assert_int_equal(fstatat(fixture->fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    entry_from_stat(&entry, &st);
    return entry;
}

/* Compares a file whose content comes in two pieces; returns the aspects that differ. */
static uint32_t compare_file(
    struct fixture *fixture, const char *name, const struct entry *entry, const char *content)
{
    const struct tree_sink_ops *ops = fixture->sink->ops;
    size_t length = strlen(content), half = length / 2;
    struct sink_file file;

    outcome_clear(&fixture->outcome);
    assert_int_equal(
        ops->create_file(fixture->sink->start, name, entry, &file, &fixture->outcome), 0);
    assert_int_equal(file.fd, -1);
    assert_int_equal(ops->write(&file, content, half, 0), 0);
    assert_int_equal(ops->write(&file, content + half, length - half, half), 0);
    assert_int_equal(ops->commit_file(&file, entry, &fixture->outcome), 0);
    return fixture->outcome.aspects;
}

/* What the sink says of an entry that is no file. */
static uint32_t compare_node(struct fixture *fixture, const char *name, const struct entry *entry)
{
    outcome_clear(&fixture->outcome);
    (void)fixture->sink->ops->make_node(fixture->sink->start, name, entry, &fixture->outcome);
    assert_null(fixture->outcome.operation);
    return fixture->outcome.aspects;
}

static void test_equal(void **state)
{
    struct fixture *fixture = *state;
    struct entry file = entry_of(fixture, "file"), link = entry_of(fixture, "link");

    assert_int_equal(compare_file(fixture, "file", &file, CONTENT), 0);
    link.link_target = "file";
    assert_int_equal(compare_node(fixture, "link", &link), 0);
}

static void test_content_and_size(void **state)
{
    struct fixture *fixture = *state;
    struct entry entry = entry_of(fixture, "file"), longer = entry, shorter = entry;

    assert_int_equal(compare_file(fixture, "file", &entry, "some CONTENT"), 1U << ASPECT_CONTENT);
    assert_int_equal(compare_file(fixture, "file", &entry, "Some content"), 1U << ASPECT_CONTENT);
    longer.size += 6;
    assert_int_equal(compare_file(fixture, "file", &longer, CONTENT " more"), 1U << ASPECT_SIZE);
    shorter.size = 4;
    assert_int_equal(compare_file(fixture, "file", &shorter, "some"), 1U << ASPECT_SIZE);
    assert_int_equal(
        compare_file(fixture, "file", &shorter, "same"), 1U << ASPECT_SIZE | 1U << ASPECT_CONTENT);
}

/* A file of the kernel's says that it is empty, but is not; nor is its copy. */
static void test_size_unsaid(void **state)
{
    struct fixture *fixture = *state;
    struct entry entry = entry_of(fixture, "file");

    entry.size = 0;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 0);
    assert_int_equal(compare_file(fixture, "file", &entry, ""), 1U << ASPECT_SIZE);
}

static void test_metadata(void **state)
{
    struct fixture *fixture = *state;
    const struct entry same = entry_of(fixture, "file");
    struct entry entry = same;

    entry.mode |= S_ISUID;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 1U << ASPECT_MODE);
    entry = same;
    entry.uid++;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 1U << ASPECT_OWNER);
    entry = same;
    entry.gid++;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 1U << ASPECT_OWNER);
    entry = same;
    entry.mtime.tv_nsec ^= 1;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 1U << ASPECT_TIMES);
    entry = same;
    entry.atime.tv_sec ^= 1;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 0);
}

/* An attribute that is only in the source. */
static void test_xattrs(void **state)
{
    struct fixture *fixture = *state;
    struct entry entry = entry_of(fixture, "file");
    struct xattr_set set = {0};

    assert_int_equal(xattr_set_add(&set, "user.kind", "test", 4), 0);
    entry.xattrs = &set;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 1U << ASPECT_XATTR_USER);
    xattr_set_clear(&set);
    assert_int_equal(xattr_set_add(&set, XATTR_ACL_ACCESS, "acl", 3), 0);
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 1U << ASPECT_ACL);
    xattr_set_free(&set);
}

static void test_missing_and_of_another_type(void **state)
{
    struct fixture *fixture = *state;
    const struct tree_sink_ops *ops = fixture->sink->ops;
    struct sink_dir *start = fixture->sink->start, *dir = NULL;
    struct entry entry = entry_of(fixture, "file");
    static const char *const others[] = {"link", "below"};
    struct sink_file file;

    assert_int_equal(
        ops->create_file(start, "none", &entry, &file, &fixture->outcome), SINK_KEPT_OTHER);
    assert_int_equal(fixture->outcome.aspects, 1U << ASPECT_MISSING);
    for (size_t i = 0; i < ELEMENTS(others); i++) {
        outcome_clear(&fixture->outcome);
        assert_int_equal(
            ops->create_file(start, others[i], &entry, &file, &fixture->outcome), SINK_KEPT_OTHER);
        assert_int_equal(fixture->outcome.aspects, 1U << ASPECT_TYPE);
    }
    entry = entry_of(fixture, "below");
    outcome_clear(&fixture->outcome);
    assert_int_equal(
        ops->enter_dir(start, "none", &entry, &dir, &fixture->outcome), SINK_KEPT_OTHER);
    assert_int_equal(fixture->outcome.aspects, 1U << ASPECT_MISSING);
    outcome_clear(&fixture->outcome);
    assert_int_equal(
        ops->enter_dir(start, "link", &entry, &dir, &fixture->outcome), SINK_KEPT_OTHER);
    assert_int_equal(fixture->outcome.aspects, 1U << ASPECT_TYPE);
    assert_null(dir);
    assert_null(fixture->outcome.operation);
}

static void test_nodes(void **state)
{
    struct fixture *fixture = *state;
    struct entry link = entry_of(fixture, "link");

    link.link_target = "files";
    assert_int_equal(compare_node(fixture, "link", &link), 1U << ASPECT_LINK_TARGET);
    link.link_target = "fil";
    assert_int_equal(compare_node(fixture, "link", &link), 1U << ASPECT_LINK_TARGET);
    link.link_target = "file";
    link.mtime.tv_sec++;
    assert_int_equal(compare_node(fixture, "link", &link), 1U << ASPECT_TIMES);
    assert_int_equal(compare_node(fixture, "below", &link), 1U << ASPECT_TYPE);
    assert_int_equal(compare_node(fixture, "none", &link), 1U << ASPECT_MISSING);
}

static void test_hard_links(void **state)
{
    struct fixture *fixture = *state;
    const struct tree_sink_ops *ops = fixture->sink->ops;
    struct sink_dir *start = fixture->sink->start;
    struct entry entry = entry_of(fixture, "file"), other = entry;

    assert_int_equal(ops->make_link(start, "twin", &entry, start, "file", &fixture->outcome), 0);
    assert_int_equal(
        ops->make_link(start, "alone", &entry, start, "file", &fixture->outcome), -EXDEV);
    assert_int_equal(fixture->outcome.aspects, 0);
    /* Two files of the source that are one here. */
    other.ino++;
    assert_int_equal(compare_file(fixture, "file", &entry, CONTENT), 0);
    assert_int_equal(compare_file(fixture, "twin", &entry, CONTENT), 0);
    assert_int_equal(compare_file(fixture, "twin", &other, CONTENT), 1U << ASPECT_HARD_LINK);
}

static void count_name(void *context, const char *name)
{
    unsigned *seen = context;

    assert_string_not_equal(name, ".");
    assert_string_not_equal(name, "..");
    ++*seen;
}

static void test_directories(void **state)
{
    struct fixture *fixture = *state;
    const struct tree_sink_ops *ops = fixture->sink->ops;
    struct entry entry = entry_of(fixture, "below");
    struct sink_dir *dir = NULL;
    uint64_t dev, ino;
    unsigned seen = 0;

    assert_int_equal(
        ops->enter_dir(fixture->sink->start, "below", &entry, &dir, &fixture->outcome), 0);
    ops->dir_identity(dir, &dev, &ino);
    assert_true(dev == entry.dev && ino == entry.ino);
    assert_int_equal(ops->finish_dir(dir, &entry, &fixture->outcome), 0);
    assert_int_equal(fixture->outcome.aspects, 0);
    entry.mode ^= 0010;
    assert_int_equal(ops->finish_dir(dir, &entry, &fixture->outcome), 0);
    assert_int_equal(fixture->outcome.aspects, 1U << ASPECT_MODE);
    for (unsigned round = 1; round <= 2; round++) {
        assert_int_equal(
            ops->for_each_name(fixture->sink->start, count_name, &seen, &fixture->outcome), 0);
        assert_int_equal(seen, 5 * round);
    }
    assert_int_equal(ops->for_each_name(dir, count_name, &seen, &fixture->outcome), 0);
    assert_int_equal(seen, 10);
    ops->close_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_content_and_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_size_unsaid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_metadata, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_xattrs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_and_of_another_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hard_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directories, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
