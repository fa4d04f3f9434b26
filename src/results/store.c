#include "results/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "results/record.h"
#include "results/results.h"
#include "results/schema.h"

#define BUSY_TIMEOUT_MS 60000

struct store {
    sqlite3 *db;
};

static void cleanup_stmt_p(sqlite3_stmt **stmt)
{
    (void)sqlite3_finalize(*stmt); /* it repeats the error of the step */
}
#define _cleanup_stmt_ _cleanup_(cleanup_stmt_p)

/* --- Opening --- */

void store_close(struct store *store)
{
    if (!store)
        return;
    (void)sqlite3_close(store->db); /* nothing is open in it, and what was told was committed */
    free(store);
}

void cleanup_store_p(struct store **store)
{
    store_close(*store);
}

/* Makes the directories above `path` that are not there, for the user alone as XDG asks. */
static int make_parents(const char *path)
{
    _cleanup_free_ char *copy = strdup(path);

    if (!copy)
        return -ENOMEM;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return 0;
}

/* Whether SQLite may open what is there. -ENOENT if nothing is. */
static int check_path(const char *path, char **why)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode))
        return why_set(why, "this is no regular file");
    /* SQLite takes less than a page's least size for an empty file, and would write over it. */
    if (st.st_size > 0 && st.st_size < 512)
        return why_set(why, "this is no SQLite database");
    return 0;
}

/* An empty file is an empty database. SQLite would not say why it cannot make one. */
static int make_file(const char *path)
{
    int r = make_parents(path);

    if (r < 0)
        return r;
    _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : 0;
}

/* JSON was the form of this file once, and still is that of what is imported. */
static bool looks_like_json(const char *path)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    char head[64];
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);

    if (n <= 0)
        return false;
    head[n] = '\0';
    return head[strspn(head, " \t\r\n")] == '{';
}

static int open_database(const char *path, sqlite3 **ret, char **why)
{
    _cleanup_free_ char *name = NULL;
    sqlite3 *db = NULL;

    /* A name of SQLite's own (":memory:") is one like any other. */
    if (asprintf(&name, "%s%s", *path == '/' ? "" : "./", path) < 0) {
        name = NULL;
        return -ENOMEM;
    }
    int code = sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE, NULL);
    int r = db ? schema_error(db, code, why) : -ENOMEM;
    if (r == 0) {
        (void)sqlite3_extended_result_codes(db, 1);
        (void)sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
        /* Nothing that somebody put into the file's schema is run. */
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        r = schema_run(db, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON", why);
    }
    if (r < 0)
        (void)sqlite3_close(db);
    else
        *ret = db;
    return r;
}

/* One view of the whole file, though others may write. */
static int check_database(sqlite3 *db, size_t *ret_version, char **why)
{
    int r = schema_run(db, "BEGIN", why);

    if (r < 0)
        return r;
    r = schema_check(db, schema_n_steps, ret_version, why);
    (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
    return r;
}

static int store_prepare(struct store *store, bool make, char **why)
{
    size_t version = 0;
    int r = check_database(store->db, &version, why);

    if (r < 0 || version == schema_n_steps)
        return r;
    if (version == 0 && !make)
        return -ENOENT;
    return schema_update(store->db, schema_steps, schema_n_steps, why);
}

int store_open(const char *path, bool make, struct store **ret, char **why)
{
    _cleanup_(cleanup_store_p) struct store *store = calloc(1, sizeof(*store));

    if (!store)
        return -ENOMEM;
    int r = *path ? check_path(path, why) : -ENOENT;
    if (r == -ENOENT && *path && make)
        r = make_file(path);
    if (r == 0)
        r = open_database(path, &store->db, why);
    if (r == 0)
        r = store_prepare(store, make, why);
    if (r == -EBADMSG && looks_like_json(path))
        return why_set(why, "this is JSON text, not a database: it can be imported into one");
    if (r == 0)
        *ret = TAKE_PTR(store);
    return r;
}

/* --- Columns --- */

/* Writes ", NAME" for each column of the record, in the order of its fields. */
static void print_columns(FILE *out, const struct record *record, const char *prefix)
{
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        char within[64];
        if (field->kind == FIELD_RECORD) {
            int n = snprintf(within, sizeof(within), "%s%s_", prefix, field->key);
            if (n < (int)sizeof(within)) /* else SQLite misses a column */
                print_columns(out, field->record, within);
        } else if (field->kind != FIELD_LIST) {
            (void)fprintf(out, ", %s%s", prefix, field->key);
        }
    }
}

