/* The tables of the results database, and how an older one is brought up to date.
 *
 * The file is SQLite's. Its application_id says that it is Shoal's; user_version is the number of
 * steps that it has been through. Each step is SQL and is never changed once it was released: what
 * is new is a new step at the end. */
#ifndef SHOAL_RESULTS_SCHEMA_H
#define SHOAL_RESULTS_SCHEMA_H

#include <stddef.h>

struct sqlite3;

/* The application_id: "Shol". */
#define SCHEMA_APPLICATION_ID 0x53686f6c

/* SQL that makes version i + 1 of version i; version 0 is an empty file. */
extern const char *const schema_steps[];
extern const size_t schema_n_steps;

/* Looks whose the database is and of what version; 0 for one without anything in it. -EBADMSG: it
 * is another program's, or newer than `n_steps`, or damaged, as *why says. Otherwise as
 * schema_error(). */
int schema_check(struct sqlite3 *db, size_t n_steps, size_t *ret_version, char **why);

/* Takes the database through the steps it lacks, all or none, after a check as above. Others wait
 * meanwhile. */
int schema_update(struct sqlite3 *db, const char *const *steps, size_t n_steps, char **why);

/* What SQLite's result code `code` of the last call says, as a negative errno; for -EBADMSG, -EBUSY
 * and -EIO *why says more, in the place of what it held. 0 of SQLITE_OK, SQLITE_ROW and
 * SQLITE_DONE. -EEXIST: what must be unique is there. */
int schema_error(struct sqlite3 *db, int code, char **why);

/* Runs SQL that gives no rows. Errors as above. */
int schema_run(struct sqlite3 *db, const char *sql, char **why);

#endif
