#include "cli/tar_options.h"

#include <argp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/size.h"
#include "cli/tar_messages.h"
#include "cli/tar_option_table.h"
#include "cli/tar_refused.h"
#include "cli/tar_values.h"
#include "version.h"

#define BLOCK_BYTES 512
/* More in one record is refused by every tape, and is a slip. */
#define RECORD_BYTES_MAX (UINT64_C(1) << 30)

/* What options have said that others may add to or take back, until all are read. */
struct tar_parser {
    bool has_compression, is_automatic, is_unwritable;
    bool same_owner, same_permissions, no_times;
    bool xattrs, acls, hard_dereference, is_o;
    bool has_top;
    struct tar_list_form list;
    enum { WILDCARDS_DEFAULT, WILDCARDS_ON, WILDCARDS_OFF } wildcards;
    unsigned matching;    /* TAR_MATCH_*, but for wildcards */
    bool is_not_anchored; /* names of members */
    char *top;
};

/* ---- values ---- */

static void fail_no_memory(struct argp_state *state)
{
    argp_failure(state, TAR_EXIT_FAILED, ENOMEM, "cannot read the options");
}

static uint64_t parse_number(const char *text, const char *what, struct argp_state *state)
{
    char *end = NULL;
    uint64_t number = 0;

    errno = 0;
    if (*text >= '0' && *text <= '9')
        number = strtoull(text, &end, 10);
    if (!end || *end || errno == ERANGE)
        argp_error(state, "%s: Invalid %s", text, what);
    return number;
}

static void parse_record(
    int key, const char *text, struct tar_options *options, struct argp_state *state)
{
    uint64_t bytes = 0;

    if (key == 'b') {
        uint64_t blocks = parse_number(text, "blocking factor", state);
        if (blocks == 0 || blocks > RECORD_BYTES_MAX / BLOCK_BYTES)
            argp_error(state, "%s: Invalid blocking factor", text);
        bytes = blocks * BLOCK_BYTES;
    } else if (size_parse(text, 1, &bytes) < 0 || bytes == 0 || bytes > RECORD_BYTES_MAX) {
        argp_error(state, "%s: Invalid record size", text);
    } else if (bytes % BLOCK_BYTES != 0) {
        argp_error(state, "Record size must be a multiple of %d.", BLOCK_BYTES);
    }
    options->shoal.archive.record_bytes = (size_t)bytes;
}

static void parse_format(const char *text, struct tar_options *options, struct argp_state *state)
{
    static const struct {
        const char *name;
        enum shoal_format format;
    } formats[] = {
        {"pax", SHOAL_FORMAT_PAX},
        {"posix", SHOAL_FORMAT_PAX},
        {"gnu", SHOAL_FORMAT_GNU},
        {"oldgnu", SHOAL_FORMAT_GNU},
        {"ustar", SHOAL_FORMAT_USTAR},
    };

    for (size_t i = 0; i < ELEMENTS(formats); i++) {
        if (strcmp(text, formats[i].name) != 0)
            continue;
        options->shoal.archive.format = formats[i].format;
        return;
    }
    if (strcmp(text, "v7") == 0)
        argp_error(state, "v7: this format is read, not written; ustar is the oldest that is");
    argp_error(state, "%s: Invalid archive format", text);
}

static void parse_sort(const char *text, struct tar_options *options, struct argp_state *state)
{
    if (strcmp(text, "inode") == 0)
        argp_error(state, "--sort=inode: files are read in the order of their inodes, and recorded "
                          "in that of the directory (none) or of names (name)");
    if (strcmp(text, "none") != 0 && strcmp(text, "name") != 0)
        argp_error(state, "--sort=%s: none or name is expected", text);
    options->shoal.archive.sort_names = strcmp(text, "name") == 0;
}

static void parse_mtime(const char *text, struct tar_options *options, struct argp_state *state)
{
    int r = tar_parse_time(text, &options->shoal.archive.mtime);

    if (r == -EINVAL)
        argp_error(state,
            "--mtime=%s: a time such as @1577880000, 2020-01-01, '2020-01-01 12:00' "
            "or '2020-01-01 12:00:00Z' is expected, or a file's name that begins "
            "with / or .",
            text);
    else if (r < 0)
        argp_failure(state, TAR_EXIT_FAILED, -r, "--mtime=%s: Cannot stat", text);
    options->shoal.archive.set_mtime = true;
}

