#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <shoal/shoal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/from_options.h"
#include "cli/json.h"
#include "cli/tar_list.h"
#include "cli/tree_events.h"
#include "cli/tree_options.h"
#include "cli/tree_run.h"
#include "version.h"

enum { KEY_JSON = 0x100, KEY_NUMERIC, KEY_FULL_TIME, KEY_UTC };

struct list {
    struct tree_events events; /* the first: it is what the library's callbacks are given */
    struct tree_options options;
    struct tar_listing listing;
    const char *from; /* the one in hand */
    const char **paths;
    size_t n_paths;
};

static const struct argp_option option_table[] = {
    {"long", 'l', NULL, 0, "With mode, owner, size and time, as 'tar tv' has it", 0},
    {"null", '0', NULL, 0, "Lines end in NUL, not in newline, and names are as they are", 0},
    {"numeric-owner", KEY_NUMERIC, NULL, 0, "Owners by number, not by name", 0},
    {"full-time", KEY_FULL_TIME, NULL, 0, "Times in full", 0},
    {"utc", KEY_UTC, NULL, 0, "Times in UTC", 0},
    {"json", KEY_JSON, NULL, 0, "Print each entry as a line of JSON", 0},
    {0},
};

/* ---- JSON ---- */

static const char *type_name(const struct shoal_entry *entry)
{
    if (entry->hard_link)
        return "hard link";
    switch (entry->mode & S_IFMT) {
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "symlink";
    case S_IFIFO:
        return "fifo";
    case S_IFCHR:
        return "character device";
    case S_IFBLK:
        return "block device";
    case S_IFSOCK:
        return "socket";
    default:
        return "file";
    }
}

/* Adds a name that an entry may not have. */
static int put_optional(json_t *object, const char *key, const char *name)
{
    return name ? json_put_name(object, key, name) : 0;
}

static json_t *make_entry_object(const char *from, const struct shoal_entry *entry)
{
    bool is_device = S_ISCHR(entry->mode) || S_ISBLK(entry->mode);
    char mode[8];

    (void)snprintf(mode, sizeof(mode), "%04o", entry->mode & 07777);
    json_t *object = json_pack("{s:s}", "event", "entry");
    json_t *rest = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:i}", "type", type_name(entry),
        "mode", mode, "size", (json_int_t)entry->size, "uid", (json_int_t)entry->uid, "gid",
        (json_int_t)entry->gid, "mtime", (json_int_t)entry->mtime.tv_sec, "mtime_ns",
        (int)entry->mtime.tv_nsec);
    int r = json_put_name(object, "from", from) < 0 ||
            json_put_name(object, "path", entry->path) < 0 || json_object_update(object, rest) < 0;
    json_decref(rest);
    r = r || put_optional(object, "user", entry->user) < 0 ||
        put_optional(object, "group", entry->group) < 0 ||
        put_optional(object, "link_target", entry->link_target) < 0 ||
        put_optional(object, "hard_link", entry->hard_link) < 0;
    if (is_device)
        r = r ||
            json_object_set_new(object, "major", json_integer((json_int_t)major(entry->rdev))) <
                0 ||
            json_object_set_new(object, "minor", json_integer((json_int_t)minor(entry->rdev))) < 0;
    if (r == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- listing ---- */

static void on_entry(void *context, const struct shoal_entry *entry)
{
    struct list *list = context;

    if (list->options.json)
        json_print_line(make_entry_object(list->from, entry));
    else if (tar_listing_print(&list->listing, entry) < 0)
        cli_error("cannot print a name: %s", strerror(ENOMEM));
}

static int list_from(struct list *list, const char *from)
{
    struct shoal_summary summary;

    list->from = from;
    tree_events_begin(&list->events, &list->options, "listed");
    int r = shoal_list(from, &list->options.shoal, &summary);
    tree_events_end(&list->events, r < 0 ? NULL : &summary);
    if (r == -EILSEQ) {
        _cleanup_free_ char *name = quote_name(from);
        cli_error("cannot list %s: it is no archive that is known", name ? name : from);
        return EXIT_SOME_FAILED;
    }
    return tree_run_exit_code("list", from, r, &summary);
}

static int list_all(struct list *list)
{
    int code = EXIT_OK;

    for (size_t i = 0; i < list->n_paths && code != EXIT_INTERRUPTED; i++) {
        int one = list_from(list, list->paths[i]);
        code = one > code ? one : code;
    }
    return code;
}

/* ---- the command ---- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct list *list = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &list->options.shoal;
        return 0;
    case ARGP_KEY_ARG:
        list->paths[list->n_paths++] = text;
        return 0;
    case ARGP_KEY_END:
        if (list->n_paths == 0)
            argp_error(state, "FROM is missing");
        return 0;
    case 'l':
        list->listing.is_long = true;
        return 0;
    case '0':
        list->listing.end = '\0';
        return 0;
    case KEY_NUMERIC:
        list->listing.numeric = true;
        return 0;
    case KEY_FULL_TIME:
        list->listing.full_time = true;
        return 0;
    case KEY_UTC:
        list->listing.utc = true;
        return 0;
    case KEY_JSON:
        list->options.json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &from_options_argp}, {0}};

static const struct argp argp = {
    .children = children,
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FROM...",
    .doc = "Lists what is in directories, archives and discs."
           "\vFROM is a directory, an archive, the image of a disc or a drive, - for an archive on "
           "standard input, or ARCHIVE:/PATH for what lies at or below PATH in it. Exit status: 0 "
           "all was listed, 1 something could not be read, 2 wrong usage, 130 interrupted. The "
           "manual: man shoal-list.",
};

int command_list(int argc, char **argv)
{
    struct list list = {.options = TREE_OPTIONS_INIT, .listing = TAR_LISTING_INIT};

    list.paths = calloc((size_t)argc, sizeof(*list.paths));
    if (!list.paths) {
        cli_error("cannot read the options: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    tree_run_prepare(&list.options.shoal);
    /* A file by itself is not worth to be listed: it is taken for what it holds. */
    list.options.shoal.archive.read_archives = SHOAL_ALWAYS;
    list.options.shoal.disc.format = SHOAL_DISC_ALWAYS;
    error_t error = argp_parse(&argp, argc, argv, 0, NULL, &list);
    int code = EXIT_SOME_FAILED;
    if (error != 0) {
        cli_error("cannot read the options: %s", strerror(error));
    } else {
        (void)signal(SIGPIPE, SIG_DFL); /* nothing is left half done: the reader's end is ours */
        list.listing.out = stdout;
        if (isatty(STDOUT_FILENO) && list.listing.end == '\n')
            list.listing.quote = quote_name;
        list.options.progress = PROGRESS_NEVER;
        list.options.shoal.archive.sort_names = true;
        list.options.shoal.archive.on_entry = on_entry;
        list.options.shoal.archive.numeric_owner = list.listing.numeric;
        code = list_all(&list);
    }
    free(list.paths);
    return cli_finish(code);
}
