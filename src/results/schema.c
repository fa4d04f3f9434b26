#include "results/schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "results/record.h"

/* The columns after `number`, `series_number`, `method_number` and `nth` are those of record.c. */
const char *const schema_steps[] = {
    "CREATE TABLE series ("
    " number INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL UNIQUE,"
    " started TEXT NOT NULL,"
    " system_name TEXT NOT NULL,"
    " system_cpu TEXT NOT NULL,"
    " system_cores INTEGER NOT NULL,"
    " system_memory_kb INTEGER NOT NULL,"
    " system_kernel TEXT NOT NULL,"
    " system_governor TEXT NOT NULL,"
    " from_path TEXT NOT NULL,"
    " from_type TEXT NOT NULL,"
    " from_options TEXT NOT NULL,"
    " from_has_journal INTEGER,"
    " from_device TEXT NOT NULL,"
    " from_scheduler TEXT NOT NULL,"
    " from_scratch_kb INTEGER NOT NULL,"
    " to_path TEXT NOT NULL,"
    " to_type TEXT NOT NULL,"
    " to_options TEXT NOT NULL,"
    " to_has_journal INTEGER,"
    " to_device TEXT NOT NULL,"
    " to_scheduler TEXT NOT NULL,"
    " to_scratch_kb INTEGER NOT NULL,"
    " workload TEXT NOT NULL,"
    " seed INTEGER NOT NULL,"
    " files INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " content TEXT NOT NULL,"
    " cold INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE warning ("
    " number INTEGER PRIMARY KEY,"
    " series_number INTEGER NOT NULL REFERENCES series (number) ON DELETE CASCADE,"
    " nth INTEGER NOT NULL,"
    " text TEXT NOT NULL,"
    " UNIQUE (series_number, nth)"
    ") STRICT;"
    "CREATE TABLE method ("
    " number INTEGER PRIMARY KEY,"
    " series_number INTEGER NOT NULL REFERENCES series (number) ON DELETE CASCADE,"
    " nth INTEGER NOT NULL,"
    " name TEXT NOT NULL,"
    " command TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " why TEXT NOT NULL,"
    " UNIQUE (series_number, nth)"
    ") STRICT;"
    "CREATE TABLE sample ("
    " number INTEGER PRIMARY KEY,"
    " method_number INTEGER NOT NULL REFERENCES method (number) ON DELETE CASCADE,"
    " nth INTEGER NOT NULL,"
    " block INTEGER NOT NULL,"
    " real_ns INTEGER NOT NULL,"
    " synced_ns INTEGER NOT NULL,"
    " user_ns INTEGER NOT NULL,"
    " sys_ns INTEGER NOT NULL,"
    " max_rss_kb INTEGER NOT NULL,"
    " minor_faults INTEGER NOT NULL,"
    " major_faults INTEGER NOT NULL,"
    " read_bytes INTEGER NOT NULL,"
    " written_bytes INTEGER NOT NULL,"
    " exit_status INTEGER NOT NULL,"
    " UNIQUE (method_number, nth),"
    " CHECK (synced_ns >= real_ns)"
    ") STRICT;",
    ("ALTER TABLE series ADD COLUMN drive TEXT NOT NULL DEFAULT '';"
     "ALTER TABLE series ADD COLUMN time_scale REAL NOT NULL DEFAULT 0;"),
    "ALTER TABLE series ADD COLUMN system_machine TEXT NOT NULL DEFAULT '';",
};
const size_t schema_n_steps = ELEMENTS(schema_steps);

/* --- Errors --- */

/* `words` may have names from the file in them. */
static int refuse_damaged(const char *words, char **why)
{
    _cleanup_free_ char *quoted = quote_name(words);

    return quoted ? why_set(why, "the database is damaged: %s", quoted) : -ENOMEM;
}

static int error_of_system(sqlite3 *db, char **why)
{
    int error = sqlite3_system_errno(db);

    if (error > 0)
        return -error;
    (void)why_set(why, "%s", sqlite3_errmsg(db));
    return -EIO;
}

