#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <cmocka.h>
#include <zlib.h>

#include "disc/disc.h"
#include "disc/iso9660_directory.h"
#include "memory_sectors.h"

/* An image made by hand. Directory n of it is in sector 20 + n; contents begin at sector 40, areas
 * of continuation at 30. */
#define SECTORS     64
#define DIRECTORY   20
#define AREA        30
#define CONTENT     40
#define DIRECTORIES 6

struct image {
    unsigned char bytes[SECTORS * SECTOR_BYTES];
    size_t used[DIRECTORIES]; /* of each directory */
    unsigned block_bytes;
};

/* One record; what is not said is zero. */
struct record {
    const char *name;
    size_t name_length; /* 0: strlen(name) */
    uint32_t sector, size;
    unsigned char flags, attributes, unit;
    const char *use; /* what follows the name */
    size_t use_length;
};

static void put_both(unsigned char *to, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (unsigned char)(number >> 8 * i);
        to[7 - i] = to[i];
    }
}

static size_t put_record(const struct image *image, unsigned char *to, const struct record *record)
{
    static const unsigned char date[] = {99, 12, 31, 23, 59, 58, 4};
    size_t n = record->name_length ? record->name_length : strlen(record->name);
    size_t use_at = (33 + n + 1) & ~(size_t)1, length = (use_at + record->use_length + 1) & ~1UL;

    memset(to, 0, length);
    to[0] = (unsigned char)length;
    to[1] = record->attributes;
    put_both(to + 2, record->sector * (SECTOR_BYTES / image->block_bytes));
    put_both(to + 10, record->size);
    memcpy(to + 18, date, sizeof(date));
    to[25] = record->flags;
    to[26] = record->unit;
    to[32] = (unsigned char)n;
    memcpy(to + 33, record->name, n);
    if (record->use_length)
        memcpy(to + use_at, record->use, record->use_length);
    return length;
}

/* Adds to a directory; returns the node of a file there. */
static uint64_t add(struct image *image, unsigned directory, const struct record *record)
{
    uint64_t at = (uint64_t)(DIRECTORY + directory) * SECTOR_BYTES + image->used[directory];

    image->used[directory] += put_record(image, image->bytes + at, record);
    return 2 * at;
}

#define ADD(image, directory, ...) add(image, directory, &(struct record){__VA_ARGS__})

#define SP                         "SP\7\1\xbe\xef\0"

static void begin_directory(
    struct image *image, unsigned n, uint32_t size, const char *use, size_t use_length)
{
    ADD(image, n, .name = "\0", .name_length = 1, .sector = DIRECTORY + n, .size = size, .flags = 2,
        .use = use, .use_length = use_length);
    ADD(image, n, .name = "\1", .name_length = 1, .sector = DIRECTORY, .size = SECTOR_BYTES,
        .flags = 2);
}

static void put_descriptor(
    struct image *image, unsigned sector, unsigned type, const char *label, unsigned directory)
{
    unsigned char *to = image->bytes + (size_t)sector * SECTOR_BYTES;
    const struct record root = {.name = "\0",
        .name_length = 1,
        .sector = DIRECTORY + directory,
        .size = SECTOR_BYTES,
        .flags = 2};

    to[0] = (unsigned char)type;
    memcpy(to + 1, "CD001\1", 6);
    memset(to + 40, ' ', 32);
    memcpy(to + 40, label, strlen(label));
    put_both(to + 80, SECTORS * (SECTOR_BYTES / image->block_bytes));
    to[128] = (unsigned char)image->block_bytes;
    to[129] = (unsigned char)(image->block_bytes >> 8);
    (void)put_record(image, to + 156, &root);
}

/* An image whose top directory is `size` bytes long; with Rock Ridge or without. */
static struct image *begin(unsigned block_bytes, bool rock_ridge, uint32_t size)
{
    struct image *image = calloc(1, sizeof(*image));

    assert_non_null(image);
    image->block_bytes = block_bytes;
    put_descriptor(image, 16, 1, "A LABEL", 0);
    image->bytes[17 * SECTOR_BYTES] = 255;
    memcpy(image->bytes + 17 * SECTOR_BYTES + 1, "CD001\1", 6);
    begin_directory(image, 0, size, SP, rock_ridge ? sizeof(SP) - 1 : 0);
    for (unsigned i = CONTENT; i < SECTORS; i++)
        memset(image->bytes + (size_t)i * SECTOR_BYTES, (int)('A' + i - CONTENT), SECTOR_BYTES);
    return image;
}

static struct disc *open_part(
    const struct image *image, size_t bytes, uint64_t bad, enum disc_names names)
{
    const struct disc_options options = {.names = names};
    struct sectors *sectors = memory_sectors_new(image->bytes, bytes, bad);
    struct disc_fault fault = {0};
    struct disc *disc = NULL;

    assert_non_null(sectors);
    int r = iso9660_open(sectors, &options, &disc, &fault);
    if (r < 0) {
        assert_non_null(fault.what);
        sectors->ops->free(sectors);
        return NULL;
    }
    return disc;
}

static struct disc *open_image(const struct image *image)
{
    struct disc *disc = open_part(image, sizeof(image->bytes), 0, DISC_NAMES_AUTO);

