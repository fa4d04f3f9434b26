#include "bench/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bench/disc.h"
#include "bench/fault.h"
#include "bench/place.h"
#include "bench/process.h"
#include "bench/run.h"
#include "bench/scratch.h"
#include "workload/workload.h"

struct making {
    const struct bench_plan *plan;
    const struct workload *workload;
};

static int should_stop_making(void *context)
{
    const struct making *making = context;
    return bench_stop_is_requested(making->plan->stop);
}

static void tell(const struct making *making, enum bench_phase phase, uint64_t done)
{
    const struct bench_progress progress = {
        phase, making->workload->name, NULL, done, making->workload->files};

    if (making->plan->on_progress)
        making->plan->on_progress(making->plan->context, &progress);
}

static void files_made(void *context, const struct workload_totals *so_far)
{
    tell(context, BENCH_MAKING, so_far->files);
}

static int make_tree(
    const struct place *place, const struct workload *workload, struct origin *origin)
{
    const struct making making = {place->plan, workload};
    const struct workload_watch watch = {should_stop_making, files_made, (void *)&making};
    struct workload_totals totals;
    char name[WORKLOAD_NAME_MAX];
    _cleanup_close_ int fd = open(place->from_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    origin->parent = strdup(place->from_dir);
    origin->name = strdup(workload->name);
    if (!origin->parent || !origin->name)
        return -ENOMEM;
    if (fd < 0)
        return fault_note(place->fault, -errno, "open", place->from_dir);
    int r = workload_make(workload, place->plan->seed, fd, &watch, &totals, name);
    return r < 0 ? fault_note(place->fault, r, "make source tree: create", name) : 0;
}

static bool is_within(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strcmp(directory, "/") == 0 ||
           (strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]));
}

/* A directory that is there is the tree itself. */
static int find_tree(
    const struct place *place, const struct workload *workload, struct origin *origin)
{
    const char *directory = workload->directory;
    _cleanup_free_ char *real = realpath(directory, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;

    if (!slash)
        return fault_note(place->fault, -errno, "find", directory);
    if (is_within(place->to_dir, real)) {
        fault_hint(place->fault, "%s is within it; give another --to", place->plan->to);
        return fault_note(place->fault, -EINVAL, "copy", directory);
    }
    origin->parent = slash == real ? strdup("/") : strndup(real, (size_t)(slash - real));
    origin->name = strdup(slash + 1);
    return origin->parent && origin->name ? 0 : -ENOMEM;
}

static int make_disc(
    const struct place *place, const struct workload *workload, struct origin *origin)
{
    const struct making making = {place->plan, workload};
    _cleanup_free_ char *tree = NULL;

    if (asprintf(&tree, "%s/%s", origin->parent, origin->name) < 0) {
        tree = NULL;
        return -ENOMEM;
    }
    if (asprintf(&origin->image, "%s/%s.efs", place->from_dir, workload->name) < 0) {
        origin->image = NULL;
        return -ENOMEM;
    }
    tell(&making, BENCH_MASTERING, 0);
    return disc_make(tree, origin->image, place->plan->stop, place->fault);
}

int origin_make(const struct place *place, const struct workload *workload, struct origin *ret)
{
    int r = workload->directory ? find_tree(place, workload, ret) : make_tree(place, workload, ret);

    if (r >= 0 && place->plan->n_worlds > 0)
        r = make_disc(place, workload, ret);
    if (r < 0)
        return r;
    r = scratch_flush(place->from_dir);
    return r < 0 ? fault_note(place->fault, r, "write out", place->from_dir) : 0;
}

void origin_clear(struct origin *origin)
{
    free(origin->parent);
    free(origin->name);
    free(origin->image);
    *origin = (struct origin){0};
}
