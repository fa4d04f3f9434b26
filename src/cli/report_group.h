/* A group of results: some workloads and some methods of the series that are reported. */
#ifndef SHOAL_CLI_REPORT_GROUP_H
#define SHOAL_CLI_REPORT_GROUP_H

#include <stdbool.h>
#include <stddef.h>

struct series;

/* Names that were asked for; none: all. */
struct names {
    const char **all;
    size_t n;
};

bool names_have(const struct names *names, const char *name);

/* Copies of series that have only the methods that are named, in the series' order; those that then
 * have none are left out. What they point to stays the series'. Free it by group_free(). */
struct group {
    struct series *series;
    const struct series **pointers; /* to each of them */
    size_t n;
};

/* -ENOMEM. */
int group_make(
    const struct series *const *series, size_t n, const struct names *methods, struct group *ret);
void group_free(struct group *group);

#endif
