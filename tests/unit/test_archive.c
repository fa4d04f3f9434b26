/* What is written to an archive is read back as it was: by our own reader, and by libarchive's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "base/buffers.h"
#include "base/cleanup.h"
#include "entry/xattrs.h"
#include "sink/archive.h"
#include "source/archive.h"

#define CONTENT_MAX 9000

/* One entry, and where its content holds data. */
struct example {
    struct entry entry;
    const char *path, *hard_link;
    struct range ranges[4];
    size_t n_ranges; /* 0: everywhere */
};

static char content_byte(uint64_t offset)
{
    return (char)(offset * 31 + offset / 256 + 1);
}

static bool is_data(const struct example *example, uint64_t offset)
{
    for (size_t i = 0; i < example->n_ranges; i++)
        if (offset >= example->ranges[i].start && offset < example->ranges[i].end)
            return true;
    return example->n_ranges == 0;
}

static struct stream_record record_of(const struct example *example)
{
    return (struct stream_record){
        .path = example->path,
        .hard_link = example->hard_link,
        .entry = &example->entry,
        .ranges = example->n_ranges > 0 ? example->ranges : NULL,
        .n_ranges = example->n_ranges,
        .number = 7,
    };
}

static void write_content(
    struct stream_sink *sink, const struct example *example, uint64_t content, struct bytes *out)
{
    bool all = content == example->entry.size;
    struct outcome outcome = {0};

    out->n = 0;
    for (uint64_t i = 0; content > 0 && i < example->entry.size; i++) {
        char byte = is_data(example, i) ? content_byte(i) : '\0';
        if (all || is_data(example, i))
            assert_int_equal(bytes_append(out, &byte, 1), 0);
    }
    assert_int_equal(out->n, content);
    assert_int_equal(sink->ops->pad(sink, content, out), 0);
    assert_int_equal(sink->ops->write(sink, out->data, out->n, &outcome), 0);
}

/* An archive of the examples; the caller closes it. */
static int write_archive(
    enum shoal_format format, const struct example *examples, size_t n, unsigned *ret_lost)
{
    const struct archive_sink_options options = {.format = format, .preserve = SHOAL_KEEP_ALL};
    struct outcome outcome = {0};
    struct stream_sink *sink;
    struct bytes out = {0};
    int fd = memfd_create("archive", 0);

