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
#include "workload/survey.h"
#include "workload/workload.h"

/* Of every name, type, mode, time and byte of insight from seed 1, on any machine. */
#define INSIGHT_HASH 0x34bb364226927f95ULL

static int place_make(void **state)
{
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    char *place = strdup(in_memory ? "/dev/shm/shoal-test-XXXXXX" : "/tmp/shoal-test-XXXXXX");

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
    char *why;

    assert_int_equal(workload_find(text, &workload, &why), 0);
    assert_null(why);
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
    assert_int_equal(totals.files, workload.files);
    assert_int_equal(totals.directories, workload.directories);
    assert_int_equal(totals.bytes, workload.bytes);
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
        const char *why; /* how it begins; NULL: nothing is said */
    } cases[] = {
        {"insight", 0, NULL},
        {"one-large", 0, NULL},
        {"Insight", -ENOENT, NULL},
        {"", -ENOENT, NULL},
        {"insights", -ENOENT, NULL},
        {"linux", -ENOENT, NULL},
        {"no/../x", -ENOENT, "No such file"},
        {"files=", -EINVAL, "files: "},
        {"files=0", -EINVAL, "files: "},
        {"files=5,", -EINVAL, "'': no such parameter"},
        {"files=-1", -EINVAL, "files: "},
        {"kb=5", -EINVAL, "files: "},
        {"files=5,depth=3", -EINVAL, "'depth': no such parameter"},
        {"files=5 ", -EINVAL, "files: "},
        {"files=5,per-directory=0", -EINVAL, "per-directory: "},
        {"files=100000001", -ERANGE, "files: 100000000 is the most"},
        {"files=99999999999999999999999", -ERANGE, "files: "},
        {"files=5,kb=1048577", -ERANGE, "kb: 1048576"},
        {"files=5,scale=2", -EINVAL, "'scale': no such parameter"},
        {"insight,", -EINVAL, "'': no such parameter"},
        {"insight,scale", -EINVAL, "'scale': no such parameter"},
        {"insight,scale=", -EINVAL, "scale: a number"},
        {"insight,scale=.5", -EINVAL, "scale: a number"},
        {"insight,scale=1.", -EINVAL, "scale: a number"},
        {"insight,scale=1.x", -EINVAL, "scale: a number"},
        {"insight,scale=1.0000001", -EINVAL, "scale: a number"},
        {"insight,scale=-1", -EINVAL, "scale: a number"},
        {"insight,scale=1e2", -EINVAL, "scale: a number"},
        {"insight,scale=0", -ERANGE, "scale: from 0.01"},
        {"insight,scale=0.009999", -ERANGE, "scale: from 0.01"},
        {"insight,scale=1000.000001", -ERANGE, "scale: from 0.01"},
        {"insight,scale=99999999999999999999999", -ERANGE, "scale: from 0.01"},
        {"insight,content=noise", -EINVAL, "content: text, random"},
        {"insight,kb=4", -EINVAL, "'kb': no such parameter"},
        {"profile=", -EINVAL, "profile: a file"},
        {"profile=/no/such.json", -ENOENT, "No such file"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct workload workload;
        _cleanup_free_ char *why = NULL;
        assert_int_equal(workload_find(cases[i].text, &workload, &why), cases[i].r);
        if (cases[i].why) {
            assert_non_null(why);
            assert_memory_equal(why, cases[i].why, strlen(cases[i].why));
        } else {
            assert_null(why);
        }
    }
}

