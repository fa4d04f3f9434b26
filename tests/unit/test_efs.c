/* What the maker writes the reader reads, in every form that extents can have; and images that are
 * damaged in any way are read without harm. */
#include <dirent.h>
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
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "disc/disc.h"
#include "disc/efs.h"
#include "disc/make_efs.h"
#include "memory_sectors.h"

#define BIG_BYTES 900000

static char place[] = "/tmp/shoal-efs-XXXXXX";

static char big_byte(size_t i)
{
    return (char)(i * 31 + i / 512);
}

static void write_file(int at, const char *name, const void *bytes, size_t n)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL, 0640);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static int make_tree(void **state)
{
    char big[BIG_BYTES], name[300];

    (void)state;
    if (!mkdtemp(place))
        return -1;
    int at = open(place, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < sizeof(big); i++)
        big[i] = big_byte(i);
    write_file(at, "big", big, sizeof(big));
    write_file(at, "empty", "", 0);
    write_file(at, "small", "small", 5);
    memset(name, 'n', 255);
    name[255] = '\0';
    write_file(at, name, "long", 4);
    memset(name, 't', 200);
    name[200] = '\0';
    if (mkdirat(at, "dir", 0750) < 0 || mkdirat(at, "dir/sub", 0700) < 0 ||
        linkat(at, "small", at, "dir/hard", 0) < 0 || symlinkat("../small", at, "dir/soft") < 0 ||
        symlinkat(name, at, "longer") < 0 || mkfifoat(at, "fifo", 0600) < 0)
        return -1;
    for (int i = 0; i < 300; i++) { /* more than a block of names */
        (void)snprintf(name, sizeof(name), "dir/name number %d", i);
        write_file(at, name, "x", 1);
    }
    close(at);
    return 0;
}

static int remove_tree(void **state)
{
    char command[64];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r %s", place);
    return system(command);
}

/* An image in memory of its own; free it. */
static char *make_image(const struct make_efs_options *options, size_t *ret_size)
{
    const struct make_watch watch = {0};
    struct make_failure failure = {0};
    struct make_totals totals;
    struct stat st;

    int directory = open(place, O_RDONLY | O_DIRECTORY), image = memfd_create("image", 0);
    assert_int_equal(make_efs(directory, image, options, &watch, &totals, &failure), 0);
    assert_int_equal(totals.directories, 3);
    assert_int_equal(fstat(image, &st), 0);
    char *bytes = malloc((size_t)st.st_size);
    assert_non_null(bytes);
    assert_int_equal(pread(image, bytes, (size_t)st.st_size, 0), st.st_size);
    close(image);
    close(directory);
    *ret_size = (size_t)st.st_size;
    return bytes;
}

static struct disc *open_image(const char *bytes, size_t size)
{
    const struct disc_options options = {0};
    struct disc_fault fault = {0};
    struct disc *disc;
    struct sectors *sectors = memory_sectors_new(bytes, size, 0);

    if (disc_open(sectors, &options, &disc, &fault) == 0)
        return disc;
    sectors->ops->free(sectors);
    return NULL;
}

static uint64_t node_of(struct disc *disc, uint64_t directory, const char *name)
{
    struct disc_fault fault = {0};
    uint64_t node = 0;

    assert_int_equal(disc->ops->find(disc, directory, name, &node, &fault), 0);
    return node;
}

static int count_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    (void)name;
    (void)node;
    assert_int_not_equal(type, DT_UNKNOWN);
    ++*(int *)context;
    return 0;
}

static void has_content(struct disc *disc, uint64_t node, uint64_t size)
{
    static char buffer[BIG_BYTES + 1];
    struct disc_fault fault = {0};
    uint64_t done = 0;
    ssize_t got;

    while ((got = disc->ops->read(disc, node, buffer + done, 70001, done, &fault)) > 0)
        done += (uint64_t)got;
    assert_int_equal(got, 0);
    assert_int_equal(done, size);
    for (uint64_t i = 0; size == BIG_BYTES && i < size; i++)
        assert_int_equal(buffer[i], big_byte(i));
}

