#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "version.h"

static const struct command commands[] = {
    {"copy", "copy trees of files, whole and fast", command_copy},
    {"tar", "write, read and list tar archives with GNU tar's command line", command_tar},
    {"list", "list what is in a directory, an archive or a disc", command_list},
    {"verify", "compare a copy with its source, content and metadata", command_verify},
    {"bench", "time this machine's ways to copy a workload", command_bench},
    {"report", "print the tables of what was measured", command_report},
    {"make", "make workloads from a seed number, and images of discs", command_make},
#if HAVE_FUSE
    {"mount", "mount a disc, at full speed or as an emulated drive", command_mount},
#endif
};

static void print_help(void)
{
    (void)printf(
        "Usage: shoal COMMAND [OPTION...] [ARGUMENT...]\n"
        "Copies many small files straight to disk, times that copy against every other way,\n"
        "and says where the time went.\n\n");
    for (size_t i = 0; i < ELEMENTS(commands); i++)
        (void)printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    (void)printf(
        "\n'shoal COMMAND --help' lists a command's options; 'man shoal-COMMAND' explains them.\n");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    for (size_t i = 0; i < ELEMENTS(commands); i++) {
        char title[32];
        if (strcmp(name, commands[i].name) != 0)
            continue;
        (void)snprintf(title, sizeof(title), "shoal %s", name);
        argv[1] = title;
        return commands[i].run(argc - 1, argv + 1);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return cli_finish(EXIT_OK);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        (void)printf("shoal %s\n", SHOAL_VERSION);
        return cli_finish(EXIT_OK);
    }
    if (*name)
        cli_error("'%s' is not a command; 'shoal --help' lists them", name);
    else
        cli_error("a command is missing; 'shoal --help' lists them");
    return EXIT_USAGE;
}
