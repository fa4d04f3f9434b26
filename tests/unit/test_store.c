/* The database of results: what is added is read back, what is damaged or another's is refused and
 * left alone, writers at the same time lose nothing, and older ones are brought up to date. */
#include "results_example.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "results/schema.h"

static void append(const char *path, const struct series *series)
{
    char *why = NULL;
    int r = results_append(path, series, &why);

    if (why)
        fail_msg("%s", why);
    assert_int_equal(r, 0);
}

static void append_example(const char *path)
{
    const struct series series = series_example();

    append(path, &series);
}

static struct results *load(const char *path)
{
    struct results *results = NULL;
    char *why = NULL;
    int r = results_load(path, &results, &why);

    if (why)
        fail_msg("%s", why);
    assert_int_equal(r, 0);
    return results;
}

/* Runs SQL on the file, as any program may. */
static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *error = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s: %s", sql, error);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static sqlite3_int64 query(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    sqlite3_int64 number = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

/* All bytes of a file; free them. */
static char *file_bytes(const char *path, size_t *ret_length)
{
    struct stat st;
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    char *bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), st.st_size);
    assert_int_equal(fclose(file), 0);
    *ret_length = (size_t)st.st_size;
    return bytes;
}

/* Loading and adding both refuse the file as it stands, with `word`, and leave it as it is. */
static void assert_refused(const char *path, const char *word)
{
    const struct series series = series_example();
    struct results *results = NULL;
    size_t length, length_after;
    char *why = NULL;
    _cleanup_free_ char *bytes = file_bytes(path, &length);

    assert_int_equal(results_load(path, &results, &why), -EBADMSG);
    assert_null(results);
    assert_non_null(why);
    if (!strstr(why, word))
        fail_msg("'%s' does not say '%s'", why, word);
    free(why);
    assert_int_equal(results_append(path, &series, &why), -EBADMSG);
    assert_non_null(why);
    free(why);
    _cleanup_free_ char *after = file_bytes(path, &length_after);
    assert_int_equal(length_after, length);
    assert_memory_equal(after, bytes, length);
}

static void test_what_is_not_there_is_empty(void **state)
{
    const struct place *place = *state;
    struct results *results = load(place->path);

    assert_int_equal(results->n_series, 0);
    results_free(results);
    assert_int_equal(access(place->path, F_OK), -1);

    file_write(place->path, "", 0);
    results = load(place->path);
    assert_int_equal(results->n_series, 0);
    results_free(results);
    append_example(place->path);
}

static void test_a_series_comes_back(void **state)
{
    const struct place *place = *state;
    struct series series[] = {series_example(), series_example()};

    series[1].id = (char *)"20250101T000000Z-000001"; /* earlier, and added later */
    series[1].from.has_journal = 1;
    series[1].n_warnings = 0;
    series[1].n_methods = 0;
    series[1].cold = false;
    append(place->path, &series[0]);
    append(place->path, &series[1]);
    struct results *results = load(place->path);
    assert_same(results->series, results->n_series, series, 2);
    assert_memory_equal(
        results->series[0].methods[0].samples, example_samples, sizeof(example_samples));
    results_free(results);
}

static void test_an_id_is_there_once(void **state)
{
    const struct place *place = *state;
    const struct series series = series_example();
    char *why = NULL;

    append_example(place->path);
    assert_int_equal(results_append(place->path, &series, &why), -EEXIST);
    assert_null(why);
    assert_int_equal(query(place->path, "SELECT count(*) FROM sample"), 2);
}

static void test_import_adds_what_is_missing(void **state)
{
    const struct place *place = *state;
    struct series series[] = {series_example(), series_example(), series_example()};
    struct imported imported;
    char *why = NULL;

    series[1].id = series[2].id = (char *)"another";
    append_example(place->path);
    assert_int_equal(results_import(place->path, &(struct results){series, 3}, &imported, &why), 0);
    assert_int_equal(imported.n_added, 1);
    assert_int_equal(imported.n_skipped, 2);
    struct results *results = load(place->path);
    assert_same(results->series, results->n_series, series, 2);
    results_free(results);
}

