#include "base/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/cleanup.h"

static void assert_quoted(const char *name, const char *expected)
{
    _cleanup_free_ char *quoted = quote_name(name);
    assert_non_null(quoted);
    assert_string_equal(quoted, expected);
}

static void test_plain_names(void **state)
{
    (void)state;
    assert_quoted("", "''");
    assert_quoted("a", "'a'");
    assert_quoted("a b/$HOME;*\"\\~", "'a b/$HOME;*\"\\~'");
    assert_quoted("größe €😀", "'größe €😀'");
    assert_quoted("-n", "'-n'");
}

static void test_quotes(void **state)
{
    (void)state;
    assert_quoted("it's", "'it'\\''s'");
    assert_quoted("'", "''\\'''");
    assert_quoted("''", "''\\'''\\'''");
}

static void test_control_characters(void **state)
{
    (void)state;
    assert_quoted("a\nb", "'a'$'\\n''b'");
    assert_quoted("\a\b\t\n\v\f\r", "''$'\\a\\b\\t\\n\\v\\f\\r'");
    assert_quoted("\x1b[2J", "''$'\\033''[2J'");
    assert_quoted("\x7f", "''$'\\177'");
    assert_quoted("\xc2\x9b", "''$'\\302\\233'"); /* U+009B, which some terminals obey */
    assert_quoted("\n'", "''$'\\n\\''");
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    assert_quoted("\xff", "''$'\\377'");
    assert_quoted("a\xe9z", "'a'$'\\351''z'");
    assert_quoted("\xc3", "''$'\\303'");                   /* cut short */
    assert_quoted("\xed\xa0\x80", "''$'\\355\\240\\200'"); /* a surrogate */
}

/* What a shell makes of `quoted`. */
static void read_by_shell(const char *quoted, char *name, size_t room)
{
    assert_true(setenv("QUOTED", quoted, 1) == 0);
    FILE *shell = popen("exec bash -c 'eval \"printf %s $QUOTED\"'", "r");
    assert_non_null(shell);
    size_t n = fread(name, 1, room - 1, shell);
    name[n] = '\0';
    assert_int_equal(pclose(shell), 0);
}

/* Every byte, alone and next to every kind of other: what a shell reads back is the name. */
static void test_a_shell_reads_it_back(void **state)
{
    static const char *const others[] = {"", "a", "'", "\n", "\xff", "é"};
    char name[2048] = "", read[2048];
    size_t length = 0;

    (void)state;
    if (system("bash -c true") != 0)
        skip();
    for (unsigned byte = 1; byte < 256; byte++)
        for (size_t i = 0; i < ELEMENTS(others); i += byte % 3 + 1)
            length += (size_t)snprintf(
                name + length, sizeof(name) - length, "%c%s", (int)byte, others[i]);
    assert_true(length < sizeof(name));
    _cleanup_free_ char *quoted = quote_name(name);
    assert_non_null(quoted);
    for (const char *c = quoted; *c; c++)
        assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
    assert_true(utf8_is_valid(quoted, strlen(quoted)));
    read_by_shell(quoted, read, sizeof(read));
    assert_string_equal(read, name);
}

/* Against the definition: U+0000 to U+10FFFF without the surrogates, each in its shortest form. */
static size_t encode(uint32_t point, char out[static 4])
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)((0xf00 >> n) | point);
    return n;
}

static void test_utf8(void **state)
{
    char bytes[4];

    (void)state;
    for (uint32_t point = 0; point < 0x110000; point++) {
        size_t n = encode(point, bytes);
        bool is_surrogate = point >= 0xd800 && point < 0xe000;
        assert_true(utf8_is_valid(bytes, n) == !is_surrogate);
        if (n > 1)
            assert_false(utf8_is_valid(bytes, n - 1));
    }
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("a\0b", 3));
}

static void test_malformed_utf8(void **state)
{
    static const char *const malformed[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3(",
        "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82(", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe", "a\xff z"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(malformed); i++)
        assert_false(utf8_is_valid(malformed[i], strlen(malformed[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_names),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_a_shell_reads_it_back),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_malformed_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
