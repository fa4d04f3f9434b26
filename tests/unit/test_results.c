/* Series as JSON text: what is written is read back, what is damaged is refused. */
#include "results_example.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static void write_example(const char *path)
{
    struct series series = series_example();
    char *why = NULL;
    int r = results_write_json(path, &(struct results){&series, 1}, &why);

    assert_null(why);
    assert_int_equal(r, 0);
}

static void test_a_series_comes_back(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();
    struct results *results = NULL;
    char *why = NULL;

    write_example(place->path);
    assert_int_equal(results_read(place->path, &results, &why), 0);
    assert_int_equal(results->n_series, 1);
    const struct series *read = &results->series[0];
    assert_string_equal(read->system.cpu, "R4600PC 133MHz");
    assert_int_equal(read->from.has_journal, -1);
    assert_int_equal(read->to.has_journal, 0);
    assert_true(read->cold);
    assert_true(read->seed == INT64_MAX);
    assert_int_equal(read->methods[1].verdict, VERDICT_MISSING);
    assert_string_equal(read->methods[1].command, example_methods[1].command);
    assert_int_equal(read->methods[0].n_samples, 2);
    assert_memory_equal(read->methods[0].samples, example_samples, sizeof(example_samples));
    assert_same(results->series, 1, &series, 1);
    results_free(results);
    results_free(NULL);
}

/* What was copied off a drive is of that drive's world, and of no other. */
static void test_a_drive_is_a_source(void **state)
{
    const struct place *place = *state;
    struct series series = series_example(), other = series_example();
    struct results *results = NULL;
    char *why = NULL;

    series.drive = (char *)"24X-cav,access=90ms";
    series.time_scale = 2.5;
    _cleanup_free_ char *text = json_of(&series, 1);
    file_write(place->path, text, strlen(text));
    assert_int_equal(results_read(place->path, &results, &why), 0);
    assert_string_equal(series_state(&results->series[0]), "24X-cav,access=90ms");
    assert_true(series_stretch(&results->series[0]) > 2.49);
    assert_true(series_is_same_source(&results->series[0], &series));
    assert_false(series_is_same_source(&other, &series));
    other.drive = series.drive;
    assert_false(series_is_same_source(&other, &series)); /* at another pace */
    results_free(results);
}

/* A file of the first version lacks what came later. */
static void test_the_first_version_is_read(void **state)
{
    static const char *const later[] = {"minor_faults", "major_faults", "read_bytes",
        "written_bytes", "governor", "device", "scheduler", "scratch_kb", "content", "warnings",
        "drive", "time_scale", "machine"};
    const struct place *place = *state;
    struct results *results = NULL;
    char *why = NULL;

    write_example(place->path);
    json_t *root = json_load_file(place->path, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_object_set_new(root, "version", json_integer(1)), 0);
    json_t *series = json_array_get(json_object_get(root, "series"), 0);
    json_t *method = json_array_get(json_object_get(series, "methods"), 0);
    json_t *places[] = {series, json_object_get(series, "system"), json_object_get(series, "from"),
        json_object_get(series, "to"), json_array_get(json_object_get(method, "samples"), 0)};
    for (size_t i = 0; i < ELEMENTS(places); i++)
        for (size_t k = 0; k < ELEMENTS(later); k++)
            (void)json_object_del(places[i], later[k]);
    assert_int_equal(json_dump_file(root, place->path, 0), 0);
    json_decref(root);

    assert_int_equal(results_read(place->path, &results, &why), 0);
    assert_string_equal(results->series[0].content, "");
    assert_false(series_has_drive(&results->series[0]));
    assert_false(series_is_replay(&results->series[0]));
    assert_int_equal(results->series[0].n_warnings, 0);
    assert_string_equal(results->series[0].system.governor, "");
    assert_int_equal(results->series[0].methods[0].samples[0].minor_faults, 0);
    assert_int_equal(results->series[0].methods[0].samples[0].real_ns, 110000000);
    results_free(results);
}

/* Reading refuses the text and names `key`. */
static void assert_refused(const char *path, const char *text, size_t length, const char *key)
{
    struct results *results = NULL;
    char *why = NULL;

    file_write(path, text, length);
    assert_int_equal(results_read(path, &results, &why), -EBADMSG);
    assert_null(results);
    assert_non_null(why);
    if (!strstr(why, key))
        fail_msg("'%s' does not name '%s'", why, key);
    free(why);
}

static void test_a_cut_file_is_refused(void **state)
{
    const struct place *place = *state;

    write_example(place->path);
    _cleanup_free_ char *text = file_text(place->path);
    size_t whole = strlen(text);
    while (text[whole - 1] != '}')
        whole--;
    for (size_t length = 0; length < whole; length += 41)
        assert_refused(place->path, text, length, "line");
}

static void refuse_document(const char *path, const json_t *root, const char *key)
{
    _cleanup_free_ char *text = json_dumps(root, 0);

    assert_non_null(text);
    assert_refused(path, text, strlen(text), key);
}

/* Damages each value of the tree below `value` in turn: gone, then of a type that is nowhere right.
 */
static void refuse_each(const char *path, const json_t *root, json_t *value)
{
    char keys[16][32];
    size_t n = 0;

    if (json_is_array(value) && json_array_size(value) > 0)
        refuse_each(path, root, json_array_get(value, 0));
    /* By a list of keys: one that is put back would be met again by an iterator. */
    for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
        assert_in_range(n, 0, ELEMENTS(keys) - 1);
        (void)snprintf(keys[n++], sizeof(keys[0]), "%s", json_object_iter_key(at));
    }
    for (size_t i = 0; i < n; i++) {
        json_t *kept = json_incref(json_object_get(value, keys[i]));
        refuse_each(path, root, kept);
        (void)json_object_del(value, keys[i]);
        refuse_document(path, root, keys[i]);
        (void)json_object_set_new(value, keys[i], json_real(-1.5));
        refuse_document(path, root, keys[i]);
        (void)json_object_set_new(value, keys[i], kept);
    }
}

