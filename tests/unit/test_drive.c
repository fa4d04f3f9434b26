#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "drive/drive.h"

#define MS 1000000.0

static struct drive_profile profile_of(const char *text)
{
    struct drive_profile profile;
    char *why;

    assert_int_equal(drive_profile_parse(text, &profile, &why), 0);
    return profile;
}

static struct drive *drive_of(const char *text)
{
    const struct drive_profile profile = profile_of(text);
    struct drive *drive;

    assert_int_equal(drive_new(&profile, &drive), 0);
    return drive;
}

static void is_near(double value, double expected, double percent)
{
    if (fabs(value - expected) > expected * percent / 100)
        fail_msg("%g is not within %g%% of %g", value, percent, expected);
}

/* The facts of a disc: where sectors lie, how fast CAV drives read them. */
static void test_geometry(void **state)
{
    static const struct {
        uint64_t lba;
        double radius_mm, cav_x;
    } facts[] = {{0, 25, 13.8}, {75000, 35.9, 19.8}, {150000, 44.1, 24.4}, {225000, 51.1, 28.2}};
    const struct geometry cav = profile_of("32X").geometry, clv = profile_of("2X").geometry,
                          one = profile_of("1X").geometry, forty = profile_of("40X").geometry;

    (void)state;
    assert_true(cav.is_cav);
    assert_false(clv.is_cav);
    for (size_t i = 0; i < ELEMENTS(facts); i++) {
        is_near(geometry_radius_mm(&cav, facts[i].lba), facts[i].radius_mm, 0.5);
        is_near(geometry_rate_x(&cav, facts[i].lba), facts[i].cav_x, 0.5);
        assert_true(geometry_rate_x(&clv, facts[i].lba) == 2);
    }
    is_near(geometry_radius_mm(&cav, 300000), 57.2, 0.5);
    is_near(geometry_rate_x(&forty, 0) * 153.6, 2648, 0.5); /* KB/s of 1000 bytes */
    is_near(geometry_rate_x(&forty, 310000) * 153.6, 6144, 0.5);
    is_near(geometry_rpm(&one, 0), 500, 2);
    is_near(geometry_rpm(&one, 300000), 215, 2);
    for (uint64_t lba = 0; lba < 300000; lba += 50000)
        is_near(geometry_rpm(&cav, lba), 6850, 1);
}

/* The time that sectors take is that of all of them one by one. */
static void test_passing(void **state)
{
    static const char *const drives[] = {"2X", "12X", "32X", "52X-cav", "8X-cav"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(drives); i++) {
        const struct geometry geometry = profile_of(drives[i]).geometry;
        double sum = 0;
        for (uint64_t lba = 1000; lba < 21000; lba++)
            sum += 1e9 / (75 * geometry_rate_x(&geometry, lba));
        is_near(geometry_pass_ns(&geometry, 1000, 20000), sum, 0.01);
        uint64_t n = geometry_sectors_in(&geometry, 1000, sum);
        assert_true(n >= 19998 && n <= 20001);
        assert_true(geometry_pass_ns(&geometry, 0, 0) == 0);
        assert_true(isfinite(geometry_pass_ns(&geometry, UINT64_MAX - 5, UINT64_MAX)));
    }
}

static double mean_access_ms(const struct drive *drive, uint64_t all)
{
    uint64_t state = 1;
    double sum = 0;

    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        uint64_t from = (state >> 33) % all;
        state = state * 6364136223846793005U + 1442695040888963407U;
        sum += drive_access_ns(drive, from, (state >> 33) % all) / MS;
    }
    return sum / 20000;
}

static void test_accesses_are_as_published(void **state)
{
    static const char *const drives[] = {"1X", "2X", "4X", "12X", "12X-cav", "15X", "24X", "32X",
        "40X", "52X", "24X-cav,access=90ms,full=160,buffer=256K"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(drives); i++) {
        struct drive *drive = drive_of(drives[i]);
        const struct drive_profile profile = profile_of(drives[i]);
        uint64_t all = geometry_sectors(&profile.geometry);
        is_near(mean_access_ms(drive, all), profile.access_ms, 5);
        is_near(drive_access_ns(drive, 0, all) / MS, profile.full_ms, 5);
        double before = 0;
        for (uint64_t to = 1; to < all; to = to * 3 / 2 + 1) { /* further takes no less */
            double way =
                drive_access_ns(drive, 0, to) - geometry_turn_ns(&profile.geometry, to) / 2;
            assert_true(way >= before);
            before = way;
        }
        drive_free(drive);
    }
}

/* One after the other without a pause: the rate of the medium, after the first access. */
static void test_sequential(void **state)
{
    struct drive *drive = drive_of("2X");
    uint64_t now = drive_read(drive, 1000, 16, 0), start = now;

    (void)state;
    for (uint64_t lba = 1016; lba < 1016 + 150 * 60; lba += 30)
        now = drive_read(drive, lba, 30, now);
    is_near((double)(now - start), 60e9, 0.1);
    drive_free(drive);
}

