#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <shoal/shoal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/tar_list.h"
#include "cli/tar_match.h"
#include "cli/tar_messages.h"
#include "cli/tar_options.h"
#include "cli/tree_run.h"

/* The beginning of a name that is not recorded, and what is. */
struct renaming {
    const char *given;
    const char *recorded;
    size_t recorded_length;
};

/* What the library's callbacks work with. */
struct tar {
    struct tar_options *options;
    struct tar_listing listing;
    struct tar_messages messages;
    struct tar_patterns wanted; /* the names of members, in the directory now extracted to */
    bool has_names;
    struct renaming *renamings; /* of names to be packed */
    size_t n_renamings;
    struct shoal_summary total; /* faults and bytes of what was run so far */
    bool failed;                /* beyond faults */
    bool warned;                /* of wildcards in names */
};

/* ---- callbacks ---- */

static void on_event(void *context, const struct shoal_event *event)
{
    struct tar *tar = context;
    tar_messages_event(&tar->messages, event);
}

/* The name that a renaming makes a recorded path of; NULL: none (or no memory). */
static char *name_as_given(const struct renaming *renaming, const char *path)
{
    size_t length = renaming->recorded_length;
    char *given;

    if (strncmp(path, renaming->recorded, length) != 0 || (path[length] && path[length] != '/'))
        return NULL;
    int prefix = (int)(renaming->recorded - renaming->given);
    return asprintf(&given, "%.*s%s", prefix, renaming->given, path) < 0 ? NULL : given;
}

/* Names are told as they were given, as in GNU tar. */
static void on_entry(void *context, const struct shoal_entry *entry)
{
    struct tar *tar = context;
    struct shoal_entry shown = *entry;
    _cleanup_free_ char *given = NULL;

    for (size_t i = 0; i < tar->n_renamings && !given; i++)
        given = name_as_given(&tar->renamings[i], entry->path);
    if (given)
        shown.path = given;
    if (tar_listing_print(&tar->listing, &shown) < 0)
        tar_error("%s", strerror(ENOMEM));
}

/* Whether a pattern leaves a recorded path out by the name that it was given by. */
static bool is_excluded_as_given(struct tar *tar, const char *path)
{
    for (size_t i = 0; i < tar->n_renamings; i++) {
        _cleanup_free_ char *given = name_as_given(&tar->renamings[i], path);
        if (given && tar_patterns_match(&tar->options->excluded, given))
            return true;
    }
    return false;
}

static bool select_member(void *context, const char *path, bool is_directory)
{
    struct tar *tar = context;

    (void)is_directory;
    if (tar->has_names && !tar_patterns_match(&tar->wanted, path))
        return false;
    if (tar->options->excluded.n == 0)
        return true;
    return !tar_patterns_match(&tar->options->excluded, path) && !is_excluded_as_given(tar, path);
}

/* ---- both ways ---- */

static void begin(struct tar *tar, struct tar_options *options)
{
    struct shoal_options *shoal = &options->shoal;
    bool to_stdout =
        options->action == TAR_CREATE ? strcmp(options->archive, "-") == 0 : shoal->archive.to_fd;
    unsigned verbose = options->verbose + (options->action == TAR_LIST);

    *tar = (struct tar){.options = options, .listing = TAR_LISTING_INIT};
    tar->listing.out = to_stdout ? stderr : stdout;
    tar->listing.is_long = verbose > 1;
    tar->listing.numeric = shoal->archive.numeric_owner;
    tar->listing.full_time = options->full_time;
    tar->listing.utc = options->utc;
    tar->listing.quote = tar_quote;
    if (options->action != TAR_CREATE)
        tar->messages.archive = options->archive;
    tar->messages.keeps_prefixes = shoal->archive.absolute_names;
    tar->messages.skips_changed = options->skips_changed;
    shoal->context = tar;
    shoal->on_event = on_event;
    shoal->archive.on_entry = verbose > 0 ? on_entry : NULL;
}

static void end(struct tar *tar)
{
    tar_messages_free(&tar->messages);
    tar_patterns_free(&tar->wanted);
    free(tar->renamings);
}

/* Adds what a run of the library came to. */
static void add_summary(struct tar *tar, const struct shoal_summary *summary)
{
    for (size_t i = 0; i < SHOAL_FAULT_KINDS; i++)
        tar->total.faults[i] += summary->faults[i];
    tar->total.bytes += summary->bytes;
    tar->total.stopped |= summary->stopped;
    for (size_t i = 0; i < summary->n_losses; i++) {
        const struct shoal_loss *loss = &summary->losses[i];
        tar_error("%s not kept for %" PRIu64 " file%s: %s", loss->what, loss->files,
            loss->files == 1 ? "" : "s", strerror(loss->error));
    }
}

