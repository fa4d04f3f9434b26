#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <shoal/shoal.h>
#include <string.h>

#include "cli/from_options.h"
#include "cli/tree_events.h"
#include "cli/tree_options.h"
#include "cli/tree_run.h"
#include "version.h"

struct verify_arguments {
    struct tree_options options;
    const char *from, *to;
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct verify_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        state->child_inputs[1] = &arguments->options.shoal;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            arguments->from = text;
        else if (state->arg_num == 1)
            arguments->to = text;
        else
            argp_error(state, "only FROM and TO are expected");
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "FROM and TO are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {.argp = &tree_options_argp}, {.argp = &from_options_argp}, {0}};

static const struct argp parser = {
    .parser = parse_option,
    .args_doc = "FROM TO",
    .doc = "Compares FROM with its copy TO, content and metadata, and names each difference."
           "\vTO is the copy itself, not the directory that holds it. Exit status: 0 equal, "
           "1 something could not be read, 2 wrong usage, 3 different, 130 interrupted.",
    .children = children,
};

int command_verify(int argc, char **argv)
{
    struct verify_arguments arguments = {.options = TREE_OPTIONS_INIT};
    struct tree_options *options = &arguments.options;
    struct shoal_summary summary;
    struct tree_events events;

    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    options->preserve_selects = true;
    tree_run_prepare(&options->shoal);
    error_t error = argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    if (error != 0) {
        cli_error("cannot read the options: %s", strerror(error));
        return EXIT_SOME_FAILED;
    }
    tree_events_begin(&events, options, "compared");
    int r = shoal_verify(arguments.from, arguments.to, &options->shoal, &summary);
    tree_events_end(&events, r < 0 ? NULL : &summary);
    int code = tree_run_exit_code("compare with", arguments.to, r, &summary);
    tree_options_free(options);
    return cli_finish(code);
}