/* One tree has one name, however it was asked for. */
static void test_a_name_is_in_full(void **state)
{
    static const struct {
        const char *text, *name, *content;
    } cases[] = {
        {"kb=2,files=9", "files=9,kb=2,per-directory=1000", "text"},
        {"files=9,content=random", "files=9,kb=4,per-directory=1000,content=random", "random"},
        {"insight", "insight", "text and random"},
        {"insight,scale=1.0", "insight", "text and random"},
        {"insight,scale=01.50", "insight,scale=1.5", "text and random"},
        {"maildir,content=zero,scale=0.010000", "maildir,scale=0.01,content=zero", "zeros"},
        {"imagenet,scale=100", "imagenet,scale=100", "random"},
        {"linux-tree,content=mixed", "linux-tree,content=mixed", "text and random"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct workload workload = workload_of(cases[i].text);
        assert_string_equal(workload.name, cases[i].name);
        assert_string_equal(workload.content, cases[i].content);
        assert_null(workload.directory);
        workload_clear(&workload);
    }
}

static void test_the_published_totals(void **state)
{
    static const struct {
        const char *text;
        uint64_t files, directories, bytes;
    } cases[] = {
        {"linux-tree", 78579, 5096, 1298682509},
        {"node-modules", 20713, 2446, 20713 * 20801},
        {"imagenet,scale=100", 1281167, 1001, 147897477120},
        {"imagenet", 12812, 11, 1478974771},
        {"maildir", 20000, 1, 20000 * 16384},
        {"desktop", 40000, 3922, 12426777752},
        {"linux-tree,scale=0.1", 7858, 511, 129868251},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        const struct workload workload = workload_of(cases[i].text);
        assert_int_equal(workload.files, cases[i].files);
        assert_int_equal(workload.directories, cases[i].directories);
        assert_int_equal(workload.bytes, cases[i].bytes);
    }
}

/* Each named one, small; `levels` is the depth of the deepest file or directory below the place. */
static const struct {
    const char *text;
    uint64_t files, directories, bytes, levels_least, levels_most;
} small[] = {
    {"insight,scale=0.1", 220, 16, 7811994, 5, 6},
    {"insight,scale=1.5", 3300, 197, 117179904, 6, 7},
    {"linux-tree,scale=0.05", 3929, 256, 64934125, 10, 12},
    {"node-modules,scale=0.1", 2071, 246, 43085111, 9, 11},
    {"imagenet,scale=0.1", 1281, 2, 147897477, 3, 3},
    {"maildir,scale=0.1", 2000, 1, 32768000, 2, 2},
    {"desktop,scale=0.01", 400, 40, 124267778, 8, 18},
    {"one-large,scale=0.01", 1, 1, 781199, 2, 2},
};

static void test_named_ones_are_exact_at_any_scale(void **state)
{
    for (size_t i = 0; i < ELEMENTS(small); i++) {
        char sub[16];
        (void)snprintf(sub, sizeof(sub), "%zu", i);
        (void)make(*state, sub, small[i].text, 3);
        (void)take_tally(*state, sub, &tally);
        assert_int_equal(tally.files, small[i].files);
        assert_int_equal(tally.directories, small[i].directories);
        assert_int_equal(tally.bytes, small[i].bytes);
        assert_in_range(tally.deepest, small[i].levels_least, small[i].levels_most);
    }
}

static void test_named_ones_depend_on_the_seed_alone(void **state)
{
    static const char *const texts[] = {"insight,scale=0.1", "linux-tree,scale=0.02",
        "node-modules,scale=0.05", "imagenet,scale=0.02", "maildir,scale=0.02",
        "desktop,scale=0.01", "one-large,scale=0.01"};

    for (size_t i = 0; i < ELEMENTS(texts); i++) {
        char sub[16];
        (void)snprintf(sub, sizeof(sub), "a%zu", i);
        (void)make(*state, sub, texts[i], 5);
        uint64_t hash = take_tally(*state, sub, &tally);
        sub[0] = 'b';
        (void)make(*state, sub, texts[i], 5);
        assert_true(hash == take_tally(*state, sub, &tally));
        sub[0] = 'c';
        (void)make(*state, sub, texts[i], 6);
        assert_true(hash != take_tally(*state, sub, &tally));
    }
}

/* Of every name, type, mode, time and byte of each from seed 1, on any machine. */
static void test_named_ones_are_known(void **state)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } cases[] = {
        {"insight,scale=1.5", 0x49fb2781e3c551faULL},
        {"linux-tree,scale=0.02", 0xf2471223a5313a65ULL},
        {"node-modules,scale=0.05", 0x6e694f53c98c91e2ULL},
        {"imagenet,scale=0.02", 0x5a71471129f09e6bULL},
        {"maildir,scale=0.02", 0xc4cdb64a85f9b7e0ULL},
        {"desktop,scale=0.01", 0x37eebe9eaa17b8a5ULL},
        {"files=100,kb=70,content=mixed", 0x632bf11722ab35d9ULL},
    };

    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        char sub[16];
        (void)snprintf(sub, sizeof(sub), "%zu", i);
        (void)make(*state, sub, cases[i].text, 1);
        assert_int_equal(take_tally(*state, sub, &tally), cases[i].hash);
    }
}