static int exit_code(const struct tar *tar)
{
    const uint64_t *faults = tar->total.faults;

    if (tar->total.stopped && tree_run_is_interrupted())
        return EXIT_INTERRUPTED;
    if (tar->failed || faults[SHOAL_FAULT_CONTENT] > 0 || faults[SHOAL_FAULT_METADATA] > 0) {
        tar_error("Exiting with failure status due to previous errors");
        return TAR_EXIT_FAILED;
    }
    bool changed = faults[SHOAL_FAULT_CHANGED] > 0 && !tar->options->skips_changed;
    return changed ? TAR_EXIT_CHANGED : EXIT_OK;
}

static int fail(const char *name, const char *what, int error)
{
    tar_error_name(name, what, error);
    tar_error_fatal();
    return TAR_EXIT_FAILED;
}

static void tell_totals(const struct tar *tar, const char *done)
{
    if (tar->options->totals)
        (void)fprintf(stderr, "Total bytes %s: %" PRIu64 "\n", done, tar->total.bytes);
}

/* Whether a directory of -C can be gone to; else says so. */
static bool directory_exists(const char *directory)
{
    _cleanup_close_ int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        (void)fail(directory, "Cannot open", errno);
    return fd >= 0;
}

/* ---- writing ---- */

static int note_renaming(struct tar *tar, const char *given)
{
    size_t prefix = tar->options->shoal.archive.absolute_names ? 0 : tar_prefix_length(given);
    size_t length = strlen(given + prefix);

    while (length > 0 && given[prefix + length - 1] == '/')
        length--;
    if (prefix == 0 || length == 0)
        return 0;
    struct renaming *all = reallocarray(tar->renamings, tar->n_renamings + 1, sizeof(*all));
    if (!all)
        return -ENOMEM;
    tar->renamings = all;
    all[tar->n_renamings++] = (struct renaming){given, given + prefix, length};
    return 0;
}

/* The names as the library wants them. NULL after the reason was said. */
static struct shoal_name *make_names(struct tar *tar)
{
    const struct tar_names *names = &tar->options->names;
    struct shoal_name *made = calloc(names->n + 1, sizeof(*made));
    int r = made ? 0 : -ENOMEM;

    for (size_t i = 0; i < names->n && r == 0; i++) {
        const char *directory = names->names[i].directory;
        bool is_new = directory && (i == 0 || names->names[i - 1].directory != directory);
        made[i] = (struct shoal_name){directory, names->names[i].text};
        if (is_new && !directory_exists(directory)) {
            free(made);
            return NULL;
        }
        r = note_renaming(tar, names->names[i].text);
    }
    if (r == 0)
        return made;
    tar_error("%s", strerror(-r));
    free(made);
    return NULL;
}

static int open_output(const char *path)
{
    if (strcmp(path, "-") != 0) {
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (fd < 0 && (errno == EACCES || errno == ENXIO || errno == EINVAL))
            fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY); /* a FIFO, a device */
        if (fd < 0)
            (void)fail(path, "Cannot open", errno);
        return fd;
    }
    if (isatty(STDOUT_FILENO)) {
        tar_error("Refusing to write archive contents to terminal (missing -f option?)");
        tar_error_fatal();
        return -1;
    }
    return STDOUT_FILENO;
}

static int create_to(struct tar *tar, const struct shoal_name *names, int fd)
{
    const char *archive = tar->options->archive;
    struct shoal_summary summary;

    int r = shoal_pack(names, tar->options->names.n, fd, &tar->options->shoal, &summary);
    if (fd != STDOUT_FILENO && close(fd) < 0 && r == 0)
        r = -errno;
    if (r < 0)
        return fail(archive, "Cannot write", -r);
    add_summary(tar, &summary);
    tell_totals(tar, "written");
    return exit_code(tar);
}

static int create(struct tar *tar)
{
    struct shoal_options *shoal = &tar->options->shoal;
    _cleanup_free_ struct shoal_name *names = make_names(tar);

    if (!names)
        return TAR_EXIT_FAILED;
    if (tar->options->excluded.n > 0)
        shoal->archive.select = select_member;
    int fd = open_output(tar->options->archive);
    return fd < 0 ? TAR_EXIT_FAILED : create_to(tar, names, fd);
}

/* ---- reading ---- */

static int open_input(const char *path)
{
    struct stat st;
    bool is_stdin = strcmp(path, "-") == 0;

    if (is_stdin && isatty(STDIN_FILENO)) {
        tar_error("Refusing to read archive contents from terminal (missing -f option?)");
        tar_error_fatal();
        return -1;
    }
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)fail(path, "Cannot open", errno);
    } else if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)fail(path, "Cannot read", EISDIR);
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Runs the library on the archive for the names that are wanted now. */
static int read_archive(struct tar *tar, int fd, const char *to)
{
    const struct tar_options *options = tar->options;
    struct shoal_summary summary;

    tar->messages.to = to;
    int r = options->action == TAR_LIST ? shoal_list_stream(fd, NULL, &options->shoal, &summary)
                                        : shoal_unpack(fd, NULL, to, &options->shoal, &summary);
    if (r == -EILSEQ) {
        tar_error("This does not look like a tar archive");
        tar->failed = true;
        return 0;
    }
    if (r < 0)
        return fail(
            options->archive, options->shoal.archive.to_fd ? "Cannot write" : "Cannot read", -r);
    add_summary(tar, &summary);
    return 0;
}

