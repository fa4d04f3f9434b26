#include "cli/archive_options.h"

#include <errno.h>
#include <shoal/shoal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/tar_values.h"
#include "cli/tree_options.h"

enum {
    KEY_FORMAT = 0x2000,
    KEY_COMPRESS,
    KEY_LEVEL,
    KEY_SORT,
    KEY_MTIME,
    KEY_OWNER,
    KEY_GROUP,
    KEY_NUMERIC_OWNER,
    KEY_STRIP,
    KEY_DEVICES,
    KEY_IGNORE_ZEROS,
    KEY_TO_FORMAT,
};

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "Archives:", TREE_GROUP_ARCHIVE},
    {"to-format", KEY_TO_FORMAT, "FORM", 0,
        "Make TO what its name says (auto), an archive, or a tree", TREE_GROUP_ARCHIVE},
    {"format", KEY_FORMAT, "FORMAT", 0, "Write pax (the default), gnu, ustar or cpio",
        TREE_GROUP_ARCHIVE},
    {"compress", KEY_COMPRESS, "HOW", 0,
        "Compress by gzip, bzip2, xz, zstd or lz4 (default: as TO's name says)",
        TREE_GROUP_ARCHIVE},
    {"level", KEY_LEVEL, "N", 0, "How much to compress", TREE_GROUP_ARCHIVE},
    {"sort", KEY_SORT, "ORDER", 0, "Record a directory's names in this order: none, name",
        TREE_GROUP_ARCHIVE},
    {"mtime", KEY_MTIME, "DATE", 0, "Record this time for every file", TREE_GROUP_ARCHIVE},
    {"owner", KEY_OWNER, "NAME[:UID]", 0, "Record this owner for every file", TREE_GROUP_ARCHIVE},
    {"group", KEY_GROUP, "NAME[:GID]", 0, "Record this group for every file", TREE_GROUP_ARCHIVE},
    {"numeric-owner", KEY_NUMERIC_OWNER, NULL, 0, "Go by owners' numbers, not their names",
        TREE_GROUP_ARCHIVE},
    {"strip-components", KEY_STRIP, "N", 0, "Leave out N leading components of names in an archive",
        TREE_GROUP_ARCHIVE},
    {"ignore-zeros", KEY_IGNORE_ZEROS, NULL, 0, "Read on where one tar ends and another follows",
        TREE_GROUP_ARCHIVE},
    {"devices", KEY_DEVICES, NULL, 0, "Make the device nodes that are in an archive",
        TREE_GROUP_ARCHIVE},
    {0},
};

struct word {
    const char *word;
    int value;
};

static int parse_word(const char *text, const struct word *words, size_t n, const char *option,
    struct argp_state *state)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, words[i].word) == 0)
            return words[i].value;
    argp_error(state, "%s=%s: --help lists what is expected", option, text);
    return 0;
}

static unsigned parse_number(
    const char *text, unsigned most, const char *option, struct argp_state *state)
{
    char *end = NULL;
    unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

    if (!end || *end || number > most)
        argp_error(state, "%s=%s: a number up to %u is expected", option, text, most);
    return (unsigned)number;
}

static void parse_owner(
    struct shoal_archive_options *archive, char *text, bool is_group, struct argp_state *state)
{
    struct tar_owner owner;

    if (tar_parse_owner(text, is_group, &owner) < 0) {
        argp_error(state, "--%s=%s: NAME, NAME:NUMBER or NUMBER is expected",
            is_group ? "group" : "owner", text);
        return;
    }
    *(is_group ? &archive->group : &archive->user) = owner.name;
    *(is_group ? &archive->set_gid : &archive->set_uid) = owner.has_id;
    *(is_group ? &archive->gid : &archive->uid) = owner.id;
}

static void parse_time(
    struct shoal_archive_options *archive, const char *text, struct argp_state *state)
{
    int r = tar_parse_time(text, &archive->mtime);

    if (r == -EINVAL)
        argp_error(state, "--mtime=%s: a time such as 2020-01-01 or @0 is expected", text);
    else if (r < 0)
        argp_failure(state, argp_err_exit_status, -r, "cannot examine '%s'", text);
    archive->set_mtime = true;
}

static error_t parse_writing(
    struct shoal_archive_options *archive, int key, char *text, struct argp_state *state)
{
    static const struct word formats[] = {{"pax", SHOAL_FORMAT_PAX}, {"posix", SHOAL_FORMAT_PAX},
        {"gnu", SHOAL_FORMAT_GNU}, {"ustar", SHOAL_FORMAT_USTAR}, {"cpio", SHOAL_FORMAT_CPIO}};
    static const struct word compressions[] = {{"none", SHOAL_COMPRESSION_NONE},
        {"gzip", SHOAL_COMPRESSION_GZIP}, {"bzip2", SHOAL_COMPRESSION_BZIP2},
        {"xz", SHOAL_COMPRESSION_XZ}, {"zstd", SHOAL_COMPRESSION_ZSTD},
        {"lz4", SHOAL_COMPRESSION_LZ4}};
    static const struct word orders[] = {{"none", false}, {"name", true}};

    switch (key) {
    case KEY_FORMAT:
        archive->format =
            (enum shoal_format)parse_word(text, formats, ELEMENTS(formats), "--format", state);
        return 0;
    case KEY_COMPRESS:
        archive->compression = (enum shoal_compression)parse_word(
            text, compressions, ELEMENTS(compressions), "--compress", state);
        return 0;
    case KEY_LEVEL:
        archive->level = (int)parse_number(text, 22, "--level", state);
        return 0;
    case KEY_SORT:
        archive->sort_names = parse_word(text, orders, ELEMENTS(orders), "--sort", state);
        return 0;
    case KEY_MTIME:
        parse_time(archive, text, state);
        return 0;
    case KEY_OWNER:
    case KEY_GROUP:
        parse_owner(archive, text, key == KEY_GROUP, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const struct word to[] = {
        {"auto", SHOAL_AUTO}, {"archive", SHOAL_ALWAYS}, {"tree", SHOAL_NEVER}};
    struct shoal_archive_options *archive = state->input;

    switch (key) {
    case KEY_TO_FORMAT:
        archive->write_archive =
            (enum shoal_when)parse_word(text, to, ELEMENTS(to), "--to-format", state);
        return 0;
    case KEY_NUMERIC_OWNER:
        archive->numeric_owner = true;
        return 0;
    case KEY_STRIP:
        archive->strip_components = parse_number(text, 10000, "--strip-components", state);
        return 0;
    case KEY_IGNORE_ZEROS:
        archive->ignore_zeros = true;
        return 0;
    case KEY_DEVICES:
        archive->devices = true;
        return 0;
    default:
        return parse_writing(archive, key, text, state);
    }
}

const struct argp archive_options_argp = {.options = option_table, .parser = parse_option};
