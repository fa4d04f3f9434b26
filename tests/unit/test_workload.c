/* The workloads: exact totals, the same bytes from the same seed on every machine, and sizes of the
 * shape that is promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "bench/workload.h"

/* Of every name, type, mode, time and byte of insight from seed 1, on any machine. */
#define INSIGHT_HASH 0x34bb364226927f95ULL

static int place_make(void **state)
{
    char *place = strdup("/tmp/shoal-test-XXXXXX");

    if (!place || !mkdtemp(place))
        return -1;
    *state = place;
    return 0;
}

static int place_remove(void **state)
{
    char command[96];

    (void)snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
    int status = system(command);
    free(*state);
    return status;
}

static struct workload workload_of(const char *text)
{
    struct workload workload;

    assert_int_equal(workload_find(text, &workload), 0);
    return workload;
}

/* Makes it as place/sub/NAME; the totals. */
static struct workload_totals make(
    const char *place, const char *sub, const char *text, uint64_t seed)
{
    const struct workload workload = workload_of(text);
    struct workload_totals totals = {0};
    char path[128], name[WORKLOAD_NAME_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", place, sub);
    assert_int_equal(mkdir(path, 0700), 0);
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(workload_make(&workload, seed, fd, NULL, &totals, name), 0);
    return totals;
}

struct tally {
    uint64_t files, directories, bytes, largest, deepest;
    uint64_t sizes[100000];
    XXH3_state_t *hash;
};

static void hash_content(struct tally *tally, const char *path)
{
    static char buffer[65536];
    ssize_t n;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        (void)XXH3_64bits_update(tally->hash, buffer, (size_t)n);
    assert_int_equal(n, 0);
}

/* Its bytes, whatever the machine's order. */
static void hash_number(struct tally *tally, uint64_t number)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    (void)XXH3_64bits_update(tally->hash, bytes, sizeof(bytes));
}

