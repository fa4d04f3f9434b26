#include "engine/links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* after those: it needs them */
#include <cmocka.h>

/* A table, and a node that all names are in. */
struct fixture {
    struct links *links;
    struct node *node;
};

static void begin(struct fixture *fixture, bool keep_all)
{
    struct root *root = calloc(1, sizeof(*root)); /* freed with its last node */

    assert_non_null(root);
    fixture->links = links_new(keep_all);
    fixture->node = node_new(NULL, root, "");
    assert_non_null(fixture->links);
    assert_non_null(fixture->node);
}

/* Whatever the table held of the node, it has let go: a reference too many or too few shows here.
 */
static void end(struct fixture *fixture)
{
    links_free(fixture->links);
    assert_int_equal(fixture->node->refs, 1);
    assert_int_equal(fixture->node->pending, 1);
    node_unref(fixture->node);
}

static enum links_answer claim(struct fixture *fixture, uint64_t ino, uint64_t nlink,
    const char *name, struct link **ret, struct link_first *ret_first)
{
    const struct entry entry = {.mode = S_IFREG | 0644, .dev = 7, .ino = ino, .nlink = nlink};
    return links_claim(fixture->links, &entry, fixture->node, name, name, ret, ret_first);
}

/* Claims a name that must be the first of its inode. */
static struct link *claim_first(
    struct fixture *fixture, uint64_t ino, uint64_t nlink, const char *name)
{
    struct link *link = NULL;
    struct link_first first;
    assert_int_equal(claim(fixture, ino, nlink, name, &link, &first), LINKS_FIRST);
    return link;
}

static void settle(struct fixture *fixture, struct link *link, bool made, const char *name)
{
    assert_null(links_settle(fixture->links, link, made, fixture->node, name));
}

/* Claims a name whose inode is there as `expected`. */
static void claim_ready(
    struct fixture *fixture, uint64_t ino, uint64_t nlink, const char *name, const char *expected)
{
    struct link *link = NULL;
    struct link_first first = {0};
    assert_int_equal(claim(fixture, ino, nlink, name, &link, &first), LINKS_READY);
    assert_ptr_equal(first.node, fixture->node);
    assert_string_equal(first.name, expected);
    links_linked(fixture->links, link);
}

static void drop_waiter(struct fixture *fixture, struct link_waiter *waiter)
{
    assert_ptr_equal(waiter->node, fixture->node);
    fixture->node->pending--; /* as the driver does when the name is dealt with */
    link_waiter_free(waiter);
}

static void test_later_names_link_to_the_first(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, false);
    settle(&fixture, claim_first(&fixture, 1, 4, "a"), true, "a");
    claim_ready(&fixture, 1, 4, "b", "a");
    claim_ready(&fixture, 1, 4, "c", "a");
    settle(&fixture, claim_first(&fixture, 2, 4, "x"), true, "x");
    claim_ready(&fixture, 1, 4, "d", "a");
    claim_ready(&fixture, 2, 4, "y", "x");
    end(&fixture);
}

/* When all its names are dealt with, an inode takes no memory: its number is then that of a new
 * file. */
static void test_an_inode_is_forgotten(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, false);
    settle(&fixture, claim_first(&fixture, 1, 2, "a"), true, "a");
    claim_ready(&fixture, 1, 2, "b", "a");
    settle(&fixture, claim_first(&fixture, 1, 2, "c"), true, "c");
    claim_ready(&fixture, 1, 2, "d", "c");
    end(&fixture);
}

/* Where symbolic links are followed, the link count says nothing. */
static void test_keep_all(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, true);
    settle(&fixture, claim_first(&fixture, 1, 1, "a"), true, "a");
    for (int i = 0; i < 10; i++)
        claim_ready(&fixture, 1, 1, "b", "a");
    end(&fixture);
}

static void test_names_wait_for_the_first(void **state)
{
    struct fixture fixture;
    struct link *other = NULL;
    struct link_first first;

    (void)state;
    begin(&fixture, false);
    struct link *link = claim_first(&fixture, 1, 3, "a");
    assert_int_equal(claim(&fixture, 1, 3, "b", &other, &first), LINKS_WAITS);
    assert_int_equal(claim(&fixture, 1, 3, "c", &other, &first), LINKS_WAITS);
    assert_int_equal(fixture.node->pending, 3);
    struct link_waiter *waiter = links_settle(fixture.links, link, true, fixture.node, "a");
    unsigned seen = 0;
    while (waiter) {
        struct link_waiter *next = (struct link_waiter *)waiter->job.link.next;
        assert_string_equal(waiter->target_name, waiter->name);
        seen |= 1U << (waiter->name[0] - 'a');
        claim_ready(&fixture, 1, 3, waiter->name, "a");
        drop_waiter(&fixture, waiter);
        waiter = next;
    }
    assert_int_equal(seen, 6); /* b and c */
    end(&fixture);
}

/* The first name could not be made: one of those that wait is the first now. */
static void test_a_first_that_fails(void **state)
{
    struct fixture fixture;
    struct link *other = NULL;
    struct link_first first;

    (void)state;
    begin(&fixture, false);
    struct link *link = claim_first(&fixture, 1, 3, "a");
    assert_int_equal(claim(&fixture, 1, 3, "b", &other, &first), LINKS_WAITS);
    struct link_waiter *waiter = links_settle(fixture.links, link, false, fixture.node, "a");
    assert_non_null(waiter);
    assert_null(waiter->job.link.next);
    settle(&fixture, claim_first(&fixture, 1, 3, waiter->name), true, waiter->name);
    drop_waiter(&fixture, waiter);
    claim_ready(&fixture, 1, 3, "c", "b");
    end(&fixture);
}

/* An inode is a device and a number. */
static void test_devices_are_told_apart(void **state)
{
    struct entry entry = {.mode = S_IFREG, .dev = 8, .ino = 1, .nlink = 2};
    struct link *link = NULL;
    struct link_first first;
    struct fixture fixture;

    (void)state;
    begin(&fixture, false);
    settle(&fixture, claim_first(&fixture, 1, 2, "a"), true, "a");
    assert_int_equal(
        links_claim(fixture.links, &entry, fixture.node, "b", "b", &link, &first), LINKS_FIRST);
    settle(&fixture, link, true, "b");
    claim_ready(&fixture, 1, 2, "c", "a");
    end(&fixture);
}

/* More than the table's first size. */
static void test_many(void **state)
{
    enum { MANY = 20000 };
    struct fixture fixture;
    char name[2] = "";

    (void)state;
    begin(&fixture, false);
    for (uint64_t ino = 1; ino <= MANY; ino++) {
        name[0] = (char)('a' + ino % 26);
        settle(&fixture, claim_first(&fixture, ino, 3, name), true, name);
    }
    for (uint64_t ino = MANY; ino > 0; ino--) {
        name[0] = (char)('a' + ino % 26);
        claim_ready(&fixture, ino, 3, "z", name);
    }
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_names_link_to_the_first),
        cmocka_unit_test(test_an_inode_is_forgotten),
        cmocka_unit_test(test_keep_all),
        cmocka_unit_test(test_names_wait_for_the_first),
        cmocka_unit_test(test_a_first_that_fails),
        cmocka_unit_test(test_devices_are_told_apart),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
