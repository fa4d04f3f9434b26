#include "cli/tree_options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/cli.h"

/* As many as the library takes: see shoal.h. */
#define JOBS_MAX 256

enum {
    KEY_EXCLUDE = 0x1000, /* a command's own keys are below */
    KEY_INCLUDE,
    KEY_EXCLUDE_FROM,
    KEY_INCLUDE_FROM,
    KEY_FILES_FROM,
    KEY_PRESERVE,
    KEY_NO_PRESERVE,
    KEY_JSON,
    KEY_PROGRESS,
};

/* A pattern or a file of patterns or names: read when all options are known, since --from0 may
 * follow. */
struct pattern_source {
    int key;
    const char *text;
};

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What takes part:", TREE_GROUP_WHAT},
    {"exclude", KEY_EXCLUDE, "PATTERN", 0, "Leave out what matches", TREE_GROUP_WHAT},
    {"include", KEY_INCLUDE, "PATTERN", 0, "Keep what matches, whatever an --exclude after it says",
        TREE_GROUP_WHAT},
    {"exclude-from", KEY_EXCLUDE_FROM, "FILE", 0, "Read patterns to exclude from FILE",
        TREE_GROUP_WHAT},
    {"include-from", KEY_INCLUDE_FROM, "FILE", 0, "Read patterns to include from FILE",
        TREE_GROUP_WHAT},
    {"files-from", KEY_FILES_FROM, "FILE", 0, "Only what is named in FILE", TREE_GROUP_WHAT},
    {"from0", '0', NULL, 0, "Lines in such files end in NUL, not in newline", TREE_GROUP_WHAT},
    {"one-file-system", 'x', NULL, 0, "Do not enter other file systems", TREE_GROUP_WHAT},
    {"dereference", 'L', NULL, 0, "Follow all symbolic links", TREE_GROUP_WHAT},
    {"no-dereference", 'P', NULL, 0, "Follow no symbolic links (the default)", TREE_GROUP_WHAT},
    {NULL, 'H', NULL, 0, "Follow the symbolic links among the arguments", TREE_GROUP_WHAT},
    {NULL, 0, NULL, 0, "What counts of each file:", TREE_GROUP_KEEP},
    {"preserve", KEY_PRESERVE, "LIST", OPTION_ARG_OPTIONAL,
        "The metadata that must be right: mode, ownership, timestamps (these if there is no LIST), "
        "links, xattr, all",
        TREE_GROUP_KEEP},
    {"no-preserve", KEY_NO_PRESERVE, "LIST", 0, "The metadata that do not matter", TREE_GROUP_KEEP},
    {NULL, 0, NULL, 0, "How it is done:", TREE_GROUP_HOW},
    {"jobs", 'j', "N", 0, "Use N workers (default: as many as help)", TREE_GROUP_HOW},
    {NULL, 0, NULL, 0, "What it says:", TREE_GROUP_SAYS},
    {"json", KEY_JSON, NULL, 0, "Print the result as JSON lines", TREE_GROUP_SAYS},
    {"progress", KEY_PROGRESS, "WHEN", OPTION_ARG_OPTIONAL,
        "Show how far it is: auto (on a terminal; the default), always, never, json",
        TREE_GROUP_SAYS},
    {0},
};

/* ---- values ---- */

static unsigned parse_keep_word(
    const char *word, size_t length, const char *option, struct argp_state *state)
{
    static const struct {
        const char *word;
        unsigned keep;
    } words[] = {
        {"mode", SHOAL_KEEP_MODE},
        {"ownership", SHOAL_KEEP_OWNER},
        {"timestamps", SHOAL_KEEP_TIMES},
        {"links", SHOAL_KEEP_LINKS},
        {"xattr", SHOAL_KEEP_XATTR},
        {"all", SHOAL_KEEP_ALL},
    };

    for (size_t i = 0; i < ELEMENTS(words); i++)
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
            return words[i].keep;
    argp_error(state,
        "%s=%.*s: a list of mode, ownership, timestamps, links, xattr, all is expected", option,
        (int)length, word);
    return 0;
}

