#include "entry/acl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "entry/owner_names.h"

/* The attribute of "user::rw-,user:4711:r--,group::r--,mask::r--,other::---", from a kernel. */
static const char xattr[] = "\2\0\0\0"
                            "\1\0\6\0\377\377\377\377"
                            "\2\0\4\0\147\22\0\0"
                            "\4\0\4\0\377\377\377\377"
                            "\20\0\4\0\377\377\377\377"
                            "\40\0\0\0\377\377\377\377";
#define XATTR_BYTES (sizeof(xattr) - 1)

static void reads_as_xattr(const char *text)
{
    struct bytes out = {0};

    assert_int_equal(acl_from_text(text, strlen(text), NULL, &out), 0);
    assert_int_equal(out.n, XATTR_BYTES);
    assert_memory_equal(out.data, xattr, XATTR_BYTES);
    bytes_free(&out);
}

static void test_to_text(void **state)
{
    static const char expected[] = "user::rw-,user:4711:r--,group::r--,mask::r--,other::---";
    struct bytes out = {0};

    (void)state;
    assert_int_equal(acl_to_text(xattr, XATTR_BYTES, NULL, &out), 0);
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(out.data, expected, out.n);
    bytes_free(&out);
}

static void test_from_text(void **state)
{
    (void)state;
    reads_as_xattr("user::rw-,user:4711:r--,group::r--,mask::r--,other::---");
    reads_as_xattr("other::---,mask::r--,group::r--,user:4711:r--,user::rw-"); /* in any order */
    reads_as_xattr("user::rw-\nuser:4711:r--\ngroup::r--\nmask::r--\nother::---\n");
    reads_as_xattr("u::rw-,u:4711:r--,g::r--,m::r--,o::---");
    reads_as_xattr("user::rw-,user:nobody-of-this-name:r--:4711,group::r--,mask:r--,other:---");
    reads_as_xattr("user::rw-, user:4711:r-- # a comment\n,group::r--,mask::r--,other::---");
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "user",
        "user:rwx:rwx:rwx:",
        "nobody::rwx",
        "user::rwz",
        "user:nobody-of-this-name:r--",
        "user:4294967295:r--",
        "user:99999999999:r--",
        ":::",
    };
    struct bytes out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(acl_from_text(texts[i], strlen(texts[i]), NULL, &out), -EINVAL);
        assert_int_equal(out.n, 0);
    }
    bytes_free(&out);
}

static void test_attributes_that_are_none(void **state)
{
    char bad[XATTR_BYTES];
    struct bytes out = {0};

    (void)state;
    assert_int_equal(acl_to_text(xattr, 3, NULL, &out), -EINVAL);
    assert_int_equal(acl_to_text(xattr, XATTR_BYTES - 1, NULL, &out), -EINVAL);
    memcpy(bad, xattr, XATTR_BYTES);
    bad[0] = 1;
    assert_int_equal(acl_to_text(bad, XATTR_BYTES, NULL, &out), -EINVAL);
    bad[0] = 2;
    bad[4] = 3;
    assert_int_equal(acl_to_text(bad, XATTR_BYTES, NULL, &out), -EINVAL);
    assert_int_equal(out.n, 0);
    bytes_free(&out);
}

static void test_names(void **state)
{
    struct owner_names *names = owner_names_new();
    struct bytes text = {0}, again = {0};
    uid_t uid = 1;
    static const char root[] = "\2\0\0\0\2\0\6\0\0\0\0\0";

    (void)state;
    assert_non_null(names);
    assert_true(owner_names_find_user(names, "root", &uid));
    assert_int_equal(uid, 0);
    assert_string_equal(owner_names_user(names, 0), "root");
    assert_string_equal(owner_names_user(names, 0), "root");
    assert_null(owner_names_user(names, 3999999999U));
    assert_null(owner_names_user(names, 3999999999U));
    assert_false(owner_names_find_group(names, "nobody of this name", &uid));
    assert_int_equal(acl_to_text(root, sizeof(root) - 1, names, &text), 0);
    assert_int_equal(text.n, strlen("user:root:rw-:0"));
    assert_memory_equal(text.data, "user:root:rw-:0", text.n);
    assert_int_equal(acl_from_text(text.data, text.n, names, &again), 0);
    assert_memory_equal(again.data, root, sizeof(root) - 1);
    bytes_free(&text);
    bytes_free(&again);
    owner_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_text),
        cmocka_unit_test(test_from_text),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_attributes_that_are_none),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
