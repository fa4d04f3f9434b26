/* What the options of shoal tar take: times, owners, kinds of compression. */
#ifndef SHOAL_CLI_TAR_VALUES_H
#define SHOAL_CLI_TAR_VALUES_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <time.h>

/* "@SECONDS", "2020-01-01", "2020-01-01 12:00[:00[.5]]" (or with T), each in local time unless "Z",
 * "UTC" or "+HH[:MM]" follows; or a path that begins with "/" or ".", whose file's time it is.
 * 0; -EINVAL: it is none of these; any other errno is of the file. */
int tar_parse_time(const char *text, struct timespec *ret);

/* An owner as it is to be recorded. */
struct tar_owner {
    const char *name; /* part of the text; NULL: the number's, if it has one */
    bool has_id;      /* else the file's own number is kept */
    unsigned id;
};

/* "NAME", "NAME:ID", ":ID", "ID", "+ID"; a NAME alone has the number that the system knows. 0 or
 * -EINVAL. The text is cut at its colon. */
int tar_parse_owner(char *text, bool is_group, struct tar_owner *ret);

/* The compression that the name of an archive asks for; false: one that cannot be written. */
bool tar_compression_of_name(const char *name, enum shoal_compression *ret);

/* The compression that a program's command line makes, and the level that it asks for (0: none).
 * False: unknown program or option. */
bool tar_compression_of_program(const char *command, enum shoal_compression *ret, int *ret_level);

#endif