static void holds_the_tree(struct disc *disc)
{
    char target[DISC_TARGET_MAX];
    struct disc_fault fault = {0};
    struct entry entry;
    int n = 0;

    assert_string_equal(disc->kind, "efs");
    assert_int_equal(disc->ops->list(disc, disc->root, count_name, &n, &fault), 0);
    assert_int_equal(n, 7);
    has_content(disc, node_of(disc, disc->root, "big"), BIG_BYTES);
    has_content(disc, node_of(disc, disc->root, "empty"), 0);
    uint64_t dir = node_of(disc, disc->root, "dir");
    n = 0;
    assert_int_equal(disc->ops->list(disc, dir, count_name, &n, &fault), 0);
    assert_int_equal(n, 303);
    assert_int_equal(node_of(disc, dir, "hard"), node_of(disc, disc->root, "small"));
    assert_int_equal(disc->ops->look(disc, node_of(disc, dir, "hard"), target, &entry, &fault), 0);
    assert_int_equal(entry.mode, S_IFREG | 0640);
    assert_int_equal(entry.nlink, 2);
    assert_int_equal(entry.size, 5);
    assert_int_equal(entry.allocated, 512);
    assert_int_equal(disc->ops->look(disc, node_of(disc, dir, "soft"), target, &entry, &fault), 0);
    assert_string_equal(entry.link_target, "../small");
    assert_int_equal(
        disc->ops->look(disc, node_of(disc, disc->root, "longer"), target, &entry, &fault), 0);
    assert_int_equal(strlen(entry.link_target), 200);
    assert_int_equal(disc->ops->look(disc, dir, target, &entry, &fault), 0);
    assert_int_equal(entry.nlink, 3);
    assert_int_equal(disc->ops->find(disc, dir, "nope", &(uint64_t){0}, &fault), -ENOENT);
    assert_int_equal(
        disc->ops->find(disc, node_of(disc, disc->root, "small"), "x", &(uint64_t){0}, &fault),
        -ENOTDIR);
}

static void test_every_form_of_extents(void **state)
{
    /* 1: 1,758 extents, in runs of blocks apart from each other */
    static const unsigned extents[] = {0, 1, 2, 7, 100, 248};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(extents); i++) {
        for (int header = 0; header < 2; header++) {
            const struct make_efs_options options = {
                .label = "label", .no_header = header == 0, .extent_blocks = extents[i]};
            size_t size;
            char *bytes = make_image(&options, &size);
            struct disc *disc = open_image(bytes, size);
            assert_non_null(disc);
            assert_string_equal(disc->label, "label");
            holds_the_tree(disc);
            disc_free(disc);
            free(bytes);
        }
    }
}

static void test_one_tree_one_image(void **state)
{
    const struct make_efs_options options = {.label = ""};
    size_t size_a, size_b;
    char *a = make_image(&options, &size_a), *b = make_image(&options, &size_b);

    (void)state;
    assert_int_equal(size_a, size_b);
    assert_memory_equal(a, b, size_a);
    free(a);
    free(b);
}

/* The partition is found wherever and whatever it is said to be, and the one with the file system
 * is taken, not the last. */
static void test_partitions(void **state)
{
    const struct make_efs_options options = {.label = ""};
    size_t size;
    char *bytes = make_image(&options, &size);
    unsigned char *seven = (unsigned char *)bytes + VOLUME_PARTITION + 7 * 12;

    (void)state;
    for (unsigned to = 0; to < VOLUME_PARTITIONS; to++) {
        unsigned char kept[12];
        for (uint32_t type = 0; type < 12; type++) {
            memcpy(kept, seven, sizeof(kept));
            memset(bytes + VOLUME_PARTITION, 0, 16 * 12);
            unsigned char *at = (unsigned char *)bytes + VOLUME_PARTITION + to * 12;
            memcpy(at, kept, sizeof(kept));
            efs_put_u32(at + 8, type);
            if (to != 15) { /* one behind it leads nowhere */
                efs_put_u32((unsigned char *)bytes + VOLUME_PARTITION + 15 * 12, 1000);
                efs_put_u32((unsigned char *)bytes + VOLUME_PARTITION + 15 * 12 + 4, 7);
            }
            struct disc *disc = open_image(bytes, size);
            assert_non_null(disc);
            assert_int_equal(disc->blocks > 0, 1);
            disc_free(disc);
            seven = at;
        }
    }
    free(bytes);
}

/* Both magics; neither the checksum nor the replica at the end is needed. */
static void test_what_may_be_missing(void **state)
{
    const struct make_efs_options options = {.label = "", .no_header = true};
    size_t size;
    char *bytes = make_image(&options, &size);
    unsigned char *superblock = (unsigned char *)bytes + EFS_BLOCK;

    (void)state;
    efs_put_u32(superblock + EFS_MAGIC, EFS_MAGIC_OLD);
    efs_put_u32(superblock + EFS_CHECKSUM, 12345);
    struct disc *disc = open_image(bytes, size - 2048);
    assert_non_null(disc);
    holds_the_tree(disc);
    disc_free(disc);
    efs_put_u32(superblock + EFS_MAGIC, 7);
    assert_null(open_image(bytes, size));
    free(bytes);
}