/* What is refused half-way leaves nothing. */
static void test_a_series_is_added_whole_or_not(void **state)
{
    const struct place *place = *state;
    struct sample samples[] = {example_samples[0], example_samples[0]};
    struct method_result method = example_methods[0];
    struct series series = series_example();
    char *why = NULL;

    append_example(place->path);
    series.id = (char *)"bad";
    series.methods = &method;
    series.n_methods = 1;
    method.samples = samples;
    samples[1].synced_ns = samples[1].real_ns - 1;
    assert_int_equal(results_append(place->path, &series, &why), -EBADMSG);
    assert_non_null(strstr(why, "synced_ns"));
    free(why);
    samples[1] = example_samples[0];
    samples[1].read_bytes = UINT64_MAX;
    assert_int_equal(results_append(place->path, &series, &why), -ERANGE);
    struct results *results = load(place->path);
    assert_int_equal(results->n_series, 1);
    results_free(results);
    assert_int_equal(query(place->path, "SELECT count(*) FROM method"), 2);
    assert_int_equal(query(place->path, "SELECT count(*) FROM sample"), 2);
}

static void test_names_that_are_not_text(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();

    series.to.path = (char *)"/mnt/\xff";
    append(place->path, &series);
    struct results *results = load(place->path);
    assert_string_equal(results->series[0].to.path, "'/mnt/'$'\\377'");
    results_free(results);
}

static void test_directories_are_made_and_links_kept(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();
    char deep[160], link[160];
    struct stat st;

    (void)snprintf(deep, sizeof(deep), "%s/a/b/results.db", place->directory);
    append(deep, &series);
    (void)snprintf(link, sizeof(link), "%s/link.db", place->directory);
    assert_int_equal(symlink(deep, link), 0);
    assert_int_equal(chmod(deep, 0600), 0);
    series.id = (char *)"through the link";
    append(link, &series);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(query(deep, "SELECT count(*) FROM series"), 2);
}

/* --- What is refused --- */

static void test_a_cut_file_is_refused(void **state)
{
    const struct place *place = *state;
    size_t length;

    append_example(place->path);
    _cleanup_free_ char *bytes = file_bytes(place->path, &length);
    for (size_t cut = 1; cut < length; cut += 613) {
        file_write(place->path, bytes, cut);
        assert_refused(place->path, cut < 16 ? "SQLite" : "");
    }
}

/* Every page overwritten in turn. */
static void test_a_damaged_file_is_refused(void **state)
{
    const struct place *place = *state;
    const size_t page = 4096;
    size_t length;

    append_example(place->path);
    _cleanup_free_ char *bytes = file_bytes(place->path, &length);
    assert_true(length > 2 * page && length % page == 0);
    for (size_t at = 0; at < length; at += page) {
        char kept[64];
        memcpy(kept, bytes + at, sizeof(kept));
        memset(bytes + at, 0xa5, sizeof(kept));
        file_write(place->path, bytes, length);
        assert_refused(place->path, at == 0 ? "no SQLite database" : "damaged");
        memcpy(bytes + at, kept, sizeof(kept));
    }
}

static void test_another_form_is_refused(void **state)
{
    static const char json[] = "\n {\"schema\": \"shoal-results\", \"version\": 2, \"series\": []}";
    const struct place *place = *state;

    file_write(place->path, json, strlen(json));
    assert_refused(place->path, "JSON");
    file_write(place->path, "hello\n", 6);
    assert_refused(place->path, "no SQLite database");
}

static void test_another_programs_database_is_refused(void **state)
{
    const struct place *place = *state;

    run_sql(place->path, "CREATE TABLE notes (text)");
    assert_refused(place->path, "another program's");
    run_sql(place->path, "DROP TABLE notes; PRAGMA application_id = 7");
    assert_refused(place->path, "another program's");
    run_sql(place->path, "PRAGMA application_id = 0; PRAGMA user_version = 1");
    assert_refused(place->path, "another program's");
}

static void test_a_newer_database_is_refused(void **state)
{
    const struct place *place = *state;

    append_example(place->path);
    run_sql(place->path, "PRAGMA user_version = 1000");
    assert_refused(place->path, "newer");
}

