#include "engine/hasher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* after those: it needs them */
#include <cmocka.h>

#include "base/cleanup.h"

#define BLOCKS 16
#define BYTES  (BLOCKS * HASH_BLOCK)

static int make_hasher(void **state)
{
    *state = hasher_new();
    return *state ? 0 : -1;
}

static int free_hasher(void **state)
{
    hasher_free(*state);
    return 0;
}

/* Bytes that are all different from their neighbours, and never zero. */
static void fill(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(1 + (i * 7 + i / 251) % 255);
}

static struct hash hash_of(struct hasher *hasher, const void *bytes, size_t n)
{
    hasher_reset(hasher);
    hasher_update(hasher, bytes, n, 0);
    return hasher_digest(hasher);
}

static void test_pieces_do_not_count(void **state)
{
    static unsigned char bytes[BYTES + 100];
    struct hasher *hasher = *state;

    fill(bytes, sizeof(bytes));
    struct hash whole = hash_of(hasher, bytes, sizeof(bytes));
    for (size_t piece = HASH_BLOCK; piece <= BYTES; piece += HASH_BLOCK) {
        hasher_reset(hasher);
        for (size_t at = 0; at < sizeof(bytes); at += piece)
            hasher_update(
                hasher, bytes + at, sizeof(bytes) - at < piece ? sizeof(bytes) - at : piece, at);
        assert_true(hash_equal(whole, hasher_digest(hasher)));
    }
}

static void test_zeros_are_holes(void **state)
{
    static unsigned char bytes[BYTES];
    struct hasher *hasher = *state;

    fill(bytes, sizeof(bytes));
    memset(bytes + 3 * HASH_BLOCK, 0, 5 * HASH_BLOCK);
    memset(bytes + BYTES - HASH_BLOCK, 0, HASH_BLOCK);
    struct hash written = hash_of(hasher, bytes, sizeof(bytes));
    hasher_reset(hasher);
    hasher_update(hasher, bytes, 3 * HASH_BLOCK, 0);
    hasher_update(hasher, bytes + 8 * HASH_BLOCK, BYTES - 9 * HASH_BLOCK, 8 * HASH_BLOCK);
    assert_true(hash_equal(written, hasher_digest(hasher)));
}

/* Each changed bit, and a block that lies elsewhere, is another content. */
static void test_changes_are_seen(void **state)
{
    static unsigned char bytes[2 * HASH_BLOCK + 5];
    struct hasher *hasher = *state;

    fill(bytes, sizeof(bytes));
    struct hash before = hash_of(hasher, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i += i < sizeof(bytes) - 20 ? 61 : 1) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        assert_false(hash_equal(before, hash_of(hasher, bytes, sizeof(bytes))));
        bytes[i] ^= (unsigned char)(1 << i % 8);
    }
    assert_false(hash_equal(before, hash_of(hasher, bytes, sizeof(bytes) - 1)));
    hasher_reset(hasher);
    hasher_update(hasher, bytes, sizeof(bytes), HASH_BLOCK);
    assert_false(hash_equal(before, hasher_digest(hasher)));
    assert_true(hash_equal(before, hash_of(hasher, bytes, sizeof(bytes))));
}

static void test_nothing_but_zeros(void **state)
{
    static const unsigned char zeros[BYTES];
    struct hasher *hasher = *state;

    hasher_reset(hasher);
    struct hash empty = hasher_digest(hasher);
    assert_true(hash_equal(empty, hash_of(hasher, zeros, BYTES)));
    assert_true(hash_equal(empty, hash_of(hasher, zeros, 1)));
    assert_true(hash_equal(empty, hash_of(hasher, zeros, 0)));
}

static void test_bytes_are_zero(void **state)
{
    unsigned char bytes[300] = {0};

    (void)state;
    for (size_t n = 0; n <= sizeof(bytes); n++)
        assert_true(bytes_are_zero(bytes, n));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 0x80;
        for (size_t n = 0; n <= sizeof(bytes); n += n < 70 ? 1 : 23)
            assert_true(bytes_are_zero(bytes, n) == (n <= i));
        bytes[i] = 0;
    }
    memset(bytes, 0x80, sizeof(bytes));
    assert_false(bytes_are_zero(bytes, sizeof(bytes)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_do_not_count),
        cmocka_unit_test(test_zeros_are_holes),
        cmocka_unit_test(test_changes_are_seen),
        cmocka_unit_test(test_nothing_but_zeros),
        cmocka_unit_test(test_bytes_are_zero),
    };
    return cmocka_run_group_tests(tests, make_hasher, free_hasher);
}
