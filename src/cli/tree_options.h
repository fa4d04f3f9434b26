/* The options that `shoal copy` and `shoal verify` share, as a child parser of argp. */
#ifndef SHOAL_CLI_TREE_OPTIONS_H
#define SHOAL_CLI_TREE_OPTIONS_H

#include <argp.h>
#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/progress.h"

struct pattern_source;

/* Start from TREE_OPTIONS_INIT, and end with tree_options_free(). */
struct tree_options {
    struct shoal_options shoal; /* its filter is there when all options are read */
    /* --preserve=LIST names all that counts (verify), not what is insisted on (copy). */
    bool preserve_selects;
    bool json;
    enum progress_when progress;

    /* The parser's own. */
    bool selected; /* a --preserve was met */
    bool from0;
    struct pattern_source *sources; /* patterns and files of them, in the order given */
    size_t n_sources;
    struct shoal_filter *filter;
};

#define TREE_OPTIONS_INIT                                                                          \
    {                                                                                              \
        .shoal = SHOAL_OPTIONS_INIT                                                                \
    }

/* To be the child of a command's parser, which sets state->child_inputs[] to its struct
 * tree_options at ARGP_KEY_INIT. Wrong usage ends the program with argp_err_exit_status. */
extern const struct argp tree_options_argp;

/* The groups of the shared options in --help, for a command to put its own among them. */
enum {
    TREE_GROUP_TARGET = 1, /* where a copy goes: a command's own */
    TREE_GROUP_WHAT,
    TREE_GROUP_EXISTING, /* what stands at TO: a command's own */
    TREE_GROUP_KEEP,
    TREE_GROUP_HOW,
    TREE_GROUP_FROM,
    TREE_GROUP_ARCHIVE, /* a command's own */
    TREE_GROUP_SAYS,
};

/* As --preserve with a list of these SHOAL_KEEP_* bits: for -p and -d. */
void tree_options_preserve(struct tree_options *options, unsigned keep);

void tree_options_free(struct tree_options *options);

#endif
