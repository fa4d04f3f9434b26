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
#include "bench/method.h"
#include "bench/process.h"
#include "bench/scratch.h"
#include "bench/system.h"
#include "results/results.h"
#include "workload/mix.h"
#include "workload/workload.h"

#define DOMAIN_ORDER 1000 /* for mix(), apart from the workloads' own */

/* A shell's word for a command that it does not find. */
#define EXIT_NOT_FOUND 127

struct bench {
    const struct bench_plan *plan;
    struct bench_fault *fault;
    char *to_dir, *from_dir; /* new directories, for the destinations and the sources */
    bool from_is_apart;      /* from_dir is not within to_dir */
    unsigned n_destinations;
};

/* One workload's turn. `last` has for each method the destination of its latest run that went well.
 */
struct turn {
    struct bench *bench;
    const struct workload *workload;
    struct series *series;
    char **last;
};

/* Keeps the first fault with what it concerns; returns the error. */
static int bench_fails(const struct bench *bench, int r, const char *operation, const char *path)
{
    if (!bench->fault->operation) {
        bench->fault->operation = operation;
        bench->fault->path = path ? strdup(path) : NULL; /* without a name it still says what */
    }
    return r;
}

static void tell(const struct bench *bench, enum bench_phase phase, const char *workload,
    const char *method, uint64_t done, uint64_t total)
{
    const struct bench_progress progress = {phase, workload, method, done, total};

    if (bench->plan->on_progress)
        bench->plan->on_progress(bench->plan->context, &progress);
}

/* --- One run --- */

