#include "engine/from.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "engine/disc_root.h"
#include "engine/events.h"
#include "engine/stream_root.h"
#include "entry/archive_name.h"

static int open_stream(struct run *run, struct root *root, const char *path, const char *part)
{
    _cleanup_free_ char *from = NULL;
    bool is_stdin = strcmp(path, "-") == 0;
    _cleanup_close_ int fd = is_stdin ? -1 : open_at(AT_FDCWD, path, O_RDONLY | O_NOCTTY, 0);

    if (!is_stdin && fd < 0)
        return fd;
    if (asprintf(&from, "%s:", path) < 0)
        return -ENOMEM;
    return stream_root_open(run, root, is_stdin ? STDIN_FILENO : fd, from, part);
}

/* Whether a FROM is to be looked into, and how. */
struct guess {
    bool disc, archive;
};

static struct guess guess_by_name(const struct run *run, const char *from)
{
    enum shoal_when archives = run->options->archive.read_archives;
    enum shoal_disc_format discs = run->options->disc.format;
    struct stat st;

    if (strcmp(from, "-") == 0)
        return (struct guess){.archive = archives != SHOAL_NEVER};
    if (stat(from, &st) < 0 || S_ISDIR(st.st_mode))
        return (struct guess){0};
    bool named = S_ISBLK(st.st_mode) || disc_name_is_readable(from);
    return (struct guess){
        .disc = (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) &&
                (discs == SHOAL_DISC_AUTO ? named : discs != SHOAL_DISC_NEVER),
        .archive =
            archives == SHOAL_AUTO ? archive_name_is_readable(from) : archives == SHOAL_ALWAYS,
    };
}

/* Whether what cannot be read as a disc must not be taken for a file. */
static bool is_insisted(const struct run *run, struct guess guess)
{
    return guess.disc && run->options->disc.format >= SHOAL_DISC_ALWAYS;
}

int from_open(struct run *run, const char *from, struct root *root, char **ret_part)
{
    const char *part = NULL;

    *ret_part = NULL;
    bool archives = run->options->archive.read_archives != SHOAL_NEVER,
         discs = run->options->disc.format != SHOAL_DISC_NEVER;
    _cleanup_free_ char *path = archives || discs ? archive_name_split(from, &part) : NULL;
    struct guess guess =
        path ? (struct guess){discs && strcmp(path, "-") != 0, archives} : guess_by_name(run, from);
    if (!path && !(path = strdup(from)))
        return -ENOMEM;
    int r = guess.disc ? disc_root_open(run, root, path, part) : -EILSEQ;
    if (r == -EILSEQ && guess.archive && !run->comparing)
        r = open_stream(run, root, path, part);
    else if (r == -EILSEQ && !is_insisted(run, guess))
        return 0;
    if (r == 0 && part && !(*ret_part = strdup(part)))
        r = -ENOMEM;
    return r < 0 ? r : 1;
}
