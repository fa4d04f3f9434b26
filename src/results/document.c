#include "results/document.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "results/record.h"
#include "results/results.h"

#define SCHEMA  "shoal-results"
#define VERSION 4

/* Until this version a field of a file may be missing, and then is 0 or "". */
#define FIRST_VERSION 1

static inline void cleanup_json_p(json_t **json)
{
    json_decref(*json);
}
#define _cleanup_json_ _cleanup_(cleanup_json_p)

/* --- Writing --- */

static json_t *text_to_json(const char *text)
{
    _cleanup_free_ char *stored = record_store_text(text);

    return stored ? json_string(stored) : NULL;
}

static json_t *record_to_json(const struct record *record, const void *at);

static json_t *list_to_json(const struct record *record, const char *items, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(list, record_to_json(record, items + i * record->size)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* NULL with errno ENOMEM or ERANGE. */
static json_t *field_to_json(const struct field *field, const void *at)
{
    const char *member = (const char *)at + field->offset;
    uint64_t number;
    double real;
    int maybe;

    switch (field->kind) {
    case FIELD_TEXT:
        return text_to_json(*(char *const *)member);
    case FIELD_UINT64:
        number = *(const uint64_t *)member;
        if (number > INT64_MAX) {
            errno = ERANGE;
            return NULL;
        }
        return json_integer((json_int_t)number);
    case FIELD_UNSIGNED:
        return json_integer((json_int_t) * (const unsigned *)member);
    case FIELD_STATUS:
        return json_integer(*(const int *)member);
    case FIELD_REAL:
        memcpy(&real, member, sizeof(real));
        return json_real(real);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)member);
    case FIELD_MAYBE:
        maybe = *(const int *)member;
        return maybe < 0 ? json_null() : json_boolean(maybe);
    case FIELD_VERDICT:
        return json_string(verdict_names[*(const enum verdict *)member]);
    case FIELD_RECORD:
        return record_to_json(field->record, member);
    case FIELD_LIST:
        return list_to_json(field->record, *(char *const *)member,
            *(const size_t *)((const char *)at + field->count_offset));
    }
    errno = EINVAL;
    return NULL;
}

