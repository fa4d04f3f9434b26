/* Counts what is in a directory. */
#ifndef SHOAL_WORKLOAD_SURVEY_H
#define SHOAL_WORKLOAD_SURVEY_H

#include <stddef.h>
#include <stdint.h>

#include "workload/shape.h"

/* Numbers, one after the other; `numbers` is owned. */
struct samples {
    uint64_t *numbers;
    size_t n, room;
};

/* One of each for every file or directory but the top, which often is unlike the others, and of
 * which the levels say all. */
struct survey_samples {
    struct samples sizes, files_per_directory, subdirectories, name_lengths;
};

/* Regular files only, each by every name it has; directories with the top. */
struct survey {
    uint64_t files, directories, bytes;
    struct shape_level levels[SHAPE_LEVELS_MAX]; /* deeper ones are counted with the last */
    size_t n_levels;
    struct survey_samples *samples; /* NULL: not wanted */
};

/* Walks the directory and all below it; below `path` itself no symbolic link is followed. `ret`
 * comes empty, but for `samples`. *ret_why (free it; NULL if memory is out) says why, and of what
 * below it. */
int survey_directory(const char *path, struct survey *ret, char **ret_why);

void survey_samples_clear(struct survey_samples *samples);

#endif
