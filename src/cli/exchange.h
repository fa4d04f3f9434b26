/* Series from JSON into the database and out of it: what `shoal report --import` and `--export` do.
 */
#ifndef SHOAL_CLI_EXCHANGE_H
#define SHOAL_CLI_EXCHANGE_H

#include <stddef.h>

struct series;

/* Adds the series of a JSON file ("-": standard input) that are not yet in the database, and says
 * how many those were. Returns an exit code. */
int exchange_import(const char *file, const char *database);

/* Writes series as JSON to a file; NULL or "-": to standard output. Returns an exit code. */
int exchange_export(const char *file, const struct series *const *series, size_t n_series);

#endif