int schema_error(sqlite3 *db, int code, char **why)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_TOOBIG:
        return -EFBIG;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
        return -EACCES;
    case SQLITE_INTERRUPT:
        return -EINTR;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        (void)why_set(why, "another program keeps it locked");
        return -EBUSY;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_NOLFS:
        return error_of_system(db, why);
    case SQLITE_CONSTRAINT:
        if (code == SQLITE_CONSTRAINT_UNIQUE)
            return -EEXIST;
        return why_set(why, "%s", sqlite3_errmsg(db));
    case SQLITE_NOTADB:
        return why_set(why, "this is no SQLite database");
    default:
        return refuse_damaged(sqlite3_errmsg(db), why);
    }
}

int schema_run(sqlite3 *db, const char *sql, char **why)
{
    return schema_error(db, sqlite3_exec(db, sql, NULL, NULL, NULL), why);
}

/* --- Whose, and how old --- */

static int query_number(sqlite3 *db, const char *sql, sqlite3_int64 *ret, char **why)
{
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(query);
    if (code == SQLITE_ROW)
        *ret = sqlite3_column_int64(query, 0);
    int r = schema_error(db, code, why);
    (void)sqlite3_finalize(query); /* it repeats the error of the step */
    return r;
}

/* The first line that the check has to say, if it is not "ok" (or nothing at all). */
static int check_with(sqlite3 *db, const char *sql, char **why)
{
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(query);
    int r = schema_error(db, code, why);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(query, 0) : "ok";
    if (r == 0 && text && strcmp(text, "ok") != 0)
        r = refuse_damaged(text, why);
    (void)sqlite3_finalize(query);
    return r;
}

static int check_identity(sqlite3 *db, size_t n_steps, size_t *ret_version, char **why)
{
    sqlite3_int64 application = 0, version = 0, n_objects = 0;
    int r = query_number(db, "PRAGMA application_id", &application, why);

    if (r == 0)
        r = query_number(db, "PRAGMA user_version", &version, why);
    if (r == 0)
        r = query_number(db, "SELECT count(*) FROM sqlite_schema", &n_objects, why);
    if (r < 0)
        return r;
    if (application == 0 && version == 0 && n_objects == 0) {
        *ret_version = 0;
        return 0;
    }
    if (application != SCHEMA_APPLICATION_ID || version < 1)
        return why_set(why, "this is another program's database");
    if ((size_t)version > n_steps)
        return why_set(why,
            "this is a database of version %lld, made by a newer program; this one knows versions "
            "up to %zu",
            (long long)version, n_steps);
    *ret_version = (size_t)version;
    return 0;
}

int schema_check(sqlite3 *db, size_t n_steps, size_t *ret_version, char **why)
{
    size_t version = 0;
    int r = check_identity(db, n_steps, &version, why);

    if (r == 0)
        r = check_with(db, "PRAGMA integrity_check(1)", why);
    if (r == 0)
        r = check_with(db,
            "SELECT 'a row of ' || \"table\" || ' belongs to none of ' || parent "
            "FROM pragma_foreign_key_check LIMIT 1",
            why);
    if (r == 0)
        *ret_version = version;
    return r;
}

/* --- Steps --- */

/* Within a transaction. */
static int update_within(sqlite3 *db, const char *const *steps, size_t n_steps, char **why)
{
    size_t version = 0;
    char mark[96];
    int r = schema_check(db, n_steps, &version, why);

    for (size_t i = version; i < n_steps && r == 0; i++)
        r = schema_run(db, steps[i], why);
    if (r < 0 || version == n_steps)
        return r;
    (void)snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = %zu",
        SCHEMA_APPLICATION_ID, n_steps);
    return schema_run(db, mark, why);
}

int schema_update(sqlite3 *db, const char *const *steps, size_t n_steps, char **why)
{
    int r = schema_run(db, "BEGIN IMMEDIATE", why);

    if (r < 0)
        return r;
    r = update_within(db, steps, n_steps, why);
    if (r == 0)
        r = schema_run(db, "COMMIT", why);
    if (r < 0)
        (void)sqlite3_exec(
            db, "ROLLBACK", NULL, NULL, NULL); /* the first error is the one to tell */
    return r;
}