static size_t count_columns(const struct record *record)
{
    size_t n = 0;

    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (field->kind == FIELD_RECORD)
            n += count_columns(field->record);
        else
            n += field->kind != FIELD_LIST;
    }
    return n;
}

/* Prepares what `print` writes as SQL. `parent` is the table that a row belongs to, NULL if none.
 */
static int prepare(sqlite3 *db, void (*print)(FILE *, const struct record *, const char *),
    const struct record *record, const char *parent, sqlite3_stmt **ret, char **why)
{
    _cleanup_free_ char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);

    if (!out)
        return -ENOMEM;
    print(out, record, parent);
    if (ferror(out) | fclose(out))
        return -ENOMEM;
    return schema_error(db, sqlite3_prepare_v2(db, sql, (int)length, ret, NULL), why);
}

/* --- Adding --- */

/* The row's own number, which SQLite chooses, its place, and its columns. */
static void print_insert(FILE *out, const struct record *record, const char *parent)
{
    (void)fprintf(out, "INSERT INTO %s (number", record->table);
    if (parent)
        (void)fprintf(out, ", %s_number, nth", parent);
    print_columns(out, record, "");
    (void)fprintf(out, ") VALUES (NULL%s", parent ? ", ?, ?" : "");
    for (size_t i = count_columns(record); i > 0; i--)
        (void)fprintf(out, ", ?");
    (void)fprintf(out, ")");
}

static int bind_text(sqlite3_stmt *insert, int at, const char *text)
{
    char *stored = record_store_text(text);

    return stored ? sqlite3_bind_text(insert, at, stored, -1, free) : SQLITE_NOMEM;
}

static int bind_field(sqlite3_stmt *insert, int at, const struct field *field, const char *member)
{
    double real;
    int maybe;

    switch (field->kind) {
    case FIELD_TEXT:
        return bind_text(insert, at, *(char *const *)member);
    case FIELD_UINT64:
        return sqlite3_bind_int64(insert, at, (sqlite3_int64) * (const uint64_t *)member);
    case FIELD_UNSIGNED:
        return sqlite3_bind_int64(insert, at, *(const unsigned *)member);
    case FIELD_STATUS:
        return sqlite3_bind_int(insert, at, *(const int *)member);
    case FIELD_REAL:
        memcpy(&real, member, sizeof(real));
        return sqlite3_bind_double(insert, at, real);
    case FIELD_BOOL:
        return sqlite3_bind_int(insert, at, *(const bool *)member);
    case FIELD_MAYBE:
        maybe = *(const int *)member;
        return maybe < 0 ? sqlite3_bind_null(insert, at) : sqlite3_bind_int(insert, at, maybe);
    case FIELD_VERDICT:
        return bind_text(insert, at, verdict_names[*(const enum verdict *)member]);
    case FIELD_RECORD:
    case FIELD_LIST:
        break;
    }
    return SQLITE_MISUSE;
}

/* *at is the next parameter. SQLite's code, or SQLITE_RANGE for a number that it cannot hold. */
static int bind_record(sqlite3_stmt *insert, int *at, const struct record *record, const void *from)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < record->n_fields && code == SQLITE_OK; i++) {
        const struct field *field = &record->fields[i];
        const char *member = (const char *)from + field->offset;
        if (field->kind == FIELD_UINT64 && *(const uint64_t *)member > INT64_MAX)
            return SQLITE_RANGE;
        if (field->kind == FIELD_RECORD)
            code = bind_record(insert, at, field->record, member);
        else if (field->kind != FIELD_LIST)
            code = bind_field(insert, (*at)++, field, member);
    }
    return code;
}

/* Where a row belongs. */
struct belonging {
    const char *parent; /* table; NULL: nowhere */
    sqlite3_int64 number;
};

static int add_lists(
    sqlite3 *db, const struct record *record, const char *row, sqlite3_int64 number, char **why);