static int new_destination(struct bench *bench, char **ret)
{
    _cleanup_free_ char *path = NULL;

    if (asprintf(&path, "%s/%06u", bench->to_dir, ++bench->n_destinations) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    if (mkdir(path, 0755) < 0)
        return bench_fails(bench, -errno, "create directory", path);
    *ret = TAKE_PTR(path);
    return 0;
}

/* Nothing of an earlier run is left to be written, and in the cold state nothing can be read from
 * memory. */
static int settle(const struct bench *bench)
{
    int r = scratch_flush(bench->to_dir);

    if (r < 0)
        return bench_fails(bench, r, "write out", bench->to_dir);
    if (!bench->plan->cold)
        return 0;
    r = scratch_drop_caches();
    return r < 0 ? bench_fails(bench, r, "drop the page cache", NULL) : 0;
}

static int time_command(const struct bench *bench, const char *line, const char *to,
    struct process *process, uint64_t *ret_sync_ns)
{
    int r = process_run(line, PROCESS_KEEP_ERRORS, -1, bench->plan->stop, process);

    if (r < 0)
        return r == -EINTR ? r : bench_fails(bench, r, "run", "/bin/sh");
    uint64_t start_ns = clock_now_ns();
    r = scratch_flush(to);
    *ret_sync_ns = clock_now_ns() - start_ns;
    if (r < 0) {
        free(TAKE_PTR(process->said));
        return bench_fails(bench, r, "write out", to);
    }
    return 0;
}

/* Runs a method into a new destination, which the caller frees. */
static int run_once(struct turn *turn, size_t i, struct sample *ret, char **ret_said, char **ret_to)
{
    struct bench *bench = turn->bench;
    _cleanup_free_ char *to = NULL, *line = NULL;
    struct process process = {0};
    uint64_t sync_ns = 0;

    int r = new_destination(bench, &to);
    if (r < 0)
        return r;
    line = method_expand(&bench->plan->methods[i], bench->from_dir, turn->workload->name, to);
    if (!line)
        return -ENOMEM;
    r = settle(bench);
    if (r >= 0)
        r = time_command(bench, line, to, &process, &sync_ns);
    if (r < 0)
        return r;
    *ret = (struct sample){
        .real_ns = process.real_ns,
        .synced_ns = process.real_ns + sync_ns,
        .user_ns = process.user_ns,
        .sys_ns = process.sys_ns,
        .max_rss_kb = process.max_rss_kb,
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

static int run_blocks(struct turn *turn)
{
    const struct bench_plan *plan = turn->bench->plan;
    size_t n = plan->n_methods;
    _cleanup_free_ size_t *order = calloc(n, sizeof(*order));
    uint64_t done = 0;

    if (!order)
        return -ENOMEM;
    for (unsigned block = 0; block < plan->runs; block++) {
        draw_order(plan->seed, block, order, n);
        for (size_t k = 0; k < n; k++) {
            size_t i = order[k];
            done++;
            if (!still_runs(turn, i))
                continue;
            tell(turn->bench, BENCH_RUNNING, turn->workload->name, plan->methods[i].name, done,
                (uint64_t)plan->runs * n);
            int r = take_run(turn, i, &block);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int check_copies(struct turn *turn)
{
    const struct bench *bench = turn->bench;
    _cleanup_free_ char *from = NULL;

    if (asprintf(&from, "%s/%s", bench->from_dir, turn->workload->name) < 0) {
        from = NULL;
        return -ENOMEM;
    }
    for (size_t i = 0; i < turn->series->n_methods; i++) {
        struct method_result *method = &turn->series->methods[i];
        enum verdict verdict;
        char *why = NULL;
        if (!still_runs(turn, i) || !turn->last[i])
            continue;
        tell(bench, BENCH_CHECKING, turn->workload->name, method->name, i + 1,
            turn->series->n_methods);
        int r = check_copy(
            from, turn->workload->name, turn->last[i], bench->plan->stop, &verdict, &why);
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

static int describe_method(const struct method *method, struct method_result *result)
{
    result->name = strdup(method->name);
    result->command = strdup(method->command);
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

static int describe_methods(const struct bench_plan *plan, struct series *series)
{
    series->methods = calloc(plan->n_methods, sizeof(*series->methods));
    if (!series->methods)
        return -ENOMEM;
    series->n_methods = plan->n_methods;
    for (size_t i = 0; i < plan->n_methods; i++) {
        int r = describe_method(&plan->methods[i], &series->methods[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int describe(
    const struct bench *bench, const struct workload *workload, struct series *series)
{
    const struct bench_plan *plan = bench->plan;

    series->seed = plan->seed;
    series->files = workload->files;
    series->bytes = workload->bytes;
    series->cold = plan->cold;
    series->workload = strdup(workload->name);
    if (!series->workload)
        return -ENOMEM;
    int r = stamp(series);
    if (r >= 0)
        r = system_describe(&series->system);
    if (r < 0)
        return bench_fails(bench, r, "describe this machine", NULL);
    r = file_system_describe(bench->to_dir, plan->to, &series->to);
    if (r < 0)
        return bench_fails(bench, r, "describe the file system of", plan->to);
    const char *from = plan->from ? plan->from : plan->to;
    r = file_system_describe(bench->from_dir, from, &series->from);
    if (r < 0)
        return bench_fails(bench, r, "describe the file system of", from);
    return describe_methods(plan, series);
}

/* --- The source --- */

static int should_stop_making(void *context)
{
    const struct turn *turn = context;
    return bench_stop_is_requested(turn->bench->plan->stop);
}

static void files_made(void *context, const struct workload_totals *so_far)
{
    const struct turn *turn = context;
    tell(turn->bench, BENCH_MAKING, turn->workload->name, NULL, so_far->files,
        turn->workload->files);
}

static int make_source(struct turn *turn)
{
    const struct bench *bench = turn->bench;
    const struct workload_watch watch = {should_stop_making, files_made, turn};
    struct workload_totals totals;
    char name[WORKLOAD_NAME_MAX];
    _cleanup_close_ int fd = open(bench->from_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return bench_fails(bench, -errno, "open", bench->from_dir);
    int r = workload_make(turn->workload, bench->plan->seed, fd, &watch, &totals, name);
    if (r < 0)
        return bench_fails(bench, r, "make source tree: create", name);
    r = scratch_flush(bench->from_dir);
    return r < 0 ? bench_fails(bench, r, "write out", bench->from_dir) : 0;
}

/* --- The whole --- */

static int measure(struct bench *bench, const struct workload *workload, struct series *series)
{
    const struct bench_plan *plan = bench->plan;
    struct turn turn = {.bench = bench, .workload = workload, .series = series};

    turn.last = calloc(plan->n_methods, sizeof(*turn.last));
    if (!turn.last)
        return -ENOMEM;
    int r = make_source(&turn);
    if (r >= 0)
        r = describe(bench, workload, series);
    if (r >= 0 && !plan->cold)
        r = warm_up(&turn);
    if (r >= 0)
        r = run_blocks(&turn);
    if (r >= 0)
        r = check_copies(&turn);
    for (size_t i = 0; i < plan->n_methods; i++)
        free(turn.last[i]);
    free(turn.last);
    return r;
}

static int measure_all(struct bench *bench, struct results *results)
{
    const struct bench_plan *plan = bench->plan;

    for (size_t i = 0; i < plan->n_workloads; i++) {
        struct series *list = reallocarray(results->series, results->n_series + 1, sizeof(*list));
        if (!list)
            return -ENOMEM;
        results->series = list;
        struct series series = {0};
        int r = measure(bench, &plan->workloads[i], &series);
        if (r < 0) {
            series_clear(&series);
            return r;
        }
        list[results->n_series++] = series;
    }
    return 0;
}

/* Looks for the programs. */
static int probe(struct bench *bench)
{
    const struct bench_plan *plan = bench->plan;

    for (size_t i = 0; i < plan->n_methods; i++) {
        int r = method_probe(&plan->methods[i], plan->stop);
        if (r < 0)
            return bench_fails(bench, r, "look for the program of method", plan->methods[i].name);
    }
    return 0;
}

static int prepare_directories(struct bench *bench)
{
    const struct bench_plan *plan = bench->plan;

    int r = scratch_make(plan->to, &bench->to_dir);
    if (r < 0)
        return bench_fails(bench, r, "make a directory in", plan->to);
    if (plan->from) {
        bench->from_is_apart = true;
        r = scratch_make(plan->from, &bench->from_dir);
        return r < 0 ? bench_fails(bench, r, "make a directory in", plan->from) : 0;
    }
    if (asprintf(&bench->from_dir, "%s/source", bench->to_dir) < 0) {
        bench->from_dir = NULL;
        return -ENOMEM;
    }
    if (mkdir(bench->from_dir, 0755) < 0)
        return bench_fails(bench, -errno, "create directory", bench->from_dir);
    return 0;
}

/* What a number of copies takes at most; far past any disk, it stays there. */
static uint64_t times(uint64_t each, uint64_t copies)
{
    uint64_t all;

    return __builtin_mul_overflow(each, copies, &all) ? UINT64_MAX : all;
}

/* `given` is the user's word for `path`. */
static int check_room_at(
    const struct bench *bench, const char *path, const char *given, uint64_t files, uint64_t bytes)
{
    uint64_t free_bytes = 0;
    int r = scratch_has_room(path, files, bytes, &free_bytes);

    if (r == -ENOSPC &&
        asprintf(&bench->fault->hint,
            "%llu files and %llu MB are needed, %llu MB are free; fewer runs, methods or workloads "
            "need less",
            (unsigned long long)files, (unsigned long long)(bytes >> 20),
            (unsigned long long)(free_bytes >> 20)) < 0)
        bench->fault->hint = NULL;
    return r < 0 ? bench_fails(bench, r, "measure in", given) : 0;
}

/* Nothing is deleted on the way, so all copies must have room together. */
static int check_room(const struct bench *bench)
{
    const struct bench_plan *plan = bench->plan;
    uint64_t copies = 0, files = 0, bytes = 0;

    for (size_t i = 0; i < plan->n_methods; i++)
        copies += plan->methods[i].is_missing ? 0 : plan->runs + (plan->cold ? 0 : 1);
    for (size_t i = 0; i < plan->n_workloads; i++) {
        files += plan->workloads[i].files;
        /* A file takes whole blocks: half of one more in the mean. */
        bytes += plan->workloads[i].bytes + plan->workloads[i].files * 2048;
    }
    if (!plan->from)
        copies++;
    int r =
        check_room_at(bench, bench->to_dir, plan->to, times(files, copies), times(bytes, copies));
    return r < 0 || !plan->from ? r
                                : check_room_at(bench, bench->from_dir, plan->from, files, bytes);
}

static bool removal_is_cut(const void *context)
{
    return bench_stop_is_urgent(context);
}

static void remove_directory(const struct bench *bench, const char *path)
{
    const struct bench_plan *plan = bench->plan;

    if (!path)
        return;
    tell(bench, BENCH_REMOVING, NULL, NULL, 0, 0);
    int r = scratch_remove(AT_FDCWD, path, removal_is_cut, plan->stop);
    if (r < 0 && plan->on_left_behind)
        plan->on_left_behind(plan->context, path, -r);
}

int bench_run(const struct bench_plan *plan, struct results *results, struct bench_fault *ret_fault)
{
    struct bench bench = {.plan = plan, .fault = ret_fault};
    int r = 0;

    *ret_fault = (struct bench_fault){0};
    if (plan->cold) {
        r = scratch_can_drop_caches();
        if (r < 0)
            return bench_fails(&bench, r, "drop the page cache", NULL);
    }
    r = probe(&bench);
    if (r >= 0)
        r = prepare_directories(&bench);
    if (r >= 0)
        r = check_room(&bench);
    if (r >= 0)
        r = measure_all(&bench, results);
    if (bench.from_is_apart)
        remove_directory(&bench, bench.from_dir);
    remove_directory(&bench, bench.to_dir);
    free(bench.from_dir);
    free(bench.to_dir);
    return r;
}