static void test_wrong_contents_are_refused(void **state)
{
    static const struct {
        const char *sql, *undo, *word;
    } damages[] = {
        {"UPDATE method SET verdict = 'good'", "UPDATE method SET verdict = 'right'", "verdict"},
        {"UPDATE series SET cold = 2", "UPDATE series SET cold = 1", "cold"},
        {"UPDATE series SET system_cores = -1", "UPDATE series SET system_cores = 1", "cores"},
        {"UPDATE sample SET exit_status = 256", "UPDATE sample SET exit_status = 0", "exit_status"},
        {"UPDATE series SET workload = CAST(x'ff' AS TEXT)", "UPDATE series SET workload = 'w'",
            "workload"},
        {"UPDATE series SET workload = 'a' || char(0)", "UPDATE series SET workload = 'w'",
            "workload"},
        {"UPDATE sample SET method_number = 77 WHERE nth = 0",
            "UPDATE sample SET method_number = 1", "sample"},
        {"ALTER TABLE sample RENAME TO samples", "ALTER TABLE samples RENAME TO sample", "sample"},
        {"ALTER TABLE sample RENAME TO s; CREATE VIEW sample AS SELECT * FROM s",
            "DROP VIEW sample; ALTER TABLE s RENAME TO sample", "sample"},
    };
    const struct place *place = *state;

    append_example(place->path);
    for (size_t i = 0; i < ELEMENTS(damages); i++) {
        struct results *results = NULL;
        char *why = NULL;
        run_sql(place->path, damages[i].sql);
        assert_int_equal(results_load(place->path, &results, &why), -EBADMSG);
        assert_non_null(why);
        if (!strstr(why, damages[i].word))
            fail_msg("'%s' does not say '%s'", why, damages[i].word);
        free(why);
        run_sql(place->path, damages[i].undo);
        results_free(load(place->path));
    }
}

/* What is said of a file cannot drive the terminal. */
static void test_names_in_a_damaged_file_are_quoted(void **state)
{
    const struct place *place = *state;
    struct results *results = NULL;
    char *why = NULL;

    append_example(place->path);
    run_sql(place->path, "CREATE TABLE \"a\033[1m\" (b INTEGER NOT NULL) STRICT;"
                         "INSERT INTO \"a\033[1m\" VALUES (1);"
                         "PRAGMA writable_schema = ON;"
                         "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', "
                         "'NOT NULL CHECK (b > 1)') WHERE name LIKE 'a%'");
    assert_int_equal(results_load(place->path, &results, &why), -EBADMSG);
    assert_non_null(strstr(why, "CHECK"));
    assert_null(strchr(why, '\033'));
    free(why);
}

static void test_a_directory_is_no_database(void **state)
{
    const struct place *place = *state;
    const struct series series = series_example();
    struct results *results = NULL;
    char *why = NULL;

    assert_int_equal(results_load(place->directory, &results, &why), -EISDIR);
    assert_int_equal(results_append(place->directory, &series, &why), -EISDIR);
    assert_int_equal(results_append("", &series, &why), -ENOENT);
    assert_null(why);
    assert_int_equal(results_load("/dev/null", &results, &why), -EBADMSG);
    free(why);
}

/* --- Several at once --- */

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
    bool seen[N_WRITERS][N_EACH] = {{false}};

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
    struct results *results = load(place->path);
    assert_int_equal(results->n_series, N_WRITERS * N_EACH);
    for (size_t i = 0; i < results->n_series; i++) {
        int writer = -1, nth = -1;
        assert_int_equal(sscanf(results->series[i].id, "writer-%d-%d", &writer, &nth), 2);
        assert_false(seen[writer][nth]);
        seen[writer][nth] = true;
        assert_int_equal(results->series[i].methods[0].n_samples, 2);
    }
    results_free(results);
}

/* A writer that is killed within its transaction leaves what was there. */
static void test_a_cut_writer_is_no_obstacle(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();

    append_example(place->path);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *db = NULL;
        if (sqlite3_open(place->path, &db) != SQLITE_OK ||
            sqlite3_exec(db,
                "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;"
                "WITH RECURSIVE many(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM many WHERE "
                "n < 5000) INSERT INTO warning SELECT n, 1, n, 'never committed' FROM many",
                NULL, NULL, NULL) != SQLITE_OK)
            _exit(1);
        _exit(0); /* neither COMMIT nor ROLLBACK: the journal stays */
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    char journal[128];
    (void)snprintf(journal, sizeof(journal), "%s-journal", place->path);
    assert_int_equal(access(journal, F_OK), 0);

    struct results *results = load(place->path);
    assert_same(results->series, results->n_series, &series, 1);
    results_free(results);
    series.id = (char *)"next";
    append(place->path, &series);
}