    assert_non_null(disc);
    return disc;
}

static void end(struct image *image, struct disc *disc)
{
    disc->ops->free(disc);
    free(image);
}

struct names {
    char text[4096];
};

static int collect(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct names *names = context;
    size_t n = strlen(names->text);

    (void)node;
    assert_true(n + strlen(name) + 3 < sizeof(names->text));
    (void)sprintf(names->text + n, "%s%s%s", n ? " " : "", name, type == DT_DIR ? "/" : "");
    return 0;
}

/* What a directory lists, in order; `what` is the first fault, NULL for none. */
static void lists(struct disc *disc, uint64_t node, const char *expected, const char *what)
{
    struct names names = {""};
    struct disc_fault fault = {0};
    int r = disc->ops->list(disc, node, collect, &names, &fault);

    assert_string_equal(names.text, expected);
    assert_int_equal(r, what ? -EUCLEAN : 0);
    if (what)
        assert_string_equal(fault.what, what);
}

static struct entry look(struct disc *disc, uint64_t node, char *target)
{
    struct disc_fault fault = {0};
    struct entry entry = {0};
    char unused[DISC_TARGET_MAX];

    assert_int_equal(disc->ops->look(disc, node, target ? target : unused, &entry, &fault), 0);
    return entry;
}

static void look_fails(struct disc *disc, uint64_t node, int error, const char *what)
{
    struct disc_fault fault = {0};
    struct entry entry;
    char target[DISC_TARGET_MAX];

    assert_int_equal(disc->ops->look(disc, node, target, &entry, &fault), error);
    assert_string_equal(fault.what, what);
}

static uint64_t find(struct disc *disc, const char *name)
{
    struct disc_fault fault = {0};
    uint64_t node = 0;

    assert_int_equal(disc->ops->find(disc, disc->root, name, &node, &fault), 0);
    return node;
}

static void test_plain(void **state)
{
    (void)state;
    for (unsigned block_bytes = 512; block_bytes <= 2048; block_bytes *= 2) {
        struct image *image = begin(block_bytes, false, SECTOR_BYTES);
        ADD(image, 0, .name = "README.TXT;1", .sector = CONTENT, .size = 3000);
        ADD(image, 0, .name = "MAKEFILE.;1", .sector = CONTENT);
        ADD(image, 0, .name = "OLD.C;2", .sector = CONTENT);
        ADD(image, 0, .name = "HIDDEN.;1", .sector = CONTENT, .flags = 4); /* associated */
        ADD(image, 0, .name = "SUB", .sector = DIRECTORY + 1, .size = SECTOR_BYTES, .flags = 2);
        begin_directory(image, 1, SECTOR_BYTES, NULL, 0);
        struct disc *disc = open_image(image);
        lists(disc, disc->root, "readme.txt makefile old.c.2 sub/", NULL);
        lists(disc, find(disc, "sub"), "", NULL);
        assert_string_equal(disc->label, "A LABEL");
        assert_int_equal(disc->block_bytes, block_bytes);
        struct entry entry = look(disc, find(disc, "readme.txt"), NULL);
        assert_int_equal(entry.mode, S_IFREG | 0444);
        assert_int_equal(entry.size, 3000);
        assert_int_equal(entry.mtime.tv_sec, 946684798 - 3600);
        assert_int_equal(look(disc, disc->root, NULL).mode, S_IFDIR | 0555);
        end(image, disc);
    }
}

static void test_what_is_not_there(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);

    (void)state;
    assert_null(open_part(image, sizeof(image->bytes), 0, DISC_NAMES_JOLIET));
    assert_null(open_part(image, sizeof(image->bytes), 0, DISC_NAMES_ROCK_RIDGE));
    memset(image->bytes + 16 * SECTOR_BYTES, 0, 6);
    assert_null(open_part(image, sizeof(image->bytes), 0, DISC_NAMES_AUTO));
    free(image);
}

static void test_find(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);
    uint64_t file = ADD(image, 0, .name = "A.;1", .sector = CONTENT, .size = 1), node = 7;
    struct disc *disc = open_image(image);
    struct disc_fault fault = {0};

    (void)state;
    assert_int_equal(find(disc, "a"), file);
    assert_int_equal(disc->ops->find(disc, disc->root, "b", &node, &fault), -ENOENT);
    assert_int_equal(disc->ops->find(disc, file, "b", &node, &fault), -ENOTDIR);
    assert_int_equal(node, 7);
    end(image, disc);
}

static void test_sectors_of_a_directory(void **state)
{
    struct image *image = begin(2048, false, 3 * SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "A", .sector = CONTENT);
    ADD(image, 1, .name = "B", .sector = CONTENT); /* after padding */
    image->bytes[(DIRECTORY + 1) * SECTOR_BYTES + image->used[1]] = 200;
    image->bytes[(DIRECTORY + 1) * SECTOR_BYTES + image->used[1] + 32] = 190;
    ADD(image, 2, .name = "C", .sector = CONTENT);
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "a b c", "name longer than its record");
    image->bytes[(DIRECTORY + 1) * SECTOR_BYTES + image->used[1]] = 12;
    disc->ops->free(disc);
    disc = open_image(image);
    lists(disc, disc->root, "a b c", "directory record of a wrong length");
    end(image, disc);
}

