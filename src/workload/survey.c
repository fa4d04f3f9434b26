#include "workload/survey.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "base/path.h"
#include "base/quote.h"

/* A directory on the way down. */
struct visit {
    DIR *dir;
    const struct visit *parent;
    const char *name; /* of the top: its path */
    size_t level;
    uint64_t files, subdirectories;
};

static int add_sample(struct samples *samples, uint64_t number)
{
    if (samples->n == samples->room) {
        size_t room = samples->room ? 2 * samples->room : 1024;
        uint64_t *numbers = reallocarray(samples->numbers, room, sizeof(*numbers));
        if (!numbers)
            return -ENOMEM;
        samples->numbers = numbers;
        samples->room = room;
    }
    samples->numbers[samples->n++] = number;
    return 0;
}

/* "cannot read 'TOP/…/NAME': reason", `name` may be NULL; of the top itself only the reason. Gives
 * `error` back. */
static int cannot_read(char **ret_why, const struct visit *visit, const char *name, int error)
{
    const bool is_top = !visit->parent && !name;
    char *path = strdup(name ? name : ".");

    for (; visit && path; visit = visit->parent) {
        char *longer = path_join(visit->name, path);
        free(path);
        path = longer;
    }
    _cleanup_free_ char *quoted = path ? quote_name(path) : NULL;
    free(path);
    if (is_top)
        *ret_why = strdup(strerror(-error));
    else if (asprintf(ret_why, "cannot read %s: %s", quoted ? quoted : "?", strerror(-error)) < 0)
        *ret_why = NULL;
    return error;
}

static int count_file(struct survey *survey, struct visit *visit, const struct stat *st)
{
    visit->files++;
    survey->files++;
    survey->bytes += (uint64_t)st->st_size;
    return survey->samples ? add_sample(&survey->samples->sizes, (uint64_t)st->st_size) : 0;
}

static int count_directory(struct survey *survey, const struct visit *visit)
{
    size_t level = visit->level < SHAPE_LEVELS_MAX ? visit->level : SHAPE_LEVELS_MAX - 1;

    if (survey->n_levels <= level)
        survey->n_levels = level + 1;
    survey->directories++;
    survey->levels[level].directories++;
    survey->levels[level].files += visit->files;
    if (!survey->samples || visit->level == 0)
        return 0;
    int r = add_sample(&survey->samples->files_per_directory, visit->files);
    return r < 0 ? r : add_sample(&survey->samples->subdirectories, visit->subdirectories);
}

static int visit_directory(
    struct survey *survey, struct visit *visit, int parent_fd, char **ret_why);

static int visit_entry(struct survey *survey, struct visit *visit, const char *name, char **ret_why)
{
    struct stat st;

    if (fstatat(dirfd(visit->dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return cannot_read(ret_why, visit, name, -errno);
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0;
    int r = survey->samples ? add_sample(&survey->samples->name_lengths, strlen(name)) : 0;
    if (r < 0)
        return r;
    if (S_ISREG(st.st_mode))
        return count_file(survey, visit, &st);
    struct visit child = {.parent = visit, .name = name, .level = visit->level + 1};
    visit->subdirectories++;
    return visit_directory(survey, &child, dirfd(visit->dir), ret_why);
}

/* One descriptor a level. */
static int visit_directory(
    struct survey *survey, struct visit *visit, int parent_fd, char **ret_why)
{
    int flags = O_RDONLY | O_DIRECTORY | (visit->parent ? O_NOFOLLOW : 0);
    int fd = open_at(parent_fd, visit->name, flags, 0), r = 0;

    if (fd < 0)
        return cannot_read(ret_why, visit, NULL, fd);
    _cleanup_closedir_ DIR *dir = fdopendir(fd);
    if (!dir) {
        r = -errno;
        (void)close(fd); /* read only */
        return r;
    }
    visit->dir = dir;
    while (r >= 0) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = visit_entry(survey, visit, entry->d_name, ret_why);
    }
    if (r >= 0 && errno != 0)
        r = cannot_read(ret_why, visit, NULL, -errno);
    return r < 0 ? r : count_directory(survey, visit);
}

int survey_directory(const char *path, struct survey *ret, char **ret_why)
{
    struct visit top = {.name = path};

    return visit_directory(ret, &top, AT_FDCWD, ret_why);
}

void survey_samples_clear(struct survey_samples *samples)
{
    free(samples->sizes.numbers);
    free(samples->files_per_directory.numbers);
    free(samples->subdirectories.numbers);
    free(samples->name_lengths.numbers);
    *samples = (struct survey_samples){0};
}