/* --- Versions --- */

/* What version 1 was, as it is found on disks: never to be changed. */
static const char version_1[] =
    "PRAGMA application_id = 1399353196; PRAGMA user_version = 1;"
    "CREATE TABLE series (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, started TEXT NOT "
    "NULL, system_name TEXT NOT NULL, system_cpu TEXT NOT NULL, system_cores INTEGER NOT NULL, "
    "system_memory_kb INTEGER NOT NULL, system_kernel TEXT NOT NULL, system_governor TEXT NOT "
    "NULL, from_path TEXT NOT NULL, from_type TEXT NOT NULL, from_options TEXT NOT NULL, "
    "from_has_journal INTEGER, from_device TEXT NOT NULL, from_scheduler TEXT NOT NULL, "
    "from_scratch_kb INTEGER NOT NULL, to_path TEXT NOT NULL, to_type TEXT NOT NULL, to_options "
    "TEXT NOT NULL, to_has_journal INTEGER, to_device TEXT NOT NULL, to_scheduler TEXT NOT NULL, "
    "to_scratch_kb INTEGER NOT NULL, workload TEXT NOT NULL, seed INTEGER NOT NULL, files INTEGER "
    "NOT NULL, bytes INTEGER NOT NULL, content TEXT NOT NULL, cold INTEGER NOT NULL) STRICT;"
    "CREATE TABLE warning (number INTEGER PRIMARY KEY, series_number INTEGER NOT NULL REFERENCES "
    "series (number) ON DELETE CASCADE, nth INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE "
    "(series_number, nth)) STRICT;"
    "CREATE TABLE method (number INTEGER PRIMARY KEY, series_number INTEGER NOT NULL REFERENCES "
    "series (number) ON DELETE CASCADE, nth INTEGER NOT NULL, name TEXT NOT NULL, command TEXT NOT "
    "NULL, version TEXT NOT NULL, verdict TEXT NOT NULL, why TEXT NOT NULL, UNIQUE (series_number, "
    "nth)) STRICT;"
    "CREATE TABLE sample (number INTEGER PRIMARY KEY, method_number INTEGER NOT NULL REFERENCES "
    "method (number) ON DELETE CASCADE, nth INTEGER NOT NULL, block INTEGER NOT NULL, real_ns "
    "INTEGER NOT NULL, synced_ns INTEGER NOT NULL, user_ns INTEGER NOT NULL, sys_ns INTEGER NOT "
    "NULL, max_rss_kb INTEGER NOT NULL, minor_faults INTEGER NOT NULL, major_faults INTEGER NOT "
    "NULL, read_bytes INTEGER NOT NULL, written_bytes INTEGER NOT NULL, exit_status INTEGER NOT "
    "NULL, UNIQUE (method_number, nth), CHECK (synced_ns >= real_ns)) STRICT;";

/* series_example() in it. */
static const char version_1_rows[] =
    "INSERT INTO series VALUES (1, '20260101T000000Z-00beef', '2026-01-01T00:00:00Z', 'Indy', "
    "'R4600PC 133MHz', 1, 65536, 'Linux 6.1', 'performance', '/cdrom', 'efs', 'ro', NULL, '', '', "
    "0, '/var/tmp/t', 'ext4', 'rw', 0, '/dev/sda1', 'mq-deadline', 1024, 'insight', "
    "9223372036854775807, 2200, 78119936, 'text and random', 1);"
    "INSERT INTO warning VALUES (2, 1, 1, 'the destination is in memory'), (3, 1, 0, 'other "
    "programs kept the processors busy');"
    "INSERT INTO method VALUES (5, 1, 0, 'shoal', 'shoal copy {from} {to}', 'shoal 0.1.0', 'right',"
    " ''), (9, 1, 1, 'other', 'other \"{from}\" {to}' || char(10), '', 'missing', 'there is no "
    "program other');"
    "INSERT INTO sample VALUES (1, 5, 0, 0, 110000000, 150000000, 10, 20, 2048, 7, 1, 4096, 8192, "
    "0), (2, 5, 1, 1, 120000000, 120000000, 0, 0, 0, 0, 0, 0, 0, 130);";

