#include "cli/tar_refused.h"

#include <errno.h>
#include <stddef.h>

#define NO_CHANGE    "an archive is not changed once it is written; -c writes, -x extracts, -t lists"
#define NO_COMPARE   "an archive is not compared with files; extract it and use 'shoal verify'"
#define NO_VOLUMES   "an archive is one file or stream, read or written from one end to the other"
#define NO_SNAPSHOTS "every archive holds all that was asked for; there are no incremental ones"
#define NO_LABELS    "archives have no labels; the name of their file is theirs"
#define NO_QUESTIONS "nothing is asked; --exclude and names say what takes part"
#define NO_REMOVAL   "only a file that stands under the very name of a member is replaced"
#define NO_SOURCES   "files are read, and neither removed nor changed"
#define NO_TIMES     "names and --exclude say which files take part, not times"
#define NO_TRANSFORM "names are kept as they are, but for --strip-components and --one-top-level"
#define NO_MODES     "permissions are recorded as they are"
#define NO_SELINUX   "SELinux contexts are not kept; --xattrs and --acls are what can be"
#define NO_COMMANDS  "no other program is run; -O writes to standard output"
#define NO_MARKS     "--exclude and -X say what is left out, not files that lie there"
#define NO_SPEECH    "-v, -vv, --totals and --full-time are what can be asked to be told"
#define NO_BACKUPS   "what is replaced is gone; -k and --skip-old-files keep it"
#define NO_MAPS      "--owner and --group set one owner for all"
#define NO_HEADERS   "pax headers are written where they are needed"
#define NO_PLACE     "all members of a name are extracted, from the beginning of the archive on"
#define NO_SILENCE   "a file that cannot be read is always an error"
#define NO_LINKS     "a directory of the archive takes the place of a symbolic link"
#define NO_HOLES     "holes are found as the file system tells them, and kept"
#define NO_DIRS      "the metadata of a directory in the archive is always set, when all is in it"

/* The key is the letter, or the line's number. */
#define LETTER(letter, name, argument, reason)                                                     \
    {                                                                                              \
        name, letter, argument, OPTION_HIDDEN, reason, 0                                           \
    }
#define LONG(name, argument, reason)                                                               \
    {                                                                                              \
        name, TAR_REFUSED_KEYS + __LINE__, argument, OPTION_HIDDEN, reason, 0                      \
    }
#define OPTIONAL(name, argument, reason)                                                           \
    {                                                                                              \
        name, TAR_REFUSED_KEYS + __LINE__, argument, OPTION_HIDDEN | OPTION_ARG_OPTIONAL, reason,  \
            0                                                                                      \
    }

