#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "workload/domains.h"
#include "workload/layouts.h"
#include "workload/maker.h"
#include "workload/mix.h"
#include "workload/shape.h"

/* The directories are numbered level by level, so that the children of each stand in a row. */
struct plan {
    struct maker *maker;
    const struct shape *shape;
    struct shape_level levels[SHAPE_LEVELS_MAX];
    size_t n_levels;
    uint64_t first[SHAPE_LEVELS_MAX + 1];          /* of each level's directories, and the end */
    struct quantile_parts files[SHAPE_LEVELS_MAX]; /* of each level's directories */
    uint32_t *first_child; /* of each directory; its last stands before its neighbour's first */
    uint64_t n_names;      /* of all files and directories below the top */
    uint64_t n_files;      /* named so far */
};

size_t shape_scale_levels(const struct shape *shape, uint64_t files, uint64_t directories,
    struct shape_level levels[static SHAPE_LEVELS_MAX])
{
    uint64_t all_files = 0, all_directories = 0, placed_files = 0, placed = 0;
    size_t n = 0;

    while (placed < directories) {
        bool is_last = n + 1 == shape->n_levels;
        all_directories += shape->levels[n].directories;
        all_files += shape->levels[n].files;
        uint64_t up_to = directories;
        if (!is_last) /* the top is always one */
            up_to = 1 + (directories - 1) * (all_directories - 1) / (shape->directories - 1);
        if (up_to <= placed)
            up_to = placed + 1;
        is_last = is_last || up_to == directories;
        uint64_t files_up_to = is_last ? files : files * all_files / shape->files;
        levels[n++] = (struct shape_level){up_to - placed, files_up_to - placed_files};
        placed = up_to;
        placed_files = files_up_to;
    }
    return n;
}

/* How much of its level's the i-th directory of a level has. */
static uint64_t portion(const struct plan *plan, enum domain domain, size_t level, uint64_t i,
    const struct quantile_parts *parts)
{
    uint64_t seed = mix(plan->maker->seed, domain, level);

    return quantile_part(parts, mix_shuffle(seed, domain, parts->n, i));
}

static void plan_children(struct plan *plan, size_t level)
{
    uint64_t n = plan->levels[level].directories;
    uint64_t below = level + 1 < plan->n_levels ? plan->levels[level + 1].directories : 0;
    uint64_t next = plan->first[level + 1];
    struct quantile_parts parts;

    quantile_parts_start(&parts, &plan->shape->subdirectories, n, below);
    for (uint64_t i = 0; i < n; i++) {
        plan->first_child[plan->first[level] + i] = (uint32_t)next;
        next += portion(plan, DOMAIN_SUBDIRECTORIES, level, i, &parts);
    }
    plan->first_child[plan->first[level + 1]] = (uint32_t)next;
}

static int plan_start(struct plan *plan, struct maker *maker)
{
    const struct workload *workload = maker->workload;

    plan->maker = maker;
    plan->shape = workload->shape;
    plan->n_files = 0;
    plan->n_names = workload->files + workload->directories - 1;
    plan->n_levels =
        shape_scale_levels(plan->shape, workload->files, workload->directories, plan->levels);
    plan->first_child = calloc(workload->directories + 1, sizeof(*plan->first_child));
    if (!plan->first_child)
        return -ENOMEM;
    plan->first[0] = 0;
    for (size_t i = 0; i < plan->n_levels; i++) {
        plan->first[i + 1] = plan->first[i] + plan->levels[i].directories;
        quantile_parts_start(&plan->files[i], &plan->shape->files_per_directory,
            plan->levels[i].directories, plan->levels[i].files);
    }
    for (size_t i = 0; i < plan->n_levels; i++)
        plan_children(plan, i);
    return 0;
}

static void make_files(struct plan *plan, size_t level, uint64_t directory, uint64_t n)
{
    char name[NAME_ROOM];

    for (uint64_t i = 0; i < n && !plan->maker->error; i++) {
        const struct name_place place = {
            plan->maker->seed, plan->n_files++, plan->n_names, i, level, directory};
        enum content content = plan->shape->naming->file(plan->shape, &place, name);
        maker_file(plan->maker, content, "%s", name);
    }
}

/* Comes to SHAPE_LEVELS_MAX levels at most. */
static void make_directory(struct plan *plan, size_t level, uint64_t directory)
{
    uint64_t n_files =
        portion(plan, DOMAIN_FILES, level, directory - plan->first[level], &plan->files[level]);
    uint64_t first = plan->first_child[directory], end = plan->first_child[directory + 1];
    char name[NAME_ROOM];

    make_files(plan, level, directory, n_files);
    for (uint64_t child = first; child < end && !plan->maker->error; child++) {
        const struct name_place place = {plan->maker->seed,
            plan->maker->workload->files + child - 1, plan->n_names, n_files + child - first, level,
            directory};
        plan->shape->naming->directory(plan->shape, &place, name);
        maker_enter(plan->maker, "%s", name);
        make_directory(plan, level + 1, child);
        maker_leave(plan->maker);
    }
}

void layout_shape(struct maker *maker)
{
    _cleanup_free_ struct plan *plan = malloc(sizeof(*plan));
    int r = plan ? plan_start(plan, maker) : -ENOMEM;

    if (r < 0) {
        maker->error = r;
        return;
    }
    make_directory(plan, 0, 0);
    free(plan->first_child);
}