static json_t *record_to_json(const struct record *record, const void *at)
{
    json_t *object = json_object();

    for (size_t i = 0; i < record->n_fields; i++) {
        json_t *value = field_to_json(&record->fields[i], at);
        if (json_object_set_new(object, record->fields[i].key, value) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* jansson reports no errno: what is not said otherwise is a lack of memory. */
static int json_made(const json_t *json)
{
    if (json)
        return 0;
    return errno == ERANGE || errno == EINVAL ? -errno : -ENOMEM;
}

int document_write(const struct results *results, char **ret)
{
    errno = 0;
    json_t *list = list_to_json(&series_record, (const char *)results->series, results->n_series);
    int r = json_made(list);
    if (r < 0)
        return r;
    _cleanup_json_ json_t *root =
        json_pack("{s:s, s:i, s:o}", "schema", SCHEMA, "version", VERSION, "series", list);
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    if (!text)
        return -ENOMEM;
    *ret = text;
    return 0;
}

/* --- Reading --- */

/* Where in the file the reader is, to name the offending key. */
struct reader {
    unsigned version; /* of the file */
    char where[128];
    char **why;
};

static int reader_refuse(const struct reader *reader, const char *complaint)
{
    return why_set(reader->why, "%s: %s", reader->where, complaint);
}

/* Returns the length of `where` before, for reader_leave(). */
static size_t reader_enter(struct reader *reader, const char *key)
{
    size_t length = strlen(reader->where);
    (void)snprintf(reader->where + length, sizeof(reader->where) - length, "%s%s",
        length > 0 ? "." : "", key); /* the tables are shallow: it fits */
    return length;
}

static void reader_leave(struct reader *reader, size_t length)
{
    reader->where[length] = '\0';
}

static int read_number(
    const struct reader *reader, const json_t *value, uint64_t most, uint64_t *ret)
{
    char complaint[80];

    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        (uint64_t)json_integer_value(value) <= most) {
        *ret = (uint64_t)json_integer_value(value);
        return 0;
    }
    (void)snprintf(complaint, sizeof(complaint), "a whole number from 0 to %llu is expected",
        (unsigned long long)most);
    return reader_refuse(reader, complaint);
}

static int read_real(const struct reader *reader, const json_t *value, double *ret)
{
    if (!json_is_number(value) || json_number_value(value) < 0)
        return reader_refuse(reader, "a number from 0 is expected");
    *ret = json_number_value(value);
    return 0;
}

static int read_text(const struct reader *reader, const json_t *value, char **ret)
{
    if (!json_is_string(value))
        return reader_refuse(reader, "a string is expected");
    *ret = strdup(json_string_value(value));
    return *ret ? 0 : -ENOMEM;
}

static int read_verdict(const struct reader *reader, const json_t *value, enum verdict *ret)
{
    const char *name = json_is_string(value) ? json_string_value(value) : "";

    for (size_t i = 0; i < N_VERDICTS; i++) {
        if (strcmp(name, verdict_names[i]) == 0) {
            *ret = (enum verdict)i;
            return 0;
        }
    }
    return reader_refuse(
        reader, "one of 'unchecked', 'right', 'wrong', 'failed', 'missing' is expected");
}

static int read_maybe(const struct reader *reader, const json_t *value, int *ret)
{
    if (!json_is_boolean(value) && !json_is_null(value))
        return reader_refuse(reader, "true, false or null is expected");
    *ret = json_is_null(value) ? -1 : json_is_true(value);
    return 0;
}

static int read_bool(const struct reader *reader, const json_t *value, bool *ret)
{
    if (!json_is_boolean(value))
        return reader_refuse(reader, "true or false is expected");
    *ret = json_is_true(value);
    return 0;
}

static int read_record(
    struct reader *reader, const struct record *record, const json_t *value, void *at);

static int read_list(
    struct reader *reader, const struct field *field, const json_t *value, void *at)
{
    const struct record *record = field->record;
    size_t n = json_array_size(value);

    if (!json_is_array(value))
        return reader_refuse(reader, "a list is expected");
    char *items = calloc(n > 0 ? n : 1, record->size);
    if (!items)
        return -ENOMEM;
    *(char **)((char *)at + field->offset) = items;
    *(size_t *)((char *)at + field->count_offset) = n;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(reader->where);
        (void)snprintf(reader->where + length, sizeof(reader->where) - length, "[%zu]", i);
        int r = read_record(reader, record, json_array_get(value, i), items + i * record->size);
        if (r < 0)
            return r;
        reader_leave(reader, length);
    }
    return 0;
}

static int read_field(
    struct reader *reader, const struct field *field, const json_t *value, void *at)
{
    void *member = (char *)at + field->offset;
    uint64_t number = 0;
    int r;

    switch (field->kind) {
    case FIELD_TEXT:
        return read_text(reader, value, member);
    case FIELD_UINT64:
        return read_number(reader, value, INT64_MAX, member);
    case FIELD_UNSIGNED:
        r = read_number(reader, value, UINT_MAX, &number);
        *(unsigned *)member = (unsigned)number;
        return r;
    case FIELD_STATUS:
        r = read_number(reader, value, 255, &number);
        *(int *)member = (int)number;
        return r;
    case FIELD_REAL:
        return read_real(reader, value, member);
    case FIELD_BOOL:
        return read_bool(reader, value, member);
    case FIELD_MAYBE:
        return read_maybe(reader, value, member);
    case FIELD_VERDICT:
        return read_verdict(reader, value, member);
    case FIELD_RECORD:
        return read_record(reader, field->record, value, member);
    case FIELD_LIST:
        return read_list(reader, field, value, at);
    }
    return -EINVAL;
}

/* A field that the file's version had not yet: all but a text is 0 already. */
static int read_missing(const struct reader *reader, const struct field *field, void *at)
{
    if (field->since <= reader->version)
        return reader_refuse(reader, "is missing");
    if (field->kind != FIELD_TEXT)
        return 0;
    char *empty = strdup("");
    *(char **)((char *)at + field->offset) = empty;
    return empty ? 0 : -ENOMEM;
}

static int read_record(
    struct reader *reader, const struct record *record, const json_t *value, void *at)
{
    if (!json_is_object(value))
        return reader_refuse(reader, "an object is expected");
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        const json_t *member = json_object_get(value, field->key);
        size_t length = reader_enter(reader, field->key);
        int r = member ? read_field(reader, field, member, at) : read_missing(reader, field, at);
        if (r < 0)
            return r;
        reader_leave(reader, length);
    }
    return 0;
}

/* What no single field shows. */
static int check_samples(const struct results *results, char **why)
{
    for (size_t i = 0; i < results->n_series; i++) {
        const struct series *series = &results->series[i];
        for (size_t k = 0; k < series->n_methods; k++) {
            const struct method_result *method = &series->methods[k];
            for (size_t m = 0; m < method->n_samples; m++)
                if (method->samples[m].synced_ns < method->samples[m].real_ns)
                    return why_set(why,
                        "series[%zu].methods[%zu].samples[%zu].synced_ns: is less than real_ns, "
                        "which it includes",
                        i, k, m);
        }
    }
    return 0;
}

static int document_check(const json_t *root, struct results **ret, char **why)
{
    struct reader reader = {.why = why};
    const char *schema = json_string_value(json_object_get(root, "schema"));
    json_int_t version = json_integer_value(json_object_get(root, "version"));

    if (!schema || strcmp(schema, SCHEMA) != 0)
        return why_set(why, "schema: '%s' is expected: this is no results file", SCHEMA);
    if (version < FIRST_VERSION || version > VERSION)
        return why_set(why, "version: %d is expected; the file is another program's", VERSION);
    reader.version = (unsigned)version;
    struct results *results = calloc(1, sizeof(*results));
    if (!results)
        return -ENOMEM;
    int r = read_record(&reader, &results_record, root, results);
    if (r >= 0)
        r = check_samples(results, why);
    if (r < 0)
        results_free(results);
    else
        *ret = results;
    return r;
}

int document_parse(const char *text, size_t length, struct results **ret, char **why)
{
    json_error_t error;
    _cleanup_json_ json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);

    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return -ENOMEM;
    if (!root)
        return why_set(why, "line %d: %s", error.line, error.text);
    return document_check(root, ret, why);
}