static void parse_owner(int key, char *text, struct tar_options *options, struct argp_state *state)
{
    struct shoal_archive_options *archive = &options->shoal.archive;
    struct tar_owner owner = {0};

    if (tar_parse_owner(text, key == KEY_GROUP, &owner) < 0)
        argp_error(state, "Invalid owner or group ID");
    if (key == KEY_OWNER) {
        archive->user = owner.name;
        archive->set_uid = owner.has_id;
        archive->uid = owner.id;
    } else {
        archive->group = owner.name;
        archive->set_gid = owner.has_id;
        archive->gid = owner.id;
    }
}

/* ---- compression ---- */

static void set_compression(
    struct tar_options *options, enum shoal_compression compression, struct argp_state *state)
{
    struct shoal_archive_options *archive = &options->shoal.archive;

    if (options->parser->has_compression && archive->compression != compression)
        argp_error(state, "Conflicting compression options");
    options->parser->has_compression = true;
    archive->compression = compression;
}

static void set_program(const char *command, struct tar_options *options, struct argp_state *state)
{
    enum shoal_compression compression;

    if (!tar_compression_of_program(command, &compression, &options->shoal.archive.level)) {
        argp_error(state,
            "-I %s: gzip, pigz, bzip2, xz, zstd or lz4 is expected, with a level such as -9",
            command);
        return;
    }
    set_compression(options, compression, state);
}

