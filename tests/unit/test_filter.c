#include "entry/filter.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/cleanup.h"
#include "shoal/shoal.h"

static struct shoal_filter *new_filter(void)
{
    struct shoal_filter *filter = NULL;
    assert_int_equal(shoal_filter_new(&filter), 0);
    return filter;
}

static void add_rule(struct shoal_filter *filter, const char *pattern, bool include)
{
    assert_int_equal(shoal_filter_add(filter, pattern, include), 0);
}

/* Asks with bytes that end where the path does: a read beyond them is a sanitizer's find. */
static bool admits(const struct shoal_filter *filter, const char *path, bool is_directory)
{
    size_t length = strlen(path);
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, path, length);
    bool r = filter_admits(filter, exact, length, is_directory);
    free(exact);
    return r;
}

/* Whether an exclude rule with this pattern takes the path out. */
static bool pattern_matches(const char *pattern, const char *path, bool is_directory)
{
    struct shoal_filter *filter = new_filter();
    add_rule(filter, pattern, false);
    bool r = !admits(filter, path, is_directory);
    shoal_filter_free(filter);
    return r;
}

struct pattern_case {
    const char *pattern;
    const char *path; /* "a/" is a directory */
    bool matches;
};

static void check_cases(const struct pattern_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char path[512];
        size_t length = strlen(cases[i].path);
        bool is_directory = cases[i].path[length - 1] == '/';
        (void)snprintf(path, sizeof(path), "%.*s", (int)(length - is_directory), cases[i].path);
        if (pattern_matches(cases[i].pattern, path, is_directory) != cases[i].matches)
            fail_msg("'%s' should%s match '%s'", cases[i].pattern, cases[i].matches ? "" : " not",
                cases[i].path);
    }
}

