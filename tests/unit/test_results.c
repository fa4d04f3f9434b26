/* The results store: what is written is read back, what is damaged is refused and left alone, and
 * writers at the same time lose nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "results/results.h"

/* A new directory for each test, and a file's name in it. */
struct place {
    char directory[64];
    char path[96];
};

static int place_make(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    if (!place)
        return -1;
    (void)strcpy(place->directory, "/tmp/shoal-test-XXXXXX");
    if (!mkdtemp(place->directory))
        return -1;
    (void)snprintf(place->path, sizeof(place->path), "%s/results.json", place->directory);
    *state = place;
    return 0;
}

static int place_remove(void **state)
{
    struct place *place = *state;
    char command[96];

    (void)snprintf(command, sizeof(command), "rm -r '%s'", place->directory);
    int status = system(command);
    free(place);
    return status;
}

static struct sample samples[] = {
    {.block = 0,
        .real_ns = 110000000,
        .synced_ns = 150000000,
        .user_ns = 10,
        .sys_ns = 20,
        .max_rss_kb = 2048,
        .exit_status = 0},
    {.block = 1, .real_ns = 120000000, .synced_ns = 120000000, .exit_status = 130},
};

static struct method_result methods[] = {
    {.name = (char *)"shoal",
        .command = (char *)"shoal copy {from} {to}",
        .version = (char *)"shoal 0.1.0",
        .verdict = VERDICT_RIGHT,
        .why = (char *)"",
        .samples = samples,
        .n_samples = 2},
    {.name = (char *)"other",
        .command = (char *)"other \"{from}\" {to}\n",
        .version = (char *)"",
        .verdict = VERDICT_MISSING,
        .why = (char *)"there is no program other"},
};

static struct series series_example(void)
{
    return (struct series){
        .id = (char *)"20260101T000000Z-00beef",
        .started = (char *)"2026-01-01T00:00:00Z",
        .system = {.name = (char *)"Indy",
            .cpu = (char *)"R4600PC 133MHz",
            .cores = 1,
            .memory_kb = 65536,
            .kernel = (char *)"Linux 6.1"},
        .from = {.path = (char *)"/cdrom",
            .type = (char *)"efs",
            .options = (char *)"ro",
            .has_journal = -1},
        .to = {.path = (char *)"/var/tmp/t",
            .type = (char *)"ext4",
            .options = (char *)"rw",
            .has_journal = 0},
        .workload = (char *)"insight",
        .seed = INT64_MAX,
        .files = 2200,
        .bytes = 78119936,
        .cold = true,
        .methods = methods,
        .n_methods = 2,
    };
}

/* The file's text, or NULL; free it. */
static char *file_text(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return NULL;
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    (void)fclose(file);
    return text;
}

static void file_write(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void append_example(const char *path)
{
    const struct series series = series_example();
    char *why = NULL;
    int r = results_append(path, &series, &why);

    assert_null(why);
    assert_int_equal(r, 0);
}

static void test_what_is_not_there_is_empty(void **state)
{
    const struct place *place = *state;
    struct results *results = NULL;
    char *why = NULL;

    assert_int_equal(results_load(place->path, &results, &why), 0);
    assert_int_equal(results->n_series, 0);
    results_free(results);
    assert_int_equal(access(place->path, F_OK), -1);
    results_free(NULL);
}

static void test_a_series_comes_back(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();
    struct results *results = NULL;
    char *why = NULL, *text = NULL, *text_again = NULL;

    append_example(place->path);
    assert_int_equal(results_load(place->path, &results, &why), 0);
    assert_int_equal(results->n_series, 1);
    const struct series *read = &results->series[0];
    assert_string_equal(read->system.cpu, "R4600PC 133MHz");
    assert_int_equal(read->from.has_journal, -1);
    assert_int_equal(read->to.has_journal, 0);
    assert_true(read->cold);
    assert_true(read->seed == INT64_MAX);
    assert_int_equal(read->methods[1].verdict, VERDICT_MISSING);
    assert_string_equal(read->methods[1].command, methods[1].command);
    assert_int_equal(read->methods[0].n_samples, 2);
    assert_memory_equal(read->methods[0].samples, samples, sizeof(samples));

    /* And nothing else is different either. */
    assert_int_equal(results_to_json(results, &text), 0);
    assert_int_equal(results_to_json(&(struct results){&series, 1}, &text_again), 0);
    assert_string_equal(text, text_again);
    free(text);
    free(text_again);
    results_free(results);
}

static void test_directories_are_made_and_links_kept(void **state)
{
    const struct place *place = *state;
    char deep[160], link[160];
    struct stat st;

    (void)snprintf(deep, sizeof(deep), "%s/a/b/results.json", place->directory);
    append_example(deep);
    (void)snprintf(link, sizeof(link), "%s/link.json", place->directory);
    assert_int_equal(symlink(deep, link), 0);
    assert_int_equal(chmod(deep, 0600), 0);
    append_example(link);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    _cleanup_free_ char *text = file_text(deep);
    const char *first = strstr(text, "00beef");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "00beef"));
}