static void test_bad_names(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "A/B", .sector = CONTENT);
    ADD(image, 0, .name = "A\0B", .name_length = 3, .sector = CONTENT);
    ADD(image, 0, .name = "..", .sector = CONTENT);
    ADD(image, 0, .name = ".;1", .sector = CONTENT);
    ADD(image, 0, .name = "GOOD", .sector = CONTENT);
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "good", "name that no file can have");
    end(image, disc);
}

/* All of a file's content by pieces of 1000 bytes, as letters and how many of each. */
static void content_is(struct disc *disc, uint64_t node, const char *expected)
{
    char buffer[1000], text[256] = "", last = 0;
    uint64_t at = 0, n = 0;
    struct disc_fault fault = {0};
    ssize_t r;

    while ((r = disc->ops->read(disc, node, buffer, sizeof(buffer), at, &fault)) > 0)
        for (ssize_t i = 0; i < r; i++, at++, n++) {
            if (last && buffer[i] != last) {
                (void)sprintf(text + strlen(text), "%c%d ", last, (int)n);
                n = 0;
            }
            last = buffer[i];
        }
    if (n)
        (void)sprintf(text + strlen(text), "%c%d", last, (int)n);
    if (r < 0)
        (void)sprintf(text + strlen(text), " %s at %d", fault.what, (int)fault.sector);
    assert_string_equal(text, expected);
}

static void test_extents(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);
    uint64_t at = 7, length = 7;
    struct disc_fault fault = {0};

    (void)state;
    ADD(image, 0, .name = "ONE", .sector = CONTENT, .size = 3000);
    ADD(image, 0, .name = "XAR", .sector = CONTENT, .size = 100, .attributes = 2);
    ADD(image, 0, .name = "MANY", .sector = CONTENT + 5, .size = SECTOR_BYTES, .flags = 0x80);
    ADD(image, 0, .name = "MANY", .sector = CONTENT, .size = SECTOR_BYTES, .flags = 0x80);
    ADD(image, 0, .name = "MANY", .sector = CONTENT + 7, .size = 10);
    ADD(image, 0, .name = "TOTHEEND", .sector = SECTORS - 1, .size = 5000);
    ADD(image, 0, .name = "BEYOND", .sector = SECTORS + 9, .size = 5000);
    ADD(image, 0, .name = "WOVEN", .sector = CONTENT, .size = 5000, .unit = 1);
    ADD(image, 0, .name = "TORN", .sector = CONTENT, .size = 9, .flags = 0x80);
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "one xar many totheend beyond woven torn", NULL);
    content_is(disc, find(disc, "one"), "A2048 B952");
    content_is(disc, find(disc, "xar"), "C100");
    content_is(disc, find(disc, "many"), "F2048 A2048 H10");
    assert_int_equal(look(disc, find(disc, "many"), NULL).size, 2 * SECTOR_BYTES + 10);
    content_is(disc, find(disc, "totheend"), "X2048 extent past the end of the image at 64");
    content_is(disc, find(disc, "beyond"), " extent past the end of the image at 73");
    content_is(disc, find(disc, "woven"), " interleaved file at 20");
    look_fails(disc, find(disc, "torn"), -EUCLEAN, "file without its last section");
    assert_int_equal(disc->ops->map(disc, find(disc, "many"), 2148, &at, &length, &fault), 0);
    assert_int_equal(at, CONTENT * SECTOR_BYTES + 100);
    assert_int_equal(length, SECTOR_BYTES - 100);
    assert_int_equal(
        disc->ops->map(disc, find(disc, "many"), 4106, &at, &length, &fault), -ENODATA);
    end(image, disc);
}

static void test_bad_sector(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "A", .sector = CONTENT, .size = 9000);
    struct disc *disc = open_part(image, sizeof(image->bytes), CONTENT + 2, DISC_NAMES_AUTO);
    assert_non_null(disc);
    content_is(disc, find(disc, "a"), "A2048 B2048 unreadable sector at 42");
    disc->ops->free(disc);
    /* Of a directory, the other sectors' names are there. */
    put_both(image->bytes + DIRECTORY * SECTOR_BYTES + 10, 3 * SECTOR_BYTES);
    ADD(image, 1, .name = "B", .sector = CONTENT);
    ADD(image, 2, .name = "C", .sector = CONTENT);
    disc = open_part(image, sizeof(image->bytes), DIRECTORY + 1, DISC_NAMES_AUTO);
    assert_non_null(disc);
    struct names names = {""};
    struct disc_fault fault = {0};
    assert_int_equal(disc->ops->list(disc, disc->root, collect, &names, &fault), -EIO);
    assert_string_equal(names.text, "a c");
    assert_int_equal(fault.sector, DIRECTORY + 1);
    end(image, disc);
}

