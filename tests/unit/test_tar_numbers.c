#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source/tar_header.h"
#include "source/tar_pax.h"

static void field_is(const char *field, size_t size, int64_t expected)
{
    int64_t value = 0;
    assert_int_equal(tar_number_parse(field, size, &value), 0);
    assert_true(value == expected);
}

static void field_is_refused(const char *field, size_t size)
{
    int64_t value = 7;
    assert_int_equal(tar_number_parse(field, size, &value), -EBADMSG);
    assert_int_equal(value, 7);
}

static void test_octal(void **state)
{
    (void)state;
    field_is("0000644\0", 8, 0644);
    field_is("  644 \0\0", 8, 0644);
    field_is("644\0junk", 8, 0644);
    field_is("\0\0\0\0\0\0\0\0", 8, 0);
    field_is("        ", 8, 0);
    field_is("777777777777", 12, 0777777777777); /* no room for a NUL */
    field_is_refused("0000648\0", 8);
    field_is_refused("-000001\0", 8);
    field_is_refused("0x000001", 8);
}

static void test_base_256(void **state)
{
    (void)state;
    field_is("\200\0\0\0\0\0\1\0", 8, 256);
    field_is("\200\0\0\0\177\377\377\377\377\377\377\377", 12, INT64_MAX);
    field_is("\377\377\377\377\377\377\377\377\377\377\377\377", 12, -1);
    field_is("\377\377\377\377\200\0\0\0\0\0\0\0", 12, INT64_MIN);
    field_is_refused("\200\0\0\0\200\0\0\0\0\0\0\0", 12);
    field_is_refused("\200\0\0\1\0\0\0\0\0\0\0\0", 12);
    field_is_refused("\377\377\377\376\377\377\377\377\377\377\377\377", 12);
}

static void test_checksum(void **state)
{
    char block[TAR_BLOCK] = {0};

    (void)state;
    assert_true(tar_is_zeros(block));
    assert_false(tar_is_header(block));
    memset(block, 'a', 100);
    assert_false(tar_is_header(block));
    /* 100 times 'a' and 8 spaces: 9,956. */
    memcpy(block + 148, "023344\0 ", 8);
    assert_true(tar_is_header(block));
    /* Old tars summed signed bytes. */
    block[0] = (char)0xff;
    memcpy(block + 148, "023202\0 ", 8);
    assert_true(tar_is_header(block));
    block[1] = 'b';
    assert_false(tar_is_header(block));
}

static int parse(struct tar_pax *pax, const char *records)
{
    const struct tar_pax_reader reader = {.pax = pax, .want_xattrs = true};
    return tar_pax_parse(&reader, records, strlen(records));
}

static void time_is(const char *record, int64_t seconds, long ns)
{
    struct tar_pax pax = {0};

    assert_int_equal(parse(&pax, record), 0);
    assert_true(pax.has & PAX_MTIME);
    assert_int_equal(pax.mtime.tv_sec, seconds);
    assert_int_equal(pax.mtime.tv_nsec, ns);
    tar_pax_free(&pax);
}

static void test_times(void **state)
{
    struct tar_pax pax = {0};

    (void)state;
    time_is("11 mtime=1\n", 1, 0);
    time_is("13 mtime=1.5\n", 1, 500000000);
    time_is("22 mtime=1.1234567899\n", 1, 123456789);
    time_is("14 mtime=-1.5\n", -2, 500000000);
    time_is("14 mtime=-0.5\n", -1, 500000000);
    time_is("12 mtime=-1\n", -1, 0);
    assert_int_equal(parse(&pax, "11 mtime=x\n"), -EBADMSG);
    assert_int_equal(parse(&pax, "13 mtime=1.x\n"), -EBADMSG);
    tar_pax_free(&pax);
}

static void test_records(void **state)
{
    struct tar_pax pax = {0};
    size_t length;

    (void)state;
    assert_int_equal(parse(&pax, "12 path=abc\n14 comment=??\n15 linkpath=xy\n"), 0);
    assert_int_equal(pax.has, PAX_PATH | PAX_LINK);
    assert_string_equal(pax.path.data, "abc");
    assert_string_equal(pax.link.data, "xy");
    /* An empty value takes back what was said. */
    tar_pax_clear(&pax);
    assert_int_equal(parse(&pax, "12 path=abc\n8 path=\n"), 0);
    assert_int_equal(pax.has, 0);
    /* Lengths that are wrong. */
    assert_int_equal(parse(&pax, "7 path=\n"), -EBADMSG);
    assert_int_equal(parse(&pax, "9 path=\n"), -EBADMSG);
    assert_int_equal(parse(&pax, "12 path=ab\n"), -EBADMSG);
    assert_int_equal(parse(&pax, "99999999999999999999 path=\n"), -EBADMSG);
    tar_pax_clear(&pax);
    /* Both writers' records of one attribute: GNU tar's is taken as it is, libarchive's decoded. */
    assert_int_equal(
        parse(&pax, "27 SCHILY.xattr.user.a=b=c\n39 LIBARCHIVE.xattr.user.b%3D=aGVsbG8=\n"), 0);
    assert_int_equal(pax.xattrs.n, 2);
    assert_string_equal(xattr_set_name(&pax.xattrs, 0), "user.a");
    assert_memory_equal(xattr_set_value(&pax.xattrs, 0, &length), "b=c", 3);
    assert_string_equal(xattr_set_name(&pax.xattrs, 1), "user.b=");
    assert_memory_equal(xattr_set_value(&pax.xattrs, 1, &length), "hello", 5);
    assert_int_equal(length, 5);
    tar_pax_free(&pax);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_octal),
        cmocka_unit_test(test_base_256),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