/* A host that is busy between its requests: what the drive reads ahead meanwhile is there. */
static void test_a_busy_host_is_hidden(void **state)
{
    struct drive *drive = drive_of("2X");
    uint64_t now = drive_read(drive, 0, 32, 0), start = now;

    (void)state;
    for (uint64_t i = 1; i <= 100; i++) /* 64 KB take 213 ms */
        now = drive_read(drive, i * 32, 32, now + (uint64_t)(100 * MS));
    is_near((double)(now - start), 100 * 32 / 150.0 * 1e9, 1);

    now += (uint64_t)(1000 * MS); /* the buffer is full by then */
    uint64_t there = drive_read(drive, 101 * 32, 32, now);
    assert_true((double)(there - now) < 15 * MS); /* a command, and the bus */
    drive_free(drive);
}

static void test_without_a_buffer_each_request_waits(void **state)
{
    struct drive *with = drive_of("32X"), *without = drive_of("32X,buffer=0");
    uint64_t a = drive_read(with, 0, 8, 0), b = drive_read(without, 0, 8, 0);

    (void)state;
    for (uint64_t i = 1; i <= 100; i++) {
        a = drive_read(with, i * 8, 8, a);
        b = drive_read(without, i * 8, 8, b);
    }
    assert_true(b > a + (uint64_t)(100 * 4 * MS)); /* half a turn each */
    drive_free(with);
    drive_free(without);
}

static void test_going_back_costs_an_access(void **state)
{
    struct drive *drive = drive_of("2X");
    uint64_t now = drive_read(drive, 100000, 16, 0), there;

    (void)state;
    there = drive_read(drive, 100000, 16, now); /* still in the buffer */
    assert_true((double)(there - now) < 10 * MS);
    now = drive_read(drive, 0, 16, there);
    assert_true((double)(now - there) > 200 * MS);
    drive_free(drive);
}

static void test_spinning_up(void **state)
{
    struct drive *drive = drive_of("32X,idle=10s,spin-up=1000ms");
    uint64_t now = drive_read(drive, 0, 1, 0), there;

    (void)state;
    assert_true((double)now > 1000 * MS);
    there = drive_read(drive, 5000, 1, now + 9000000000);
    assert_true((double)(there - now - 9000000000) < 500 * MS);
    now = there;
    there = drive_read(drive, 0, 1, now + 11000000000);
    assert_true((double)(there - now - 11000000000) > 1000 * MS);
    drive_free(drive);
}

/* Whatever is asked for, time goes forward, and no faster than the bus. */
static void test_any_requests(void **state)
{
    static const char *const drives[] = {"1X", "2X", "12X-cav", "32X,idle=1", "72X,buffer=0"};
    uint64_t random = 7;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(drives); i++) {
        struct drive *drive = drive_of(drives[i]);
        uint64_t now = 0;
        for (int k = 0; k < 20000; k++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            uint64_t lba = k % 100 == 0 ? UINT64_MAX - (random >> 60) : (random >> 40) % 400000;
            uint64_t count = 1 + (random >> 20) % 64;
            now += (random >> 10) % 50000000;
            uint64_t there = drive_read(drive, lba, count, now);
            assert_true(there >= now);
            if (lba < 400000)
                assert_true((double)(there - now) >= (double)count * 2 / 10000 * 1e9 - 1);
            now = there;
        }
        drive_free(drive);
    }
}

static void test_parsing(void **state)
{
    static const char *const wrong[] = {"", "X", "32", "0X", "99X", "2X-", "2X-xyz", "2X,",
        "2X,speed=3", "2X,access=", "2X,access=-1", "2X,access=nan", "2X,access=5parsecs",
        "2X,buffer=1T", "2X,access=900,full=800", "-2X", "2X,accessx=3", "nanX"};
    char text[DRIVE_TEXT_MAX], *why;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        struct drive_profile profile;
        assert_int_equal(drive_profile_parse(wrong[i], &profile, &why), -EINVAL);
        assert_non_null(why);
        free(why);
    }
    struct drive_profile profile = profile_of("24x-clv,access=90ms,full=200,buffer=256K,bus=5000");
    assert_string_equal(drive_profile_describe(&profile, text),
        "24X CLV, access 90 ms (full 200), overhead 1 ms, spin-up 1300 ms, buffer 256 KB, bus 5000 "
        "KB/s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_passing),
        cmocka_unit_test(test_accesses_are_as_published),
        cmocka_unit_test(test_sequential),
        cmocka_unit_test(test_a_busy_host_is_hidden),
        cmocka_unit_test(test_without_a_buffer_each_request_waits),
        cmocka_unit_test(test_going_back_costs_an_access),
        cmocka_unit_test(test_spinning_up),
        cmocka_unit_test(test_any_requests),
        cmocka_unit_test(test_parsing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