static void test_unknown_keys_survive(void **state)
{
    const struct place *place = *state;
    static const char text[] =
        "{\"schema\":\"shoal-results\",\"version\":1,\"series\":[],\"note\":\"by hand\"}";

    file_write(place->path, text, strlen(text));
    append_example(place->path);
    _cleanup_free_ char *after = file_text(place->path);
    assert_non_null(strstr(after, "by hand"));
    assert_non_null(strstr(after, "00beef"));
}

/* A file of the first version lacks what came later; a series with all of it can stand in it. */
static void test_the_first_version_is_read(void **state)
{
    static const char *const later[] = {"minor_faults", "major_faults", "read_bytes",
        "written_bytes", "governor", "device", "scheduler", "scratch_kb", "content", "warnings"};
    const struct place *place = *state;
    struct results *results = NULL;
    char *why = NULL;

    append_example(place->path);
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

    assert_int_equal(results_load(place->path, &results, &why), 0);
    assert_string_equal(results->series[0].content, "");
    assert_int_equal(results->series[0].n_warnings, 0);
    assert_int_equal(results->series[0].methods[0].samples[0].minor_faults, 0);
    assert_int_equal(results->series[0].methods[0].samples[0].real_ns, 110000000);
    results_free(results);
    append_example(place->path);
    assert_int_equal(results_load(place->path, &results, &why), 0);
    assert_int_equal(results->n_series, 2);
    results_free(results);
}

static void test_a_cut_writer_is_no_obstacle(void **state)
{
    const struct place *place = *state;
    char left[128];

    append_example(place->path);
    (void)snprintf(left, sizeof(left), "%s.new", place->path);
    file_write(left, "{\"sch", 5);
    append_example(place->path);
    assert_int_equal(access(left, F_OK), -1);
}

/* Loading and appending both refuse the text, name `key`, and leave the file as it is. */
static void assert_refused(const char *path, const char *text, size_t length, const char *key)
{
    const struct series series = series_example();
    struct results *results = NULL;
    char *why = NULL;

    file_write(path, text, length);
    assert_int_equal(results_load(path, &results, &why), -EBADMSG);
    assert_null(results);
    assert_non_null(why);
    if (!strstr(why, key))
        fail_msg("'%s' does not name '%s'", why, key);
    free(why);
    assert_int_equal(results_append(path, &series, &why), -EBADMSG);
    assert_non_null(why);
    free(why);
    _cleanup_free_ char *after = file_text(path);
    assert_int_equal(strlen(after), length);
    assert_memory_equal(after, text, length);
}

static void test_a_cut_file_is_refused(void **state)
{
    const struct place *place = *state;

    append_example(place->path);
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
        (void)json_object_set_new(value, keys[i], json_real(1.5));
        refuse_document(path, root, keys[i]);
        (void)json_object_set_new(value, keys[i], kept);
    }
}

