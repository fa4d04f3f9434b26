#include "bench/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/check.h"
#include "bench/disc.h"
#include "bench/method.h"
#include "bench/origin.h"
#include "bench/place.h"
#include "bench/process.h"
#include "bench/scratch.h"
#include "bench/scratch_fs.h"
#include "bench/system.h"
#include "bench/warnings.h"
#include "results/results.h"
#include "workload/mix.h"
#include "workload/workload.h"

#define DOMAIN_ORDER 1000 /* for mix(), apart from the workloads' own */

/* A shell's word for a command that it does not find. */
#define EXIT_NOT_FOUND 127

struct bench {
    const struct bench_plan *plan;
    struct bench_fault *fault;
    struct machine_load load; /* of others, when it began */
};

/* One workload's turn in a place, in an emulated world or in ours. `last` has for each method the
 * destination of its latest run that went well. */
struct turn {
    const struct bench *bench;
    struct place *place;
    const struct workload *workload;
    struct series *series;
    struct doubts doubts;
    const struct origin *origin;
    const struct bench_world *world; /* NULL: ours */
    char **last;
};

static void tell(const struct bench *bench, enum bench_phase phase, const char *workload,
    const char *method, uint64_t done, uint64_t total)
{
    const struct bench_progress progress = {phase, workload, method, done, total};

    if (bench->plan->on_progress)
        bench->plan->on_progress(bench->plan->context, &progress);
}

/* --- One run --- */

/* Nothing of an earlier run is left to be written, and in the cold state nothing can be read from
 * memory. */
static int settle(const struct bench *bench, const struct place *place)
{
    int r = scratch_flush(place->to_dir);

    if (r < 0)
        return fault_note(bench->fault, r, "write out", place->to_dir);
    if (!bench->plan->cold)
        return 0;
    r = scratch_drop_caches();
    return r < 0 ? fault_note(bench->fault, r, "drop the page cache", NULL) : 0;
}

static int time_command(const struct bench *bench, const char *line, const char *to,
    struct process *process, uint64_t *ret_sync_ns)
{
    int r = process_run(line, PROCESS_KEEP_ERRORS, -1, bench->plan->stop, process);

    if (r < 0)
        return r == -EINTR ? r : fault_note(bench->fault, r, "run", "/bin/sh");
    uint64_t start_ns = clock_now_ns();
    r = scratch_flush(to);
    *ret_sync_ns = clock_now_ns() - start_ns;
    if (r < 0) {
        free(TAKE_PTR(process->said));
        return fault_note(bench->fault, r, "write out", to);
    }
    return 0;
}

/* Lets a method copy into `to`, from what is ready for it. */
static int time_method(const struct turn *turn, const struct method *method,
    const struct method_source *source, const char *to, struct process *process,
    uint64_t *ret_sync_ns)
{
    _cleanup_free_ char *line = method_expand(method, source, to);
    int r = line ? settle(turn->bench, turn->place) : -ENOMEM;

    return r < 0 ? r : time_command(turn->bench, line, to, process, ret_sync_ns);
}

/* The same from the disc: in a drive that has just got it, mounted under the tree's name, unless
 * the method reads the image itself. */
static int time_off_disc(const struct turn *turn, const struct method *method, const char *to,
    struct process *process, uint64_t *ret_sync_ns)
{
    const struct bench_plan *plan = turn->bench->plan;
    struct bench_fault *fault = turn->bench->fault;
    struct method_source source = {.parent = turn->origin->parent,
        .name = turn->origin->name,
        .image = turn->origin->image,
        .drive = turn->world->drive,
        .machine = turn->world->machine,
        .time_scale = plan->time_scale};
    _cleanup_free_ char *parent = NULL, *at = NULL;