static void test_joliet(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);
    unsigned char *terminator = image->bytes + 17 * SECTOR_BYTES;

    (void)state;
    memcpy(terminator + SECTOR_BYTES, terminator, SECTOR_BYTES);
    put_descriptor(image, 17, 2, "", 1);
    memcpy(terminator + 88, "%/E", 3);
    memcpy(terminator + 40, "\0J\x20\xac", 4);
    memset(terminator + 44, 0, 28);
    begin_directory(image, 1, SECTOR_BYTES, NULL, 0);
    ADD(image, 0, .name = "PLAIN", .sector = CONTENT);
    ADD(image, 1, .name = "\0G\0r\0\xf6\0\xdf\0e\0;\0001", .name_length = 14, .sector = CONTENT);
    ADD(image, 1, .name = "\x65\xe5\xd8\x3d\xde\x00", .name_length = 6, .sector = CONTENT);
    ADD(image, 1, .name = "\0x\xd8\x3d", .name_length = 4, .sector = CONTENT); /* half a pair */
    ADD(image, 1, .name = "\0.\0.", .name_length = 4, .sector = CONTENT);
    ADD(image, 1, .name = "\0o\0/", .name_length = 4, .sector = CONTENT);
    ADD(image, 1, .name = "\0o\0d\0", .name_length = 5, .sector = CONTENT);
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "Größe 日😀 x\xef\xbf\xbd", "name that no file can have");
    assert_memory_equal(disc->label, "J\xe2\x82\xac", 4);
    disc->ops->free(disc);
    disc = open_part(image, sizeof(image->bytes), 0, DISC_NAMES_PLAIN);
    assert_non_null(disc);
    lists(disc, disc->root, "plain", NULL);
    disc->ops->free(disc);
    /* The primary volume's top directory is gone. */
    image->bytes[DIRECTORY * SECTOR_BYTES] = 3;
    disc = open_image(image);
    lists(disc, disc->root, "Größe 日😀 x\xef\xbf\xbd", "name that no file can have");
    end(image, disc);
}

#define LE(n)   (char)(n), (char)((n) >> 8), (char)((n) >> 16), (char)((n) >> 24)
#define BOTH(n) LE(n), (char)((n) >> 24), (char)((n) >> 16), (char)((n) >> 8), (char)(n)
#define BYTES(...)                                                                                 \
    .use = (const char[]){__VA_ARGS__}, .use_length = sizeof((const char[]){__VA_ARGS__})
#define PX(mode, links, uid, gid) 'P', 'X', 36, 1, BOTH(mode), BOTH(links), BOTH(uid), BOTH(gid)
#define PX_SERIAL(mode, links, serial)                                                             \
    'P', 'X', 44, 1, BOTH(mode), BOTH(links), BOTH(0), BOTH(0), BOTH(serial)
#define CE(sector, offset, length) 'C', 'E', 28, 1, BOTH(sector), BOTH(offset), BOTH(length)
#define NM1(c)                     'N', 'M', 6, 1, 0, c

static void test_attributes(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "A", .sector = CONTENT, .size = 5,
        BYTES(PX(0100751, 1, 1000, 1001), NM1('a'), 'T', 'F', 26, 1, 0x0e, 70, 1, 2, 0, 0, 0, 0, 70,
            1, 3, 0, 0, 0, 0, 70, 1, 4, 0, 0, 0, (char)-4));
    ADD(image, 0, .name = "B", .sector = CONTENT,
        BYTES(PX(020640, 1, 0xffffffff, 0), NM1('b'), 'P', 'N', 20, 1, BOTH(0), BOTH(0x10305)));
    ADD(image, 0, .name = "C", .sector = CONTENT,
        BYTES(PX(060640, 1, 0, 0), NM1('c'), 'P', 'N', 20, 1, BOTH(4), BOTH(7)));
    ADD(image, 0, .name = "D", .sector = CONTENT,
        BYTES(NM1('D'), 'T', 'F', 22, 1, (char)0x82, '2', '0', '0', '1', '0', '9', '0', '9', '0',
            '1', '4', '6', '4', '0', '2', '5', 0));
    ADD(image, 0, .name = "E.;1", .sector = CONTENT, BYTES(PX(0100600, 1, 0, 0)));
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "a b c D e", NULL);
    struct entry entry = look(disc, find(disc, "a"), NULL);
    assert_int_equal(entry.mode, 0100751);
    assert_int_equal(entry.uid, 1000);
    assert_int_equal(entry.gid, 1001);
    assert_int_equal(entry.mtime.tv_sec, 86400);
    assert_int_equal(entry.atime.tv_sec, 2 * 86400);
    assert_int_equal(entry.ctime.tv_sec, 3 * 86400 + 3600);
    entry = look(disc, find(disc, "b"), NULL);
    assert_int_equal(entry.rdev, makedev(0x103, 5));
    assert_int_equal(entry.uid, 65534);
    assert_int_equal(look(disc, find(disc, "c"), NULL).rdev, makedev(4, 7));
    entry = look(disc, find(disc, "D"), NULL);
    assert_int_equal(entry.mtime.tv_sec, 1000000000);
    assert_int_equal(entry.mtime.tv_nsec, 250000000);
    end(image, disc);
}

