/* The shape of a tree: how many files and directories there are, how deep, and how sizes, files and
 * subdirectories are spread. Ours stand in shapes.c; others are learned from a directory, see
 * profile.h. */
#ifndef SHOAL_WORKLOAD_SHAPE_H
#define SHOAL_WORKLOAD_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "workload/quantiles.h"

#define SHAPE_LEVELS_MAX 64
#define SHAPE_COUNT_MAX  100000000ULL /* of files, and of directories */
#define SHAPE_BYTES_MAX  (1ULL << 60)

enum content {
    CONTENT_TEXT,
    CONTENT_RANDOM,
    CONTENT_MIXED, /* each file the one or the other */
    CONTENT_ZERO,
};

/* What all directories of one depth have together. */
struct shape_level {
    uint64_t directories, files;
};

struct shape {
    uint64_t files, directories, bytes; /* the top is a directory, too */
    const struct shape_level *levels;   /* the top first; none without a directory */
    size_t n_levels;
    struct quantiles sizes;
    struct quantiles files_per_directory, subdirectories; /* below the top; scaled to a level's */
    struct quantiles name_lengths;
    const struct naming *naming;
};

/* What a name is made for. */
struct name_place {
    uint64_t seed;
    uint64_t index, n;  /* the index-th of n files and directories */
    uint64_t sibling;   /* of those of its directory: the files first, then the directories */
    uint64_t level;     /* 0: directly below the top */
    uint64_t directory; /* the index of the one it stands in */
};

#define NAME_ROOM 256 /* the longest name there is, and its end */

/* A kind of file, by how its name ends. */
struct name_kind {
    const char *suffix;
    uint32_t weight;
    enum content content;
};

/* Each function gives a name that no other sibling has, file or directory. A file's says what is in
 * it. */
struct naming {
    const char *content; /* of all files, as struct workload has it */
    enum content (*file)(
        const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM]);
    void (*directory)(
        const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM]);
    const char *const *first;      /* what many directories have first; NULL ends them */
    const struct name_kind *kinds; /* a NULL suffix ends them */
};

extern const struct naming naming_linux, naming_node, naming_imagenet, naming_maildir,
    naming_desktop;

/* The named ones. */
extern const struct shape shape_linux_tree, shape_node_modules, shape_imagenet, shape_maildir,
    shape_desktop;

/* Of learned shapes: letters and a number, as long as the shape's names are. */
extern const struct naming naming_by_length;

/* The shape's levels with another number of files and directories: as many of each as a level's
 * share is, but no level without a directory. Returns how many levels there are then. */
size_t shape_scale_levels(const struct shape *shape, uint64_t files, uint64_t directories,
    struct shape_level levels[static SHAPE_LEVELS_MAX]);

#endif
