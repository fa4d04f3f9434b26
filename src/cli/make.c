#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "bench/scratch.h"
#include "cli/json.h"
#include "cli/make_image.h"
#include "cli/measure.h"
#include "version.h"
#include "workload/profile.h"
#include "workload/workload.h"

enum { KEY_SEED = 0x100, KEY_JSON };

struct make_arguments {
    bool is_profile;
    struct workload workload;
    const char *directory; /* a tree's parent; what a profile is learned from */
    const char *file;      /* the profile */
    uint64_t seed;
    bool has_seed, json;
};

/* Raised by SIGINT, SIGTERM and SIGHUP. */
static volatile sig_atomic_t stop_requested;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

static const struct argp_option options[] = {
    {"seed", KEY_SEED, "N", 0,
        "The number everything is chosen by (1): the same gives the same tree", 0},
    {"json", KEY_JSON, NULL, 0, "Print what was made as JSON", 0},
    {0},
};

static void parse_workload(
    struct argp_state *state, const char *text, struct make_arguments *arguments)
{
    _cleanup_free_ char *quoted = quote_name(text);

    if (workload_is_directory(text))
        argp_error(state, "%s: a directory that is there cannot be made; 'make profile' learns it",
            quoted ? quoted : "?");
    else
        measure_parse_workload(state, text, &arguments->workload);
}