static void assert_about(uint64_t value, uint64_t expected, uint64_t percent)
{
    assert_in_range(
        value, expected - expected * percent / 100, expected + expected * percent / 100);
}

/* Against what was counted in real trees, see the tables. */
static void test_sizes_are_as_published(void **state)
{
    static const struct {
        const char *text;
        uint64_t median, mean, ninety, last; /* 90% and 99% */
    } cases[] = {
        {"linux-tree,scale=0.1", 3874, 16527, 28759, 124858},
        {"node-modules,scale=0.2", 1166, 20801, 14264, 199058},
    };

    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        char sub[16];
        (void)snprintf(sub, sizeof(sub), "%zu", i);
        (void)make(*state, sub, cases[i].text, 1);
        (void)take_tally(*state, sub, &tally);
        qsort(tally.sizes, tally.files, sizeof(tally.sizes[0]), by_size);
        assert_about(tally.sizes[tally.files / 2], cases[i].median, 1);
        assert_about(tally.sizes[tally.files * 9 / 10], cases[i].ninety, 1);
        assert_about(tally.sizes[tally.files * 99 / 100], cases[i].last, 1);
        assert_about(tally.bytes / tally.files, cases[i].mean, 1);
    }
}

static void test_desktop_has_directories_without_files(void **state)
{
    struct survey_samples samples = {0};
    struct survey survey = {.samples = &samples};
    char path[128], *why = NULL;
    size_t empty = 0;

    (void)make(*state, "a", "desktop,scale=0.1,content=zero", 1);
    (void)snprintf(path, sizeof(path), "%s/a/desktop,scale=0.1,content=zero", (char *)*state);
    assert_int_equal(survey_directory(path, &survey, &why), 0);
    for (size_t i = 0; i < samples.files_per_directory.n; i++)
        empty += samples.files_per_directory.numbers[i] == 0;
    assert_int_equal(samples.files_per_directory.n, 392);
    assert_in_range(empty, 70, 106); /* 22.5%, give or take a fifth */
    survey_samples_clear(&samples);
}

static uint64_t count_bytes(const char *path, bool *is_text)
{
    char buffer[4096];
    _cleanup_fclose_ FILE *in = fopen(path, "re");
    uint64_t zeros = 0;
    size_t n;

    assert_non_null(in);
    *is_text = true;
    while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
        for (size_t i = 0; i < n; i++) {
            zeros += buffer[i] == 0;
            *is_text = *is_text && (buffer[i] == ' ' || buffer[i] == '\n' ||
                                       (buffer[i] >= 'a' && buffer[i] <= 'z'));
        }
    return zeros;
}