static unsigned parse_keep_list(const char *list, const char *option, struct argp_state *state)
{
    unsigned keep = 0;

    for (;;) {
        size_t length = strcspn(list, ",");
        keep |= parse_keep_word(list, length, option, state);
        if (!list[length])
            return keep;
        list += length + 1;
    }
}

static unsigned parse_jobs(const char *text, struct argp_state *state)
{
    char *end = NULL;
    unsigned long number = 0;

    errno = 0;
    if (*text >= '0' && *text <= '9')
        number = strtoul(text, &end, 10);
    if (!end || *end || errno == ERANGE || number < 1 || number > JOBS_MAX)
        argp_error(state, "--jobs=%s: a number from 1 to %d is expected", text, JOBS_MAX);
    return (unsigned)number;
}

static enum progress_when parse_progress(const char *text, struct argp_state *state)
{
    static const char *const words[] = {
        [PROGRESS_AUTO] = "auto",
        [PROGRESS_ALWAYS] = "always",
        [PROGRESS_NEVER] = "never",
        [PROGRESS_JSON] = "json",
    };

    for (enum progress_when when = 0; text && when < ELEMENTS(words); when++)
        if (strcmp(text, words[when]) == 0)
            return when;
    if (text)
        argp_error(state, "--progress=%s: auto, always, never or json is expected", text);
    return PROGRESS_ALWAYS;
}

void tree_options_preserve(struct tree_options *options, unsigned keep)
{
    if (options->preserve_selects && !options->selected)
        options->shoal.preserve = 0;
    options->selected = true;
    options->shoal.preserve |= keep;
    if (!options->preserve_selects)
        options->shoal.insist |= keep;
}

/* ---- patterns and lists of names ---- */

static void add_source(
    struct tree_options *options, int key, const char *text, struct argp_state *state)
{
    struct pattern_source *sources =
        reallocarray(options->sources, options->n_sources + 1, sizeof(*sources));

    if (!sources) {
        argp_failure(state, EXIT_SOME_FAILED, ENOMEM, "cannot read the options");
        return;
    }
    sources[options->n_sources++] = (struct pattern_source){key, text};
    options->sources = sources;
}

/* Says that a file cannot be read, which is wrong usage: nothing was touched yet. */
static void fail_read(const char *path, int error)
{
    _cleanup_free_ char *quoted = quote_name(path);
    cli_error("cannot read %s: %s", quoted ? quoted : path, strerror(error));
    exit(EXIT_USAGE);
}

static void refuse(const char *what, const char *text, struct argp_state *state)
{
    _cleanup_free_ char *quoted = quote_name(text);
    argp_error(state, "%s %s", what, quoted ? quoted : "");
}

static void add_entry(
    struct tree_options *options, int key, const char *text, struct argp_state *state)
{
    bool include = key == KEY_INCLUDE || key == KEY_INCLUDE_FROM;
    int r = key == KEY_FILES_FROM ? shoal_filter_add_name(options->filter, text)
                                  : shoal_filter_add(options->filter, text, include);

    if (r == -EINVAL && key == KEY_FILES_FROM)
        refuse("a listed name leads out of FROM:", text, state);
    else if (r == -EINVAL)
        refuse("this pattern can match nothing:", text, state);
    else if (r < 0)
        argp_failure(state, EXIT_SOME_FAILED, -r, "cannot read the options");
}

/* Whether a line stands for nothing. A name may begin with any character. */
static bool is_skipped(const struct tree_options *options, int key, const char *line)
{
    if (!*line)
        return true;
    return !options->from0 && key != KEY_FILES_FROM && (*line == '#' || *line == ';');
}