/* Each day that seven bytes can name, as the C library counts them. */
static void test_dates(void **state)
{
    const unsigned char nonsense[][7] = {{0}, {99, 0, 1}, {99, 13, 1}, {99, 1, 0}, {99, 1, 32},
        {99, 1, 1, 24}, {99, 1, 1, 0, 60}, {99, 1, 1, 0, 0, 61}};
    struct tm tm = {0};

    (void)state;
    for (int64_t day = -25567; day < 67000; day++) {
        time_t time = day * 86400 + 3661;
        assert_non_null(gmtime_r(&time, &tm));
        const unsigned char date[] = {(unsigned char)tm.tm_year, (unsigned char)(tm.tm_mon + 1),
            (unsigned char)tm.tm_mday, 1, 1, 1, 0};
        assert_int_equal(iso9660_date(date), time);
    }
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++)
        assert_int_equal(iso9660_date(nonsense[i]), 0);
    struct timespec time = iso9660_long_date((const unsigned char *)"2001090901464099");
    assert_int_equal(time.tv_sec, 1000000000);
    assert_int_equal(time.tv_nsec, 990000000);
    time = iso9660_long_date((const unsigned char *)"0000000000000000");
    assert_true(time.tv_sec == 0 && time.tv_nsec == 0);
    time = iso9660_long_date((const unsigned char *)"2001x90901464099");
    assert_true(time.tv_sec == 0 && time.tv_nsec == 0);
}

static void test_symbolic_links(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);
    char target[DISC_TARGET_MAX];

    (void)state;
    ADD(image, 0, .name = "A",
        BYTES(PX(0120777, 1, 0, 0), 'S', 'L', 13, 1, 0, 8, 0, 0, 2, 'a', 'b', 4, 0));
    ADD(image, 0, .name = "B", /* one component in two entries */
        BYTES(PX(0120777, 1, 0, 0), 'S', 'L', 9, 1, 1, 1, 2, 'x', 'y', 'S', 'L', 15, 1, 0, 0, 1,
            'z', 2, 0, 0, 3, 'e', 'n', 'd'));
    ADD(image, 0, .name = "C", BYTES(PX(0120777, 1, 0, 0)));
    ADD(image, 0, .name = "D", BYTES(PX(0120777, 1, 0, 0), 'S', 'L', 9, 1, 0, 0, 99, 'x', 'y'));
    ADD(image, 0, .name = "E", BYTES(PX(0120777, 1, 0, 0), 'S', 'L', 9, 1, 0, 0, 2, 'x', 0));
    ADD(image, 0, .name = "F", BYTES(PX(0120777, 1, 0, 0), 'S', 'L', 7, 1, 0, 8, 0));
    struct disc *disc = open_image(image);
    struct entry entry = look(disc, find(disc, "a"), target);
    assert_string_equal(target, "/ab/..");
    assert_int_equal(entry.size, 6);
    assert_ptr_equal(entry.link_target, target);
    (void)look(disc, find(disc, "b"), target);
    assert_string_equal(target, "xyz/./end");
    (void)look(disc, find(disc, "f"), target);
    assert_string_equal(target, "/");
    look_fails(disc, find(disc, "c"), -EUCLEAN, "symbolic link that leads nowhere");
    look_fails(disc, find(disc, "e"), -EUCLEAN, "NUL in a symbolic link");
    lists(disc, disc->root, "a b c e f", "symbolic link's component longer than its entry");
    end(image, disc);
}

/* A target as long as can be, and one byte longer: one component, by 21 areas of 195 bytes. */
static void test_long_links(void **state)
{
    (void)state;
    for (unsigned extra = 0; extra < 2; extra++) {
        struct image *image = begin(2048, true, SECTOR_BYTES);
        struct disc_fault fault = {0};
        struct entry entry;
        char target[DISC_TARGET_MAX];
        ADD(image, 0, .name = "A", BYTES(PX(0120777, 1, 0, 0), CE(AREA, 0, 250)));
        for (unsigned i = 0; i < 21; i++) {
            unsigned sector = AREA + i / 8, offset = i % 8 * 256, next = i + 1;
            unsigned char *area = image->bytes + sector * SECTOR_BYTES + offset;
            unsigned char n = (unsigned char)(195 + (i == 20 ? extra : 0));
            const unsigned char head[] = {'S', 'L', 7 + n, 1, i < 20, i < 20, n};
            const char tail[] = {CE(AREA + next / 8, next % 8 * 256, 250)};
            memcpy(area, head, sizeof(head));
            memset(area + 7, 'x', n);
            if (i < 20)
                memcpy(area + 7 + n, tail, sizeof(tail));
        }
        struct disc *disc = open_image(image);
        int r = disc->ops->look(disc, find(disc, "a"), target, &entry, &fault);
        assert_int_equal(r, extra ? -EUCLEAN : 0);
        if (extra)
            assert_string_equal(fault.what, "symbolic link longer than 4095 bytes");
        else
            assert_int_equal(strlen(target), 4095);
        end(image, disc);
    }
}