/* ---- damage ---- */

static int look_at_soft(const char *bytes, size_t size, char *target, struct entry *ret)
{
    struct disc_fault fault = {0};
    struct disc *disc = open_image(bytes, size);

    assert_non_null(disc);
    int r = disc->ops->look(
        disc, node_of(disc, node_of(disc, disc->root, "dir"), "soft"), target, ret, &fault);
    assert_true(r == 0 || fault.what);
    disc_free(disc);
    return r;
}

/* What a NUL leaves of a target is one, as Linux's driver has it; nothing is none. */
static void test_targets_with_a_nul(void **state)
{
    const struct make_efs_options options = {.label = "", .no_header = true};
    static const char soft[] = "../small";
    char target[DISC_TARGET_MAX];
    struct entry entry;
    size_t size;
    char *bytes = make_image(&options, &size);
    char *stored = memmem(bytes, size, soft, strlen(soft));

    (void)state;
    assert_non_null(stored);
    stored[2] = '\0';
    assert_int_equal(look_at_soft(bytes, size, target, &entry), 0);
    assert_string_equal(entry.link_target, "..");
    assert_int_equal(entry.size, 2);
    stored[0] = '\0';
    assert_int_equal(look_at_soft(bytes, size, target, &entry), -EUCLEAN);
    free(bytes);
}

struct reading {
    struct disc *disc;
    unsigned left; /* names to be read, at most */
};

static void read_node(struct reading *reading, uint64_t node);

static int read_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct reading *reading = context;

    assert_null(strchr(name, '/'));
    assert_int_not_equal(strlen(name), 0);
    if (reading->left == 0)
        return 1;
    reading->left--;
    if (type != DT_DIR) /* a damaged directory may lead to itself */
        read_node(reading, node);
    return 0;
}

static void read_node(struct reading *reading, uint64_t node)
{
    struct disc *disc = reading->disc;
    char target[DISC_TARGET_MAX], buffer[70000];
    struct disc_fault fault = {0};
    struct entry entry;
    uint64_t at, length;

    if (disc->ops->look(disc, node, target, &entry, &fault) < 0)
        return;
    if (S_ISLNK(entry.mode)) {
        assert_ptr_equal(entry.link_target, target);
        assert_int_equal(strlen(target), entry.size);
        assert_int_not_equal(entry.size, 0);
    }
    for (uint64_t offset = 0; S_ISREG(entry.mode) && offset < entry.size; offset += 300000) {
        (void)disc->ops->read(disc, node, buffer, sizeof(buffer), offset, &fault);
        if (disc->ops->map(disc, node, offset, &at, &length, &fault) == 0)
            assert_true(length > 0 && offset + length <= entry.size);
        if (offset > 3000000)
            break;
    }
    if (S_ISDIR(entry.mode))
        (void)disc->ops->list(disc, node, read_name, reading, &fault);
}

static void read_all(const char *bytes, size_t size)
{
    struct disc *disc = open_image(bytes, size);

    if (!disc)
        return;
    struct reading reading = {disc, 400};
    read_node(&reading, disc->root);
    for (uint64_t node = 0; node < 12; node++)
        read_node(&reading, node);
    disc_free(disc);
}

static void test_any_byte_damaged(void **state)
{
    const struct make_efs_options options = {.label = "", .no_header = true, .extent_blocks = 30};
    size_t size;
    char *bytes = make_image(&options, &size);

    (void)state;
    /* The superblock, the first inodes, and what follows them: directories and extents. */
    for (size_t i = EFS_BLOCK; i < 24 * EFS_BLOCK && i < size; i++) {
        static const unsigned char values[] = {0, 0xff, 0x80};
        char kept = bytes[i];
        for (size_t k = 0; k < ELEMENTS(values) && i % 3 == k; k++) {
            bytes[i] = (char)values[k];
            read_all(bytes, size);
        }
        bytes[i] = (char)(kept ^ 1);
        read_all(bytes, size);
        bytes[i] = kept;
    }
    free(bytes);
}

static void test_cut_anywhere(void **state)
{
    const struct make_efs_options options = {.label = "", .extent_blocks = 30};
    size_t size;
    char *bytes = make_image(&options, &size);

    (void)state;
    for (size_t n = 0; n < size; n += EFS_BLOCK)
        read_all(bytes, n);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_of_extents),
        cmocka_unit_test(test_one_tree_one_image),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_what_may_be_missing),
        cmocka_unit_test(test_targets_with_a_nul),
        cmocka_unit_test(test_any_byte_damaged),
        cmocka_unit_test(test_cut_anywhere),
    };

    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