static error_t parse_compression(int key, char *text, struct argp_state *state)
{
    struct tar_options *options = state->input;

    switch (key) {
    case 'z':
        set_compression(options, SHOAL_COMPRESSION_GZIP, state);
        return 0;
    case 'j':
        set_compression(options, SHOAL_COMPRESSION_BZIP2, state);
        return 0;
    case 'J':
        set_compression(options, SHOAL_COMPRESSION_XZ, state);
        return 0;
    case KEY_ZSTD:
        set_compression(options, SHOAL_COMPRESSION_ZSTD, state);
        return 0;
    case KEY_LZ4:
        set_compression(options, SHOAL_COMPRESSION_LZ4, state);
        return 0;
    case 'I':
        set_program(text, options, state);
        return 0;
    case 'Z':
    case KEY_LZIP:
    case KEY_LZMA:
    case KEY_LZOP:
        options->parser->is_unwritable = true;
        return 0;
    case 'a':
    case KEY_NO_AUTO_COMPRESS:
        options->parser->is_automatic = key == 'a';
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- names and patterns ---- */

static unsigned how_to_exclude(const struct tar_parser *parser)
{
    return parser->matching | (parser->wildcards == WILDCARDS_OFF ? 0 : TAR_MATCH_WILDCARDS);
}

static unsigned how_to_include(const struct tar_parser *parser)
{
    return parser->matching | (parser->wildcards == WILDCARDS_ON ? TAR_MATCH_WILDCARDS : 0) |
           (parser->is_not_anchored ? 0 : TAR_MATCH_ANCHORED);
}

static void exclude(struct tar_options *options, const char *pattern, struct argp_state *state)
{
    if (tar_patterns_add(&options->excluded, pattern, how_to_exclude(options->parser)) < 0)
        fail_no_memory(state);
}

static void exclude_all(
    struct tar_options *options, const char *const *patterns, struct argp_state *state)
{
    for (; *patterns; patterns++)
        exclude(options, *patterns, state);
}

static void exclude_from(const char *path, struct tar_options *options, struct argp_state *state)
{
    bool is_stdin = strcmp(path, "-") == 0;
    _cleanup_fclose_ FILE *opened = is_stdin ? NULL : fopen(path, "re");
    FILE *file = is_stdin ? stdin : opened;
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    ssize_t length;

    while (file && (length = getline(&line, &room, file)) > 0) {
        while (length > 0 && strchr(" \t\n\r\v\f", line[length - 1]))
            line[--length] = '\0';
        if (length > 0)
            exclude(options, line, state);
    }
    if (!file || ferror(file)) {
        tar_error_name(path, strerror(errno), 0);
        tar_error_fatal();
        exit(TAR_EXIT_FAILED);
    }
}

static void read_names(const char *path, struct tar_options *options, struct argp_state *state)
{
    struct tar_parser *parser = options->parser;

    options->names_listed = true;
    parser->list.how = how_to_include(parser);
    int r = tar_names_read(&options->names, path, &parser->list);
    if (r == -ENOMEM)
        fail_no_memory(state);
    else if (r < 0)
        exit(TAR_EXIT_FAILED);
}

static void add_name(const char *name, struct tar_options *options, struct argp_state *state)
{
    if (tar_names_add(&options->names, name, how_to_include(options->parser)) < 0)
        fail_no_memory(state);
}

static error_t parse_names(int key, char *text, struct argp_state *state)
{
    static const char *const vcs[] = {"CVS", "RCS", "SCCS", ".git", ".gitignore", ".gitattributes",
        ".gitmodules", ".cvsignore", ".svn", ".arch-ids", "{arch}", "=RELEASE-ID", "=meta-update",
        "=update", ".bzr", ".bzrignore", ".bzrtags", ".hg", ".hgignore", ".hgtags", "_darcs", NULL};
    static const char *const backups[] = {".#*", "*~", "#*#", NULL};
    struct tar_options *options = state->input;
    struct tar_list_form *list = &options->parser->list;

    switch (key) {
    case ARGP_KEY_ARG:
    case KEY_ADD_FILE:
        add_name(text, options, state);
        return 0;
    case 'C':
        if (tar_names_change_directory(&options->names, text) < 0)
            fail_no_memory(state);
        return 0;
    case 'T':
        read_names(text, options, state);
        return 0;
    case 'X':
        exclude_from(text, options, state);
        return 0;
    case KEY_EXCLUDE:
        exclude(options, text, state);
        return 0;
    case KEY_EXCLUDE_VCS:
    case KEY_EXCLUDE_BACKUPS:
        exclude_all(options, key == KEY_EXCLUDE_VCS ? vcs : backups, state);
        return 0;
    case KEY_NULL:
    case KEY_NO_NULL:
        list->null = key == KEY_NULL;
        return 0;
    case KEY_VERBATIM:
    case KEY_NO_VERBATIM:
        list->verbatim = key == KEY_VERBATIM;
        return 0;
    case KEY_UNQUOTE:
    case KEY_NO_UNQUOTE:
        options->names.quoted = key == KEY_UNQUOTE;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void set_bit(unsigned *bits, unsigned bit, bool on)
{
    *bits = on ? *bits | bit : *bits & ~bit;
}

static error_t parse_matching(int key, struct tar_options *options)
{
    struct tar_parser *parser = options->parser;

    switch (key) {
    case KEY_WILDCARDS:
        parser->wildcards = WILDCARDS_ON;
        return 0;
    case KEY_NO_WILDCARDS:
        parser->wildcards = WILDCARDS_OFF;
        return 0;
    case KEY_ANCHORED:
        parser->matching |= TAR_MATCH_ANCHORED;
        return 0;
    case KEY_NO_ANCHORED:
        parser->matching &= ~(unsigned)TAR_MATCH_ANCHORED;
        parser->is_not_anchored = true;
        return 0;
    case KEY_IGNORE_CASE:
    case KEY_NO_IGNORE_CASE:
        set_bit(&parser->matching, TAR_MATCH_IGNORE_CASE, key == KEY_IGNORE_CASE);
        return 0;
    case KEY_MATCH_SLASH:
    case KEY_NO_MATCH_SLASH:
        set_bit(&parser->matching, TAR_MATCH_KEEP_SLASH, key == KEY_NO_MATCH_SLASH);
        return 0;
    case KEY_RECURSION:
    case KEY_NO_RECURSION:
        options->shoal.archive.no_recursion = key == KEY_NO_RECURSION;
        return 0;
    case 'h':
        options->shoal.follow = SHOAL_FOLLOW_ALWAYS;
        return 0;
    case KEY_HARD_DEREFERENCE:
        parser->hard_dereference = true;
        return 0;
    case KEY_ONE_FILE_SYSTEM:
        options->shoal.one_file_system = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- how it is written and extracted ---- */

static error_t parse_writing(int key, char *text, struct argp_state *state)
{
    struct tar_options *options = state->input;

    switch (key) {
    case 'b':
    case KEY_RECORD_SIZE:
        parse_record(key, text, options, state);
        return 0;
    case 'H':
        parse_format(text, options, state);
        return 0;
    case KEY_POSIX:
        options->shoal.archive.format = SHOAL_FORMAT_PAX;
        return 0;
    case KEY_OLD_ARCHIVE:
        parse_format("v7", options, state);
        return 0;
    case KEY_SORT:
        parse_sort(text, options, state);
        return 0;
    case KEY_MTIME:
        parse_mtime(text, options, state);
        return 0;
    case KEY_OWNER:
    case KEY_GROUP:
        parse_owner(key, text, options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_metadata(int key, const char *text, struct argp_state *state)
{
    struct tar_options *options = state->input;
    struct tar_parser *parser = options->parser;

    switch (key) {
    case KEY_XATTRS_INCLUDE:
        if (strcmp(text, "*") != 0)
            argp_error(state,
                "--xattrs-include=%s: all extended attributes are kept ('*'), or "
                "none",
                text);
        parser->xattrs = true;
        return 0;
    case KEY_XATTRS:
    case KEY_NO_XATTRS:
        parser->xattrs = key == KEY_XATTRS;
        return 0;
    case KEY_ACLS:
    case KEY_NO_ACLS:
        parser->acls = key == KEY_ACLS;
        return 0;
    case KEY_SAME_OWNER:
    case KEY_NO_SAME_OWNER:
        parser->same_owner = key == KEY_SAME_OWNER;
        return 0;
    case 'o':
        parser->is_o = true;
        parser->same_owner = false;
        return 0;
    case 'p':
    case KEY_NO_SAME_PERMISSIONS:
        parser->same_permissions = key == 'p';
        return 0;
    case 'm':
        parser->no_times = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_extracting(int key, char *text, struct argp_state *state)
{
    struct tar_options *options = state->input;
    struct shoal_options *shoal = &options->shoal;

    switch (key) {
    case 'k':
        shoal->existing = SHOAL_EXISTING_REFUSE;
        return 0;
    case KEY_SKIP_OLD_FILES:
        shoal->existing = SHOAL_EXISTING_KEEP;
        return 0;
    case KEY_KEEP_NEWER_FILES:
        shoal->existing = SHOAL_EXISTING_IF_OLDER;
        return 0;
    case KEY_OVERWRITE:
    case 'U':
        shoal->existing = SHOAL_EXISTING_REPLACE;
        return 0;
    case 'O':
        shoal->archive.to_fd = true;
        return 0;
    case KEY_STRIP_COMPONENTS: {
        uint64_t n = parse_number(text, "number of elements", state);
        shoal->archive.strip_components = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
        return 0;
    }
    case KEY_ONE_TOP_LEVEL:
        options->parser->has_top = true;
        shoal->archive.top = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the rest ---- */

static void set_action(int key, struct tar_options *options, struct argp_state *state)
{
    if (options->action != TAR_NO_ACTION && (int)options->action != key)
        argp_error(state, "You may not specify more than one of -c, -t and -x");
    options->action = (enum tar_action)key;
}

static void set_archive(const char *path, struct tar_options *options, struct argp_state *state)
{
    if (options->archive)
        argp_error(state, "more than one archive: %s", path);
    options->archive = path;
}

static error_t parse_rest(int key, char *text, struct argp_state *state)
{
    struct tar_options *options = state->input;
    struct shoal_archive_options *archive = &options->shoal.archive;

    switch (key) {
    case 'c':
    case 't':
    case 'x':
        set_action(key, options, state);
        return 0;
    case 'f':
        set_archive(text, options, state);
        return 0;
    case 'v':
        options->verbose++;
        return 0;
    case 'P':
        archive->absolute_names = true;
        return 0;
    case 'i':
        archive->ignore_zeros = true;
        return 0;
    case KEY_NUMERIC_OWNER:
        archive->numeric_owner = true;
        return 0;
    case KEY_TOTALS:
        options->totals = true;
        return 0;
    case KEY_FULL_TIME:
        options->full_time = true;
        return 0;
    case KEY_UTC:
        options->utc = true;
        return 0;
    case KEY_WARNING:
        if (strcmp(text, "no-file-changed") != 0)
            argp_error(state, "--warning=%s: only no-file-changed can be said", text);
        options->skips_changed = true;
        return 0;
    case KEY_ACCEPTED:
    case 'B':
    case 'S':
    case 'n':
    case 's':
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- when all is read ---- */

static void choose_compression(struct tar_options *options, struct argp_state *state)
{
    struct tar_parser *parser = options->parser;

    if (options->action != TAR_CREATE)
        return;
    if (!parser->has_compression && parser->is_automatic && !parser->is_unwritable)
        parser->is_unwritable =
            !tar_compression_of_name(options->archive, &options->shoal.archive.compression);
    if (parser->is_unwritable)
        argp_error(
            state, "this compression is read, not written; gzip, bzip2, xz, zstd and lz4 are");
}

/* The name of an archive's file without what it ends in. NULL: nothing is left, or no memory. */
static char *top_of_name(const char *archive)
{
    enum shoal_compression compression;
    const char *slash = strrchr(archive, '/');
    char *top = strdup(slash ? slash + 1 : archive);
    char *dot = top ? strrchr(top, '.') : NULL;

    if (dot &&
        (!tar_compression_of_name(top, &compression) || compression != SHOAL_COMPRESSION_NONE)) {
        bool is_short = dot[1] == 't'; /* ".tgz" has no ".tar" before it */
        *dot = '\0';
        dot = is_short ? NULL : strrchr(top, '.');
    }
    if (dot && strcmp(dot, ".tar") == 0)
        *dot = '\0';
    if (top && *top && strcmp(top, "-") != 0)
        return top;
    free(top);
    return NULL;
}

static void choose_top(struct tar_options *options, struct argp_state *state)
{
    struct tar_parser *parser = options->parser;

    if (!parser->has_top || options->shoal.archive.top)
        return;
    parser->top = top_of_name(options->archive);
    if (!parser->top)
        argp_error(state, "Cannot deduce top-level directory name; please set it explicitly with "
                          "--one-top-level=DIR");
    options->shoal.archive.top = parser->top;
}

static void choose_metadata(struct tar_options *options, struct argp_state *state)
{
    struct shoal_options *shoal = &options->shoal;
    const struct tar_parser *parser = options->parser;
    bool writing = options->action == TAR_CREATE;

    shoal->preserve = parser->hard_dereference ? 0 : SHOAL_KEEP_LINKS;
    if (parser->xattrs)
        shoal->preserve |= SHOAL_KEEP_XATTR;
    if (!writing || parser->acls)
        shoal->preserve |= SHOAL_KEEP_MODE;
    if (!writing && parser->same_owner)
        shoal->preserve |= SHOAL_KEEP_OWNER;
    if (!writing && !parser->no_times)
        shoal->preserve |= SHOAL_KEEP_TIMES;
    /* Set-ID bits that go with the owner are no fault where owners are not kept. */
    shoal->insist = shoal->preserve & (SHOAL_KEEP_OWNER | SHOAL_KEEP_TIMES);
    if (parser->same_owner)
        shoal->insist |= shoal->preserve & SHOAL_KEEP_MODE;
    shoal->archive.leave_acls = !parser->acls;
    shoal->archive.mask_modes = options->action == TAR_EXTRACT && !parser->same_permissions;
    shoal->archive.devices = true;
    if (writing && (parser->xattrs || parser->acls) && shoal->archive.format != SHOAL_FORMAT_PAX)
        argp_error(state, "--xattrs and --acls are only for the pax format");
}

static void check_options(struct tar_options *options, struct argp_state *state)
{
    if (options->action == TAR_NO_ACTION)
        argp_error(state, "You must specify one of the '-ctx' options");
    if (options->action == TAR_CREATE && options->names.n == 0 && !options->names_listed)
        argp_error(state, "Cowardly refusing to create an empty archive");
    if (options->action == TAR_CREATE && options->parser->is_o)
        parse_format("v7", options, state);
    if (!options->archive)
        options->archive = getenv("TAPE");
    if (!options->archive || !*options->archive)
        options->archive = "-";
    choose_compression(options, state);
    choose_top(options, state);
    choose_metadata(options, state);
    if (options->shoal.archive.numeric_owner)
        options->shoal.archive.user = options->shoal.archive.group = NULL;
    options->shoal.archive.content_fd = STDOUT_FILENO;
    options->warns_of_wildcards = options->parser->wildcards == WILDCARDS_DEFAULT;
    if (tar_patterns_prepare(&options->excluded) < 0)
        fail_no_memory(state);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct tar_options *options = state->input;

    if (key == ARGP_KEY_END) {
        check_options(options, state);
        return 0;
    }
    error_t r = parse_names(key, text, state);
    if (r == ARGP_ERR_UNKNOWN)
        r = parse_matching(key, options);
    if (r == ARGP_ERR_UNKNOWN)
        r = parse_compression(key, text, state);
    if (r == ARGP_ERR_UNKNOWN)
        r = parse_writing(key, text, state);
    if (r == ARGP_ERR_UNKNOWN)
        r = parse_metadata(key, text, state);
    if (r == ARGP_ERR_UNKNOWN)
        r = parse_extracting(key, text, state);
    return r == ARGP_ERR_UNKNOWN ? parse_rest(key, text, state) : r;
}

static const struct argp_child children[] = {{.argp = &tar_refused_argp}, {0}};

static const struct argp argp = {
    .options = tar_option_table,
    .parser = parse_option,
    .args_doc = "[NAME...]",
    .doc = "Writes, reads and lists tar archives with GNU tar's command line, using all cores."
           "\vThe first argument may be letters without a dash, as in 'shoal tar xzf FILE'. "
           "Exit status: 0 all done, 1 files changed while they were read, 2 something could not "
           "be done, or wrong usage, 130 interrupted. The manual: man shoal-tar.",
    .children = children,
};

/* ---- letters without a dash ---- */

static const struct argp_option *find_letter(const struct argp_option *options, int letter)
{
    for (; options->name || options->key || options->doc; options++)
        if (options->key == letter)
            return options;
    return NULL;
}

static bool takes_argument(int letter)
{
    const struct argp_option *option = find_letter(tar_option_table, letter);

    if (!option)
        option = find_letter(tar_refused_argp.options, letter);
    return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

static void fail_old_option(char letter)
{
    tar_error("Old option '%c' requires an argument.", letter);
    (void)fputs("Try `shoal tar --help' or `shoal tar --usage' for more information.\n", stderr);
    exit(TAR_EXIT_FAILED);
}

/* Gives each of the first argument's letters its dash, and its argument from those that follow.
 * `dashes` has room for three bytes a letter. Returns how many arguments there are. */
static int add_dashes(int argc, char **argv, char **out, char *dashes)
{
    int n = 0, next = 2;

    out[n++] = argv[0];
    for (const char *letter = argv[1]; *letter; letter++) {
        out[n++] = dashes;
        *dashes++ = '-';
        *dashes++ = *letter;
        *dashes++ = '\0';
        if (!takes_argument(*letter))
            continue;
        if (next == argc)
            fail_old_option(*letter);
        out[n++] = argv[next++];
    }
    while (next < argc)
        out[n++] = argv[next++];
    out[n] = NULL;
    return n;
}

static error_t parse(int argc, char **argv, struct tar_options *options)
{
    argp_err_exit_status = TAR_EXIT_FAILED;
    argp_program_version = "shoal " SHOAL_VERSION;
    return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options);
}

static error_t parse_letters(int argc, char **argv, struct tar_options *options)
{
    size_t letters = strlen(argv[1]);
    _cleanup_free_ char **dashed = calloc((size_t)argc + letters + 1, sizeof(*dashed));
    _cleanup_free_ char *dashes = malloc(letters * 3 + 1);

    if (!dashed || !dashes)
        return ENOMEM;
    int n = add_dashes(argc, argv, dashed, dashes);
    return parse(n, dashed, options);
}

int tar_options_parse(int argc, char **argv, struct tar_options *options)
{
    bool is_root = geteuid() == 0;
    error_t error = ENOMEM;

    options->names.quoted = true;
    options->parser = calloc(1, sizeof(*options->parser));
    if (options->parser) {
        options->parser->same_owner = is_root;
        options->parser->same_permissions = is_root;
        error = argc > 1 && *argv[1] != '-' ? parse_letters(argc, argv, options)
                                            : parse(argc, argv, options);
    }
    if (error != 0)
        tar_error("cannot read the options: %s", strerror(error));
    return -error;
}

void tar_options_free(struct tar_options *options)
{
    if (options->parser)
        free(options->parser->top);
    free(options->parser);
    tar_names_free(&options->names);
    tar_patterns_free(&options->excluded);
}
