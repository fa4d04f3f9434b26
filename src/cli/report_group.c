#include "cli/report_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/results.h"

bool names_have(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->all[i], name) == 0)
            return true;
    return names->n == 0;
}

static int copy_series(const struct series *from, const struct names *methods, struct series *ret)
{
    *ret = *from;
    ret->n_methods = 0;
    ret->methods = calloc(from->n_methods + 1, sizeof(*ret->methods));
    if (!ret->methods)
        return -ENOMEM;
    for (size_t i = 0; i < from->n_methods; i++)
        if (names_have(methods, from->methods[i].name))
            ret->methods[ret->n_methods++] = from->methods[i];
    return 0;
}

int group_make(
    const struct series *const *series, size_t n, const struct names *methods, struct group *ret)
{
    struct group group = {
        .series = calloc(n + 1, sizeof(*group.series)),
        .pointers = calloc(n + 1, sizeof(*group.pointers)),
    };
    int r = group.series && group.pointers ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && r == 0; i++) {
        struct series *copy = &group.series[group.n];
        r = copy_series(series[i], methods, copy);
        if (r == 0 && copy->n_methods == 0)
            free(copy->methods);
        else if (r == 0)
            group.pointers[group.n++] = copy;
    }
    if (r < 0)
        group_free(&group);
    else
        *ret = group;
    return r;
}

void group_free(struct group *group)
{
    for (size_t i = 0; i < group->n; i++)
        free(group->series[i].methods);
    free(group->series);
    free(group->pointers);
    *group = (struct group){0};
}