static void test_continuations(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);
    unsigned char *area = image->bytes + AREA * SECTOR_BYTES;
    static const char more[] = {'N', 'M', 7, 1, 1, 'm', 'o', CE(AREA, 1000, 8)};
    static const char last[] = {'N', 'M', 7, 1, 0, 'r', 'e'};
    static const char loop[] = {CE(AREA, 200, 28)};

    (void)state;
    memcpy(area + 100, more, sizeof(more));
    memcpy(area + 1000, last, sizeof(last));
    memcpy(area + 200, loop, sizeof(loop));
    ADD(image, 0, .name = "A", BYTES('N', 'M', 6, 1, 1, 'A', CE(AREA, 100, sizeof(more))));
    ADD(image, 0, .name = "B", BYTES(NM1('b'), CE(AREA, 200, 28)));
    ADD(image, 0, .name = "C", BYTES(NM1('c'), CE(SECTORS, 0, 28)));
    ADD(image, 0, .name = "D", BYTES(NM1('d'), CE(AREA, 0, 0x7fffffff)));
    ADD(image, 0, .name = "E", BYTES(NM1('e'), CE(AREA, 5000, 28)));
    ADD(image, 0, .name = "F", BYTES(NM1('f'), 'P', 'X', 200, 1));
    ADD(image, 0, .name = "G", BYTES(NM1('g'), 'S', 'T', 4, 1, 'P', 'X', 200, 1));
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "Amore g", "continuation areas without end");
    end(image, disc);
}

static void test_rock_ridge_names(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);
    unsigned char *area = image->bytes + AREA * SECTOR_BYTES;
    char name[256];

    (void)state;
    for (unsigned n = 255; n <= 256; n++) {
        unsigned char *at = area + (n - 255) * 512;
        const unsigned char head[] = {'N', 'M', 255, 1, 1}, tail[] = {'N', 'M', n - 250 + 5, 1, 0};
        memset(at, 'n', 512);
        memcpy(at, head, 5);
        memcpy(at + 255, tail, 5);
        memset(at + 255 + n - 250 + 5, 0, 4);
    }
    ADD(image, 0, .name = "A", BYTES(CE(AREA, 0, 300)));
    ADD(image, 0, .name = "B", BYTES(CE(AREA, 512, 300)));
    ADD(image, 0, .name = "C", BYTES('N', 'M', 8, 1, 0, 'a', '/', 'b'));
    ADD(image, 0, .name = "D", BYTES('N', 'M', 7, 1, 0, '.', '.'));
    ADD(image, 0, .name = "E", BYTES('N', 'M', 7, 1, 0, 'e', 0));
    struct disc *disc = open_image(image);
    memset(name, 'n', 255);
    name[255] = '\0';
    lists(disc, disc->root, name, "name of more than 255 bytes");
    end(image, disc);
}

static void test_skipped_bytes(void **state)
{
    struct image *image = begin(2048, false, SECTOR_BYTES);

    /* As on discs of CD-ROM XA: 14 bytes come first. */
    (void)state;
    image->used[0] = 0;
    begin_directory(image, 0, SECTOR_BYTES, "12345678901234SP\7\1\xbe\xef\x0e", 21);
    ADD(image, 0, .name = "A",
        BYTES('P', 'X', 36, 1, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, NM1('x'), PX(0100600, 1, 0, 0)));
    ADD(image, 0, .name = "B", BYTES(1, 2, 3));
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "x b", NULL);
    end(image, disc);
}

static void test_hard_links(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "A", .sector = CONTENT, .size = 5, BYTES(PX(0100600, 2, 0, 0)));
    ADD(image, 0, .name = "B", .sector = CONTENT, .size = 5, BYTES(PX(0100600, 2, 0, 0)));
    ADD(image, 0, .name = "C", .sector = CONTENT, .size = 5, BYTES(PX(0100600, 1, 0, 0)));
    ADD(image, 0, .name = "D", .sector = CONTENT, BYTES(PX(0100600, 2, 0, 0)));
    ADD(image, 0, .name = "E", .sector = CONTENT, BYTES(PX(0100600, 2, 0, 0)));
    ADD(image, 0, .name = "F", .sector = CONTENT, .size = 5, BYTES(PX_SERIAL(0100600, 2, 8)));
    ADD(image, 0, .name = "G", .sector = CONTENT, .size = 5, BYTES(PX_SERIAL(0100600, 2, 8)));
    struct disc *disc = open_image(image);
    uint64_t ino[7];
    for (unsigned i = 0; i < 7; i++)
        ino[i] = look(disc, find(disc, (char[]){(char)('a' + i), 0}), NULL).ino;
    assert_true(ino[0] == ino[1] && ino[5] == ino[6]);
    assert_true(ino[0] != ino[2] && ino[3] != ino[4] && ino[0] != ino[5]);
    end(image, disc);
}

