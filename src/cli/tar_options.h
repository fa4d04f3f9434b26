/* The command line of shoal tar, which is GNU tar's. */
#ifndef SHOAL_CLI_TAR_OPTIONS_H
#define SHOAL_CLI_TAR_OPTIONS_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/tar_match.h"
#include "cli/tar_names.h"

/* Exit codes, as GNU tar's. */
enum {
    TAR_EXIT_CHANGED = 1, /* all was done, but some files changed meanwhile */
    TAR_EXIT_FAILED = 2,
};

enum tar_action {
    TAR_NO_ACTION,
    TAR_CREATE = 'c',
    TAR_EXTRACT = 'x',
    TAR_LIST = 't',
};

/* Start from zero. */
struct tar_options {
    struct shoal_options shoal; /* without callbacks; `archive.content_fd` is standard output */
    enum tar_action action;
    const char *archive; /* "-": standard input or output */
    unsigned verbose;
    bool totals, full_time, utc;
    bool skips_changed; /* files that change while they are read are no matter */
    struct tar_names names;
    struct tar_patterns excluded;
    bool names_listed;       /* -T was given: there may be none on purpose */
    bool warns_of_wildcards; /* in names that are not patterns */

    struct tar_parser *parser; /* its own */
};

/* Reads the command line (the strings in it are used further). Wrong usage ends the program with
 * TAR_EXIT_FAILED, and --help and --version do with 0. 0, or -errno after the reason was said. Free
 * the options either way. */
int tar_options_parse(int argc, char **argv, struct tar_options *options);

void tar_options_free(struct tar_options *options);

#endif
