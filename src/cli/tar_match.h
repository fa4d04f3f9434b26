/* Which members take part: names and patterns given to shoal tar, matched as GNU tar does. */
#ifndef SHOAL_CLI_TAR_MATCH_H
#define SHOAL_CLI_TAR_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* How a pattern is to be understood. */
enum {
    TAR_MATCH_WILDCARDS = 1 << 0,   /* * ? [ ] \ as in the shell; else it is a name */
    TAR_MATCH_ANCHORED = 1 << 1,    /* from the path's beginning; else after any slash too */
    TAR_MATCH_IGNORE_CASE = 1 << 2, /* of letters */
    TAR_MATCH_KEEP_SLASH = 1 << 3,  /* wildcards do not match slashes */
};

/* A pattern takes the path it matches and all that lies below that. */
struct tar_pattern {
    char *text;
    unsigned how; /* TAR_MATCH_* */
    bool found;   /* atomic: a path was matched */
};

/* Start from zero. */
struct tar_patterns {
    struct tar_pattern *patterns;
    size_t n;
    struct tar_pattern **names; /* those that are plain names from the beginning, sorted by bytes */
    size_t n_names;
};

/* 0 or -ENOMEM. The text is copied. */
int tar_patterns_add(struct tar_patterns *patterns, const char *text, unsigned how);

/* Ends the adding. 0 or -ENOMEM. */
int tar_patterns_prepare(struct tar_patterns *patterns);

/* Whether a path (a slash at its end is left out) is taken by any; marks all that it is taken by.
 * From any thread. */
bool tar_patterns_match(struct tar_patterns *patterns, const char *path);

void tar_patterns_free(struct tar_patterns *patterns);

#endif