    assert_true(fd >= 0);
    assert_int_equal(archive_sink_new(fd, &options, &sink), 0);
    for (size_t i = 0; i < n; i++) {
        struct stream_record record = record_of(&examples[i]);
        out.n = 0;
        assert_int_equal(sink->ops->encode(sink, &record, &out, &outcome), 0);
        assert_int_equal(sink->ops->write(sink, out.data, out.n, &outcome), 0);
        write_content(sink, &examples[i], sink->ops->content_bytes(sink, &record), &out);
    }
    assert_int_equal(sink->ops->finish(sink, &outcome), 0);
    sink->ops->free(sink);
    bytes_free(&out);
    assert_null(outcome.operation);
    *ret_lost = outcome.aspects;
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void same_content(struct stream_source *source, const struct example *example)
{
    char content[CONTENT_MAX] = {0};
    struct stream_piece piece;
    struct outcome outcome = {0};
    int r;

    while ((r = source->ops->read(source, &piece, &outcome)) > 0) {
        assert_true(piece.offset + piece.n <= sizeof(content));
        memcpy(content + piece.offset, piece.bytes, piece.n);
    }
    assert_int_equal(r, 0);
    for (uint64_t i = 0; i < example->entry.size; i++)
        assert_int_equal(content[i], is_data(example, i) ? content_byte(i) : '\0');
}

static void same_xattrs(const struct xattr_set *got, const struct xattr_set *expected)
{
    assert_int_equal(got ? got->n : 0, expected ? expected->n : 0);
    for (size_t i = 0; expected && i < expected->n; i++) {
        size_t length, got_length;
        const void *value = xattr_set_value(expected, i, &length);
        long at = xattr_set_find(got, xattr_set_name(expected, i));
        assert_true(at >= 0);
        assert_memory_equal(xattr_set_value(got, (size_t)at, &got_length), value, length);
        assert_int_equal(got_length, length);
    }
}

static void same_entry(
    const struct stream_entry *got, const struct example *example, enum shoal_format format)
{
    const struct entry *entry = &example->entry;
    bool exact = format == SHOAL_FORMAT_PAX;
    size_t length = strlen(example->path);

    assert_int_equal(strncmp(got->path, example->path, length), 0);
    assert_true(!got->path[length] || (S_ISDIR(entry->mode) && !strcmp(got->path + length, "/")));
    if (example->hard_link) {
        assert_string_equal(got->hard_link, example->hard_link);
        return;
    }
    assert_null(got->hard_link);
    assert_int_equal(got->entry.mode, entry->mode);
    assert_int_equal(got->entry.uid, entry->uid);
    assert_int_equal(got->entry.gid, entry->gid);
    assert_true(got->entry.size == entry->size);
    assert_true(got->entry.mtime.tv_sec == entry->mtime.tv_sec);
    assert_int_equal(got->entry.mtime.tv_nsec, exact ? entry->mtime.tv_nsec : 0);
    if (exact)
        assert_int_equal(timespec_compare(&got->entry.atime, &entry->atime), 0);
    if (entry->link_target)
        assert_string_equal(got->entry.link_target, entry->link_target);
    if (S_ISCHR(entry->mode))
        assert_true(got->entry.rdev == entry->rdev);
    if (exact)
        same_xattrs(got->entry.xattrs, entry->xattrs);
}

static void read_by_us(int fd, enum shoal_format format, const struct example *examples, size_t n)
{
    struct archive_source_options options = {.want_xattrs = true};
    struct outcome outcome = {0};
    struct stream_source *source;
    struct stream_entry entry;

    assert_int_equal(buffers_new(64 * 1024, 4, &options.buffers), 0);
    assert_int_equal(archive_source_open(dup(fd), &options, &source, &outcome), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(source->ops->next(source, &entry, &outcome), 1);
        same_entry(&entry, &examples[i], format);
        if (S_ISREG(examples[i].entry.mode) && !examples[i].hard_link)
            same_content(source, &examples[i]);
    }
    assert_int_equal(source->ops->next(source, &entry, &outcome), 0);
    source->ops->free(source);
    buffers_free(options.buffers);
}

static void read_by_libarchive(int fd, const struct example *examples, size_t n)
{
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    char content[CONTENT_MAX];

    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(archive_read_support_format_all(archive), ARCHIVE_OK);
    assert_int_equal(archive_read_open_fd(archive, fd, 10240), ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        const struct entry *expected = &examples[i].entry;
        assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
        assert_int_equal(
            strncmp(archive_entry_pathname(entry), examples[i].path, strlen(examples[i].path)), 0);
        assert_int_equal(archive_entry_uid(entry), expected->uid);
        assert_true(archive_entry_mtime(entry) == expected->mtime.tv_sec);
        if (!S_ISREG(expected->mode) || examples[i].hard_link)
            continue;
        assert_true((uint64_t)archive_entry_size(entry) == expected->size);
        memset(content, 0, sizeof(content)); /* a hole at the end is not read */
        assert_true(archive_read_data(archive, content, sizeof(content)) >= 0);
        for (uint64_t k = 0; k < expected->size; k++)
            assert_int_equal(content[k], is_data(&examples[i], k) ? content_byte(k) : '\0');
    }
    assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_EOF);
    archive_read_free(archive);
}

static void goes_round(enum shoal_format format, const struct example *examples, size_t n)
{
    unsigned lost;
    int fd = write_archive(format, examples, n, &lost);

    assert_int_equal(lost, 0);
    read_by_us(fd, format, examples, n);
    read_by_libarchive(fd, examples, n);
    close(fd);
}

static struct example file(const char *path, uint64_t size)
{
    return (struct example){
        .path = path,
        .entry = {.mode = S_IFREG | 0640,
            .uid = 1000,
            .gid = 100,
            .nlink = 2,
            .size = size,
            .mtime = {.tv_sec = 1000000000},
            .atime = {.tv_sec = 1000000000}},
    };
}