static error_t parse_argument(
    struct argp_state *state, const char *text, struct make_arguments *arguments)
{
    if (state->arg_num == 0) {
        arguments->is_profile = strcmp(text, "profile") == 0;
        if (!arguments->is_profile && strcmp(text, "tree") != 0)
            argp_error(state, "what is to be made is 'tree', 'profile', 'iso' or 'efs'");
    } else if (state->arg_num == 1 && !arguments->is_profile) {
        parse_workload(state, text, arguments);
    } else if (state->arg_num == 1 || (state->arg_num == 2 && !arguments->is_profile)) {
        arguments->directory = text;
    } else if (state->arg_num == 2) {
        arguments->file = text;
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct make_arguments *arguments = state->input;

    switch (key) {
    case KEY_SEED:
        arguments->seed = measure_parse_number(state, "--seed", text, 0, INT64_MAX);
        arguments->has_seed = true;
        return 0;
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_argument(state, text, arguments);
    case ARGP_KEY_END:
        if (arguments->is_profile && state->arg_num < 3)
            argp_error(state, "profile, a DIR and a FILE are needed");
        else if (state->arg_num < 3)
            argp_error(state, "tree, a WORKLOAD and a DIR are needed");
        if (arguments->is_profile && arguments->has_seed)
            argp_error(state, "--seed: a profile is learned, nothing is chosen");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_POST_DOC ? measure_workloads_help() : (char *)text;
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "tree WORKLOAD DIR\nprofile DIR FILE\niso DIR IMAGE\nefs DIR IMAGE",
    .doc = "Makes the files of a workload in a new directory DIR/WORKLOAD; DIR is made if it is "
           "not there. Or learns the shape of a directory, and writes it to a new FILE, from which "
           "profile=FILE makes trees of that shape. 'shoal make iso --help' and 'shoal make efs "
           "--help' tell how images of discs are made."
           "\v-",
    .help_filter = help_filter,
};

/* "cannot DO 'DIR/NAME': reason" */
static int complain(const char *operation, const char *directory, const char *name, int error)
{
    _cleanup_free_ char *path = NULL, *quoted = NULL;

    if (asprintf(&path, "%s%s%s", directory, name ? "/" : "", name ? name : "") < 0)
        path = NULL;
    quoted = path ? quote_name(path) : NULL;
    cli_error("cannot %s %s: %s", operation, quoted ? quoted : "?", strerror(error));
    return EXIT_SOME_FAILED;
}

struct making {
    struct progress_line line;
    const struct workload *workload;
};

static int should_stop(void *context)
{
    (void)context;
    return stop_requested;
}

static void show_made(void *context, const struct workload_totals *so_far)
{
    struct making *making = context;
    char done[COUNT_TEXT_MAX], total[COUNT_TEXT_MAX];

    progress_line_show(&making->line, false, "%s: %s of %s files", making->workload->name,
        measure_count(so_far->files, done), measure_count(making->workload->files, total));
}

/* Makes the tree, or takes back what was made of it. */
static int make_tree(const struct make_arguments *arguments, int fd, struct workload_totals *totals)
{
    const struct workload *workload = &arguments->workload;
    struct making making = {.workload = workload};
    const struct workload_watch watch = {should_stop, show_made, &making};
    char name[WORKLOAD_NAME_MAX] = "";

    progress_line_start(&making.line);
    int r = workload_make(workload, arguments->seed, fd, &watch, totals, name);
    progress_line_clear(&making.line);
    if (r == 0)
        return EXIT_OK;
    if (r != -EINTR)
        (void)complain("create", arguments->directory, name, -r);
    if (r != -EEXIST) {
        int removed = scratch_remove(fd, workload->name, NULL, NULL);
        if (removed < 0)
            (void)complain("remove", arguments->directory, workload->name, -removed);
    }
    return r == -EINTR ? EXIT_INTERRUPTED : EXIT_SOME_FAILED;
}

static int print_json(const struct make_arguments *arguments, const struct workload_totals *totals)
{
    json_t *root = json_object();
    int r = arguments->is_profile
                ? json_put_name(root, "profile", arguments->file)
                : json_object_set_new(root, "workload", json_string(arguments->workload.name));

    if (r == 0 && !arguments->is_profile)
        r = json_object_set_new(root, "seed", json_integer((json_int_t)arguments->seed));
    if (r < 0 || json_object_set_new(root, "files", json_integer((json_int_t)totals->files)) < 0 ||
        json_object_set_new(root, "directories", json_integer((json_int_t)totals->directories)) <
            0 ||
        json_object_set_new(root, "bytes", json_integer((json_int_t)totals->bytes)) < 0) {
        json_decref(root);
        cli_error("cannot print what was made: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    (void)json_dumpf(root, stdout, 0); /* cli_finish() asks the stream */
    (void)putchar('\n');
    json_decref(root);
    return EXIT_OK;
}

static int print_made(const struct make_arguments *arguments, const struct workload_totals *totals)
{
    char files[COUNT_TEXT_MAX], directories[COUNT_TEXT_MAX], kb[COUNT_TEXT_MAX];
    _cleanup_free_ char *quoted = arguments->is_profile ? quote_name(arguments->file) : NULL;
    const char *name = arguments->is_profile ? quoted : arguments->workload.name;

    if (arguments->json)
        return print_json(arguments, totals);
    (void)printf("%s: %s file%s, %s director%s, %s KB\n", name ? name : "?",
        measure_count(totals->files, files), totals->files == 1 ? "" : "s",
        measure_count(totals->directories, directories), totals->directories == 1 ? "y" : "ies",
        measure_count(totals->bytes / 1024, kb));
    return EXIT_OK;
}

/* Makes the tree in a directory that is made, too, if need be. */
static int tree(const struct make_arguments *arguments)
{
    struct workload_totals totals = {0};

    bool is_new = mkdir(arguments->directory, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return complain("create directory", arguments->directory, NULL, errno);
    _cleanup_close_ int fd = open(arguments->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return complain("open directory", arguments->directory, NULL, errno);
    measure_catch_signals(on_signal);
    int code = make_tree(arguments, fd, &totals);
    if (code == EXIT_OK)
        return print_made(arguments, &totals);
    if (is_new)
        (void)rmdir(arguments->directory); /* not empty if something was left, which was said */
    return code;
}

/* Writes the profile whole, or not at all. */
static int write_profile(const struct profile *profile, const char *path)
{
    FILE *out = fopen(path, "wxe");

    if (!out)
        return -errno;
    int r = profile_write(profile, out);
    errno = 0;
    bool has_failed = ferror(out); /* fclose() may succeed after that */
    if ((fclose(out) != 0 || has_failed) && r == 0)
        r = errno ? -errno : -EIO;
    if (r < 0)
        (void)unlink(path); /* it was new */
    return r;
}

static int learn(const struct make_arguments *arguments)
{
    struct profile *profile = NULL;
    _cleanup_free_ char *why = NULL, *quoted = quote_name(arguments->directory);

    int r = profile_learn(arguments->directory, &profile, &why);
    if (r < 0) {
        cli_error("cannot learn from %s: %s", quoted ? quoted : "?", why ? why : strerror(-r));
        return EXIT_SOME_FAILED;
    }
    const struct shape *shape = profile_shape(profile);
    const struct workload_totals totals = {shape->files, shape->directories, shape->bytes};
    r = write_profile(profile, arguments->file);
    profile_free(profile);
    return r < 0 ? complain("create", arguments->file, NULL, -r) : print_made(arguments, &totals);
}

int command_make(int argc, char **argv)
{
    struct make_arguments arguments = {.seed = 1};

    if (argc > 1 && (strcmp(argv[1], "iso") == 0 || strcmp(argv[1], "efs") == 0))
        return make_image_command(argc - 1, argv + 1);
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    int code = arguments.is_profile ? learn(&arguments) : tree(&arguments);
    workload_clear(&arguments.workload);
    return cli_finish(code);
}
