#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "disc/cue.h"
#include "disc/raw_sectors.h"
#include "disc/sectors.h"

static char place[] = "/tmp/shoal-sectors-XXXXXX";

static int make_place(void **state)
{
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[64];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r %s", place);
    return system(command);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    char path[96];

    (void)snprintf(path, sizeof(path), "%s/%s", place, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static int open_file(const char *name, enum sectors_format format, struct sectors **ret, char **why)
{
    char path[96];

    (void)snprintf(path, sizeof(path), "%s/%s", place, name);
    return sectors_open(AT_FDCWD, path, format, ret, why);
}

static struct sectors *opened(const char *name, enum sectors_format format)
{
    struct sectors *sectors;
    char *why;

    assert_int_equal(open_file(name, format, &sectors, &why), 0);
    return sectors;
}

static char data_byte(uint64_t offset)
{
    return (char)(offset * 7 + offset / SECTOR_BYTES);
}

/* Sectors from `first` on, as a drive gives them raw; mode 3 stands for mode 2, form 2. */
static char *make_raw(size_t n, unsigned mode, uint64_t first)
{
    char *raw = calloc(n, RAW_SECTOR_BYTES);

    assert_non_null(raw);
    for (size_t i = 0; i < n; i++) {
        char *sector = raw + i * RAW_SECTOR_BYTES;
        memset(sector + 1, 0xff, 10);
        sector[15] = mode == 1 ? 1 : 2;
        sector[18] = mode == 3 ? 0x20 : 0;
        for (size_t k = 0; k < SECTOR_BYTES; k++)
            sector[(mode == 1 ? 16 : 24) + k] = data_byte((first + i) * SECTOR_BYTES + k);
    }
    return raw;
}

static void reads_data(struct sectors *sectors, uint64_t bytes)
{
    static const size_t sizes[] = {1, 100, 2048, 2049, 70000};
    char buffer[70000];

    assert_true(sectors->bytes == bytes);
    for (size_t i = 0; i < ELEMENTS(sizes); i++) {
        for (uint64_t offset = 0; offset <= bytes; offset += 1 + bytes / 13) {
            uint64_t want = sizes[i] < bytes - offset ? sizes[i] : bytes - offset;
            ssize_t got = sectors->ops->read(sectors, buffer, sizes[i], offset, NULL);
            assert_int_equal(got, want);
            for (ssize_t k = 0; k < got; k++)
                assert_int_equal(buffer[k], data_byte(offset + (uint64_t)k));
        }
    }
    assert_int_equal(sectors->ops->read(sectors, buffer, 5, bytes + 1, NULL), 0);
}

static void test_plain(void **state)
{
    static const size_t lengths[] = {0, 1, 2047, 2048, 100000};
    char *bytes = malloc(100000);

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < 100000; i++)
        bytes[i] = data_byte(i);
    for (size_t i = 0; i < ELEMENTS(lengths); i++) {
        write_file("plain", bytes, lengths[i]);
        struct sectors *sectors = opened("plain", SECTORS_AUTO);
        reads_data(sectors, lengths[i]);
        assert_true(sectors->fd >= 0);
        sectors->ops->free(sectors);
    }
    free(bytes);
}

static void test_raw(void **state)
{
    (void)state;
    for (unsigned mode = 1; mode <= 2; mode++) {
        char *raw = make_raw(50, mode, 0);
        write_file("raw", raw, 50 * RAW_SECTOR_BYTES - 100); /* the last is cut */
        struct sectors *sectors = opened("raw", SECTORS_AUTO);
        reads_data(sectors, 49 * SECTOR_BYTES);
        sectors->ops->free(sectors);
        free(raw);
    }
}

/* What is no data is named by its sector, and what precedes it is read. */
static void test_raw_damage(void **state)
{
    char *raw = make_raw(8, 2, 0), *film = make_raw(1, 3, 0), buffer[8 * SECTOR_BYTES];
    uint64_t bad = 0;

    (void)state;
    memcpy(raw + 5 * RAW_SECTOR_BYTES, film, RAW_SECTOR_BYTES);
    write_file("raw", raw, 8 * RAW_SECTOR_BYTES);
    struct sectors *sectors = opened("raw", SECTORS_RAW);
    assert_int_equal(
        sectors->ops->read(sectors, buffer, sizeof(buffer), 0, &bad), 5 * SECTOR_BYTES);
    assert_int_equal(
        sectors->ops->read(sectors, buffer, sizeof(buffer), 5 * SECTOR_BYTES, &bad), -EIO);
    assert_int_equal(bad, 5);
    assert_int_equal(
        sectors->ops->read(sectors, buffer, SECTOR_BYTES, 6 * SECTOR_BYTES, &bad), SECTOR_BYTES);
    sectors->ops->free(sectors);
    free(raw);
    free(film);
}

static void test_insisting(void **state)
{
    struct sectors *sectors;
    char *why = NULL;

    (void)state;
    write_file("plain", "plain text", 10);
    assert_int_equal(open_file("plain", SECTORS_RAW, &sectors, &why), -EILSEQ);
    assert_non_null(why);
    free(why);
    assert_int_equal(open_file("plain", SECTORS_CUE, &sectors, &why), -EILSEQ);
    assert_non_null(why);
    free(why);
    assert_int_equal(open_file("nope", SECTORS_AUTO, &sectors, &why), -ENOENT);
    assert_null(why);
}

static void test_cue(void **state)
{
    static const char sheet[] = "REM made by hand\r\nFILE \"disc.bin\" BINARY\r\n"
                                "  TRACK 01 AUDIO\r\n    INDEX 01 00:00:00\r\n"
                                "  TRACK 02 MODE1/2352\r\n    PREGAP 00:02:00\r\n"
                                "    INDEX 00 00:00:03\r\n    INDEX 01 00:00:05\r\n"
                                "  TRACK 03 AUDIO\r\n    INDEX 00 00:00:25\r\n"
                                "    INDEX 01 00:00:30\r\n";
    char *bin = calloc(35, RAW_SECTOR_BYTES), *data = make_raw(20, 1, 0);

    (void)state;
    memcpy(bin + 5 * RAW_SECTOR_BYTES, data, 20 * RAW_SECTOR_BYTES);
    write_file("disc.bin", bin, 35 * RAW_SECTOR_BYTES);
    write_file("disc.cue", sheet, strlen(sheet));
    struct sectors *sectors = opened("disc.cue", SECTORS_AUTO);
    reads_data(sectors, 20 * SECTOR_BYTES);
    sectors->ops->free(sectors);
    free(bin);
    free(data);
}

static void test_sheets_that_cannot_be(void **state)
{
    static const char *const sheets[] = {
        "",
        "FILE \"a.bin\" BINARY\n TRACK 01 AUDIO\n INDEX 01 00:00:00\n",
        "TRACK 01 MODE1/2048\n INDEX 01 00:00:00\n",
        "FILE \"../a.bin\" BINARY\n TRACK 01 MODE1/2048\n INDEX 01 00:00:00\n",
        "FILE \"/etc/passwd\" BINARY\n TRACK 01 MODE1/2048\n INDEX 01 00:00:00\n",
        "FILE \"a.bin\" BINARY\n TRACK 01 MODE2/2336\n INDEX 01 00:00:00\n",
        "FILE \"a.bin\" BINARY\n TRACK 01 MODE1/2048\n INDEX 01 00:99:00\n",
        "FILE \"a.bin\" BINARY\n TRACK 01 MODE1/2048\n INDEX 01\n",
        "FILE \"\n TRACK 01 MODE1/2048\n INDEX 01 00:00:00\n",
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(sheets); i++) {
        struct cue_track track;
        char *why = NULL;
        assert_int_equal(cue_parse(sheets[i], &track, &why), -EILSEQ);
        assert_non_null(why);
        free(why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_raw_damage),
        cmocka_unit_test(test_insisting),
        cmocka_unit_test(test_cue),
        cmocka_unit_test(test_sheets_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, make_place, remove_place);
}
