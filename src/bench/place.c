#include "bench/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "bench/fault.h"
#include "bench/method.h"
#include "bench/process.h"
#include "bench/run.h"
#include "bench/scratch.h"
#include "workload/workload.h"

/* How many times what is planned a file system is made for; more if time decides. */
#define MARGIN          2
#define MARGIN_OF_TIMED 16

struct need {
    uint64_t files, bytes; /* directories are files, too */
};

/* What is needed at both ends. */
struct needs {
    struct need to, from;
};

/* --- Room --- */

/* Far past any disk it stays there. */
static uint64_t times(uint64_t each, uint64_t copies)
{
    uint64_t all;

    return __builtin_mul_overflow(each, copies, &all) ? UINT64_MAX : all;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t all;

    return __builtin_add_overflow(a, b, &all) ? UINT64_MAX : all;
}

static void need_add(struct need *need, const struct workload *workload, uint64_t copies)
{
    uint64_t files = plus(workload->files, workload->directories);
    /* A file takes whole blocks: half of one more in the mean; a directory has one at least. */
    uint64_t bytes = plus(
        plus(workload->bytes, times(workload->files, 2048)), times(workload->directories, 4096));

    need->files = plus(need->files, times(files, copies));
    need->bytes = plus(need->bytes, times(bytes, copies));
}

static uint64_t methods_there(const struct bench_plan *plan)
{
    uint64_t n = 0;

    for (size_t i = 0; i < plan->n_methods; i++)
        n += !plan->methods[i].is_missing;
    return n;
}

/* Nothing is deleted on the way, so all copies must have room together. */
static struct needs needs_of(const struct bench_plan *plan, const struct workload *workloads,
    size_t n_workloads, uint64_t blocks)
{
    bool has_worlds = plan->n_worlds > 0;
    uint64_t rounds = blocks + (plan->cold || has_worlds ? 0 : 1);
    uint64_t copies = times(methods_there(plan), has_worlds ? plan->n_worlds * rounds : rounds);
    struct needs needs = {0};

    for (size_t i = 0; i < n_workloads; i++) {
        need_add(&needs.to, &workloads[i], copies);
        /* The tree, and its disc. */
        need_add(plan->from ? &needs.from : &needs.to, &workloads[i],
            (workloads[i].directory ? 0 : 1) + (has_worlds ? 1 : 0));
    }
    return needs;
}

/* `given` is the user's word for `path`. */
static int check_room_at(const struct place *place, const char *path, const char *given,
    const struct need *need, uint64_t *ret_free_bytes)
{
    int r = scratch_has_room(path, need->files, need->bytes, ret_free_bytes);

    if (r == -ENOSPC)
        fault_hint(place->fault,
            "%llu files and %llu MB are needed, %llu MB are free; fewer runs, methods or workloads "
            "need less",
            (unsigned long long)need->files, (unsigned long long)(need->bytes >> 20),
            (unsigned long long)(*ret_free_bytes >> 20));
    return r < 0 ? fault_note(place->fault, r, "measure in", given) : 0;
}

static int check_room(struct place *place, const struct needs *needs)
{
    const struct bench_plan *plan = place->plan;
    uint64_t from_free_bytes = 0;

    int r = check_room_at(place, place->to_dir, plan->to, &needs->to, &place->free_bytes);
    if (r >= 0 && plan->from)
        r = check_room_at(place, place->from_dir, plan->from, &needs->from, &from_free_bytes);
    place->need_bytes = needs->to.bytes;
    return r;
}

bool place_has_room(const struct place *place, const struct workload *workload)
{
    struct need block = {0};
    uint64_t free_bytes = 0;

    need_add(&block, workload, methods_there(place->plan));
    return scratch_has_room(place->to_dir, block.files, block.bytes, &free_bytes) >= 0;
}

/* --- Making --- */

static struct scratch_fs_request request_of(const struct place *place,
    const struct workload *workloads, size_t n_workloads, const struct scratch_spec *spec)
{
    const struct bench_plan *plan = place->plan;
    const struct needs needs = needs_of(plan, workloads, n_workloads, plan->runs);

    return (struct scratch_fs_request){
        .spec = spec,
        .files = needs.to.files,
        .bytes = needs.to.bytes,
        .margin = plan->min_time_ns > 0 ? MARGIN_OF_TIMED : MARGIN,
        .parent = plan->to,
        .stop = plan->stop,
        .fault = place->fault,
    };
}