static bool has_wildcards(const char *name)
{
    return strpbrk(name, "*?[\\");
}

static void tell_not_found(struct tar *tar)
{
    for (size_t i = 0; i < tar->wanted.n; i++) {
        const struct tar_pattern *pattern = &tar->wanted.patterns[i];
        if (pattern->found)
            continue;
        if (!tar->warned && tar->options->warns_of_wildcards && has_wildcards(pattern->text)) {
            tar_error("Pattern matching characters used in file names");
            tar_error("Use --wildcards to enable pattern matching, or --no-wildcards to suppress "
                      "this warning");
            tar->warned = true;
        }
        tar_error_name(pattern->text, "Not found in archive", 0);
        tar->failed = true;
    }
}

/* Adds a name of members, less slashes at its end. */
static int want(struct tar *tar, const struct tar_name *name)
{
    size_t length = strlen(name->text);

    while (length > 1 && name->text[length - 1] == '/')
        length--;
    _cleanup_free_ char *text = strndup(name->text, length);
    return text ? tar_patterns_add(&tar->wanted, text, name->how) : -ENOMEM;
}

/* Reads the archive once for the names from `first` up to `end`, which go to one directory. */
static int read_group(struct tar *tar, int fd, size_t first, size_t end)
{
    const struct tar_names *names = &tar->options->names;
    const char *directory = first < end ? names->names[first].directory : names->directory;
    int r = 0;

    if (directory && tar->options->action == TAR_EXTRACT && !directory_exists(directory))
        return TAR_EXIT_FAILED;
    tar_patterns_free(&tar->wanted);
    for (size_t i = first; i < end && r == 0; i++)
        r = want(tar, &names->names[i]);
    if (r == 0)
        r = tar_patterns_prepare(&tar->wanted);
    if (r < 0) {
        tar_error("%s", strerror(-r));
        return TAR_EXIT_FAILED;
    }
    int code = read_archive(tar, fd, directory ? directory : ".");
    if (code == 0 && !tar->total.stopped)
        tell_not_found(tar);
    return code;
}

/* The first name from `first` on that goes elsewhere. */
static size_t end_of_group(const struct tar_options *options, size_t first)
{
    const struct tar_name *names = options->names.names;
    size_t n = options->names.n, end = first;

    if (options->action == TAR_LIST)
        return n;
    while (end < n && names[end].directory == names[first].directory)
        end++;
    return end;
}

/* Reads the archive once for each directory that names go to. */
static int read_groups(struct tar *tar, int fd)
{
    const struct tar_options *options = tar->options;
    off_t start = lseek(fd, 0, SEEK_CUR);
    size_t first = 0, end = end_of_group(options, 0);
    int code;

    if (end < options->names.n && start < 0) {
        tar_error("-C between names: the archive would have to be read more than once, "
                  "and this one cannot be");
        return TAR_EXIT_FAILED;
    }
    for (;;) {
        code = read_group(tar, fd, first, end);
        first = end;
        if (code != 0 || first >= options->names.n || tar->total.stopped)
            return code;
        end = end_of_group(options, first);
        if (lseek(fd, start, SEEK_SET) < 0)
            return fail(options->archive, "Cannot seek", errno);
    }
}

static int extract(struct tar *tar)
{
    struct tar_options *options = tar->options;

    tar->has_names = options->names.n > 0;
    if (tar->has_names || options->excluded.n > 0)
        options->shoal.archive.select = select_member;
    if (options->action == TAR_LIST) { /* of the members as they are */
        options->shoal.archive.strip_components = 0;
        options->shoal.archive.top = NULL;
        options->shoal.archive.to_fd = false;
        (void)signal(SIGPIPE, SIG_DFL); /* nothing is left half done: the reader's end is ours */
    }
    int fd = open_input(options->archive);
    if (fd < 0)
        return TAR_EXIT_FAILED;
    int code = read_groups(tar, fd);
    if (fd != STDIN_FILENO)
        (void)close(fd); /* it was read */
    if (code != 0)
        return code;
    tell_totals(tar, "read");
    return exit_code(tar);
}

int command_tar(int argc, char **argv)
{
    struct tar_options options = {0};
    struct tar tar;
    int code = TAR_EXIT_FAILED;

    (void)setlocale(LC_CTYPE, ""); /* which bytes of names can be shown */
    tree_run_prepare(&options.shoal);
    if (tar_options_parse(argc, argv, &options) == 0) {
        begin(&tar, &options);
        code = options.action == TAR_CREATE ? create(&tar) : extract(&tar);
        end(&tar);
    }
    tar_options_free(&options);
    return cli_finish(code) == code ? code : TAR_EXIT_FAILED;
}