static void test_version_1_is_read(void **state)
{
    const struct place *place = *state;
    struct series series = series_example();

    run_sql(place->path, version_1);
    run_sql(place->path, version_1_rows);
    struct results *results = load(place->path);
    assert_same(results->series, results->n_series, &series, 1);
    results_free(results);
    series.id = (char *)"a new one";
    series.drive = (char *)"2X";
    series.time_scale = 20;
    series.system.machine = (char *)"Indy R4600PC 100MHz";
    append(place->path, &series);
    results = load(place->path);
    assert_string_equal(results->series[1].drive, "2X");
    assert_true(series_stretch(&results->series[1]) > 19.9);
    assert_false(series_is_replay(&results->series[0]));
    assert_string_equal(results->series[1].system.machine, "Indy R4600PC 100MHz");
    results_free(results);
    assert_int_equal(query(place->path, "PRAGMA user_version"), schema_n_steps);
}

static int update(const char *path, const char *const *steps, size_t n_steps)
{
    _cleanup_free_ char *why = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    int r = schema_update(db, steps, n_steps, &why);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return r;
}

/* The steps to come are not known, but how they are taken is: by steps that stand for them. */
static void test_an_older_database_is_brought_up_to_date(void **state)
{
    static const char *const steps[] = {
        version_1,
        "ALTER TABLE series ADD COLUMN place TEXT NOT NULL DEFAULT 'here'; UPDATE series SET seed "
        "= seed - 1",
        "CREATE TABLE remark (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
    };
    const struct place *place = *state;

    run_sql(place->path, version_1);
    run_sql(place->path, version_1_rows);
    assert_int_equal(update(place->path, steps, 3), 0);
    assert_int_equal(query(place->path, "PRAGMA user_version"), 3);
    assert_int_equal(query(place->path, "SELECT count(*) FROM series WHERE place = 'here'"), 1);
    assert_int_equal(query(place->path, "SELECT seed = 9223372036854775806 FROM series"), 1);
    assert_int_equal(query(place->path, "SELECT count(*) FROM sample"), 2);
    /* Once is enough. */
    assert_int_equal(update(place->path, steps, 3), 0);
    assert_int_equal(query(place->path, "SELECT seed = 9223372036854775806 FROM series"), 1);
    assert_int_equal(update(place->path, steps, 2), -EBADMSG);
}

static void test_a_step_that_fails_changes_nothing(void **state)
{
    static const char *const steps[] = {
        version_1,
        "DELETE FROM sample; ALTER TABLE series ADD COLUMN place TEXT",
        "INSERT INTO nowhere VALUES (1)",
    };
    const struct place *place = *state;
    struct series series = series_example();

    run_sql(place->path, version_1);
    run_sql(place->path, version_1_rows);
    assert_int_equal(update(place->path, steps, 3), -EBADMSG);
    assert_int_equal(query(place->path, "PRAGMA user_version"), 1);
    struct results *results = load(place->path);
    assert_same(results->series, results->n_series, &series, 1);
    results_free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_not_there_is_empty),
        TEST(test_a_series_comes_back),
        TEST(test_an_id_is_there_once),
        TEST(test_import_adds_what_is_missing),
        TEST(test_a_series_is_added_whole_or_not),
        TEST(test_names_that_are_not_text),
        TEST(test_directories_are_made_and_links_kept),
        TEST(test_a_cut_file_is_refused),
        TEST(test_a_damaged_file_is_refused),
        TEST(test_another_form_is_refused),
        TEST(test_another_programs_database_is_refused),
        TEST(test_a_newer_database_is_refused),
        TEST(test_wrong_contents_are_refused),
        TEST(test_names_in_a_damaged_file_are_quoted),
        TEST(test_a_directory_is_no_database),
        TEST(test_writers_at_once_lose_nothing),
        TEST(test_a_cut_writer_is_no_obstacle),
        TEST(test_version_1_is_read),
        TEST(test_an_older_database_is_brought_up_to_date),
        TEST(test_a_step_that_fails_changes_nothing),
    };

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