    if (method_reads_image(method))
        return time_method(turn, method, &source, to, process, ret_sync_ns);
    int r = place_add_mount_point(turn->place, source.name, &parent, &at);
    if (r < 0)
        return r;
    source.parent = parent;
    r = disc_mount(source.image, source.drive, source.time_scale, at, plan->stop, fault);
    if (r < 0)
        return r;
    r = time_method(turn, method, &source, to, process, ret_sync_ns);
    int unmounted = disc_unmount(at, fault);
    if (r >= 0 && unmounted < 0)
        free(TAKE_PTR(process->said));
    return r < 0 ? r : unmounted;
}

/* Runs a method into a new destination, which the caller frees. */
static int run_once(struct turn *turn, size_t i, struct sample *ret, char **ret_said, char **ret_to)
{
    const struct method *method = &turn->bench->plan->methods[i];
    const struct method_source source = {
        .parent = turn->origin->parent, .name = turn->origin->name};
    _cleanup_free_ char *to = NULL;
    struct process process = {0};
    uint64_t sync_ns = 0;

    int r = place_add_destination(turn->place, &to);
    if (r >= 0 && turn->world)
        r = time_off_disc(turn, method, to, &process, &sync_ns);
    else if (r >= 0)
        r = time_method(turn, method, &source, to, &process, &sync_ns);
    if (r < 0)
        return r;
    *ret = (struct sample){
        .real_ns = process.real_ns,
        .synced_ns = process.real_ns + sync_ns,
        .user_ns = process.user_ns,
        .sys_ns = process.sys_ns,
        .max_rss_kb = process.max_rss_kb,
        .minor_faults = process.minor_faults,
        .major_faults = process.major_faults,
        .read_bytes = process.read_bytes,
        .written_bytes = process.written_bytes,
        .exit_status = process.exit_status,
    };
    *ret_said = process.said;
    *ret_to = TAKE_PTR(to);
    return 0;
}

/* --- One series --- */

static int set_why(struct method_result *method, enum verdict verdict, char *why)
{
    if (!why)
        return -ENOMEM;
    free(method->why);
    method->why = why;
    method->verdict = verdict;
    return 0;
}

/* The command did not exit 0: it is not run again. */
static int note_failure(struct method_result *method, int exit_status, const char *said)
{
    bool is_missing = exit_status == EXIT_NOT_FOUND;
    char *why;

    if (asprintf(&why, "exit status %d%s%s", exit_status, *said ? ": " : "", said) < 0)
        why = NULL;
    return set_why(method, is_missing ? VERDICT_MISSING : VERDICT_FAILED, why);
}

static int add_sample(struct method_result *method, const struct sample *sample)
{
    struct sample *samples = reallocarray(method->samples, method->n_samples + 1, sizeof(*samples));

    if (!samples)
        return -ENOMEM;
    samples[method->n_samples++] = *sample;
    method->samples = samples;
    return 0;
}

/* A method's run, recorded if it has a block. */
static int take_run(struct turn *turn, size_t i, const unsigned *block)
{
    struct method_result *method = &turn->series->methods[i];
    _cleanup_free_ char *said = NULL, *to = NULL;
    struct sample sample;

    int r = run_once(turn, i, &sample, &said, &to);
    if (r < 0)
        return r;
    if (block) {
        sample.block = *block;
        r = add_sample(method, &sample);
    }
    if (r >= 0 && sample.exit_status != 0)
        return note_failure(method, sample.exit_status, said);
    free(turn->last[i]);
    turn->last[i] = TAKE_PTR(to);
    return r;
}

static bool still_runs(const struct turn *turn, size_t i)
{
    return turn->series->methods[i].verdict == VERDICT_UNCHECKED;
}