static int add_row(sqlite3 *db, sqlite3_stmt *insert, const struct record *record, const char *row,
    int at, char **why)
{
    int code = bind_record(insert, &at, record, row);

    if (code == SQLITE_RANGE)
        return -ERANGE;
    if (code == SQLITE_OK)
        code = sqlite3_step(insert);
    int r = schema_error(db, code, why);
    (void)sqlite3_reset(insert); /* it repeats the error of the step */
    return r < 0 ? r : add_lists(db, record, row, sqlite3_last_insert_rowid(db), why);
}

static int add_rows(sqlite3 *db, const struct record *record, const char *rows, size_t n,
    struct belonging belonging, char **why)
{
    _cleanup_stmt_ sqlite3_stmt *insert = NULL;
    int r = prepare(db, print_insert, record, belonging.parent, &insert, why);

    for (size_t i = 0; i < n && r == 0; i++) {
        int at = 1, code = SQLITE_OK;
        if (belonging.parent) {
            code = sqlite3_bind_int64(insert, at++, belonging.number);
            if (code == SQLITE_OK)
                code = sqlite3_bind_int64(insert, at++, (sqlite3_int64)i);
        }
        r = schema_error(db, code, why);
        if (r == 0)
            r = add_row(db, insert, record, rows + i * record->size, at, why);
    }
    return r;
}

static int add_lists(
    sqlite3 *db, const struct record *record, const char *row, sqlite3_int64 number, char **why)
{
    int r = 0;

    for (size_t i = 0; i < record->n_fields && r == 0; i++) {
        const struct field *field = &record->fields[i];
        if (field->kind == FIELD_LIST)
            r = add_rows(db, field->record, *(char *const *)(row + field->offset),
                *(const size_t *)(row + field->count_offset),
                (struct belonging){record->table, number}, why);
    }
    return r;
}

int store_add(struct store *store, const struct series *series, char **why)
{
    int r = schema_run(store->db, "BEGIN IMMEDIATE", why);

    if (r < 0)
        return r;
    r = add_rows(
        store->db, &series_record, (const char *)series, 1, (struct belonging){NULL, 0}, why);
    if (r == 0)
        r = schema_run(store->db, "COMMIT", why);
    if (r < 0)
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* the first error counts */
    return r;
}

/* --- Loading --- */

static void print_select(FILE *out, const struct record *record, const char *parent)
{
    (void)fprintf(out, "SELECT number");
    print_columns(out, record, "");
    (void)fprintf(out, " FROM %s", record->table);
    if (parent)
        (void)fprintf(out, " WHERE %s_number = ? ORDER BY nth", parent);
    else
        (void)fprintf(out, " ORDER BY number");
}

/* What a row is read from, and where it lies in memory. */
struct row_reader {
    sqlite3 *db;
    sqlite3_stmt *select;
    int at; /* the next column */
    char **why;
};

static int refuse_column(const struct row_reader *reader)
{
    return why_set(reader->why, "the database is damaged: column %s of row %lld has a wrong value",
        sqlite3_column_name(reader->select, reader->at),
        (long long)sqlite3_column_int64(reader->select, 0));
}

static int read_column_text(const struct row_reader *reader, char **ret)
{
    const char *text = (const char *)sqlite3_column_text(reader->select, reader->at);

    if (!text)
        return sqlite3_errcode(reader->db) == SQLITE_NOMEM ? -ENOMEM : refuse_column(reader);
    size_t length = (size_t)sqlite3_column_bytes(reader->select, reader->at);
    if (strlen(text) != length || !utf8_is_valid(text, length))
        return refuse_column(reader);
    *ret = strdup(text);
    return *ret ? 0 : -ENOMEM;
}

static int read_column_number(const struct row_reader *reader, sqlite3_int64 most, uint64_t *ret)
{
    sqlite3_int64 number = sqlite3_column_int64(reader->select, reader->at);

    if (number < 0 || number > most)
        return refuse_column(reader);
    *ret = (uint64_t)number;
    return 0;
}

static int read_column_verdict(const struct row_reader *reader, enum verdict *ret)
{
    const char *name = (const char *)sqlite3_column_text(reader->select, reader->at);

    for (size_t i = 0; i < N_VERDICTS && name; i++) {
        if (strcmp(name, verdict_names[i]) == 0) {
            *ret = (enum verdict)i;
            return 0;
        }
    }
    return refuse_column(reader);
}