static void test_relocated(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "RR_MOVED", .sector = DIRECTORY + 1, .size = SECTOR_BYTES, .flags = 2,
        BYTES('N', 'M', 13, 1, 0, 'r', 'r', '_', 'm', 'o', 'v', 'e', 'd'));
    begin_directory(image, 1, SECTOR_BYTES, NULL, 0);
    ADD(image, 1, .name = "DEEP", .sector = DIRECTORY + 2, .size = SECTOR_BYTES, .flags = 2,
        BYTES('R', 'E', 4, 1));
    begin_directory(image, 2, SECTOR_BYTES, NULL, 0);
    ADD(image, 2, .name = "FILE", .sector = CONTENT, .size = 1);
    ADD(image, 0, .name = "DEEP", .sector = CONTENT, .size = SECTOR_BYTES,
        BYTES('C', 'L', 12, 1, BOTH(DIRECTORY + 2), PX(040700, 2, 0, 0)));
    ADD(image, 0, .name = "LOST", .sector = CONTENT,
        BYTES('C', 'L', 12, 1, BOTH(SECTORS + 1), PX(040700, 2, 0, 0)));
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "deep/ lost/", NULL);
    lists(disc, find(disc, "deep"), "file", NULL);
    assert_int_equal(find(disc, "deep"), (DIRECTORY + 2) * SECTOR_BYTES * 2 + 1);
    look_fails(disc, find(disc, "lost"), -EUCLEAN, "directory past the end of the image");
    disc->ops->free(disc);
    /* With a file of its own, the directory is one of the tree's. */
    ADD(image, 1, .name = "OWN", .sector = CONTENT);
    disc = open_image(image);
    lists(disc, disc->root, "rr_moved/ deep/ lost/", NULL);
    end(image, disc);
}

static void test_directories_that_are_none(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);

    (void)state;
    ADD(image, 0, .name = "A", .sector = CONTENT, .size = SECTOR_BYTES, .flags = 2);
    ADD(image, 0, .name = "E", .sector = DIRECTORY + 1, .size = SECTOR_BYTES, .flags = 2);
    ADD(image, 1, .name = "FILE", .sector = CONTENT, .size = 5);
    ADD(image, 0, .name = "B", .sector = DIRECTORY, .size = SECTOR_BYTES, .flags = 2,
        BYTES(PX(0100644, 1, 0, 0)));
    ADD(image, 0, .name = "C", .sector = CONTENT, BYTES(PX(040755, 1, 0, 0)));
    ADD(image, 0, .name = "D", .sector = CONTENT, BYTES(PX(0170755, 1, 0, 0)));
    struct disc *disc = open_image(image);
    lists(disc, disc->root, "a/ e/", "mode that contradicts the directory record");
    look_fails(disc, find(disc, "a"), -EUCLEAN, "name longer than its record");
    look_fails(disc, find(disc, "e"), -EUCLEAN, "directory that does not begin with itself");
    end(image, disc);
}

static void put_zisofs(struct image *image, size_t size, unsigned char *text)
{
    static const unsigned char magic[] = {0x37, 0xe4, 0x53, 0x96, 0xc9, 0xdb, 0xd6, 0x07};
    unsigned char *to = image->bytes + CONTENT * SECTOR_BYTES;
    uLongf n = 8192;

    memcpy(to, magic, sizeof(magic));
    memcpy(to + 8, (const char[]){LE(size), 4, 15, 0, 0}, 8);
    assert_int_equal(compress(to + 32, &n, text, 32768), Z_OK);
    memcpy(to + 16, (const char[]){LE(32), LE(32 + n), LE(32 + n)}, 12);
    uLongf last = 8192;
    assert_int_equal(compress(to + 32 + n, &last, text, size - 65536), Z_OK);
    memcpy(to + 28, (const char[]){LE(32 + n + last)}, 4);
}

static void test_zisofs(void **state)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);
    static unsigned char text[32768];
    const size_t size = 65536 + 100;

    (void)state;
    memset(text, 'q', sizeof(text));
    put_zisofs(image, size, text);
    ADD(image, 0, .name = "A", .sector = CONTENT, .size = 4096,
        BYTES('Z', 'F', 16, 1, 'p', 'z', 4, 15, BOTH(65636)));
    ADD(image, 0, .name = "B", .sector = CONTENT, .size = 4096,
        BYTES('Z', 'F', 16, 1, 'P', 'Z', 4, 15, BOTH(65636)));
    ADD(image, 0, .name = "C", .sector = CONTENT, .size = 40,
        BYTES('Z', 'F', 16, 1, 'p', 'z', 4, 15, BOTH(65636)));
    ADD(image, 0, .name = "D", .sector = CONTENT, .size = 40,
        BYTES('S', 'F', 21, 1, BOTH(0), BOTH(9), 1));
    struct disc *disc = open_image(image);
    assert_int_equal(look(disc, find(disc, "a"), NULL).size, size);
    struct disc_fault fault = {0};
    char *all = malloc(size);
    size_t at = 0;
    ssize_t r;
    while ((r = disc->ops->read(disc, find(disc, "a"), all + at, size - at, at, &fault)) > 0)
        at += (size_t)r;
    assert_int_equal(r, 0);
    assert_int_equal(at, size);
    assert_memory_equal(all, text, 32768);
    for (size_t i = 32768; i < 65536; i++)
        assert_int_equal(all[i], 0);
    assert_memory_equal(all + 65536, text, 100);
    free(all);
    content_is(disc, find(disc, "b"), " unknown compression (ZF) at 40");
    content_is(disc, find(disc, "c"), " compressed block outside its file at 40");
    content_is(disc, find(disc, "d"), " sparse file (SF) at 20");
    end(image, disc);
}

