/* What the tests of results share: a series with every field, and a place for files. */
#ifndef SHOAL_TESTS_RESULTS_EXAMPLE_H
#define SHOAL_TESTS_RESULTS_EXAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/results.h"

/* A new directory for each test, and a file's name in it. */
struct place {
    char directory[64];
    char path[96];
};

static inline int place_make(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    if (!place)
        return -1;
    (void)strcpy(place->directory, "/tmp/shoal-test-XXXXXX");
    if (!mkdtemp(place->directory))
        return -1;
    (void)snprintf(place->path, sizeof(place->path), "%s/results", place->directory);
    *state = place;
    return 0;
}

static inline int place_remove(void **state)
{
    struct place *place = *state;
    char command[96];

    (void)snprintf(command, sizeof(command), "rm -r '%s'", place->directory);
    int status = system(command);
    free(place);
    return status;
}

static struct sample example_samples[] = {
    {.block = 0,
        .real_ns = 110000000,
        .synced_ns = 150000000,
        .user_ns = 10,
        .sys_ns = 20,
        .max_rss_kb = 2048,
        .minor_faults = 7,
        .major_faults = 1,
        .read_bytes = 4096,
        .written_bytes = 8192,
        .exit_status = 0},
    {.block = 1, .real_ns = 120000000, .synced_ns = 120000000, .exit_status = 130},
};

static struct method_result example_methods[] = {
    {.name = (char *)"shoal",
        .command = (char *)"shoal copy {from} {to}",
        .version = (char *)"shoal 0.1.0",
        .verdict = VERDICT_RIGHT,
        .why = (char *)"",
        .samples = example_samples,
        .n_samples = 2},
    {.name = (char *)"other",
        .command = (char *)"other \"{from}\" {to}\n",
        .version = (char *)"",
        .verdict = VERDICT_MISSING,
        .why = (char *)"there is no program other"},
};

static struct warning example_warnings[] = {
    {.text = (char *)"other programs kept the processors busy"},
    {.text = (char *)"the destination is in memory"},
};

static inline struct series series_example(void)
{
    return (struct series){
        .id = (char *)"20260101T000000Z-00beef",
        .started = (char *)"2026-01-01T00:00:00Z",
        .system = {.name = (char *)"Indy",
            .cpu = (char *)"R4600PC 133MHz",
            .cores = 1,
            .memory_kb = 65536,
            .kernel = (char *)"Linux 6.1",
            .governor = (char *)"performance",
            .machine = (char *)""},
        .from = {.path = (char *)"/cdrom",
            .type = (char *)"efs",
            .options = (char *)"ro",
            .has_journal = -1},
        .to = {.path = (char *)"/var/tmp/t",
            .type = (char *)"ext4",
            .options = (char *)"rw",
            .has_journal = 0,
            .device = (char *)"/dev/sda1",
            .scheduler = (char *)"mq-deadline",
            .scratch_kb = 1024},
        .workload = (char *)"insight",
        .seed = INT64_MAX,
        .files = 2200,
        .bytes = 78119936,
        .content = (char *)"text and random",
        .cold = true,
        .warnings = example_warnings,
        .n_warnings = 2,
        .methods = example_methods,
        .n_methods = 2,
    };
}

/* The file's text, or NULL; free it. */
static inline char *file_text(const char *path)
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

static inline void file_write(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The text of a document of these series; free it. */
static inline char *json_of(const struct series *series, size_t n)
{
    char *text = NULL;

    assert_int_equal(results_to_json(&(struct results){(struct series *)series, n}, &text), 0);
    return text;
}

/* Nothing is different but what is not shown in JSON, which is nothing. */
static inline void assert_same(
    const struct series *series, size_t n, const struct series *expected, size_t n_expected)
{
    char *text = json_of(series, n), *text_expected = json_of(expected, n_expected);

    assert_string_equal(text, text_expected);
    free(text);
    free(text_expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

#endif