/* A path of a length, in components of `component` bytes. */
static char *path_of(size_t length, size_t component)
{
    char *path = malloc(length + 1);

    assert_non_null(path);
    for (size_t i = 0; i < length; i++)
        path[i] = i % (component + 1) == component && i < length - 1 ? '/' : 'p';
    path[length] = '\0';
    return path;
}

static const enum shoal_format tars[] = {SHOAL_FORMAT_PAX, SHOAL_FORMAT_GNU};

static void test_sizes(void **state)
{
    static const enum shoal_format all[] = {
        SHOAL_FORMAT_PAX, SHOAL_FORMAT_GNU, SHOAL_FORMAT_USTAR, SHOAL_FORMAT_CPIO};
    static const uint64_t sizes[] = {0, 1, 3, 4, 511, 512, 513, 1024, CONTENT_MAX};
    struct example examples[ELEMENTS(sizes)];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(sizes); i++)
        examples[i] = file(i % 2 ? "even" : "odd-name", sizes[i]);
    for (size_t i = 0; i < ELEMENTS(all); i++) {
        for (size_t k = 0; k < ELEMENTS(sizes); k++)
            examples[k].entry.nlink = 1;
        goes_round(all[i], examples, ELEMENTS(sizes));
    }
}

static void test_names_of_any_length(void **state)
{
    static const size_t components[] = {1, 50, 99, 100, 101, 154, 155, 156, 255};

    (void)state;
    for (size_t f = 0; f < ELEMENTS(tars); f++) {
        for (size_t length = 90; length < 600; length += length < 270 ? 1 : 37) {
            for (size_t i = 0; i < ELEMENTS(components); i++) {
                _cleanup_free_ char *path = path_of(length, components[i]);
                struct example examples[] = {file(path, 5), file("link", 0), file("hard", 0)};
                examples[1].entry.mode = S_IFLNK | 0777;
                examples[1].entry.link_target = path;
                examples[2].hard_link = path;
                goes_round(tars[f], examples, ELEMENTS(examples));
            }
        }
    }
}

static void test_names_that_are_no_text(void **state)
{
    _cleanup_free_ char *path = path_of(300, 50);
    struct example examples[] = {file(path, 5), file("\xff\xfe", 1), file("new\nline=", 2)};

    (void)state;
    path[7] = '\xff';
    for (size_t f = 0; f < ELEMENTS(tars); f++)
        goes_round(tars[f], examples, ELEMENTS(examples));
}

static void test_numbers(void **state)
{
    static const unsigned owners[] = {0, 2097151, 2097152, UINT32_MAX - 1};
    static const int64_t seconds[] = {0, 8589934591, 8589934592, 16725225600, -1, -5000000000};

    (void)state;
    for (size_t f = 0; f < ELEMENTS(tars); f++) {
        for (size_t i = 0; i < ELEMENTS(seconds); i++) {
            for (long ns = 0; ns < 1000000000; ns += 123456789) {
                struct example example = file("x", 1);
                example.entry.uid = example.entry.gid = owners[i % ELEMENTS(owners)];
                example.entry.mtime = (struct timespec){seconds[i], ns};
                example.entry.atime = (struct timespec){seconds[i] + 5, 999999999 - ns};
                unsigned lost;
                int fd = write_archive(tars[f], &example, 1, &lost);
                assert_int_equal(lost, 0);
                read_by_us(fd, tars[f], &example, 1);
                close(fd);
            }
        }
    }
}

static void test_types(void **state)
{
    struct example examples[] = {file("dir", 0), file("fifo", 0), file("null", 0), file("link", 0)};

    (void)state;
    examples[0].entry.mode = S_IFDIR | 01755;
    examples[1].entry.mode = S_IFIFO | 0600;
    examples[2].entry.mode = S_IFCHR | 0666;
    examples[2].entry.rdev = makedev(300, 70000);
    examples[3].entry.mode = S_IFLNK | 0777;
    examples[3].entry.link_target = "to/where";
    for (size_t f = 0; f < ELEMENTS(tars); f++)
        goes_round(tars[f], examples, ELEMENTS(examples));
}