static int warm_up(struct turn *turn)
{
    size_t n = turn->series->n_methods;

    for (size_t i = 0; i < n; i++) {
        if (!still_runs(turn, i))
            continue;
        tell(turn->bench, BENCH_WARMING, turn->workload->name, turn->series->methods[i].name, i + 1,
            n);
        int r = take_run(turn, i, NULL);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Draws the order of a block. */
static void draw_order(uint64_t seed, unsigned block, size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(mix(seed, DOMAIN_ORDER + block, i) % i);
        size_t kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
}

static int run_block(struct turn *turn, unsigned block, size_t *order)
{
    const struct bench_plan *plan = turn->bench->plan;
    uint64_t n = plan->n_methods, before = block * n;
    uint64_t total = block < plan->runs ? plan->runs * n : before + n;

    draw_order(plan->seed, block, order, n);
    for (size_t k = 0; k < n; k++) {
        size_t i = order[k];
        if (!still_runs(turn, i))
            continue;
        tell(turn->bench, BENCH_RUNNING, turn->workload->name, plan->methods[i].name,
            before + k + 1, total);
        int r = take_run(turn, i, &block);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool lacks_time(const struct turn *turn, size_t i)
{
    const struct method_result *method = &turn->series->methods[i];
    uint64_t ns = 0;

    for (size_t k = 0; k < method->n_samples; k++)
        ns += method->samples[k].real_ns;
    return still_runs(turn, i) && ns < turn->bench->plan->min_time_ns;
}

/* Whether there is to be a block of this number. */
static bool wants_block(struct turn *turn, unsigned block)
{
    const struct bench_plan *plan = turn->bench->plan;
    bool is_short = false;

    if (block < plan->runs)
        return true;
    for (size_t i = 0; i < turn->series->n_methods; i++)
        is_short = is_short || lacks_time(turn, i);
    if (!is_short)
        return false;
    if (block == BENCH_RUNS_MAX)
        turn->doubts.cut_by = "there are as many as can be";
    else if (!place_has_room(turn->place, turn->workload))
        turn->doubts.cut_by = "there was no room for more";
    return !turn->doubts.cut_by;
}

static int run_blocks(struct turn *turn)
{
    _cleanup_free_ size_t *order = calloc(turn->bench->plan->n_methods, sizeof(*order));
    int r = order ? 0 : -ENOMEM;

    for (unsigned block = 0; r >= 0 && wants_block(turn, block); block++)
        r = run_block(turn, block, order);
    return r;
}

/* A copy is compared with what it was made from: a disc's times are of whole seconds. */
static char *path_to_check(const struct turn *turn)
{
    char *path;

    if (turn->world)
        return strdup(turn->origin->image);
    if (asprintf(&path, "%s/%s", turn->origin->parent, turn->origin->name) < 0)
        return NULL;
    return path;
}

static int check_copies(struct turn *turn)
{
    const struct bench *bench = turn->bench;
    _cleanup_free_ char *from = path_to_check(turn);

    if (!from)
        return -ENOMEM;
    for (size_t i = 0; i < turn->series->n_methods; i++) {
        struct method_result *method = &turn->series->methods[i];
        enum verdict verdict;
        char *why = NULL;
        if (!still_runs(turn, i) || !turn->last[i])
            continue;
        tell(bench, BENCH_CHECKING, turn->workload->name, method->name, i + 1,
            turn->series->n_methods);
        int r =
            check_copy(from, turn->origin->name, turn->last[i], bench->plan->stop, &verdict, &why);
        if (r >= 0)
            r = set_why(method, verdict, why);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- What a series says of itself --- */

static int stamp(struct series *series)
{
    struct timespec now;
    struct tm tm;
    char text[32];
    uint32_t random = 0;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail: the clock exists */
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -errno;
    if (!gmtime_r(&now.tv_sec, &tm))
        return -EOVERFLOW;
    (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    series->started = strdup(text);
    (void)strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
    if (asprintf(&series->id, "%s-%06x", text, random & 0xffffff) < 0)
        series->id = NULL;
    return series->started && series->id ? 0 : -ENOMEM;
}

static int describe_method(const struct method *method, bool is_disc, struct method_result *result)
{
    result->name = strdup(method->name);
    result->command =
        strdup(is_disc && method->disc_command ? method->disc_command : method->command);
    result->version = strdup(method->version);
    result->why = strdup("");
    if (!result->name || !result->command || !result->version || !result->why)
        return -ENOMEM;
    if (!method->is_missing)
        return 0;
    char *why;
    if (asprintf(&why, "there is no program %s", method->program) < 0)
        why = NULL;
    return set_why(result, VERDICT_MISSING, why);
}

static int describe_methods(const struct bench_plan *plan, bool is_disc, struct series *series)
{
    series->methods = calloc(plan->n_methods, sizeof(*series->methods));
    if (!series->methods)
        return -ENOMEM;
    series->n_methods = plan->n_methods;
    for (size_t i = 0; i < plan->n_methods; i++) {
        int r = describe_method(&plan->methods[i], is_disc, &series->methods[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What was read is what is on the disc, wherever its image lies. */
static int describe_disc(struct file_system_info *from)
{
    free(from->type);
    free(from->options);
    from->type = strdup("efs");
    from->options = strdup("ro");
    from->has_journal = -1;
    return from->type && from->options ? 0 : -ENOMEM;
}

static int describe_file_systems(struct turn *turn)
{
    const struct bench_plan *plan = turn->bench->plan;
    const struct workload *workload = turn->workload;
    struct series *series = turn->series;
    const struct scratch_fs *scratch = &turn->place->scratch;
    const char *from = plan->from ? plan->from : plan->to;

    int r = file_system_describe(turn->place->to_dir, plan->to, &series->to);
    if (r < 0)
        return fault_note(
            turn->bench->fault, r, "describe the file system of", turn->place->to_dir);
    series->to.scratch_kb = scratch->size_bytes / 1024;
    if (workload->directory)
        from = workload->directory;
    r = file_system_describe(
        workload->directory ? workload->directory : turn->place->from_dir, from, &series->from);
    if (r < 0)
        return fault_note(turn->bench->fault, r, "describe the file system of", from);
    if (!workload->directory && !plan->from)
        series->from.scratch_kb = series->to.scratch_kb;
    return turn->world ? describe_disc(&series->from) : 0;
}

static int describe(struct turn *turn)
{
    const struct bench_plan *plan = turn->bench->plan;
    const struct workload *workload = turn->workload;
    struct series *series = turn->series;

    series->seed = plan->seed;
    series->files = workload->files;
    series->bytes = workload->bytes;
    series->cold = plan->cold || turn->world; /* a disc is mounted anew for each run */
    series->time_scale = turn->world ? plan->time_scale : 0;
    series->drive = strdup(turn->world ? turn->world->drive : "");
    series->workload = strdup(workload->name);
    series->content = strdup(workload->content ? workload->content : "");
    if (!series->drive || !series->workload || !series->content)
        return -ENOMEM;
    int r = stamp(series);
    if (r >= 0)
        r = system_describe(turn->world ? turn->world->machine : NULL, &series->system);
    if (r < 0)
        return fault_note(turn->bench->fault, r, "describe this machine", NULL);
    r = describe_file_systems(turn);
    return r < 0 ? r : describe_methods(plan, turn->world != NULL, series);
}

/* --- The whole --- */

static int take_turn(struct turn *turn)
{
    const struct bench *bench = turn->bench;

    int r = describe(turn);
    if (r >= 0)
        r = settle(bench, turn->place);
    if (r < 0)
        return r;
    turn->doubts = (struct doubts){.load = bench->load,
        .need_bytes = turn->place->need_bytes,
        .free_bytes = turn->place->free_bytes,
        .is_image_in_memory = turn->place->scratch.is_image_in_memory};
    doubts_begin(&turn->doubts, turn->series);
    r = turn->series->cold ? 0 : warm_up(turn);
    if (r >= 0)
        r = run_blocks(turn);
    if (r < 0)
        return r;
    doubts_end(&turn->doubts, turn->series);
    r = check_copies(turn);
    return r < 0 ? r : doubts_to_warnings(&turn->doubts, turn->series);
}

static int measure(struct turn *turn)
{
    size_t n = turn->bench->plan->n_methods;

    turn->last = calloc(n, sizeof(*turn->last));
    int r = turn->last ? take_turn(turn) : -ENOMEM;
    for (size_t i = 0; turn->last && i < n; i++)
        free(turn->last[i]);
    free(turn->last);
    return r;
}

static int add_series(struct turn *turn, struct results *results)
{
    struct series *list = reallocarray(results->series, results->n_series + 1, sizeof(*list));

    if (!list)
        return -ENOMEM;
    results->series = list;
    turn->series = &list[results->n_series];
    *turn->series = (struct series){0};
    int r = measure(turn);
    if (r < 0)
        series_clear(turn->series);
    else
        results->n_series++;
    return r;
}

/* A series, or one for each world. */
static int measure_workload(const struct bench *bench, struct place *place,
    const struct workload *workload, struct results *results)
{
    const struct bench_plan *plan = bench->plan;
    struct origin origin = {0};
    size_t n = plan->n_worlds > 0 ? plan->n_worlds : 1;

    int r = origin_make(place, workload, &origin);
    for (size_t i = 0; i < n && r >= 0; i++) {
        struct turn turn = {.bench = bench, .place = place, .workload = workload};
        turn.origin = &origin;
        turn.world = plan->n_worlds > 0 ? &plan->worlds[i] : NULL;
        r = add_series(&turn, results);
    }
    origin_clear(&origin);
    return r;
}

/* All in one place. */
static int measure_in_place(const struct bench *bench, struct results *results)
{
    const struct bench_plan *plan = bench->plan;
    struct place place = {.plan = plan, .fault = bench->fault};

    int r = place_make(&place, plan->workloads, plan->n_workloads, NULL);
    for (size_t i = 0; i < plan->n_workloads && r >= 0; i++)
        r = measure_workload(bench, &place, &plan->workloads[i], results);
    place_unmake(&place);
    return r;
}

/* Each on a new file system. */
static int measure_on(
    const struct bench *bench, const struct scratch_spec *spec, struct results *results)
{
    const struct bench_plan *plan = bench->plan;
    int r = 0;

    for (size_t i = 0; i < plan->n_workloads && r >= 0; i++) {
        struct place place = {.plan = plan, .fault = bench->fault};
        r = place_make(&place, &plan->workloads[i], 1, spec);
        if (r >= 0)
            r = measure_workload(bench, &place, &plan->workloads[i], results);
        place_unmake(&place);
    }
    return r;
}

/* Before anything is measured in vain. */
static int check_room_on(const struct bench *bench, const struct scratch_spec *spec)
{
    const struct bench_plan *plan = bench->plan;
    const struct place place = {.plan = plan, .fault = bench->fault};
    int r = 0;

    for (size_t i = 0; i < plan->n_workloads && r >= 0; i++)
        r = place_check(&place, &plan->workloads[i], spec);
    return r;
}

static int measure_all(const struct bench *bench, struct results *results)
{
    const struct bench_plan *plan = bench->plan;

    if (plan->n_scratches == 0)
        return measure_in_place(bench, results);
    int r = scratch_fs_isolate(bench->fault);
    for (size_t i = 0; i < plan->n_scratches && r >= 0; i++)
        r = check_room_on(bench, &plan->scratches[i]);
    for (size_t i = 0; i < plan->n_scratches && r >= 0; i++)
        r = measure_on(bench, &plan->scratches[i], results);
    return r;
}

/* Looks for the programs. */
static int probe(const struct bench *bench)
{
    const struct bench_plan *plan = bench->plan;

    for (size_t i = 0; i < plan->n_methods; i++) {
        int r = method_probe(&plan->methods[i], plan->stop);
        if (r < 0)
            return fault_note(
                bench->fault, r, "look for the program of method", plan->methods[i].name);
    }
    return 0;
}

int bench_run(const struct bench_plan *plan, struct results *results, struct bench_fault *ret_fault)
{
    struct bench bench = {.plan = plan, .fault = ret_fault};
    int r = 0;

    *ret_fault = (struct bench_fault){0};
    machine_load_read(&bench.load);
    if (plan->cold) {
        r = scratch_can_drop_caches();
        if (r < 0)
            return fault_note(ret_fault, r, "drop the page cache", NULL);
    }
    r = probe(&bench);
    return r < 0 ? r : measure_all(&bench, results);
}
