#include "base/size.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/cleanup.h"

static uint64_t parsed(const char *text, uint64_t bare_unit_bytes)
{
    uint64_t bytes = 12345;
    assert_int_equal(size_parse(text, bare_unit_bytes, &bytes), 0);
    return bytes;
}

static void test_bare_numbers(void **state)
{
    (void)state;
    assert_int_equal(parsed("0", 1), 0);
    assert_int_equal(parsed("64", 1), 64);
    assert_int_equal(parsed("64", 1024), 65536);
    assert_int_equal(parsed("0.5", 1024), 512);
}

static void test_units(void **state)
{
    static const char units[] = "KMGT";
    uint64_t expected = 1;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char text[][8] = {"3?", "3?", "3?B", "3?iB"};
        expected *= 1024;
        for (size_t k = 0; k < ELEMENTS(text); k++)
            text[k][1] = units[i];
        text[1][1] = (char)(units[i] + 32); /* lower case */
        for (size_t k = 0; k < ELEMENTS(text); k++)
            assert_int_equal(parsed(text[k], 1024), 3 * expected);
    }
    assert_int_equal(parsed("1.5M", 1), 1572864);
    assert_int_equal(parsed("1.5kb", 1), 1536);
}

static void test_what_is_no_size(void **state)
{
    static const char *const wrong[] = {"", " 1", "-1", "+1", "x", "K", "1X", "1KX", "1KiBs", "1 K",
        "1K ", "nan", "inf", ".5", "1ib"};
    uint64_t bytes = 12345;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++)
        assert_int_equal(size_parse(wrong[i], 1, &bytes), -EINVAL);
    assert_int_equal(bytes, 12345);
}

static void test_what_does_not_fit(void **state)
{
    uint64_t bytes = 12345;

    (void)state;
    assert_int_equal(size_parse("16777216T", 1, &bytes), -ERANGE);
    assert_int_equal(size_parse("1e99", 1, &bytes), -ERANGE);
    assert_int_equal(size_parse("18446744073709551616", 1, &bytes), -ERANGE);
    assert_int_equal(bytes, 12345);
    assert_int_equal(parsed("16777215T", 1), 16777215ULL << 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bare_numbers),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_what_is_no_size),
        cmocka_unit_test(test_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