static void test_name_patterns_match_the_last_component(void **state)
{
    static const struct pattern_case cases[] = {
        {"a", "a", true},
        {"a", "a/", true},
        {"a", "b/a", true},
        {"a", "x/y/a", true},
        {"a", "a/b", false},
        {"a", "ab", false},
        {"a", "ba", false},
        {"a", "A", false},
        {"*.o", "x.o", true},
        {"*.o", ".o", true},
        {"*.o", "d/x.o", true},
        {"*.o", "d.o/x", false},
        {"*.o", "x.oo", false},
        {"core.*", "core.12", true},
        {"core.*", "d/core.", true},
        {"core.*", "core", false},
        {"*", "a", true},
        {"*", "a/b/", true},
        {"a*c", "abc", true},
        {"a*c", "ac", true},
        {"a*c", "x/abbc", true},
        {"a*c", "abcd", false},
        {"?", "a", true},
        {"?", "ab", false},
        {"a?c", "d/abc", true},
        {"a?c", "a/c", false},
        {"\xff*", "\xff\xfe", true},
        {"?", "\xc3\xa9", false},
        {"??", "\xc3\xa9", true},
        {"a\nb", "a\nb", true},
        {" a", " a", true},
        {" a", "a", false},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_directory_patterns_spare_other_types(void **state)
{
    static const struct pattern_case cases[] = {
        {"a/", "a/", true},
        {"a/", "a", false},
        {"a/", "x/a/", true},
        {"a/", "a/b", false},
        {"*/", "a/", true},
        {"*/", "a", false},
        {"/a/", "a/", true},
        {"/a/", "x/a/", false},
        {"a/b/", "a/b/", true},
        {"a/b/", "a/b", false},
        {"**/", "x/a/", true},
        {"**/", "x/a", false},
        {"/", "a/", false},
        {"//", "a/", false},
        {"a//", "a/", false},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_a_leading_slash_anchors_at_the_top(void **state)
{
    static const struct pattern_case cases[] = {
        {"/a", "a", true},
        {"/a", "x/a", false},
        {"/a", "a/b", false},
        {"/a/b", "a/b", true},
        {"/a/b", "x/a/b", false},
        {"/*", "a", true},
        {"/*", "a/b", false},
        {"/*.o", "x.o", true},
        {"/*.o", "d/x.o", false},
        {"/*/b", "a/b", true},
        {"/*/b", "x/a/b", false},
        {"/a*/b", "abc/b", true},
        {"/a**", "a", true},
        {"/a**", "abc/d/e", true},
        {"/a**", "x/a", false},
        {"/**", "a/b", true},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_a_pattern_with_a_slash_matches_the_tail_of_the_path(void **state)
{
    static const struct pattern_case cases[] = {
        {"a/b", "a/b", true},
        {"a/b", "x/a/b", true},
        {"a/b", "xa/b", false},
        {"a/b", "b", false},
        {"a/b", "a/b/c", false},
        {"a/*", "a/b", true},
        {"a/*", "x/a/b", true},
        {"a/*", "a/b/c", false},
        {"*/b", "a/b", true},
        {"*/b", "b", false},
        {"a/*/c", "a/b/c", true},
        {"a/*/c", "x/a/b/c", true},
        {"a/*/c", "a/c", false},
        {"a/?", "a/b", true},
        {"a/?", "a/bc", false},
        {"a?b/c", "a/b/c", false},
        /* a slash that is escaped or in brackets is a slash of the pattern, too */
        {"a\\/b*", "x/a/bc", true},
        {"[a/]b", "ab", false},
        {"[a/]b", "x/ab", false},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_two_stars_cross_slashes(void **state)
{
    static const struct pattern_case cases[] = {
        {"**", "a", true},
        {"**", "a/b/c", true},
        {"a**", "a", true},
        {"a**", "a/b/c", true},
        {"a**", "x/a/b", true},
        {"a**", "xa/b", false},
        {"**b", "ab", true},
        {"**b", "x/y/b", true},
        {"**b", "b/c", false},
        {"**/b", "b", true},
        {"**/b", "x/y/b", true},
        {"**/b", "xb", false},
        {"a/**", "a/b", true},
        {"a/**", "a/", false},
        {"a/**", "x/a/b/c", true},
        {"a/**/c", "a/b/c", true},
        {"a/**/c", "a/x/y/c", true},
        {"a/**/c", "a/c", false},
        {"/a/**/c", "x/a/b/c", false},
        {"a**c", "a/b/c", true},
        {"a**c", "x/abc", true},
        {"a**c", "abcd", false},
        {"a/**/*.o", "a/b/x.o", true},
        {"a/**/*.o", "a/x.o", false},
        {"**/x/*", "x/a", true},
        {"**/x/*", "b/x/a", true},
        {"**/x/*", "b/x/a/c", false},
        {"**a*b/c*d", "a/ab/cd", true},
        {"**a*b/c*d", "ab/xd/aab/ccd", true},
        {"**a*b/c*d", "ab/c/d", false},
        {"**ab*c/*d", "abab/abc/d", true},
        {"****", "a/b", true},
        {"a****b", "a/x/b", true},
        /* two stars make a pattern one for paths even where they are no wildcard */
        {"\\**", "*a", true},
        {"\\**", "x/*a", true},
        {"\\**", "*a/b", false},
        {"[**]", "*", true},
        {"[**]", "x/*", true},
        {"[**]", "a", false},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_three_stars_take_the_directory_too(void **state)
{
    static const struct pattern_case cases[] = {
        {"d/***", "d/", true},
        {"d/***", "d", false},
        {"d/***", "d/a", true},
        {"d/***", "d/a/b/", true},
        {"d/***", "x/d/", true},
        {"d/***", "x/d/a", true},
        {"d/***", "xd/", false},
        {"d/***", "xd/a", false},
        {"/d/***", "d/", true},
        {"/d/***", "x/d/", false},
        {"/d/***", "d/a", true},
        {"d*/***", "dir/", true},
        {"**/d/***", "d/", true},
        {"**/d/***", "x/d/y", true},
        {"***", "a", true},
        {"***/d", "d", true},
        {"d***", "d", true},
        {"d***", "d/a", true},
        {"/***", "a", true},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_brackets(void **state)
{
    static const struct pattern_case cases[] = {
        {"[ab]", "a", true},
        {"[ab]", "c", false},
        {"[!ab]", "c", true},
        {"[!ab]", "a", false},
        {"[^ab]", "c", true},
        {"[^ab]", "b", false},
        {"x[!a]y", "x/y", false},
        {"/x[!a]y", "x/y", false},
        {"[a-c]", "b", true},
        {"[a-c]", "d", false},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[]a]", "]", true},
        {"[]a]", "a", true},
        {"[!]a]", "b", true},
        {"[!]a]", "]", false},
        {"[a-c-e]", "-", true},
        {"[a-c-e]", "d", false},
        {"[a-c-e]", "e", true},
        {"[z-a]", "z", true},
        {"[z-a]", "a", false},
        {"[z-a]", "m", false},
        {"[--0]x", ".x", true},
        {"[\\]]", "]", true},
        {"[\\\\]", "\\", true},
        {"[a\\-c]", "b", false},
        {"[a\\-c]", "-", true},
        {"[a-\\c]", "b", true},
        {"[[]", "[", true},
        {"[[:]", ":", true},
        {"[[:a]", "[", true},
        {"[[:alpha:]]", "x", true},
        {"[[:alpha:]]", "1", false},
        {"[[:alpha:]]", "\xe9", false},
        {"[![:alpha:]]", "\xe9", true},
        {"[[:digit:]x]", "7", true},
        {"[[:digit:]x]", "x", true},
        {"[[:digit:]-z]", "-", true},
        {"[[:digit:]-z]", "a", false},
        {"[[:upper:][:space:]]", "\n", true},
        {"[[:upper:][:space:]]", "a", false},
        {"[[:punct:]]", "_", true},
        {"[[:punct:]]", "a", false},
        {"[[:blank:]]", "\t", true},
        {"[[:cntrl:]]", "\x7f", true},
        {"[[:graph:]]", " ", false},
        {"[[:print:]]", " ", true},
        {"[[:xdigit:]]", "F", true},
        {"[[:xdigit:]]", "g", false},
        {"[[:alnum:]]", "0", true},
        {"[[:lower:]]", "Q", false},
        {"[\x80-\xff]", "\xc3", true},
        {"[a-z]*", "readme", true},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_a_backslash_escapes_only_beside_wildcards(void **state)
{
    static const struct pattern_case cases[] = {
        {"a\\b", "a\\b", true},
        {"a\\b", "ab", false},
        {"a\\b*", "ab", true},
        {"a\\b*", "a\\b", false},
        {"a\\\\b*", "a\\bc", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\*.o", "*.o", true},
        {"\\*.o", "x.o", false},
        {"a\\?", "a?", true},
        {"a\\?", "ab", false},
        {"\\[a]", "[a]", true},
        {"\\[a]", "a", false},
        {"a\\", "a\\", true},
        {"*\\.o", "x.o", true},
        {"core\\.*", "core.1", true},
    };
    (void)state;
    check_cases(cases, ELEMENTS(cases));
}

static void test_a_malformed_pattern_is_refused(void **state)
{
    static const char *const patterns[] = {"a[b", "[", "[]", "[!", "[!]", "[a-", "[a\\", "*\\",
        "a?\\", "[[:foo:]]", "[[::]]", "[[:alpha:", "*\\/", "- ", "+ "};
    struct shoal_filter *filter = new_filter();
    (void)state;

    for (size_t i = 0; i < ELEMENTS(patterns); i++)
        if (shoal_filter_add(filter, patterns[i], false) != -EINVAL)
            fail_msg("'%s' was taken", patterns[i]);
    assert_true(admits(filter, "a", false));
    assert_int_equal(shoal_filter_add(filter, "", false), 0);
    assert_true(admits(filter, "a", false));
    shoal_filter_free(filter);
}

static void test_the_first_rule_that_matches_decides(void **state)
{
    struct shoal_filter *filter = new_filter();
    (void)state;

    assert_true(admits(filter, "a", false));
    add_rule(filter, "keep.o", true);
    add_rule(filter, "*.o", false);
    add_rule(filter, "late.o", true);
    assert_true(admits(filter, "d/keep.o", false));
    assert_false(admits(filter, "d/x.o", false));
    assert_false(admits(filter, "late.o", false));
    assert_true(admits(filter, "x.c", false));
    shoal_filter_free(filter);
}

static void test_directories_and_one_type_of_file(void **state)
{
    struct shoal_filter *filter = new_filter();
    (void)state;

    add_rule(filter, "*/", true);
    add_rule(filter, "*.c", true);
    add_rule(filter, "*", false);
    assert_true(admits(filter, "src", true));
    assert_true(admits(filter, "src/a.c", false));
    assert_false(admits(filter, "src/a.h", false));
    shoal_filter_free(filter);
}

static void test_from_itself_always_takes_part(void **state)
{
    struct shoal_filter *filter = new_filter();
    (void)state;

    add_rule(filter, "*", false);
    add_rule(filter, "/", false);
    assert_true(admits(filter, "", true));
    assert_true(admits(filter, ".", true));
    assert_false(admits(filter, "a", true));
    shoal_filter_free(filter);
}

static void test_prefixes_say_what_a_rule_does(void **state)
{
    struct shoal_filter *filter = new_filter();
    (void)state;

    add_rule(filter, "dropped", false);
    add_rule(filter, "!", false);
    add_rule(filter, "+ a", false);
    add_rule(filter, "- b", true);
    add_rule(filter, "-c", false);
    add_rule(filter, "!d", false);
    assert_true(admits(filter, "dropped", false));
    assert_true(admits(filter, "a", false));
    assert_false(admits(filter, "b", false));
    assert_false(admits(filter, "-c", false));
    assert_false(admits(filter, "!d", false));
    shoal_filter_free(filter);
}

/* Each of these takes a matcher that tries every way to share bytes among the stars longer than
 * anyone waits; the runner's timeout is what fails then. */
static void test_hostile_patterns_end(void **state)
{
    static const struct {
        const char *head, *repeated, *tail, *unit;
    } cases[] = {
        {"", "a**", "b", "a"},
        {"", "a**", "b", "a/"},
        {"", "a*", "b", "a"},
        {"**", "a*", "b", "a"},
        {"**", "a*", "b", "aaaaaaaaaaaaaaa/"},
        {"", "**a*", "b/c", "aaaa/"},
        {"/", "*/**", "x", "a/"},
        {"**/", "[!b]*", "b/", "aaaaaaaaaaaaaaaa/"},
        {"x**", "?*/", "y", "xa/"},
        {"", "*a/", "**b", "aaa/"},
        {"", "**?", "/***", "a"},
    };
    char path[4001], pattern[1024];
    (void)state;

    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        size_t n = 0, unit = strlen(cases[i].unit);
        for (; n + unit < sizeof(path); n += unit)
            memcpy(path + n, cases[i].unit, unit);
        path[n] = '\0';
        path[n - 1] = 'z'; /* no match, and no slash at the end */
        char *end = stpcpy(pattern, cases[i].head);
        for (int k = 0; k < 30; k++)
            end = stpcpy(end, cases[i].repeated);
        (void)stpcpy(end, cases[i].tail);
        assert_false(pattern_matches(pattern, path, false));
    }
}

static void test_a_hostile_pattern_still_matches(void **state)
{
    char path[4001], pattern[128] = "", *end = pattern;
    (void)state;

    memset(path, 'a', sizeof(path) - 1);
    for (size_t i = 99; i < sizeof(path) - 1; i += 100)
        path[i] = '/';
    path[sizeof(path) - 2] = 'b';
    path[sizeof(path) - 1] = '\0';
    for (int k = 0; k < 30; k++)
        end = stpcpy(end, "a**");
    (void)stpcpy(end, "b");
    assert_true(pattern_matches(pattern, path, false));
}

/* What the stars mean, with no thought of time. */
static bool simple_match(const char *p, const char *text)
{
    if (!*p)
        return !*text;
    if (*p == '*') {
        bool any = p[1] == '*';
        const char *rest = p + strspn(p, "*");
        for (;; text++) {
            if (simple_match(rest, text))
                return true;
            if (!*text || (!any && *text == '/'))
                return false;
        }
    }
    if (!*text || (*p == '?' ? *text == '/' : *p != *text))
        return false;
    return simple_match(p + 1, text + 1);
}

static void fill(char *out, size_t n, const char *alphabet, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        *random = *random * 6364136223846793005U + 1442695040888963407U;
        out[i] = alphabet[(*random >> 33) % strlen(alphabet)];
    }
    out[n] = '\0';
}

/* Anchored patterns of a and b against paths of a and b: that only the last stars are remembered,
 * and that slashes are skipped, must lose no match. */
static void test_stars_agree_with_a_plain_matcher(void **state)
{
    uint64_t random = 1;
    unsigned matches = 0;
    (void)state;

    for (unsigned i = 0; i < 200000; i++) {
        char pattern[16] = "/", path[16];
        fill(pattern + 1, 1 + i % 9, "ab/?***", &random);
        fill(path, 1 + i / 9 % 11, "abab/", &random);
        size_t length = strlen(pattern);
        if (pattern[length - 1] == '/' || strcmp(pattern + length - 2, "**") == 0)
            continue; /* a rule's meaning, not the matcher's */
        bool expected = simple_match(pattern + 1, path);
        if (pattern_matches(pattern, path, false) != expected)
            fail_msg("'%s' should%s match '%s'", pattern, expected ? "" : " not", path);
        matches += expected;
    }
    assert_true(matches > 1000);
}

static void add_name(struct shoal_filter *filter, const char *name)
{
    assert_int_equal(shoal_filter_add_name(filter, name), 0);
}

static void test_listed_names_and_the_directories_above(void **state)
{
    struct shoal_filter *filter = new_filter();
    (void)state;

    add_name(filter, "./a//b/");
    add_name(filter, "/c/d/e");
    add_name(filter, "f");
    assert_true(admits(filter, "", true));
    assert_true(admits(filter, "a", true));
    assert_false(admits(filter, "a", false));
    assert_true(admits(filter, "a/b", true));
    assert_true(admits(filter, "a/b", false));
    assert_false(admits(filter, "a/b/x", false));
    assert_false(admits(filter, "a/x", false));
    assert_false(admits(filter, "b", false));
    assert_true(admits(filter, "c", true));
    assert_true(admits(filter, "c/d", true));
    assert_true(admits(filter, "c/d/e", false));
    assert_false(admits(filter, "c/d/f", false));
    assert_true(admits(filter, "f", true));
    assert_false(admits(filter, "f/x", false));
    add_name(filter, "a"); /* so far only above a listed one */
    assert_true(admits(filter, "a", false));
    shoal_filter_free(filter);
}

static void test_listed_names_can_be_gone_through(void **state)
{
    struct shoal_filter *filter = new_filter();
    const char *name;
    size_t cursor = 0, length, n = 0;
    (void)state;

    assert_false(filter_next_name(filter, &cursor, &name, &length));
    add_name(filter, "./a//b");
    add_name(filter, "a/b/");
    add_name(filter, "c/d");
    add_name(filter, ".");
    add_name(filter, "c");
    while (filter_next_name(filter, &cursor, &name, &length)) {
        bool known = (length == 3 && memcmp(name, "a/b", 3) == 0) ||
                     (length == 3 && memcmp(name, "c/d", 3) == 0) || (length == 1 && *name == 'c');
        assert_true(known);
        n++;
    }
    assert_int_equal(n, 3);
    shoal_filter_free(filter);
}

static void test_the_top_alone_can_be_listed(void **state)
{
    static const char *const tops[] = {".", "", "/", "./", "././/"};
    (void)state;

    for (size_t i = 0; i < ELEMENTS(tops); i++) {
        struct shoal_filter *filter = new_filter();
        add_name(filter, tops[i]);
        assert_true(admits(filter, "", true));
        assert_false(admits(filter, "a", false));
        shoal_filter_free(filter);
    }
}

static void test_names_do_not_lead_out_of_from(void **state)
{
    static const char *const names[] = {"..", "../a", "a/..", "a/../b", "/..", "./../a", "..//"};
    struct shoal_filter *filter = new_filter();
    (void)state;

    for (size_t i = 0; i < ELEMENTS(names); i++)
        assert_int_equal(shoal_filter_add_name(filter, names[i]), -EINVAL);
    assert_true(admits(filter, "b", false)); /* nothing was listed, so nothing is restricted */
    add_name(filter, "a/..b/...");
    assert_true(admits(filter, "a/..b/...", false));
    assert_false(admits(filter, "b", false));
    shoal_filter_free(filter);
}

static void test_names_and_rules_must_both_admit(void **state)
{
    struct shoal_filter *filter = new_filter();
    (void)state;

    add_name(filter, "a/x.c");
    add_name(filter, "a/x.o");
    add_rule(filter, "y.c", true);
    add_rule(filter, "*.o", false);
    assert_true(admits(filter, "a/x.c", false));
    assert_false(admits(filter, "a/x.o", false));
    assert_false(admits(filter, "a/y.c", false));
    shoal_filter_free(filter);
}

static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void test_many_names_are_small(void **state)
{
    enum { NAMES = 100000 };
    size_t name_bytes = 0, before = heap_bytes();
    struct shoal_filter *filter = new_filter();
    char name[64];
    (void)state;

    for (int i = 0; i < NAMES; i++) {
        name_bytes += (size_t)snprintf(name, sizeof(name), "dir%d/sub/file-%d.dat", i / 2, i);
        add_name(filter, name);
    }
    /* a sanitizer's malloc reports nothing here, and passes */
    assert_true(heap_bytes() - before < name_bytes + 100 * NAMES);
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(name, sizeof(name), "dir%d/sub/file-%d.dat", i / 2, i);
        assert_true(admits(filter, name, false));
        (void)snprintf(name, sizeof(name), "dir%d/sub/file-%d.dat", i / 2 + 1, i);
        assert_false(admits(filter, name, false));
    }
    shoal_filter_free(filter);
}

static void test_free_takes_null(void **state)
{
    (void)state;
    shoal_filter_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_patterns_match_the_last_component),
        cmocka_unit_test(test_directory_patterns_spare_other_types),
        cmocka_unit_test(test_a_leading_slash_anchors_at_the_top),
        cmocka_unit_test(test_a_pattern_with_a_slash_matches_the_tail_of_the_path),
        cmocka_unit_test(test_two_stars_cross_slashes),
        cmocka_unit_test(test_three_stars_take_the_directory_too),
        cmocka_unit_test(test_brackets),
        cmocka_unit_test(test_a_backslash_escapes_only_beside_wildcards),
        cmocka_unit_test(test_a_malformed_pattern_is_refused),
        cmocka_unit_test(test_the_first_rule_that_matches_decides),
        cmocka_unit_test(test_directories_and_one_type_of_file),
        cmocka_unit_test(test_from_itself_always_takes_part),
        cmocka_unit_test(test_prefixes_say_what_a_rule_does),
        cmocka_unit_test(test_hostile_patterns_end),
        cmocka_unit_test(test_a_hostile_pattern_still_matches),
        cmocka_unit_test(test_stars_agree_with_a_plain_matcher),
        cmocka_unit_test(test_listed_names_and_the_directories_above),
        cmocka_unit_test(test_listed_names_can_be_gone_through),
        cmocka_unit_test(test_the_top_alone_can_be_listed),
        cmocka_unit_test(test_names_do_not_lead_out_of_from),
        cmocka_unit_test(test_names_and_rules_must_both_admit),
        cmocka_unit_test(test_many_names_are_small),
        cmocka_unit_test(test_free_takes_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