static void test_content_is_as_asked_for(void **state)
{
    static const char *const contents[] = {"text", "random", "mixed", "zero"};
    size_t n_text[4] = {0};
    uint64_t zeros[4] = {0};

    for (size_t c = 0; c < ELEMENTS(contents); c++) {
        char text[64], path[256];
        (void)snprintf(text, sizeof(text), "files=20,kb=4,content=%s", contents[c]);
        (void)make(*state, contents[c], text, 1);
        for (int i = 0; i < 20; i++) {
            bool is_text;
            (void)snprintf(path, sizeof(path),
                "%s/%s/files=20,kb=4,per-directory=1000,content=%s/dir000000/file%06d.txt",
                (char *)*state, contents[c], contents[c], i);
            zeros[c] += count_bytes(path, &is_text);
            n_text[c] += is_text;
        }
    }
    assert_int_equal(n_text[0], 20);
    assert_int_equal(n_text[1], 0);
    assert_in_range(n_text[2], 4, 16);
    assert_int_equal(n_text[3], 0);
    assert_int_equal(zeros[0], 0);
    assert_in_range(zeros[1], 200, 450); /* one byte in 256 */
    assert_int_equal(zeros[3], 20 * 4096);
}

static void put(const char *place, const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", place, name);
    FILE *out = fopen(path, "wxe");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void test_a_directory_is_counted(void **state)
{
    char path[256], *why = NULL;
    struct workload workload;
    struct workload_totals totals;
    char name[WORKLOAD_NAME_MAX] = "";

    (void)snprintf(path, sizeof(path), "%s/real", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/real/sub", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    put(*state, "real/a", "12345");
    put(*state, "real/sub/b", "1234567");
    put(*state, "outside", "123");
    (void)snprintf(path, sizeof(path), "%s/real/sub/up", (char *)*state);
    assert_int_equal(symlink("..", path), 0);
    (void)snprintf(path, sizeof(path), "%s/real/file", (char *)*state);
    assert_int_equal(symlink("../outside", path), 0);
    (void)snprintf(path, sizeof(path), "%s/real/fifo", (char *)*state);
    assert_int_equal(mkfifo(path, 0600), 0);

    (void)snprintf(path, sizeof(path), "%s/./real/", (char *)*state);
    assert_true(workload_is_directory(path));
    assert_int_equal(workload_find(path, &workload, &why), 0);
    assert_string_equal(workload.name, "real");
    (void)snprintf(path, sizeof(path), "%s/real", (char *)*state);
    assert_string_equal(workload.directory, path);
    assert_int_equal(workload.files, 2);
    assert_int_equal(workload.directories, 2);
    assert_int_equal(workload.bytes, 12);
    assert_null(workload.content);
    assert_int_equal(workload_make(&workload, 1, AT_FDCWD, NULL, &totals, name), -EINVAL);
    assert_string_equal(name, "real");
    workload_clear(&workload);
}

static void test_what_is_no_directory_of_files_is_refused(void **state)
{
    static const struct {
        const char *below;
        int r;
        const char *why;
    } cases[] = {
        {"missing", -ENOENT, "No such file or directory"},
        {"file", -ENOTDIR, NULL},
        {"empty", -EINVAL, "there is no regular file in it"},
        {"bad\377", -EINVAL, "its name is not valid UTF-8"},
    };
    char path[256];

    put(*state, "file", "");
    for (size_t i = 2; i < ELEMENTS(cases); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", (char *)*state, cases[i].below);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct workload workload;
        _cleanup_free_ char *why = NULL;
        (void)snprintf(path, sizeof(path), "%s/%s", (char *)*state, cases[i].below);
        assert_int_equal(workload_find(path, &workload, &why), cases[i].r);
        assert_non_null(why);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
    }
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
        TEST(test_a_name_is_in_full),
        TEST(test_the_published_totals),
        TEST(test_named_ones_are_exact_at_any_scale),
        TEST(test_named_ones_depend_on_the_seed_alone),
        TEST(test_named_ones_are_known),
        TEST(test_sizes_are_as_published),
        TEST(test_desktop_has_directories_without_files),
        TEST(test_content_is_as_asked_for),
        TEST(test_a_directory_is_counted),
        TEST(test_what_is_no_directory_of_files_is_refused),
        TEST(test_what_stands_there_is_left_alone),
        TEST(test_it_stops_when_asked),
    };

    return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
