#include "cli/make_image.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "disc/make_efs.h"
#include "disc/make_iso.h"
#include "version.h"

enum { KEY_LABEL = 0x100, KEY_JSON, KEY_NO_HEADER, KEY_EXTENT };

struct image_arguments {
    const char *directory, *image, *label;
    bool is_efs, json;
    struct make_efs_options efs;
};

/* Raised by SIGINT, SIGTERM and SIGHUP. */
static volatile sig_atomic_t stop_requested;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

static const struct argp_option options[] = {
    {"label", KEY_LABEL, "TEXT", 0, "The volume's name, at most 32 bytes; on EFS, 6", 0},
    {"json", KEY_JSON, NULL, 0, "Print what was made as JSON", 0},
    {0},
};

static const struct argp_option efs_options[] = {
    {"no-header", KEY_NO_HEADER, NULL, 0, "Without a volume header: the file system alone", 0},
    {"extent", KEY_EXTENT, "BLOCKS", 0,
        "Scatter files: no extent is longer, and none follows on another", 0},
    {0},
};

static void parse_label(
    struct image_arguments *arguments, const char *text, struct argp_state *state)
{
    int most = arguments->is_efs ? MAKE_EFS_LABEL_MAX : MAKE_ISO_LABEL_MAX;

    if (strlen(text) > (size_t)most)
        argp_error(state, "--label takes at most %d bytes", most);
    arguments->label = text;
}

static error_t parse_efs_option(int key, char *text, struct argp_state *state)
{
    struct image_arguments *arguments = state->input;

    switch (key) {
    case KEY_NO_HEADER:
        arguments->efs.no_header = true;
        return 0;
    case KEY_EXTENT:
        arguments->efs.extent_blocks =
            (unsigned)measure_parse_number(state, "--extent", text, 1, 248);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct image_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        if (arguments->is_efs)
            state->child_inputs[0] = arguments;
        return 0;
    case KEY_LABEL:
        parse_label(arguments, text, state);
        return 0;
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            arguments->directory = text;
        else if (state->arg_num == 1)
            arguments->image = text;
        else
            return ARGP_ERR_UNKNOWN;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "a DIR and an IMAGE are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp iso_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "DIR IMAGE",
    .doc = "Makes an image of an ISO 9660 disc, with Rock Ridge and Joliet, that holds what DIR "
           "holds. IMAGE must not be there yet.",
};

static const struct argp efs_parser = {.options = efs_options, .parser = parse_efs_option};
static const struct argp_child efs_children[] = {{.argp = &efs_parser}, {0}};
static const struct argp efs_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "DIR IMAGE",
    .doc = "Makes an image of an SGI disc, EFS behind a volume header, that holds what DIR holds. "
           "IMAGE must not be there yet.",
    .children = efs_children,
};

static int complain(const char *operation, const char *path, const char *reason)
{
    _cleanup_free_ char *quoted = quote_name(path);

    cli_error("cannot %s %s: %s", operation, quoted ? quoted : "?", reason);
    return EXIT_SOME_FAILED;
}

static int should_stop(void *context)
{
    (void)context;
    return stop_requested;
}

static void show_added(void *context, const struct make_totals *so_far)
{
    char files[COUNT_TEXT_MAX], kb[COUNT_TEXT_MAX];

    progress_line_show(context, false, "%s files, %s KB", measure_count(so_far->files, files),
        measure_count(so_far->bytes / 1024, kb));
}

static int explain(
    const struct image_arguments *arguments, int error, const struct make_failure *failure)
{
    _cleanup_free_ char *path = NULL, *reason = NULL;

    if (asprintf(&reason, "%s%s%s", failure->why ? failure->why : "", failure->why ? ": " : "",
            strerror(-error)) < 0)
        reason = NULL;
    if (!failure->path)
        return complain("write", arguments->image, reason ? reason : strerror(-error));
    path = path_join(arguments->directory, failure->path);
    return complain("add", path ? path : failure->path, reason ? reason : strerror(-error));
}

static int make_image(const struct image_arguments *arguments, int directory_fd, int image_fd,
    struct make_totals *totals)
{
    struct make_failure failure = {0};
    struct progress_line line;
    const struct make_watch watch = {should_stop, show_added, &line};

    progress_line_start(&line);
    int r = arguments->is_efs
                ? make_efs(directory_fd, image_fd, &arguments->efs, &watch, totals, &failure)
                : make_iso(directory_fd, image_fd, arguments->label, &watch, totals, &failure);
    progress_line_clear(&line);
    int code = r == 0 ? EXIT_OK : r == -EINTR ? EXIT_INTERRUPTED : explain(arguments, r, &failure);
    free(failure.path);
    free(failure.why);
    return code;
}

static int print_made(const struct image_arguments *arguments, const struct make_totals *totals)
{
    char files[COUNT_TEXT_MAX], directories[COUNT_TEXT_MAX], kb[COUNT_TEXT_MAX];

    if (totals->sockets)
        cli_error("%s socket%s left out", measure_count(totals->sockets, files),
            totals->sockets == 1 ? "" : "s");
    if (totals->owners)
        cli_error("the owner of %s file%s is beyond 65,535: it is 65,534 on the disc",
            measure_count(totals->owners, files), totals->owners == 1 ? "" : "s");
    if (!arguments->json) {
        (void)printf("%s file%s, %s director%s, %s KB\n", measure_count(totals->files, files),
            totals->files == 1 ? "" : "s", measure_count(totals->directories, directories),
            totals->directories == 1 ? "y" : "ies", measure_count(totals->bytes / 1024, kb));
        return EXIT_OK;
    }
    json_t *root = json_pack("{s:I, s:I, s:I, s:I}", "files", (json_int_t)totals->files,
        "directories", (json_int_t)totals->directories, "bytes", (json_int_t)totals->bytes,
        "sockets", (json_int_t)totals->sockets);
    if (!root) {
        cli_error("cannot print what was made: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    (void)json_dumpf(root, stdout, 0); /* cli_finish() asks the stream */
    (void)putchar('\n');
    json_decref(root);
    return EXIT_OK;
}

static int make(struct image_arguments *arguments)
{
    struct make_totals totals = {0};
    _cleanup_close_ int directory_fd =
        open(arguments->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory_fd < 0)
        return complain("open directory", arguments->directory, strerror(errno));
    int image_fd = open(arguments->image, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (image_fd < 0)
        return complain("create", arguments->image, strerror(errno));
    measure_catch_signals(on_signal);
    int code = make_image(arguments, directory_fd, image_fd, &totals);
    if (close(image_fd) < 0 && code == EXIT_OK)
        code = complain("write", arguments->image, strerror(errno));
    if (code != EXIT_OK && unlink(arguments->image) < 0)
        (void)complain("remove", arguments->image, strerror(errno));
    return code == EXIT_OK ? print_made(arguments, &totals) : code;
}

int make_image_command(int argc, char **argv)
{
    struct image_arguments arguments = {.label = "", .is_efs = strcmp(argv[0], "efs") == 0};
    static char iso_name[] = "shoal make iso", efs_name[] = "shoal make efs";

    argv[0] = arguments.is_efs ? efs_name : iso_name;
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    if (argp_parse(arguments.is_efs ? &efs_argp : &iso_argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    arguments.efs.label = arguments.label;
    /* An ISO 9660 image has times of a zone; it is to be the same wherever it is made. */
    if (setenv("TZ", "UTC", 1) < 0)
        return complain("write", arguments.image, strerror(errno));
    tzset();
    return cli_finish(make(&arguments));
}
