#include "engine/disc_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "disc/disc.h"
#include "disc/sectors.h"
#include "drive/drive.h"
#include "engine/events.h"
#include "source/paced.h"

static enum sectors_format format_of(enum shoal_disc_format format)
{
    switch (format) {
    case SHOAL_DISC_2048:
        return SECTORS_PLAIN;
    case SHOAL_DISC_2352:
        return SECTORS_RAW;
    case SHOAL_DISC_CUE:
        return SECTORS_CUE;
    default:
        return SECTORS_AUTO;
    }
}

/* Puts the drive that was asked for before the sectors; frees them where it fails. */
static int pace(const struct shoal_disc_options *given, struct sectors **sectors)
{
    _cleanup_free_ char *why = NULL;
    struct drive_profile profile;
    struct drive *drive;

    int r = drive_profile_parse(given->drive, &profile, &why);
    if (r == 0)
        r = drive_new(&profile, &drive);
    if (r < 0) {
        (*sectors)->ops->free(*sectors);
        return r;
    }
    double scale = given->time_scale > 0 ? given->time_scale : 1;
    return paced_sectors_new(*sectors, drive, scale, sectors);
}

static int open_disc(
    const struct run *run, const char *path, struct disc **ret, struct disc_fault *fault)
{
    const struct shoal_disc_options *given = &run->options->disc;
    const struct disc_options options = {.names = (enum disc_names)given->names};
    _cleanup_free_ char *why = NULL;
    struct sectors *sectors;

    int r = sectors_open(AT_FDCWD, path, format_of(given->format), &sectors, &why);
    if (r == 0 && given->drive)
        r = pace(given, &sectors);
    if (r < 0)
        return r;
    r = disc_open(sectors, &options, ret, fault);
    if (r < 0)
        sectors->ops->free(sectors);
    return r;
}

/* Finds the directory that the last component of a path is in, and that component ("." where the
 * path is of the top). */
static int find_part(struct disc *disc, const char *part, uint64_t *ret_directory, char **ret_name,
    struct disc_fault *fault)
{
    _cleanup_free_ char *copy = strdup(part), *name = strdup(".");
    uint64_t at = disc->root, next = disc->root;
    char *rest;

    if (!copy || !name)
        return -ENOMEM;
    for (char *word = strtok_r(copy, "/", &rest); word; word = strtok_r(NULL, "/", &rest)) {
        if (strcmp(word, ".") == 0)
            continue;
        at = next;
        int r = disc->ops->find(disc, at, word, &next, fault);
        if (r < 0)
            return r;
        free(name);
        name = strdup(word);
        if (!name)
            return -ENOMEM;
    }
    *ret_directory = at;
    *ret_name = TAKE_PTR(name);
    return 0;
}

/* What the root's name is. */
static int examine(struct root *root, struct disc_fault *fault)
{
    struct disc *disc = root->disc;
    char target[DISC_TARGET_MAX];
    uint64_t node = root->disc_start;
    struct entry entry;
    int r = strcmp(root->source_name, ".") == 0
                ? 0
                : disc->ops->find(disc, node, root->source_name, &node, fault);

    if (r == 0)
        r = disc->ops->look(disc, node, target, &entry, fault);
    if (r < 0)
        return r;
    root->from_dev = entry.dev;
    root->from_ino = entry.ino;
    if (S_ISDIR(entry.mode)) {
        root->dev = entry.dev;
        root->ino = entry.ino;
    }
    return 0;
}

int disc_root_open(struct run *run, struct root *root, const char *path, const char *part)
{
    struct disc_fault fault = {0};
    const char *below = part ? part + strspn(part, "/") : "";

    int r = open_disc(run, path, &root->disc, &fault);
    if (r == -EILSEQ)
        return r;
    root->run = run;
    root->parent_path = strdup(path);
    if (asprintf(&root->from, "%s:%s%s", path, *below ? "/" : "", below) < 0)
        root->from = NULL;
    if (!root->from || !root->parent_path)
        return -ENOMEM;
    for (size_t n = strlen(root->from); n > 0 && root->from[n - 1] == '/'; n--)
        root->from[n - 1] = '\0';
    if (r == 0)
        r = find_part(root->disc, below, &root->disc_start, &root->source_name, &fault);
    if (r == 0)
        r = examine(root, &fault);
    if (r < 0 && r != -ENOMEM) {
        events_fault_disc(run, "read", root->from, r, &(struct damage){fault.what, fault.sector});
        return -ECANCELED;
    }
    return r;
}