/* Everything that can be asked of an image, to no deeper than a few levels: whatever it answers, it
 * ends, and stays within what is there. */
static int ask_all(void *context, const char *name, uint64_t node, unsigned char type);

struct asking {
    struct disc *disc;
    unsigned depth;
};

static void ask_directory(struct disc *disc, uint64_t node, unsigned depth)
{
    struct asking asking = {disc, depth};
    struct disc_fault fault = {0};

    int r = disc->ops->list(disc, node, ask_all, &asking, &fault);
    assert_true(r == 0 || fault.what || r == -ENOTDIR);
}

static int ask_all(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct asking *asking = context;
    struct disc *disc = asking->disc;
    struct disc_fault fault = {0};
    struct entry entry;
    char target[DISC_TARGET_MAX], buffer[512];

    (void)type;
    assert_true(*name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, ".."));
    int r = disc->ops->look(disc, node, target, &entry, &fault);
    assert_true(r == 0 || fault.what);
    if (r == 0 && S_ISDIR(entry.mode) && asking->depth < 3)
        ask_directory(disc, node, asking->depth + 1);
    for (uint64_t at = 0; r == 0 && S_ISREG(entry.mode) && at < 8192;) {
        ssize_t n = disc->ops->read(disc, node, buffer, sizeof(buffer), at, &fault);
        assert_true(n >= 0 || fault.what);
        if (n <= 0)
            break;
        at += (uint64_t)n;
    }
    return 0;
}

static struct image *small_image(void)
{
    struct image *image = begin(2048, true, SECTOR_BYTES);

    ADD(image, 0, .name = "A", .sector = CONTENT, .size = 3000,
        BYTES(PX(0100600, 2, 0, 0), 'N', 'M', 6, 1, 1, 'A', CE(AREA, 0, 14)));
    memcpy(image->bytes + AREA * SECTOR_BYTES, "NM\7\1\1mONM\7\1\0re", 14);
    ADD(image, 0, .name = "L", BYTES(PX(0120777, 1, 0, 0), 'S', 'L', 9, 1, 0, 0, 2, 'x', 'y'));
    ADD(image, 0, .name = "M", .sector = CONTENT, .size = SECTOR_BYTES, .flags = 0x80);
    ADD(image, 0, .name = "M", .sector = CONTENT + 1, .size = 100);
    ADD(image, 0, .name = "SUB", .sector = DIRECTORY + 1, .size = SECTOR_BYTES, .flags = 2);
    begin_directory(image, 1, SECTOR_BYTES, NULL, 0);
    ADD(image, 1, .name = "Z", .sector = CONTENT, .size = 200,
        BYTES('Z', 'F', 16, 1, 'p', 'z', 4, 15, BOTH(65636)));
    return image;
}

static void ask_image(const struct image *image, size_t bytes)
{
    struct disc *disc = open_part(image, bytes, 0, DISC_NAMES_AUTO);

    if (!disc)
        return;
    ask_directory(disc, disc->root, 0);
    disc->ops->free(disc);
}

/* Of the descriptor, the directories and the area, each byte with other values. */
static void test_flips(void **state)
{
    static const unsigned sectors[] = {16, DIRECTORY, DIRECTORY + 1, AREA};
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    struct image *image = small_image();

    (void)state;
    for (size_t s = 0; s < sizeof(sectors) / sizeof(*sectors); s++)
        for (size_t at = 0; at < 700; at++)
            for (size_t f = 0; f < sizeof(flips); f++) {
                unsigned char *byte = image->bytes + sectors[s] * SECTOR_BYTES + at;
                *byte ^= flips[f];
                ask_image(image, sizeof(image->bytes));
                *byte ^= flips[f];
            }
    free(image);
}

static void test_truncation(void **state)
{
    struct image *image = small_image();

    (void)state;
    for (size_t n = 0; n <= SECTORS; n++) {
        ask_image(image, n * SECTOR_BYTES);
        ask_image(image, n * SECTOR_BYTES + 100 * (n < SECTORS));
    }
    struct disc *disc =
        open_part(image, DIRECTORY * SECTOR_BYTES, 0, DISC_NAMES_AUTO); /* no directory at all */
    assert_null(disc);
    free(image);
}

/* Several threads at one disc, whose cache they share. */
static void *ask_disc(void *disc)
{
    for (unsigned i = 0; i < 200; i++)
        ask_directory(disc, ((struct disc *)disc)->root, 0);
    return NULL;
}

static void test_threads(void **state)
{
    struct image *image = small_image();
    struct disc *disc = open_image(image);
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_disc, disc), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    end(image, disc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_sectors_of_a_directory),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_extents),
        cmocka_unit_test(test_bad_sector),
        cmocka_unit_test(test_joliet),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_symbolic_links),
        cmocka_unit_test(test_long_links),
        cmocka_unit_test(test_continuations),
        cmocka_unit_test(test_rock_ridge_names),
        cmocka_unit_test(test_skipped_bytes),
        cmocka_unit_test(test_hard_links),
        cmocka_unit_test(test_relocated),
        cmocka_unit_test(test_directories_that_are_none),
        cmocka_unit_test(test_zisofs),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
