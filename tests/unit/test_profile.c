/* Profiles: what is learned from a tree makes one of the same shape; what is damaged is refused by
 * its key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "workload/mix.h"
#include "workload/profile.h"
#include "workload/survey.h"
#include "workload/workload.h"

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

/* Makes it as place/NAME; its path in `path`. */
static void make(const char *place, const char *text, uint64_t seed, char path[static 512])
{
    struct workload workload;
    struct workload_totals totals;
    char *why;
    _cleanup_close_ int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(workload_find(text, &workload, &why), 0);
    assert_int_equal(workload_make(&workload, seed, fd, NULL, &totals, NULL), 0);
    (void)snprintf(path, 512, "%s/%s", place, workload.name);
    assert_int_equal(totals.files, workload.files);
    assert_int_equal(totals.directories, workload.directories);
    assert_int_equal(totals.bytes, workload.bytes);
    workload_clear(&workload);
}

static void write_file(const char *path, const struct profile *profile)
{
    FILE *out = fopen(path, "we");

    assert_non_null(out);
    assert_int_equal(profile_write(profile, out), 0);
    assert_int_equal(fclose(out), 0);
}

/* Learns a tree into place/p.json. */
static void learn(const char *place, const char *path)
{
    struct profile *profile;
    char file[128], *why = NULL;

    assert_int_equal(profile_learn(path, &profile, &why), 0);
    (void)snprintf(file, sizeof(file), "%s/p.json", place);
    write_file(file, profile);
    profile_free(profile);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort(struct samples *samples)
{
    if (samples->n > 0)
        qsort(samples->numbers, samples->n, sizeof(*samples->numbers), by_number);
}

static void survey(const char *path, struct survey *ret)
{
    char *why = NULL;

    assert_int_equal(survey_directory(path, ret, &why), 0);
    sort(&ret->samples->sizes);
    sort(&ret->samples->name_lengths);
    sort(&ret->samples->files_per_directory);
}

static uint64_t quantile_of(const struct samples *sorted, double share)
{
    return sorted->numbers[(size_t)((double)(sorted->n - 1) * share)];
}

static void assert_alike(const struct samples *a, const struct samples *b, double most)
{
    static const double shares[] = {.01, .05, .1, .25, .5, .75, .9, .95, .99, 1};

    assert_int_equal(a->n, b->n);
    if (a->n == 0)
        return;
    for (size_t i = 0; i < ELEMENTS(shares); i++) {
        double x = (double)quantile_of(a, shares[i]), y = (double)quantile_of(b, shares[i]);
        if (y < x - 1 - most * x || y > x + 1 + most * x)
            fail_msg("at %g: %g and %g", shares[i], x, y);
    }
}

static void assert_same_shape(const char *path, const char *again)
{
    struct survey_samples samples_a = {0}, samples_b = {0};
    struct survey a = {.samples = &samples_a}, b = {.samples = &samples_b};

    survey(path, &a);
    survey(again, &b);
    assert_int_equal(a.files, b.files);
    assert_int_equal(a.directories, b.directories);
    assert_int_equal(a.bytes, b.bytes);
    assert_int_equal(a.n_levels, b.n_levels);
    assert_memory_equal(a.levels, b.levels, a.n_levels * sizeof(*a.levels));
    assert_alike(&samples_a.sizes, &samples_b.sizes, .03);
    assert_alike(&samples_a.name_lengths, &samples_b.name_lengths, .1);
    assert_alike(&samples_a.files_per_directory, &samples_b.files_per_directory, .5);
    survey_samples_clear(&samples_a);
    survey_samples_clear(&samples_b);
}

static void test_a_tree_is_made_again(void **state)
{
    static const char *const texts[] = {"linux-tree,scale=0.05,content=zero",
        "node-modules,scale=0.1,content=zero", "insight", "imagenet,scale=0.5,content=zero",
        "maildir,scale=0.1,content=zero", "files=70,kb=1,per-directory=7", "files=110,kb=3",
        "files=1,kb=9"};
    char file[128], path[512], again[512];

    (void)snprintf(file, sizeof(file), "profile=%s/p.json", (char *)*state);
    for (size_t i = 0; i < ELEMENTS(texts); i++) {
        char command[600];
        make(*state, texts[i], 1, path);
        learn(*state, path);
        make(*state, file, 2, again);
        assert_same_shape(path, again);
        (void)snprintf(command, sizeof(command), "rm -r '%s'", again);
        assert_int_equal(system(command), 0);
    }
}

static void test_a_scaled_one_has_so_many_files(void **state)
{
    char file[128], path[512];
    struct survey twice = {0}, tenth = {0};
    char *why;

    make(*state, "files=300,kb=2,per-directory=10", 1, path);
    learn(*state, path);
    (void)snprintf(file, sizeof(file), "profile=%s/p.json,scale=2", (char *)*state);
    make(*state, file, 1, path);
    assert_string_equal(strrchr(path, '/'), "/profile=p,scale=2");
    assert_int_equal(survey_directory(path, &twice, &why), 0);
    assert_int_equal(twice.files, 600);
    assert_int_equal(twice.directories, 61);
    assert_int_equal(twice.bytes, 600 * 2048);
    (void)snprintf(file, sizeof(file), "profile=%s/p.json,scale=0.1", (char *)*state);
    make(*state, file, 1, path);
    assert_int_equal(survey_directory(path, &tenth, &why), 0);
    assert_int_equal(tenth.files, 30);
    assert_int_equal(tenth.directories, 4);
    assert_int_equal(tenth.bytes, 30 * 2048);
}

static void touch(const char *directory, const char *name, off_t size)
{
    char path[600];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
}

static void test_nothing_of_its_names_is_kept(void **state)
{
    char path[128], file[128], text[8192] = "";

    (void)snprintf(path, sizeof(path), "%s/secret", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    touch(path, "payroll", 5);
    learn(*state, path);
    (void)snprintf(file, sizeof(file), "%s/p.json", (char *)*state);
    _cleanup_fclose_ FILE *in = fopen(file, "re");
    assert_non_null(in);
    assert_in_range(fread(text, 1, sizeof(text) - 1, in), 100, 1000);
    assert_null(strstr(text, "secret"));
    assert_null(strstr(text, "payroll"));
    assert_null(strstr(text, *state));
}

/* Deeper than a profile's levels go, with sizes that are far apart. */
static void test_edges_of_what_can_be_learned(void **state)
{
    char path[512], file[128], again[512];
    struct survey_samples samples = {0};
    struct survey deep = {.samples = &samples};

    (void)snprintf(path, sizeof(path), "%s/d", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    touch(path, "empty", 0);
    touch(path, "huge", 1LL << 35);
    for (int i = 0; i < SHAPE_LEVELS_MAX + 10; i++) {
        (void)strcat(path, "/d");
        assert_int_equal(mkdir(path, 0700), 0);
    }
    touch(path, "x", 1);
    path[strlen(*state) + 2] = '\0';
    learn(*state, path);
    (void)snprintf(file, sizeof(file), "profile=%s/p.json,content=zero", (char *)*state);
    struct workload workload;
    char *why;
    assert_int_equal(workload_find(file, &workload, &why), 0);
    assert_int_equal(workload.files, 3);
    assert_int_equal(workload.directories, SHAPE_LEVELS_MAX + 11);
    assert_int_equal(workload.bytes, (1LL << 35) + 1);
    workload_clear(&workload);

    (void)strcat(path, "/huge");
    assert_int_equal(truncate(path, 3000), 0);
    path[strlen(*state) + 2] = '\0';
    learn(*state, path);
    make(*state, file, 1, again);
    survey(again, &deep);
    assert_int_equal(deep.n_levels, SHAPE_LEVELS_MAX);
    assert_int_equal(samples.sizes.numbers[0], 0);
    assert_in_range(samples.sizes.numbers[1], 0, 2);
    assert_in_range(samples.sizes.numbers[2], 2999, 3001);
    survey_samples_clear(&samples);
}

/* Nearly all bytes in one file of many: the others keep their sizes, and it has its own. */
static void test_one_that_outweighs_all(void **state)
{
    char path[512], file[128];
    struct profile *profile = NULL;
    struct quantile_parts parts;
    char *why = NULL;
    const uint64_t huge = 1ULL << 39;

    make(*state, "files=2999,kb=1,per-directory=3000", 1, path);
    touch(path, "huge", (off_t)huge);
    learn(*state, path);
    (void)snprintf(file, sizeof(file), "%s/p.json", (char *)*state);
    assert_int_equal(profile_load(file, &profile, &why), 0);
    const struct shape *shape = profile_shape(profile);
    assert_int_equal(shape->files, 3000);
    quantile_parts_start(&parts, &shape->sizes, shape->files, shape->bytes);
    assert_in_range(quantile_part(&parts, 2999), huge / 100 * 97, huge / 100 * 103);
    assert_in_range(quantile_part(&parts, 1500), 440, 500); /* the median of files=N */
    profile_free(profile);
}

static void test_what_cannot_be_learned(void **state)
{
    struct profile *profile = NULL;
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/none", (char *)*state);
    char *why = NULL;
    assert_int_equal(profile_learn(path, &profile, &why), -ENOENT);
    assert_string_equal(why, "No such file or directory");
    free(why);
    assert_int_equal(profile_learn(*state, &profile, &why), -EINVAL);
    assert_string_equal(why, "there is no regular file in it");
    free(why);
    assert_null(profile);
}

/* A sound profile, of which each case changes one key; "" for a value takes the key away. */
static const char sound[] =
    "{\"schema\": \"shoal-profile\", \"version\": 1, \"files\": 10, \"directories\": 3,"
    " \"bytes\": 1000, \"levels\": [[1, 4], [2, 6]], \"sizes\": [[0, 0], [1000000000, 200]],"
    " \"files-per-directory\": [[0, 3], [1000000000, 4]], \"subdirectories\": [[0, 0], "
    "[1000000000, 2]],"
    " \"name-lengths\": [[0, 1], [1000000000, 9]]}";

static const struct {
    const char *key, *value, *why;
} damages[] = {
    {"schema", "\"other\"", "schema: \"shoal-profile\" is expected"},
    {"schema", "1", "schema: \"shoal-profile\" is expected"},
    {"version", "2", "version: a whole number from 1 to 1 is expected"},
    {"version", "", "version: is missing"},
    {"files", "0", "files: a whole number from 1 to 100000000 is expected"},
    {"files", "-10", "files: a whole number from 1 to 100000000 is expected"},
    {"files", "1.5", "files: a whole number from 1 to 100000000 is expected"},
    {"files", "\"10\"", "files: a whole number from 1 to 100000000 is expected"},
    {"files", "9223372036854775807", "files: a whole number from 1 to 100000000 is expected"},
    {"files", "11", "levels: they do not come to the directories and files"},
    {"directories", "4", "levels: they do not come to the directories and files"},
    {"directories", "0", "directories: a whole number from 1 to 100000000 is expected"},
    {"bytes", "-1", "bytes: a whole number from 0 to 1152921504606846976 is expected"},
    {"bytes", "1200", "sizes: their mean is not that of bytes and files"},
    {"bytes", "800", "sizes: their mean is not that of bytes and files"},
    {"levels", "[]", "levels: an array of 1 to 64 pairs of numbers is expected"},
    {"levels", "{}", "levels: an array of 1 to 64 pairs of numbers is expected"},
    {"levels", "[[2, 4], [1, 6]]", "levels: the top is one directory"},
    {"levels", "[[1, 4], [0, 0], [2, 6]]", "levels: element 1 has no directory, or too many"},
    {"levels", "[[1, 4], [2, 999999999999]]", "levels: element 1 has no directory, or too many"},
    {"levels", "[[1, 4], [2]]", "levels: element 1 is not a pair of numbers from 0 on"},
    {"levels", "[[1, 4], [2, -6]]", "levels: element 1 is not a pair of numbers from 0 on"},
    {"sizes", "", "sizes: is missing"},
    {"sizes", "[[0, 1]]", "sizes: an array of 2 to 256 pairs of numbers is expected"},
    {"sizes", "[[0, 0], [1000000000, \"200\"]]",
        "sizes: element 1 is not a pair of numbers from 0 on"},
    {"sizes", "[[1, 0], [1000000000, 200]]", "sizes: the shares do not rise from 0 to 1000000000"},
    {"sizes", "[[0, 0], [999999999, 200]]", "sizes: the shares do not rise from 0 to 1000000000"},
    {"sizes", "[[0, 0], [4295967296, 200]]", "sizes: the shares do not rise from 0 to 1000000000"},
    {"sizes", "[[0, 0], [500000, 100], [400000, 100], [1000000000, 200]]",
        "sizes: the shares do not rise from 0 to 1000000000"},
    {"sizes", "[[0, 200], [1000000000, 0]]",
        "sizes: the values do not rise between 0 and 1099511627776"},
    {"sizes", "[[0, 0], [1000000000, 1099511627777]]",
        "sizes: the values do not rise between 0 and 1099511627776"},
    {"files-per-directory", "7",
        "files-per-directory: an array of 2 to 256 pairs of numbers is expected"},
    {"subdirectories", "", "subdirectories: is missing"},
    {"name-lengths", "[[0, 0], [1000000000, 9]]",
        "name-lengths: the values do not rise between 1 and 255"},
    {"name-lengths", "[[0, 1], [1000000000, 256]]",
        "name-lengths: the values do not rise between 1 and 255"},
    {"names", "[\"a\"]", "names: no such key is known"},
};

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void test_what_is_damaged_is_refused_by_its_key(void **state)
{
    char path[128];
    struct profile *profile = NULL;
    char *why = NULL;

    (void)snprintf(path, sizeof(path), "%s/p.json", (char *)*state);
    write_text(path, sound);
    assert_int_equal(profile_load(path, &profile, &why), 0);
    profile_free(profile);
    profile = NULL;
    for (size_t i = 0; i < ELEMENTS(damages); i++) {
        json_t *root = json_loads(sound, 0, NULL);
        assert_non_null(root);
        if (*damages[i].value)
            assert_int_equal(json_object_set_new(root, damages[i].key,
                                 json_loads(damages[i].value, JSON_DECODE_ANY, NULL)),
                0);
        else
            assert_int_equal(json_object_del(root, damages[i].key), 0);
        assert_int_equal(json_dump_file(root, path, 0), 0);
        json_decref(root);
        assert_int_equal(profile_load(path, &profile, &why), -EINVAL);
        assert_string_equal(why, damages[i].why);
        assert_null(profile);
        free(why);
    }
}

static void test_what_is_no_profile_is_refused(void **state)
{
    static const struct {
        const char *text, *why; /* how it begins */
    } cases[] = {
        {"", "line 1: "},
        {"[1, 2]", "it is no JSON object"},
        {"{\"schema\": \"shoal-profile\", \"schema\": 1}", "line 1: "},
        {"{\"schema\": \"shoal-profile\"", "line 1: "},
    };
    char path[128];
    struct profile *profile = NULL;
    char *why = NULL;

    (void)snprintf(path, sizeof(path), "%s/p.json", (char *)*state);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        write_text(path, cases[i].text);
        assert_int_equal(profile_load(path, &profile, &why), -EINVAL);
        assert_memory_equal(why, cases[i].why, strlen(cases[i].why));
        free(why);
    }
    _cleanup_free_ char *large = calloc(1, (1 << 20) + 2);
    assert_non_null(large);
    memset(large, ' ', (1 << 20) + 1);
    write_text(path, large);
    assert_int_equal(profile_load(path, &profile, &why), -EINVAL);
    assert_string_equal(why, "it is too large for a profile");
    free(why);
    assert_int_equal(profile_load(*state, &profile, &why), -EISDIR);
    free(why);
}

/* Sound, but unlike any tree: what a level has is met all the same. */
static void test_odd_shapes_are_met(void **state)
{
    static const char *const levels[] = {"[[1, 0], [5, 0], [1, 10]]", "[[1, 10], [5, 0], [1, 0]]",
        "[[1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 10]]", "[[1, 9], [6, 1]]"};
    static const char *const scales[] = {"1", "0.01", "0.3", "7.5"};
    char file[128], option[160], path[512];

    (void)snprintf(file, sizeof(file), "%s/p.json", (char *)*state);
    for (size_t i = 0; i < ELEMENTS(levels); i++) {
        json_t *root = json_loads(sound, 0, NULL);
        assert_non_null(root);
        assert_int_equal(json_object_set_new(root, "levels", json_loads(levels[i], 0, NULL)), 0);
        assert_int_equal(json_object_set_new(root, "directories", json_integer(7)), 0);
        json_t *zeros = json_pack("[[ii][ii]]", 0, 0, QUANTILE_ONE, 0);
        assert_int_equal(json_object_set(root, "subdirectories", zeros), 0);
        assert_int_equal(json_object_set_new(root, "files-per-directory", zeros), 0);
        assert_int_equal(json_dump_file(root, file, 0), 0);
        json_decref(root);
        for (size_t k = 0; k < ELEMENTS(scales); k++) {
            char command[600];
            (void)snprintf(option, sizeof(option), "profile=%s,scale=%s", file, scales[k]);
            make(*state, option, 1, path);
            (void)snprintf(command, sizeof(command), "rm -r '%s'", path);
            assert_int_equal(system(command), 0);
        }
    }
}

/* A few bytes of it are others: it is refused with a reason, or sound, and then met. */
static void test_any_damage_is_survived(void **state)
{
    static const char bytes[] = "0123456789-,.[]{}\"e \377x";
    char path[128];
    size_t n_refused = 0;

    (void)snprintf(path, sizeof(path), "%s/p.json", (char *)*state);
    for (uint64_t i = 0; i < 2000; i++) {
        struct profile *profile = NULL;
        _cleanup_free_ char *why = NULL;
        char text[sizeof(sound)];
        memcpy(text, sound, sizeof(sound));
        for (uint64_t k = 0; k < 1 + i % 3; k++)
            text[mix(i, 1, k) % (sizeof(sound) - 1)] = bytes[mix(i, 2, k) % (sizeof(bytes) - 1)];
        write_text(path, text);
        int r = profile_load(path, &profile, &why);
        if (r < 0) {
            assert_int_equal(r, -EINVAL);
            assert_non_null(why);
            assert_null(profile);
            n_refused++;
            continue;
        }
        const struct shape *shape = profile_shape(profile);
        struct quantile_parts parts;
        uint64_t sum = 0;
        quantile_parts_start(&parts, &shape->sizes, shape->files, shape->bytes);
        for (uint64_t k = 0; k < shape->files && k < 1000; k++)
            sum += quantile_part(&parts, k);
        assert_true(shape->files > 1000 || sum == shape->bytes);
        profile_free(profile);
    }
    assert_in_range(n_refused, 1000, 1999);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_tree_is_made_again),
        TEST(test_a_scaled_one_has_so_many_files),
        TEST(test_nothing_of_its_names_is_kept),
        TEST(test_edges_of_what_can_be_learned),
        TEST(test_one_that_outweighs_all),
        TEST(test_what_cannot_be_learned),
        TEST(test_what_is_damaged_is_refused_by_its_key),
        TEST(test_what_is_no_profile_is_refused),
        TEST(test_odd_shapes_are_met),
        TEST(test_any_damage_is_survived),
    };

    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