static void tally_entry(struct tally *tally, const FTSENT *entry, size_t top)
{
    const struct stat *st = entry->fts_statp;
    const char *below = entry->fts_path + top;

    (void)XXH3_64bits_update(tally->hash, below, strlen(below) + 1);
    hash_number(tally, st->st_mode);
    hash_number(tally, (uint64_t)st->st_mtim.tv_sec);
    hash_number(tally, (uint64_t)st->st_mtim.tv_nsec);
    if ((uint64_t)entry->fts_level > tally->deepest)
        tally->deepest = (uint64_t)entry->fts_level;
    if (S_ISDIR(st->st_mode)) {
        assert_int_equal(st->st_mode & 07777, 0755);
        tally->directories++;
        return;
    }
    assert_true(S_ISREG(st->st_mode));
    assert_int_equal(st->st_mode & 07777, 0644);
    hash_number(tally, (uint64_t)st->st_size);
    hash_content(tally, entry->fts_path);
    tally->sizes[tally->files++] = (uint64_t)st->st_size;
    tally->bytes += (uint64_t)st->st_size;
    if ((uint64_t)st->st_size > tally->largest)
        tally->largest = (uint64_t)st->st_size;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Walks place/sub; the hash of all there is. */
static uint64_t take_tally(const char *place, const char *sub, struct tally *tally)
{
    char path[128];
    char *const paths[] = {path, NULL};
    FTSENT *entry;

    (void)snprintf(path, sizeof(path), "%s/%s", place, sub);
    memset(tally, 0, sizeof(*tally));
    tally->hash = XXH3_createState();
    (void)XXH3_64bits_reset(tally->hash);
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    assert_non_null(fts);
    while ((entry = fts_read(fts))) {
        assert_true(
            entry->fts_info == FTS_D || entry->fts_info == FTS_DP || entry->fts_info == FTS_F);
        if (entry->fts_level > 0 && entry->fts_info != FTS_DP)
            tally_entry(tally, entry, strlen(path));
    }
    assert_int_equal(fts_close(fts), 0);
    uint64_t hash = XXH3_64bits_digest(tally->hash);
    (void)XXH3_freeState(tally->hash);
    return hash;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct tally tally, tally_again;

static void test_insight_is_exact_and_known(void **state)
{
    struct workload_totals totals = make(*state, "a", "insight", 1);
    uint64_t hash = take_tally(*state, "a", &tally);

    assert_int_equal(tally.files, 2200);
    assert_int_equal(tally.bytes, 76289 * 1024);
    assert_in_range(tally.directories, 100, 150);
    assert_in_range(tally.deepest, 4, 6); /* the top is the first level */
    assert_int_equal(totals.files, tally.files);
    assert_int_equal(totals.bytes, tally.bytes);
    assert_int_equal(totals.directories, tally.directories);
    assert_int_equal(hash, INSIGHT_HASH);
}

static void test_insight_has_small_files_and_a_capped_tail(void **state)
{
    (void)make(*state, "a", "insight", 7);
    (void)take_tally(*state, "a", &tally);
    qsort(tally.sizes, tally.files, sizeof(tally.sizes[0]), by_size);
    /* Half the mean of 35 KB, as a lognormal of sigma 1.25 has it, give or take a fifth. */
    assert_in_range(tally.sizes[1100], 13000, 20000);
    assert_in_range(tally.sizes[1980], 60000, 100000);
    assert_in_range(tally.largest, 300000, 700000);
    assert_true(tally.sizes[0] > 0);
}

static void test_the_same_seed_gives_the_same_tree(void **state)
{
    static const char text[] = "files=300,kb=3,per-directory=40";

    (void)make(*state, "a", text, 5);
    mode_t before = umask(0077);
    (void)make(*state, "b", text, 5);
    (void)umask(before);
    (void)make(*state, "c", text, 6);
    uint64_t hash = take_tally(*state, "a", &tally);
    assert_true(hash == take_tally(*state, "b", &tally_again));
    assert_true(hash != take_tally(*state, "c", &tally_again));
    assert_int_equal(tally_again.bytes, 300 * 3 * 1024);
    assert_int_equal(tally_again.files, 300);
    assert_int_equal(tally_again.directories, 9);
}

static void test_one_large_is_one_file_of_the_same_bytes(void **state)
{
    (void)make(*state, "a", "one-large", 1);
    (void)take_tally(*state, "a", &tally);
    assert_int_equal(tally.files, 1);
    assert_int_equal(tally.directories, 1);
    assert_int_equal(tally.bytes, 76289 * 1024);
}

static void test_edges_of_parameters(void **state)
{
    (void)make(*state, "a", "files=1,kb=0,per-directory=1", 1);
    (void)take_tally(*state, "a", &tally);
    assert_int_equal(tally.files, 1);
    assert_int_equal(tally.bytes, 0);
    (void)make(*state, "b", "per-directory=3,files=7", 1);
    (void)take_tally(*state, "b", &tally);
    assert_int_equal(tally.files, 7);
    assert_int_equal(tally.directories, 4);
    assert_int_equal(tally.bytes, 7 * 4 * 1024);
}

static void test_finding_by_name(void **state)
{
    static const struct {
        const char *text;
        int r;
    } cases[] = {
        {"insight", 0},
        {"one-large", 0},
        {"Insight", -ENOENT},
        {"", -ENOENT},
        {"../x", -ENOENT},
        {"files=", -EINVAL},
        {"files=0", -EINVAL},
        {"files=5,", -EINVAL},
        {"files=-1", -EINVAL},
        {"kb=5", -EINVAL},
        {"files=5,depth=3", -EINVAL},
        {"files=5 ", -EINVAL},
        {"files=5,per-directory=0", -EINVAL},
        {"files=100000001", -ERANGE},
        {"files=99999999999999999999999", -ERANGE},
        {"files=5,kb=1048577", -ERANGE},
    };
    struct workload workload;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++)
        assert_int_equal(workload_find(cases[i].text, &workload), cases[i].r);
    /* One tree has one name, however it was asked for. */
    assert_int_equal(workload_find("kb=2,files=9", &workload), 0);
    assert_string_equal(workload.name, "files=9,kb=2,per-directory=1000");
    for (size_t i = 0; workload_name(i); i++)
        assert_int_equal(workload_find(workload_name(i), &workload), 0);
}

static void test_what_stands_there_is_left_alone(void **state)
{
    const struct workload workload = workload_of("files=3");
    struct workload_totals totals = {0};
    char name[WORKLOAD_NAME_MAX];

    (void)make(*state, "a", "files=3", 1);
    uint64_t hash = take_tally(*state, "a", &tally);
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/a", (char *)*state);
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(workload_make(&workload, 2, fd, NULL, &totals, name), -EEXIST);
    assert_string_equal(name, workload.name);
    assert_true(hash == take_tally(*state, "a", &tally));
}

static int after_ten(void *context)
{
    return ++*(int *)context > 10;
}

static void test_it_stops_when_asked(void **state)
{
    const struct workload workload = workload_of("files=1000,kb=1");
    int asked = 0;
    const struct workload_watch watch = {.should_stop = after_ten, .context = &asked};
    struct workload_totals totals = {0};
    _cleanup_close_ int fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(workload_make(&workload, 1, fd, &watch, &totals, NULL), -EINTR);
    assert_int_equal(totals.files, 0);
    assert_int_equal(asked, 11);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_insight_is_exact_and_known),
        TEST(test_insight_has_small_files_and_a_capped_tail),
        TEST(test_the_same_seed_gives_the_same_tree),
        TEST(test_one_large_is_one_file_of_the_same_bytes),
        TEST(test_edges_of_parameters),
        TEST(test_finding_by_name),
        TEST(test_what_stands_there_is_left_alone),
        TEST(test_it_stops_when_asked),
    };

    return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
