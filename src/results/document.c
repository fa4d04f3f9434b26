#include "results/document.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "results/results.h"

#define SCHEMA  "shoal-results"
#define VERSION 2

/* Until this version a field of a file may be missing, and then is 0 or "". */
#define FIRST_VERSION 1

/* --- The records as tables: reading, writing and freeing all follow them. --- */

enum field_kind {
    FIELD_TEXT,     /* char * */
    FIELD_UINT64,   /* uint64_t */
    FIELD_UNSIGNED, /* unsigned */
    FIELD_STATUS,   /* int, 0…255 */
    FIELD_BOOL,     /* bool */
    FIELD_MAYBE,    /* int: 1, 0 or -1, in JSON true, false or null */
    FIELD_VERDICT,  /* enum verdict, in JSON its name */
    FIELD_RECORD,   /* a struct within */
    FIELD_LIST,     /* a pointer to an array of structs, and a size_t */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    const struct record *record; /* FIELD_RECORD, FIELD_LIST */
    size_t count_offset;         /* FIELD_LIST */
    unsigned since;              /* the version of files that has it first; 0: all have it */
};

struct record {
    const struct field *fields;
    size_t n_fields;
    size_t size;
};

#define FIELD(type, as, member)                                                                    \
    {                                                                                              \
        .key = #member, .kind = as, .offset = offsetof(struct type, member)                        \
    }
#define FIELD_SINCE(version, type, as, member)                                                     \
    {                                                                                              \
        .key = #member, .kind = as, .offset = offsetof(struct type, member), .since = (version)    \
    }
#define FIELD_OF(type, member, table)                                                              \
    {                                                                                              \
        .key = #member, .kind = FIELD_RECORD, .offset = offsetof(struct type, member),             \
        .record = &(table)                                                                         \
    }
#define FIELD_LIST_OF(type, member, table)                                                         \
    {                                                                                              \
        .key = #member, .kind = FIELD_LIST, .offset = offsetof(struct type, member),               \
        .record = &(table), .count_offset = offsetof(struct type, n_##member)                      \
    }
#define FIELD_LIST_SINCE(version, type, member, table)                                             \
    {                                                                                              \
        .key = #member, .kind = FIELD_LIST, .offset = offsetof(struct type, member),               \
        .record = &(table), .count_offset = offsetof(struct type, n_##member), .since = (version)  \
    }
#define RECORD(name, type)                                                                         \
    static const struct record name##_record = {                                                   \
        name##_fields, ELEMENTS(name##_fields), sizeof(struct type)}

static const struct field sample_fields[] = {
    FIELD(sample, FIELD_UNSIGNED, block),
    FIELD(sample, FIELD_UINT64, real_ns),
    FIELD(sample, FIELD_UINT64, synced_ns),
    FIELD(sample, FIELD_UINT64, user_ns),
    FIELD(sample, FIELD_UINT64, sys_ns),
    FIELD(sample, FIELD_UINT64, max_rss_kb),
    FIELD_SINCE(2, sample, FIELD_UINT64, minor_faults),
    FIELD_SINCE(2, sample, FIELD_UINT64, major_faults),
    FIELD_SINCE(2, sample, FIELD_UINT64, read_bytes),
    FIELD_SINCE(2, sample, FIELD_UINT64, written_bytes),
    FIELD(sample, FIELD_STATUS, exit_status),
};
RECORD(sample, sample);

static const struct field method_fields[] = {
    FIELD(method_result, FIELD_TEXT, name),
    FIELD(method_result, FIELD_TEXT, command),
    FIELD(method_result, FIELD_TEXT, version),
    FIELD(method_result, FIELD_VERDICT, verdict),
    FIELD(method_result, FIELD_TEXT, why),
    FIELD_LIST_OF(method_result, samples, sample_record),
};
RECORD(method, method_result);

static const struct field system_fields[] = {
    FIELD(system_info, FIELD_TEXT, name),
    FIELD(system_info, FIELD_TEXT, cpu),
    FIELD(system_info, FIELD_UNSIGNED, cores),
    FIELD(system_info, FIELD_UINT64, memory_kb),
    FIELD(system_info, FIELD_TEXT, kernel),
    FIELD_SINCE(2, system_info, FIELD_TEXT, governor),
};
RECORD(system, system_info);

static const struct field file_system_fields[] = {
    FIELD(file_system_info, FIELD_TEXT, path),
    FIELD(file_system_info, FIELD_TEXT, type),
    FIELD(file_system_info, FIELD_TEXT, options),
    FIELD(file_system_info, FIELD_MAYBE, has_journal),
    FIELD_SINCE(2, file_system_info, FIELD_TEXT, device),
    FIELD_SINCE(2, file_system_info, FIELD_TEXT, scheduler),
    FIELD_SINCE(2, file_system_info, FIELD_UINT64, scratch_kb),
};
RECORD(file_system, file_system_info);

static const struct field warning_fields[] = {
    FIELD(warning, FIELD_TEXT, text),
};
RECORD(warning, warning);

static const struct field series_fields[] = {
    FIELD(series, FIELD_TEXT, id),
    FIELD(series, FIELD_TEXT, started),
    FIELD_OF(series, system, system_record),
    FIELD_OF(series, from, file_system_record),
    FIELD_OF(series, to, file_system_record),
    FIELD(series, FIELD_TEXT, workload),
    FIELD(series, FIELD_UINT64, seed),
    FIELD(series, FIELD_UINT64, files),
    FIELD(series, FIELD_UINT64, bytes),
    FIELD_SINCE(2, series, FIELD_TEXT, content),
    FIELD(series, FIELD_BOOL, cold),
    FIELD_LIST_SINCE(2, series, warnings, warning_record),
    FIELD_LIST_OF(series, methods, method_record),
};
RECORD(series, series);

static const struct field results_fields[] = {
    FIELD_LIST_OF(results, series, series_record),
};
RECORD(results, results);

static const char *const verdict_names[] = {
    [VERDICT_UNCHECKED] = "unchecked",
    [VERDICT_RIGHT] = "right",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_FAILED] = "failed",
    [VERDICT_MISSING] = "missing",
};

/* --- Freeing --- */

static void record_clear(const struct record *record, void *at)
{
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        void *member = (char *)at + field->offset;

        if (field->kind == FIELD_TEXT) {
            free(*(char **)member);
        } else if (field->kind == FIELD_RECORD) {
            record_clear(field->record, member);
        } else if (field->kind == FIELD_LIST) {
            char *items = *(char **)member;
            size_t n = *(size_t *)((char *)at + field->count_offset);
            for (size_t k = 0; k < n; k++)
                record_clear(field->record, items + k * field->record->size);
            free(items);
        }
    }
    memset(at, 0, record->size);
}

