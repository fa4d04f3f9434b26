#include "engine/member_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

static enum member_fate resolve(
    const struct member_rule *rule, const char *path, struct bytes *out, bool *absolute)
{
    bool ignored;
    return member_path_resolve(rule, path, out, absolute ? absolute : &ignored);
}

static void becomes(const struct member_rule *rule, const char *path, const char *expected)
{
    struct bytes out = {0};

    assert_int_equal(resolve(rule, path, &out, NULL), MEMBER_TAKEN);
    assert_string_equal(out.data, expected);
    assert_int_equal(out.n, strlen(expected) + 1);
    bytes_free(&out);
}

static void is_judged(const struct member_rule *rule, const char *path, enum member_fate expected)
{
    struct bytes out = {0};

    assert_int_equal(resolve(rule, path, &out, NULL), expected);
    bytes_free(&out);
}

static void test_plain(void **state)
{
    const struct member_rule rule = {0};

    (void)state;
    becomes(&rule, "a/b", "a/b");
    becomes(&rule, "./a//b/", "a/b");
    becomes(&rule, "a/./b", "a/b");
    becomes(&rule, ".", "");
    becomes(&rule, "./", "");
    becomes(&rule, "", "");
    becomes(&rule, "...", "...");
    becomes(&rule, "a/..b/c..", "a/..b/c..");
}

static void test_outside(void **state)
{
    const struct member_rule rule = {0};
    struct bytes out = {0};
    bool absolute;

    (void)state;
    is_judged(&rule, "..", MEMBER_ESCAPES);
    is_judged(&rule, "a/../b", MEMBER_ESCAPES);
    is_judged(&rule, "a/..", MEMBER_ESCAPES);
    is_judged(&rule, "/../a", MEMBER_ESCAPES);
    assert_int_equal(resolve(&rule, "///etc/passwd", &out, &absolute), MEMBER_TAKEN);
    assert_string_equal(out.data, "etc/passwd");
    assert_true(absolute);
    assert_int_equal(resolve(&rule, "etc/passwd", &out, &absolute), MEMBER_TAKEN);
    assert_false(absolute);
    bytes_free(&out);
}

static void test_strip(void **state)
{
    const struct member_rule one = {.strip = 1}, two = {.strip = 2};

    (void)state;
    becomes(&one, "a/b/c", "b/c");
    becomes(&two, "a//b/c", "c");
    becomes(&one, "./a/b", "a/b"); /* "." is a component, as in GNU tar */
    becomes(&one, "/a/b", "b");
    is_judged(&one, "a", MEMBER_LEFT_OUT);
    is_judged(&one, "a/", MEMBER_LEFT_OUT);
    is_judged(&two, "a/b", MEMBER_LEFT_OUT);
    is_judged(&one, "a/../b", MEMBER_ESCAPES);
    becomes(&one, "../b", "b"); /* what is left out cannot lead anywhere */
}

static void test_part(void **state)
{
    const struct member_rule rule = {.part = "/a/b"}, top = {.part = "/"};

    (void)state;
    becomes(&rule, "a/b", "");
    becomes(&rule, "./a/b/", "");
    becomes(&rule, "a/b/c/d", "c/d");
    is_judged(&rule, "a", MEMBER_LEFT_OUT);
    is_judged(&rule, "a/bc", MEMBER_LEFT_OUT);
    is_judged(&rule, "b", MEMBER_LEFT_OUT);
    becomes(&top, "a", "a");
}

static void test_below_a_top(void **state)
{
    const struct member_rule rule = {.top = "x"};

    (void)state;
    becomes(&rule, "a", "x/a");
    becomes(&rule, "x/a", "x/a");
    becomes(&rule, "x", "x");
    becomes(&rule, "xy", "x/xy");
    becomes(&rule, ".", "x");
}

static void test_absolute_names(void **state)
{
    const struct member_rule rule = {.base = "/var/tmp"};

    (void)state;
    becomes(&rule, "a/b", "var/tmp/a/b");
    becomes(&rule, "/etc/x", "etc/x");
    becomes(&rule, "../x", "var/x");
    becomes(&rule, "../../../../x", "x");
}

static void test_too_long(void **state)
{
    const struct member_rule rule = {0};
    size_t n = MEMBER_PATH_BYTES + 2, deep = MEMBER_PATH_LEVELS * 2 + 3;
    _cleanup_free_ char *path = malloc(n);

    (void)state;
    assert_non_null(path);
    memset(path, 'a', n);
    path[n - 1] = '\0';
    is_judged(&rule, path, MEMBER_TOO_LONG);
    path[n - 2] = '\0';
    becomes(&rule, path, path);
    for (size_t i = 1; i < deep; i += 2)
        path[i] = '/';
    path[deep - 1] = '\0';
    is_judged(&rule, path, MEMBER_TOO_LONG);
    path[deep - 4] = '\0';
    becomes(&rule, path, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_strip),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_below_a_top),
        cmocka_unit_test(test_absolute_names),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
