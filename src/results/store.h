/* The database of results. The records' tables (record.h) say which columns there are. */
#ifndef SHOAL_RESULTS_STORE_H
#define SHOAL_RESULTS_STORE_H

#include <stdbool.h>

struct results;
struct series;
struct store;

/* Opens a database, checks the whole of it, and brings it up to date if it is older. One that is
 * not there is made, with its directories, if `make` says so; otherwise that is -ENOENT. -EBADMSG:
 * it is no database of results, of a newer program's, or damaged, as *why says: it is left as it
 * is. -EBUSY: another program keeps it locked for longer than a minute. */
int store_open(const char *path, bool make, struct store **ret, char **why);
void store_close(struct store *store); /* NULL: nothing */
void cleanup_store_p(struct store **store);

/* Adds a series, all of it or, with an error, nothing. -EEXIST: one of that ID is there. -ERANGE: a
 * number is past 2^63-1. */
int store_add(struct store *store, const struct series *series, char **why);

/* All series, in the order in which they were added. */
int store_load(struct store *store, struct results **ret, char **why);

#endif