static void test_every_field_is_checked(void **state)
{
    const struct place *place = *state;

    write_example(place->path);
    json_t *root = json_load_file(place->path, 0, NULL);
    assert_non_null(root);
    refuse_each(place->path, root, root);
    json_decref(root);
}

static void test_wrong_values_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *key;
    } damages[] = {
        {"\"version\": 4", "\"version\": 5", "version"},
        {"shoal-results", "shoal-report", "schema"},
        {"\"verdict\": \"right\"", "\"verdict\": \"good\"", "series[0].methods[0].verdict"},
        {"\"cores\": 1", "\"cores\": -1", "series[0].system.cores"},
        {"\"exit_status\": 130", "\"exit_status\": 256",
            "series[0].methods[0].samples[1].exit_status"},
        {"\"synced_ns\": 150000000", "\"synced_ns\": 100000000", "samples[0].synced_ns"},
        {"\"files\": 2200", "\"files\": 2200, \"files\": 2200", "duplicate"},
        {"\"files\": 2200", "\"files\": 99999999999999999999", "integer"},
    };
    const struct place *place = *state;

    write_example(place->path);
    _cleanup_free_ char *text = file_text(place->path);
    for (size_t i = 0; i < ELEMENTS(damages); i++) {
        const char *at = strstr(text, damages[i].from);
        char *damaged = NULL;
        assert_non_null(at);
        assert_true(asprintf(&damaged, "%.*s%s%s", (int)(at - text), text, damages[i].to,
                        at + strlen(damages[i].from)) > 0);
        assert_refused(place->path, damaged, strlen(damaged), damages[i].key);
        free(damaged);
    }
}

static void test_what_json_cannot_hold(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();
    struct results *results = NULL;
    char *why = NULL, *text = NULL;

    series.seed = UINT64_MAX;
    assert_int_equal(results_to_json(&(struct results){&series, 1}, &text), -ERANGE);
    assert_int_equal(results_write_json(place->path, &(struct results){&series, 1}, &why), -ERANGE);
    assert_int_equal(access(place->path, F_OK), -1);

    series.seed = 1;
    series.to.path = (char *)"/mnt/\xff";
    assert_int_equal(results_write_json(place->path, &(struct results){&series, 1}, &why), 0);
    assert_int_equal(results_read(place->path, &results, &why), 0);
    assert_string_equal(results->series[0].to.path, "'/mnt/'$'\\377'");
    results_free(results);
}

/* A link stays one, a mode stays as it is, and nothing is left beside. */
static void test_a_file_is_replaced_whole(void **state)
{
    const struct place *place = *state;
    char link[160];
    struct stat st;

    write_example(place->path);
    assert_int_equal(chmod(place->path, 0600), 0);
    (void)snprintf(link, sizeof(link), "%s/link", place->directory);
    assert_int_equal(symlink("results", link), 0);
    write_example(link);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(place->path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(place->path), 0);
    assert_int_equal(rmdir(place->directory), 0);
    assert_int_equal(mkdir(place->directory, 0700), 0);
}

static void test_a_database_is_not_replaced(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();
    struct results *results = NULL;
    char *why = NULL;

    assert_int_equal(results_append(place->path, &series, &why), 0);
    assert_int_equal(
        results_write_json(place->path, &(struct results){&series, 1}, &why), -EBADMSG);
    free(why);
    /* And what reads either form reads that one. */
    assert_int_equal(results_read(place->path, &results, &why), 0);
    assert_same(results->series, results->n_series, &series, 1);
    results_free(results);
}

static void test_what_is_no_file(void **state)
{
    const struct place *place = *state;
    struct results *results = NULL;
    char *why = NULL;

    assert_int_equal(results_read(place->path, &results, &why), -ENOENT);
    assert_int_equal(results_read(place->directory, &results, &why), -EISDIR);
    assert_int_equal(results_read("/dev/null", &results, &why), -EBADMSG);
    free(why);
    assert_int_equal(results_write_json(place->directory, &(struct results){0}, &why), -EISDIR);
    assert_int_equal(results_write_json("/dev/null", &(struct results){0}, &why), 0);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void test_the_default_path(void **state)
{
    (void)state;
    (void)setenv("HOME", "/home/someone", 1);
    (void)setenv("XDG_DATA_HOME", "/data", 1);
    _cleanup_free_ char *by_xdg = results_default_path();
    assert_string_equal(by_xdg, "/data/shoal/results.db");
    (void)setenv("XDG_DATA_HOME", "relative", 1);
    _cleanup_free_ char *by_home = results_default_path();
    assert_string_equal(by_home, "/home/someone/.local/share/shoal/results.db");
    (void)unsetenv("XDG_DATA_HOME");
    (void)unsetenv("HOME");
    assert_null(results_default_path());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_series_comes_back),
        TEST(test_a_drive_is_a_source),
        TEST(test_the_first_version_is_read),
        TEST(test_a_cut_file_is_refused),
        TEST(test_every_field_is_checked),
        TEST(test_wrong_values_are_refused),
        TEST(test_what_json_cannot_hold),
        TEST(test_a_file_is_replaced_whole),
        TEST(test_a_database_is_not_replaced),
        TEST(test_what_is_no_file),
        cmocka_unit_test(test_the_default_path),
    };

    return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