static void test_holes(void **state)
{
    struct example examples[] = {file("a", 8000), file("b", 9000), file("c", 8192), file("d", 512)};

    (void)state;
    examples[0].ranges[0] = (struct range){512, 1024};
    examples[0].n_ranges = 1;
    examples[1].ranges[0] = (struct range){0, 512};
    examples[1].ranges[1] = (struct range){4096, 5120};
    examples[1].ranges[2] = (struct range){8704, 9000};
    examples[1].n_ranges = 3;
    examples[2].ranges[0] = (struct range){8192, 8192}; /* a hole alone */
    examples[2].n_ranges = 1;
    for (size_t f = 0; f < ELEMENTS(tars); f++)
        goes_round(tars[f], examples, ELEMENTS(examples));
}

static void test_attributes(void **state)
{
    static const char *const names[] = {"user.a", "user.a=b", "user.100%", "user.%3D", "user.%25",
        "user.=%=", "user.%%3D=", "trusted.\xff"};
    struct xattr_set set = {0};
    struct example example = file("x", 3);
    unsigned lost;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(names); i++)
        assert_int_equal(xattr_set_add(&set, names[i], "v\0\n=", i % 5), 0);
    example.entry.xattrs = &set;
    int fd = write_archive(SHOAL_FORMAT_PAX, &example, 1, &lost);
    assert_int_equal(lost, 0);
    read_by_us(fd, SHOAL_FORMAT_PAX, &example, 1);
    close(fd);
    fd = write_archive(SHOAL_FORMAT_GNU, &example, 1, &lost);
    assert_true(lost & 1U << ASPECT_XATTR_USER);
    close(fd);
    xattr_set_free(&set);
}

/* A time that the format cannot hold is noted as lost, and the file is there. */
static void test_times_before_1970(void **state)
{
    static const enum shoal_format old[] = {SHOAL_FORMAT_USTAR, SHOAL_FORMAT_CPIO};
    struct example example = file("x", 3);

    (void)state;
    for (size_t f = 0; f < ELEMENTS(old); f++) {
        unsigned lost;
        example.entry.nlink = 1;
        example.entry.mtime.tv_sec = -1;
        int fd = write_archive(old[f], &example, 1, &lost);
        assert_int_equal(lost, 1U << ASPECT_TIMES);
        example.entry.mtime.tv_sec = 0;
        read_by_us(fd, old[f], &example, 1);
        close(fd);
    }
}

/* A file of the name that ends a cpio archive does not end it. */
static void test_cpio_trailer(void **state)
{
    struct example examples[] = {file("TRAILER!!!", 3), file("after", 4)};
    unsigned lost;

    (void)state;
    examples[0].entry.nlink = examples[1].entry.nlink = 1;
    int fd = write_archive(SHOAL_FORMAT_CPIO, examples, ELEMENTS(examples), &lost);
    examples[0].path = "./TRAILER!!!";
    read_by_us(fd, SHOAL_FORMAT_CPIO, examples, ELEMENTS(examples));
    close(fd);
}

static void test_what_does_not_fit_adds_nothing(void **state)
{
    const struct archive_sink_options options = {.format = SHOAL_FORMAT_USTAR};
    _cleanup_free_ char *path = path_of(300, 250);
    struct example example = file(path, 1);
    struct stream_record record = record_of(&example);
    struct outcome outcome = {0};
    struct stream_sink *sink;
    struct bytes out = {0};

    (void)state;
    assert_int_equal(archive_sink_new(STDOUT_FILENO, &options, &sink), 0);
    assert_int_equal(bytes_append(&out, "before", 6), 0);
    assert_int_equal(sink->ops->encode(sink, &record, &out, &outcome), -ENAMETOOLONG);
    assert_int_equal(out.n, 6);
    assert_int_equal(outcome.error, -ENAMETOOLONG);
    sink->ops->free(sink);
    bytes_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_names_of_any_length),
        cmocka_unit_test(test_names_that_are_no_text),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_times_before_1970),
        cmocka_unit_test(test_cpio_trailer),
        cmocka_unit_test(test_what_does_not_fit_adds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