int place_check(
    const struct place *place, const struct workload *workload, const struct scratch_spec *spec)
{
    const struct scratch_fs_request request = request_of(place, workload, 1, spec);

    return scratch_fs_check_room(&request);
}

static int make_scratch(struct place *place, const struct scratch_fs_request *request)
{
    const struct bench_plan *plan = place->plan;
    const struct bench_progress progress = {
        .phase = BENCH_FORMATTING, .workload = scratch_type_of(request->spec)};

    if (plan->on_progress)
        plan->on_progress(plan->context, &progress);
    return scratch_fs_make(request, &place->scratch);
}

static int make_directories(struct place *place)
{
    const struct bench_plan *plan = place->plan;
    const char *to = place->scratch.path ? place->scratch.path : plan->to;

    int r = scratch_make(to, &place->to_dir);
    if (r < 0)
        return fault_note(place->fault, r, "make a directory in", to);
    if (plan->from) {
        r = scratch_make(plan->from, &place->from_dir);
        place->from_is_apart = r >= 0;
        return r < 0 ? fault_note(place->fault, r, "make a directory in", plan->from) : 0;
    }
    if (asprintf(&place->from_dir, "%s/source", place->to_dir) < 0) {
        place->from_dir = NULL;
        return -ENOMEM;
    }
    if (mkdir(place->from_dir, 0755) < 0)
        return fault_note(place->fault, -errno, "create directory", place->from_dir);
    return 0;
}

int place_make(struct place *place, const struct workload *workloads, size_t n_workloads,
    const struct scratch_spec *spec)
{
    const struct bench_plan *plan = place->plan;
    const struct needs needs = needs_of(plan, workloads, n_workloads, plan->runs);
    int r = 0;

    if (spec) {
        const struct scratch_fs_request request = request_of(place, workloads, n_workloads, spec);
        r = make_scratch(place, &request);
    }
    if (r >= 0)
        r = make_directories(place);
    return r < 0 ? r : check_room(place, &needs);
}

int place_add_destination(struct place *place, char **ret)
{
    _cleanup_free_ char *path = NULL;

    if (asprintf(&path, "%s/%06u", place->to_dir, ++place->n_destinations) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    if (mkdir(path, 0755) < 0)
        return fault_note(place->fault, -errno, "create directory", path);
    *ret = TAKE_PTR(path);
    return 0;
}

int place_add_mount_point(struct place *place, const char *name, char **ret_parent, char **ret_path)
{
    _cleanup_free_ char *parent = NULL, *path = NULL;
    int r = place_add_destination(place, &parent);

    if (r < 0)
        return r;
    if (asprintf(&path, "%s/%s", parent, name) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    if (mkdir(path, 0755) < 0)
        return fault_note(place->fault, -errno, "create directory", path);
    *ret_parent = TAKE_PTR(parent);
    *ret_path = TAKE_PTR(path);
    return 0;
}

/* --- Removing --- */

static bool removal_is_cut(const void *context)
{
    return bench_stop_is_urgent(context);
}

static void tell_left_behind(const struct bench_plan *plan, const char *path, int r)
{
    if (r < 0 && plan->on_left_behind)
        plan->on_left_behind(plan->context, path, -r);
}

static void remove_directory(const struct bench_plan *plan, const char *path)
{
    if (path)
        tell_left_behind(plan, path, scratch_remove(AT_FDCWD, path, removal_is_cut, plan->stop));
}

void place_unmake(struct place *place)
{
    const struct bench_plan *plan = place->plan;
    const struct bench_progress progress = {.phase = BENCH_REMOVING};

    if (plan->on_progress)
        plan->on_progress(plan->context, &progress);
    if (place->from_is_apart)
        remove_directory(plan, place->from_dir);
    if (place->scratch.path) /* what is in it goes with it */
        tell_left_behind(plan, place->scratch.path, scratch_fs_unmake(&place->scratch));
    else
        remove_directory(plan, place->to_dir);
    free(place->scratch.path);
    free(place->from_dir);
    free(place->to_dir);
    *place = (struct place){.plan = plan, .fault = place->fault};
}
