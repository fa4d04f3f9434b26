#include "cli/from_options.h"

#include <shoal/shoal.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/drive_options.h"
#include "cli/tree_options.h"

enum { KEY_FROM_FORMAT = 0x3000, KEY_DISC_NAMES, KEY_DRIVE, KEY_TIME_SCALE };

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "Reading archives and discs:", TREE_GROUP_FROM},
    {"from-format", KEY_FROM_FORMAT, "FORM", 0,
        "Take a FROM that is a file as what its name says (auto), an archive, a disc (disc; 2048, "
        "2352 or cue insist on how its sectors lie), or a file",
        TREE_GROUP_FROM},
    {"disc-names", KEY_DISC_NAMES, "NAMES", 0,
        "Of an ISO 9660 disc: auto, rock-ridge, joliet or plain (auto: the first there is)",
        TREE_GROUP_FROM},
    {"drive", KEY_DRIVE, "DRIVE", 0,
        "Read a disc at the pace of an emulated drive: 2X, 32X, 24X-cav,access=90ms",
        TREE_GROUP_FROM},
    {"time-scale", KEY_TIME_SCALE, "N", 0, "The drive's world runs N times as fast (1)",
        TREE_GROUP_FROM},
    {0},
};

static const struct {
    const char *word;
    enum shoal_when archives;
    enum shoal_disc_format discs;
} forms[] = {
    {"auto", SHOAL_AUTO, SHOAL_DISC_AUTO},
    {"archive", SHOAL_ALWAYS, SHOAL_DISC_NEVER},
    {"disc", SHOAL_NEVER, SHOAL_DISC_ALWAYS},
    {"2048", SHOAL_NEVER, SHOAL_DISC_2048},
    {"2352", SHOAL_NEVER, SHOAL_DISC_2352},
    {"cue", SHOAL_NEVER, SHOAL_DISC_CUE},
    {"file", SHOAL_NEVER, SHOAL_DISC_NEVER},
};

static const char *const names[] = {
    [SHOAL_DISC_NAMES_AUTO] = "auto",
    [SHOAL_DISC_NAMES_ROCK_RIDGE] = "rock-ridge",
    [SHOAL_DISC_NAMES_JOLIET] = "joliet",
    [SHOAL_DISC_NAMES_PLAIN] = "plain",
};

static void parse_form(struct shoal_options *options, const char *text, struct argp_state *state)
{
    for (size_t i = 0; i < ELEMENTS(forms); i++) {
        if (strcmp(text, forms[i].word) == 0) {
            options->archive.read_archives = forms[i].archives;
            options->disc.format = forms[i].discs;
            return;
        }
    }
    argp_error(state, "--from-format=%s: --help lists what is expected", text);
}

static void parse_names(struct shoal_options *options, const char *text, struct argp_state *state)
{
    for (size_t i = 0; i < ELEMENTS(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            options->disc.names = (enum shoal_disc_names)i;
            return;
        }
    }
    argp_error(state, "--disc-names=%s: --help lists what is expected", text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct shoal_options *options = state->input;

    switch (key) {
    case KEY_FROM_FORMAT:
        parse_form(options, text, state);
        return 0;
    case KEY_DISC_NAMES:
        parse_names(options, text, state);
        return 0;
    case KEY_DRIVE:
        drive_parse(text, NULL, state);
        options->disc.drive = text;
        return 0;
    case KEY_TIME_SCALE:
        options->disc.time_scale = drive_parse_time_scale(text, state);
        return 0;
    case ARGP_KEY_END:
        if (options->disc.time_scale > 0 && !options->disc.drive)
            argp_error(state, "--time-scale is for a drive: give --drive, too");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp from_options_argp = {.options = option_table, .parser = parse_option};