static void test_every_field_is_checked(void **state)
{
    const struct place *place = *state;

    append_example(place->path);
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
        {"\"version\": 2", "\"version\": 3", "version"},
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

    append_example(place->path);
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
    char *why = NULL;

    series.seed = UINT64_MAX;
    assert_int_equal(results_append(place->path, &series, &why), -ERANGE);
    assert_null(why);
    assert_int_equal(access(place->path, F_OK), -1);

    series.seed = 1;
    series.to.path = (char *)"/mnt/\xff";
    assert_int_equal(results_append(place->path, &series, &why), 0);
    assert_int_equal(results_load(place->path, &results, &why), 0);
    assert_string_equal(results->series[0].to.path, "'/mnt/'$'\\377'");
    results_free(results);
}

static void test_a_directory_is_no_results_file(void **state)
{
    const struct place *place = *state;
    struct results *results = NULL;
    const struct series series = series_example();
    char *why = NULL;

    assert_int_equal(results_load(place->directory, &results, &why), -EISDIR);
    assert_null(why);
    assert_true(results_append(place->directory, &series, &why) < 0);
    assert_int_equal(results_append("", &series, &why), -ENOENT);
    char lock[80];
    (void)snprintf(lock, sizeof(lock), "%s.lock", place->directory);
    (void)unlink(lock);
}

enum { N_WRITERS = 4, N_EACH = 8 };

static void append_many(const char *path, int writer)
{
    for (int i = 0; i < N_EACH; i++) {
        struct series series = series_example();
        char id[32], *why = NULL;
        (void)snprintf(id, sizeof(id), "writer-%d-%d", writer, i);
        series.id = id;
        if (results_append(path, &series, &why) < 0)
            _exit(1);
    }
    _exit(0);
}

static void test_writers_at_once_lose_nothing(void **state)
{
    const struct place *place = *state;
    struct results *results = NULL;
    bool seen[N_WRITERS][N_EACH] = {{false}};
    char *why = NULL;

    for (int i = 0; i < N_WRITERS; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            append_many(place->path, i);
    }
    for (int i = 0; i < N_WRITERS; i++) {
        int status = -1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(results_load(place->path, &results, &why), 0);
    assert_int_equal(results->n_series, N_WRITERS * N_EACH);
    for (size_t i = 0; i < results->n_series; i++) {
        int writer = -1, nth = -1;
        assert_int_equal(sscanf(results->series[i].id, "writer-%d-%d", &writer, &nth), 2);
        assert_false(seen[writer][nth]);
        seen[writer][nth] = true;
    }
    results_free(results);
}

static void test_the_default_path(void **state)
{
    (void)state;
    (void)setenv("HOME", "/home/someone", 1);
    (void)setenv("XDG_DATA_HOME", "/data", 1);
    _cleanup_free_ char *by_xdg = results_default_path();
    assert_string_equal(by_xdg, "/data/shoal/results.json");
    (void)setenv("XDG_DATA_HOME", "relative", 1);
    _cleanup_free_ char *by_home = results_default_path();
    assert_string_equal(by_home, "/home/someone/.local/share/shoal/results.json");
    (void)unsetenv("XDG_DATA_HOME");
    (void)unsetenv("HOME");
    assert_null(results_default_path());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_not_there_is_empty),
        TEST(test_a_series_comes_back),
        TEST(test_directories_are_made_and_links_kept),
        TEST(test_unknown_keys_survive),
        TEST(test_the_first_version_is_read),
        TEST(test_a_cut_writer_is_no_obstacle),
        TEST(test_a_cut_file_is_refused),
        TEST(test_every_field_is_checked),
        TEST(test_wrong_values_are_refused),
        TEST(test_what_json_cannot_hold),
        TEST(test_a_directory_is_no_results_file),
        TEST(test_writers_at_once_lose_nothing),
        cmocka_unit_test(test_the_default_path),
    };

    return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
