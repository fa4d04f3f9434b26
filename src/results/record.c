#include "results/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "results/results.h"

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
    const struct record name##_record = {                                                          \
        #name, name##_fields, ELEMENTS(name##_fields), sizeof(struct type)}

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
static RECORD(sample, sample);

static const struct field method_fields[] = {
    FIELD(method_result, FIELD_TEXT, name),
    FIELD(method_result, FIELD_TEXT, command),
    FIELD(method_result, FIELD_TEXT, version),
    FIELD(method_result, FIELD_VERDICT, verdict),
    FIELD(method_result, FIELD_TEXT, why),
    FIELD_LIST_OF(method_result, samples, sample_record),
};
static RECORD(method, method_result);

static const struct field system_fields[] = {
    FIELD(system_info, FIELD_TEXT, name),
    FIELD(system_info, FIELD_TEXT, cpu),
    FIELD(system_info, FIELD_UNSIGNED, cores),
    FIELD(system_info, FIELD_UINT64, memory_kb),
    FIELD(system_info, FIELD_TEXT, kernel),
    FIELD_SINCE(2, system_info, FIELD_TEXT, governor),
    FIELD_SINCE(4, system_info, FIELD_TEXT, machine),
};
static RECORD(system, system_info);

static const struct field file_system_fields[] = {
    FIELD(file_system_info, FIELD_TEXT, path),
    FIELD(file_system_info, FIELD_TEXT, type),
    FIELD(file_system_info, FIELD_TEXT, options),
    FIELD(file_system_info, FIELD_MAYBE, has_journal),
    FIELD_SINCE(2, file_system_info, FIELD_TEXT, device),
    FIELD_SINCE(2, file_system_info, FIELD_TEXT, scheduler),
    FIELD_SINCE(2, file_system_info, FIELD_UINT64, scratch_kb),
};
static RECORD(file_system, file_system_info);

static const struct field warning_fields[] = {
    FIELD(warning, FIELD_TEXT, text),
};
static RECORD(warning, warning);

static const struct field series_fields[] = {
    FIELD(series, FIELD_TEXT, id),
    FIELD(series, FIELD_TEXT, started),
    FIELD_OF(series, system, system_record),
    FIELD_OF(series, from, file_system_record),
    FIELD_OF(series, to, file_system_record),
    FIELD_SINCE(3, series, FIELD_TEXT, drive),
    FIELD_SINCE(3, series, FIELD_REAL, time_scale),
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

const char *const verdict_names[N_VERDICTS] = {
    [VERDICT_UNCHECKED] = "unchecked",
    [VERDICT_RIGHT] = "right",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_FAILED] = "failed",
    [VERDICT_MISSING] = "missing",
};

void record_clear(const struct record *record, void *at)
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

void results_free(struct results *results)
{
    if (!results)
        return;
    record_clear(&results_record, results);
    free(results);
}

char *record_store_text(const char *text)
{
    if (!text)
        return strdup("");
    return utf8_is_valid(text, strlen(text)) ? strdup(text) : quote_name(text);
}

int why_set(char **why, const char *format, ...)
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