void series_clear(struct series *series)
{
    record_clear(&series_record, series);
}

void results_free(struct results *results)
{
    if (!results)
        return;
    record_clear(&results_record, results);
    free(results);
}

/* --- Writing --- */

static json_t *text_to_json(const char *text)
{
    json_t *json;

    if (!text)
        return json_string("");
    if (utf8_is_valid(text, strlen(text)))
        return json_string(text);
    char *quoted = quote_name(text);
    json = quoted ? json_string(quoted) : NULL;
    free(quoted);
    return json;
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

int document_new(const struct results *results, json_t **ret)
{
    _cleanup_json_ json_t *root = json_pack("{s:s, s:i}", "schema", SCHEMA, "version", VERSION);
    errno = 0;
    json_t *list = list_to_json(&series_record, (const char *)results->series, results->n_series);
    int r = json_made(list);

    if (r < 0)
        return r;
    if (json_object_set_new(root, "series", list) < 0)
        return -ENOMEM;
    *ret = TAKE_PTR(root);
    return 0;
}

int document_text(const json_t *root, char **ret)
{
    char *text = json_dumps(root, JSON_INDENT(1));

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

static int why_set(char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int why_set(char **why, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL; /* the code alone has to do */
    va_end(arguments);
    free(*why);
    *why = text;
    return -EBADMSG;
}

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

    for (size_t i = 0; i < ELEMENTS(verdict_names); i++) {
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

int document_parse(
    const char *text, size_t length, json_t **ret_root, struct results **ret, char **why)
{
    json_error_t error;
    _cleanup_json_ json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);

    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return -ENOMEM;
    if (!root)
        return why_set(why, "line %d: %s", error.line, error.text);
    int r = document_check(root, ret, why);
    if (r < 0)
        return r;
    *ret_root = TAKE_PTR(root);
    return 0;
}

int document_add(json_t *root, const struct series *series)
{
    errno = 0;
    json_t *added = record_to_json(&series_record, series);
    int r = json_made(added);

    if (r < 0)
        return r;
    return json_array_append_new(json_object_get(root, "series"), added) < 0 ? -ENOMEM : 0;
}
