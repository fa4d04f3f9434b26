#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/drive_options.h"
#include "mount/image.h"
#include "version.h"

enum { KEY_FROM_FORMAT = 0x100, KEY_NAMES, KEY_ONE_THREAD, KEY_DRIVE, KEY_TIME_SCALE };

struct mount_arguments {
    const char *image, *directory;
    struct drive_profile drive;
    struct image_options options;
};

static const struct argp_option option_table[] = {
    {"from-format", KEY_FROM_FORMAT, "FORMAT", 0,
        "How sectors lie in the image: auto, 2048, 2352 or cue (auto)", 0},
    {"names", KEY_NAMES, "NAMES", 0,
        "Of an ISO 9660 disc: auto, rock-ridge, joliet or plain (auto: the first there is)", 0},
    {"drive", KEY_DRIVE, "DRIVE", 0,
        "At the pace of a drive: 2X, 32X, 24X-cav,access=90ms,buffer=256K; see the manual", 0},
    {"time-scale", KEY_TIME_SCALE, "N", 0, "The drive's world runs N times as fast (1)", 0},
    {"foreground", 'f', NULL, 0, "Stay until it is unmounted", 0},
    {"suid-dev", 's', NULL, 0, "Set-ID bits and device nodes work as on other disks", 0},
    {"one-thread", KEY_ONE_THREAD, NULL, 0, "Serve requests one after the other", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct mount_arguments *arguments = state->input;

    switch (key) {
    case KEY_FROM_FORMAT:
        if (sectors_format_parse(text, &arguments->options.format) < 0)
            argp_error(state, "--from-format: auto, 2048, 2352 or cue is expected");
        return 0;
    case KEY_NAMES:
        if (disc_names_parse(text, &arguments->options.disc.names) < 0)
            argp_error(state, "--names: auto, rock-ridge, joliet or plain is expected");
        return 0;
    case KEY_DRIVE:
        drive_parse(text, &arguments->drive, state);
        arguments->options.drive = &arguments->drive;
        return 0;
    case KEY_TIME_SCALE:
        arguments->options.time_scale = drive_parse_time_scale(text, state);
        return 0;
    case 'f':
        arguments->options.mount.foreground = true;
        return 0;
    case 's':
        arguments->options.mount.set_id_devices = true;
        return 0;
    case KEY_ONE_THREAD:
        arguments->options.mount.one_thread = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "IMAGE and DIR are expected, and nothing more");
        *(state->arg_num == 0 ? &arguments->image : &arguments->directory) = text;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "IMAGE and DIR are expected");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "IMAGE DIR",
    .doc = "Mounts a disc (ISO 9660 or SGI EFS; an image or a drive) read-only at a directory."
           "\vWhat it is unmounted with: fusermount3 -u DIR, or umount DIR as root. Exit status: 0 "
           "it is mounted (with -f: it was, and is no more), 1 it cannot be, 2 wrong usage. The "
           "manual: man shoal-mount.",
};

static int complain(
    const struct mount_arguments *arguments, int r, const char *why, const struct disc_fault *fault)
{
    _cleanup_free_ char *quoted = quote_name(arguments->image);
    const char *image = quoted ? quoted : arguments->image;

    if (r == -EILSEQ && !why)
        cli_error("cannot mount %s: there is no file system that is known on it", image);
    else if (fault->what)
        cli_error("cannot mount %s: %s, sector %llu", image, fault->what,
            (unsigned long long)fault->sector);
    else if (why)
        cli_error("cannot mount %s: %s", image, why);
    else
        cli_error("cannot mount %s: %s", image, strerror(-r));
    return EXIT_SOME_FAILED;
}

int command_mount(int argc, char **argv)
{
    struct mount_arguments arguments = {.options.time_scale = 1};
    _cleanup_free_ char *why = NULL;
    struct disc_fault fault = {0};

    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    error_t error = argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (error != 0) {
        cli_error("cannot read the options: %s", strerror(error));
        return EXIT_SOME_FAILED;
    }
    if (!arguments.options.drive && arguments.options.time_scale != 1) {
        cli_error("--time-scale is for a drive: give --drive, too");
        return EXIT_USAGE;
    }
    arguments.options.mount.source = arguments.image;
    int r = image_mount(arguments.image, arguments.directory, &arguments.options, &fault, &why);
    return r == 0 ? EXIT_OK : complain(&arguments, r, why, &fault);
}