static void read_source(
    struct tree_options *options, const struct pattern_source *source, struct argp_state *state)
{
    int delimiter = options->from0 ? '\0' : '\n';
    bool is_stdin = strcmp(source->text, "-") == 0;
    _cleanup_fclose_ FILE *opened = is_stdin ? NULL : fopen(source->text, "re");
    FILE *file = is_stdin ? stdin : opened;
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (!file) {
        fail_read(source->text, errno);
        return;
    }
    while ((length = getdelim(&line, &room, delimiter, file)) > 0) {
        if (line[length - 1] == delimiter)
            line[--length] = '\0';
        if (strlen(line) != (size_t)length)
            refuse("a line holds a NUL; is --from0 meant? It begins with", line, state);
        if (!is_skipped(options, source->key, line))
            add_entry(options, source->key, line, state);
    }
    if (ferror(file))
        fail_read(source->text, errno);
}

/* An empty list of names still restricts: to FROM itself. */
static void restrict_to_names(struct tree_options *options, struct argp_state *state)
{
    for (size_t i = 0; i < options->n_sources; i++) {
        if (options->sources[i].key != KEY_FILES_FROM)
            continue;
        add_entry(options, KEY_FILES_FROM, ".", state);
        return;
    }
}

static void build_filter(struct tree_options *options, struct argp_state *state)
{
    if (options->n_sources == 0)
        return;
    int r = shoal_filter_new(&options->filter);
    if (r < 0) {
        argp_failure(state, EXIT_SOME_FAILED, -r, "cannot read the options");
        return;
    }
    for (size_t i = 0; i < options->n_sources; i++) {
        const struct pattern_source *source = &options->sources[i];
        if (source->key == KEY_EXCLUDE || source->key == KEY_INCLUDE)
            add_entry(options, source->key, source->text, state);
        else
            read_source(options, source, state);
    }
    restrict_to_names(options, state);
    options->shoal.filter = options->filter;
}

/* ---- the parser ---- */

static error_t parse_keep_option(
    struct tree_options *options, int key, const char *list, struct argp_state *state)
{
    unsigned keep = SHOAL_KEEP_MODE | SHOAL_KEEP_OWNER | SHOAL_KEEP_TIMES;

    if (key == KEY_PRESERVE) {
        tree_options_preserve(options, list ? parse_keep_list(list, "--preserve", state) : keep);
    } else {
        keep = parse_keep_list(list, "--no-preserve", state);
        options->shoal.preserve &= ~keep;
        options->shoal.insist &= ~keep;
    }
    return 0;
}

static enum shoal_follow follow_of(int key)
{
    if (key == 'H')
        return SHOAL_FOLLOW_ARGUMENT;
    return key == 'L' ? SHOAL_FOLLOW_ALWAYS : SHOAL_FOLLOW_NEVER;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct tree_options *options = state->input;

    switch (key) {
    case KEY_EXCLUDE:
    case KEY_INCLUDE:
    case KEY_EXCLUDE_FROM:
    case KEY_INCLUDE_FROM:
    case KEY_FILES_FROM:
        add_source(options, key, text, state);
        return 0;
    case '0':
        options->from0 = true;
        return 0;
    case 'x':
        options->shoal.one_file_system = true;
        return 0;
    case 'L':
    case 'P':
    case 'H':
        options->shoal.follow = follow_of(key);
        return 0;
    case KEY_PRESERVE:
    case KEY_NO_PRESERVE:
        return parse_keep_option(options, key, text, state);
    case 'j':
        options->shoal.jobs = parse_jobs(text, state);
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_PROGRESS:
        options->progress = parse_progress(text, state);
        return 0;
    case ARGP_KEY_END:
        build_filter(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp tree_options_argp = {.options = option_table, .parser = parse_option};

void tree_options_free(struct tree_options *options)
{
    shoal_filter_free(options->filter);
    free(options->sources);
    options->filter = NULL;
    options->sources = NULL;
    options->n_sources = 0;
    options->shoal.filter = NULL;
}