static const struct argp_option option_table[] = {
    LETTER('A', "catenate", NULL, NO_CHANGE),
    LONG("concatenate", NULL, NO_CHANGE),
    LETTER('r', "append", NULL, NO_CHANGE),
    LETTER('u', "update", NULL, NO_CHANGE),
    LONG("delete", NULL, NO_CHANGE),
    LETTER('d', "diff", NULL, NO_COMPARE),
    LONG("compare", NULL, NO_COMPARE),
    LETTER('W', "verify", NULL, NO_COMPARE),
    LETTER('M', "multi-volume", NULL, NO_VOLUMES),
    LETTER('L', "tape-length", "N", NO_VOLUMES),
    LETTER('F', "info-script", "NAME", NO_VOLUMES),
    LONG("new-volume-script", "NAME", NO_VOLUMES),
    LONG("volno-file", "FILE", NO_VOLUMES),
    LETTER('R', "block-number", NULL, NO_VOLUMES),
    LETTER('g', "listed-incremental", "FILE", NO_SNAPSHOTS),
    LETTER('G', "incremental", NULL, NO_SNAPSHOTS),
    LONG("level", "N", NO_SNAPSHOTS),
    LETTER('V', "label", "TEXT", NO_LABELS),
    LONG("test-label", NULL, NO_LABELS),
    LETTER('w', "interactive", NULL, NO_QUESTIONS),
    LONG("confirmation", NULL, NO_QUESTIONS),
    LONG("recursive-unlink", NULL, NO_REMOVAL),
    LONG("remove-files", NULL, NO_SOURCES),
    OPTIONAL("atime-preserve", "METHOD", NO_SOURCES),
    LETTER('N', "newer", "DATE", NO_TIMES),
    LONG("after-date", "DATE", NO_TIMES),
    LONG("newer-mtime", "DATE", NO_TIMES),
    LONG("transform", "EXPRESSION", NO_TRANSFORM),
    LONG("xform", "EXPRESSION", NO_TRANSFORM),
    LONG("show-transformed-names", NULL, NO_TRANSFORM),
    LONG("show-stored-names", NULL, NO_TRANSFORM),
    LONG("mode", "CHANGES", NO_MODES),
    LONG("clamp-mtime", NULL, "--mtime sets one time for all"),
    LONG("selinux", NULL, NO_SELINUX),
    LONG("to-command", "COMMAND", NO_COMMANDS),
    LONG("rmt-command", "COMMAND", NO_COMMANDS),
    LONG("rsh-command", "COMMAND", NO_COMMANDS),
    OPTIONAL("checkpoint", "N", NO_SPEECH),
    LONG("checkpoint-action", "ACTION", NO_SPEECH),
    LONG("index-file", "FILE", NO_SPEECH),
    LONG("quoting-style", "STYLE", NO_SPEECH),
    LONG("quote-chars", "TEXT", NO_SPEECH),
    LONG("no-quote-chars", "TEXT", NO_SPEECH),
    LONG("show-defaults", NULL, NO_SPEECH),
    LONG("show-snapshot-field-ranges", NULL, NO_SPEECH),
    LONG("show-omitted-dirs", NULL, NO_SPEECH),
    LONG("ignore-command-error", NULL, NO_COMMANDS),
    LONG("no-ignore-command-error", NULL, NO_COMMANDS),
    LONG("ignore-failed-read", NULL, NO_SILENCE),
    LETTER('l', "check-links", NULL, NO_SPEECH),
    LONG("exclude-caches", NULL, NO_MARKS),
    LONG("exclude-caches-all", NULL, NO_MARKS),
    LONG("exclude-caches-under", NULL, NO_MARKS),
    LONG("exclude-tag", "FILE", NO_MARKS),
    LONG("exclude-tag-all", "FILE", NO_MARKS),
    LONG("exclude-tag-under", "FILE", NO_MARKS),
    LONG("exclude-ignore", "FILE", NO_MARKS),
    LONG("exclude-ignore-recursive", "FILE", NO_MARKS),
    LONG("exclude-vcs-ignores", NULL, NO_MARKS),
    OPTIONAL("backup", "CONTROL", NO_BACKUPS),
    LONG("suffix", "TEXT", NO_BACKUPS),
    LONG("owner-map", "FILE", NO_MAPS),
    LONG("group-map", "FILE", NO_MAPS),
    LONG("pax-option", "LIST", NO_HEADERS),
    OPTIONAL("occurrence", "N", NO_PLACE),
    LETTER('K', "starting-file", "NAME", NO_PLACE),
    LONG("keep-directory-symlink", NULL, NO_LINKS),
    LONG("hole-detection", "METHOD", NO_HOLES),
    LONG("sparse-version", "N", NO_HOLES),
    LONG("no-overwrite-dir", NULL, NO_DIRS),
    LONG("xattrs-exclude", "PATTERN", "all extended attributes are kept, or none"),
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    (void)text;
    for (const struct argp_option *option = option_table; option->name; option++) {
        if (option->key != key)
            continue;
        if (key < TAR_REFUSED_KEYS)
            argp_error(state, "-%c (--%s): %s", key, option->name, option->doc);
        else
            argp_error(state, "--%s: %s", option->name, option->doc);
        return EINVAL;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp tar_refused_argp = {.options = option_table, .parser = parse_option};
