#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <shoal/shoal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "cli/archive_options.h"
#include "cli/from_options.h"
#include "cli/tree_events.h"
#include "cli/tree_options.h"
#include "cli/tree_run.h"
#include "version.h"

enum {
    KEY_RESUME = 0x100,
    KEY_SPARSE,
    KEY_REFLINK,
    KEY_DRY_RUN,
    KEY_SYNC,
    KEY_VERIFY,
    KEY_BWLIMIT,
};

struct copy_arguments {
    struct tree_options options;
    const char *into; /* -t */
    const char **paths;
    size_t n_paths;
};

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "Where it goes:", TREE_GROUP_TARGET},
    {"target-directory", 't', "DIRECTORY", 0, "Copy all arguments into DIRECTORY",
        TREE_GROUP_TARGET},
    {"no-target-directory", 'T', NULL, 0, "TO is the copy itself, even if a directory stands there",
        TREE_GROUP_TARGET},
    {NULL, 0, NULL, 0, "What stands there already:", TREE_GROUP_EXISTING},
    {"no-clobber", 'n', NULL, 0, "Leave existing files alone", TREE_GROUP_EXISTING},
    {"update", 'u', NULL, 0, "Replace a file only if the source is newer", TREE_GROUP_EXISTING},
    {"resume", KEY_RESUME, NULL, 0,
        "Replace a file unless its size and time are the source's: goes on after an interruption",
        TREE_GROUP_EXISTING},
    {NULL, 'p', NULL, 0, "The same as --preserve", TREE_GROUP_KEEP},
    {"sparse", KEY_SPARSE, "WHEN", 0, "Make holes: auto (where the source has them), always, never",
        TREE_GROUP_KEEP},
    {"reflink", KEY_REFLINK, "WHEN", OPTION_ARG_OPTIONAL,
        "Share blocks with the source: auto, always (the default WHEN), never", TREE_GROUP_KEEP},
    {"archive", 'a', NULL, 0, "Accepted as in cp: it is how Shoal copies", TREE_GROUP_KEEP},
    {"recursive", 'r', NULL, 0, "Accepted as in cp", TREE_GROUP_KEEP},
    {NULL, 'R', NULL, OPTION_ALIAS, NULL, TREE_GROUP_KEEP},
    {NULL, 'd', NULL, 0, "Accepted as in cp: -P --preserve=links", TREE_GROUP_KEEP},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Look at everything, touch nothing", TREE_GROUP_HOW},
    {"sync", KEY_SYNC, NULL, 0, "End only when all is on the disk", TREE_GROUP_HOW},
    {"verify", KEY_VERIFY, NULL, 0, "Read every file back from the disk and compare",
        TREE_GROUP_HOW},
    {"bwlimit", KEY_BWLIMIT, "RATE", 0, "At most RATE a second: KiB, or with K, M, G",
        TREE_GROUP_HOW},
    {"verbose", 'v', NULL, 0, "Name each file", TREE_GROUP_SAYS},
    {0},
};

static enum shoal_when parse_when(const char *text, const char *option, struct argp_state *state)
{
    if (strcmp(text, "auto") == 0)
        return SHOAL_AUTO;
    if (strcmp(text, "always") == 0)
        return SHOAL_ALWAYS;
    if (strcmp(text, "never") != 0)
        argp_error(state, "%s=%s: auto, always or never is expected", option, text);
    return SHOAL_NEVER;
}

static uint64_t parse_rate(const char *text, struct argp_state *state)
{
    uint64_t rate = 0;

    if (size_parse(text, 1024, &rate) < 0 || (rate == 0 && strcmp(text, "0") != 0))
        argp_error(state, "--bwlimit=%s: a rate such as 500, 500K or 1.5M is expected", text);
    return rate;
}