static int read_column(const struct row_reader *reader, const struct field *field, void *member)
{
    uint64_t number = 0;
    int r;

    switch (field->kind) {
    case FIELD_TEXT:
        return read_column_text(reader, member);
    case FIELD_UINT64:
        return read_column_number(reader, INT64_MAX, member);
    case FIELD_UNSIGNED:
        r = read_column_number(reader, UINT_MAX, &number);
        *(unsigned *)member = (unsigned)number;
        return r;
    case FIELD_STATUS:
        r = read_column_number(reader, 255, &number);
        *(int *)member = (int)number;
        return r;
    case FIELD_REAL:
        *(double *)member = sqlite3_column_double(reader->select, reader->at);
        return *(double *)member >= 0 ? 0 : refuse_column(reader);
    case FIELD_BOOL:
        r = read_column_number(reader, 1, &number);
        *(bool *)member = number;
        return r;
    case FIELD_MAYBE:
        r = read_column_number(reader, 1, &number);
        *(int *)member = (int)number;
        if (sqlite3_column_type(reader->select, reader->at) == SQLITE_NULL)
            *(int *)member = -1;
        return r;
    case FIELD_VERDICT:
        return read_column_verdict(reader, member);
    case FIELD_RECORD:
    case FIELD_LIST:
        break;
    }
    return -EINVAL;
}

static int read_columns(struct row_reader *reader, const struct record *record, char *row)
{
    int r = 0;

    for (size_t i = 0; i < record->n_fields && r == 0; i++) {
        const struct field *field = &record->fields[i];
        if (field->kind == FIELD_RECORD) {
            r = read_columns(reader, field->record, row + field->offset);
        } else if (field->kind != FIELD_LIST) {
            r = read_column(reader, field, row + field->offset);
            reader->at++;
        }
    }
    return r;
}

static int load_rows(
    sqlite3 *db, const struct field *list, struct belonging belonging, char *owner, char **why);

static int load_lists(
    sqlite3 *db, const struct record *record, char *row, sqlite3_int64 number, char **why)
{
    int r = 0;

    for (size_t i = 0; i < record->n_fields && r == 0; i++)
        if (record->fields[i].kind == FIELD_LIST)
            r = load_rows(
                db, &record->fields[i], (struct belonging){record->table, number}, row, why);
    return r;
}

/* Room for one more record, all zeroes, at the end of the owner's list; NULL: memory is out. */
static char *list_grow(const struct field *list, char *owner)
{
    char **items = (char **)(owner + list->offset);
    size_t *n = (size_t *)(owner + list->count_offset), size = list->record->size;

    /* Doubled whenever the number is a power of two. */
    if ((*n & (*n - 1)) == 0) {
        char *grown = reallocarray(*items, *n ? 2 * *n : 1, size);
        if (!grown)
            return NULL;
        *items = grown;
    }
    return memset(*items + (*n)++ * size, 0, size);
}

/* Reads the rows into the owner's list; what it holds after a failure is the owner's to clear. */
static int load_rows(
    sqlite3 *db, const struct field *list, struct belonging belonging, char *owner, char **why)
{
    _cleanup_stmt_ sqlite3_stmt *select = NULL;
    int r = prepare(db, print_select, list->record, belonging.parent, &select, why);
    int code = SQLITE_OK;

    if (r == 0 && belonging.parent)
        r = schema_error(db, sqlite3_bind_int64(select, 1, belonging.number), why);
    while (r == 0 && (code = sqlite3_step(select)) == SQLITE_ROW) {
        struct row_reader reader = {db, select, 1, why};
        char *row = list_grow(list, owner);
        r = row ? read_columns(&reader, list->record, row) : -ENOMEM;
        if (r == 0)
            r = load_lists(db, list->record, row, sqlite3_column_int64(select, 0), why);
    }
    return r < 0 ? r : schema_error(db, code, why);
}

int store_load(struct store *store, struct results **ret, char **why)
{
    struct results *results = calloc(1, sizeof(*results));

    if (!results)
        return -ENOMEM;
    int r = schema_run(store->db, "BEGIN", why);
    if (r == 0) {
        r = load_rows(store->db, &results_record.fields[0], (struct belonging){NULL, 0},
            (char *)results, why);
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
    }
    if (r < 0)
        results_free(results);
    else
        *ret = results;
    return r;
}