static error_t parse_file_option(int key, struct copy_arguments *arguments)
{
    struct shoal_options *shoal = &arguments->options.shoal;

    switch (key) {
    case 'T':
        shoal->target = SHOAL_TARGET_NAME;
        return 0;
    case 'n':
        shoal->existing = SHOAL_EXISTING_KEEP;
        return 0;
    case 'u':
        shoal->existing = SHOAL_EXISTING_IF_OLDER;
        return 0;
    case KEY_RESUME:
        shoal->existing = SHOAL_EXISTING_IF_UNLIKE;
        return 0;
    case 'p':
        tree_options_preserve(
            &arguments->options, SHOAL_KEEP_MODE | SHOAL_KEEP_OWNER | SHOAL_KEEP_TIMES);
        return 0;
    case 'd':
        shoal->follow = SHOAL_FOLLOW_NEVER;
        tree_options_preserve(&arguments->options, SHOAL_KEEP_LINKS);
        return 0;
    case 'a':
    case 'r':
    case 'R':
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_way_option(int key, char *text, struct argp_state *state)
{
    struct copy_arguments *arguments = state->input;
    struct shoal_options *shoal = &arguments->options.shoal;

    switch (key) {
    case KEY_SPARSE:
        shoal->sparse = parse_when(text, "--sparse", state);
        return 0;
    case KEY_REFLINK:
        shoal->reflink = text ? parse_when(text, "--reflink", state) : SHOAL_ALWAYS;
        return 0;
    case KEY_DRY_RUN:
        shoal->dry_run = true;
        return 0;
    case KEY_SYNC:
        shoal->sync = true;
        return 0;
    case KEY_VERIFY:
        shoal->verify = true;
        return 0;
    case KEY_BWLIMIT:
        shoal->limit_bytes_second = parse_rate(text, state);
        return 0;
    case 'v':
        shoal->want_copied = true;
        return 0;
    case 't':
        if (arguments->into)
            argp_error(state, "more than one target directory");
        arguments->into = text;
        return 0;
    default:
        return parse_file_option(key, arguments);
    }
}

/* An archive on standard output goes alone, and to no terminal. */
static void check_standard_output(struct copy_arguments *arguments, struct argp_state *state)
{
    const struct shoal_options *shoal = &arguments->options.shoal;

    if (arguments->n_paths == 0 || strcmp(arguments->paths[arguments->n_paths - 1], "-") != 0 ||
        shoal->archive.write_archive == SHOAL_NEVER)
        return;
    if (isatty(STDOUT_FILENO))
        argp_error(state, "an archive is not written to a terminal");
    if (shoal->want_copied || arguments->options.json)
        argp_error(state, "-v and --json print to standard output, where the archive goes");
}

/* What can only be judged when all is read. */
static void check_arguments(struct copy_arguments *arguments, struct argp_state *state)
{
    struct shoal_options *shoal = &arguments->options.shoal;
    size_t needed = arguments->into ? 1 : 2;

    if (arguments->n_paths < needed)
        argp_error(state, arguments->into ? "FROM is missing" : "FROM and TO are needed");
    if (arguments->into && shoal->target == SHOAL_TARGET_NAME)
        argp_error(state, "-t and -T exclude each other");
    if (!arguments->into && shoal->target == SHOAL_TARGET_NAME && arguments->n_paths > 2)
        argp_error(state, "with -T there is one FROM and one TO");
    if (shoal->reflink == SHOAL_ALWAYS && shoal->sparse != SHOAL_AUTO)
        argp_error(state, "--reflink=always goes with --sparse=auto only");
    if (shoal->reflink == SHOAL_ALWAYS && shoal->verify)
        argp_error(state, "--verify needs the bytes that --reflink=always does not move");
    if (shoal->dry_run && (shoal->verify || shoal->sync))
        argp_error(state, "--dry-run copies nothing that --verify or --sync could be about");
    if (arguments->into)
        shoal->target = SHOAL_TARGET_DIRECTORY;
    else
        check_standard_output(arguments, state);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct copy_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        state->child_inputs[1] = &arguments->options.shoal;
        state->child_inputs[2] = &arguments->options.shoal.archive;
        return 0;
    case ARGP_KEY_ARG:
        arguments->paths[arguments->n_paths++] = text;
        return 0;
    case ARGP_KEY_END:
        check_arguments(arguments, state);
        return 0;
    default:
        return parse_way_option(key, text, state);
    }
}

static const struct argp_child children[] = {{.argp = &tree_options_argp},
    {.argp = &from_options_argp}, {.argp = &archive_options_argp}, {0}};

static const struct argp parser = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FROM... TO\n-t DIRECTORY FROM...",
    .doc = "Copies trees of files with all their metadata, as cp -a does, using all cores."
           "\vEverything that cp -a keeps is kept; a file is complete or not there. "
           "Exit status: 0 all done, 1 something could not be copied, 2 wrong usage, "
           "130 interrupted. The manual: man shoal-copy.",
    .children = children,
};

static int copy(struct copy_arguments *arguments)
{
    struct tree_options *options = &arguments->options;
    const char *to = arguments->into;
    size_t n_from = arguments->n_paths;
    struct shoal_summary summary;
    struct tree_events events;

    if (!to)
        to = arguments->paths[--n_from];
    tree_events_begin(&events, options, "copied");
    int r = shoal_copy(arguments->paths, n_from, to, &options->shoal, &summary);
    tree_events_end(&events, r < 0 ? NULL : &summary);
    return tree_run_exit_code("copy to", to, r, &summary);
}

int command_copy(int argc, char **argv)
{
    struct copy_arguments arguments = {.options = TREE_OPTIONS_INIT};

    arguments.paths = calloc((size_t)argc, sizeof(*arguments.paths));
    if (!arguments.paths) {
        cli_error("cannot read the options: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    tree_run_prepare(&arguments.options.shoal);
    error_t error = argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    int code = EXIT_SOME_FAILED;
    if (error != 0)
        cli_error("cannot read the options: %s", strerror(error));
    else
        code = copy(&arguments);
    tree_options_free(&arguments.options);
    free(arguments.paths);
    return cli_finish(code);
}
