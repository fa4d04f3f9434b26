#include "engine/run.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/hasher.h"
#include "engine/links.h"
#include "entry/owner_names.h"

/* Descriptors that are not directories of nodes: files in hand, the caller's own. */
#define OTHER_DESCRIPTORS 300

void shoal_stop_request(struct shoal_stop *stop)
{
    __atomic_store_n(&stop->requested, 1, __ATOMIC_RELAXED);
}

bool run_is_stopping(struct run *run)
{
    const struct shoal_stop *asked = run->options->stop;

    if (__atomic_load_n(&run->stop, __ATOMIC_RELAXED) != STOP_NONE)
        return true;
    if (!asked || !__atomic_load_n(&asked->requested, __ATOMIC_RELAXED))
        return false;
    run_stop(run, STOP_ASKED);
    return true;
}

void run_stop(struct run *run, enum stop_reason reason)
{
    enum stop_reason none = STOP_NONE;
    (void)__atomic_compare_exchange_n(&run->stop, &none, reason, false, __ATOMIC_RELAXED,
        __ATOMIC_RELAXED); /* if another reason came first, that one stays */
}

struct sink_options run_sink_options(const struct run *run)
{
    return (struct sink_options){
        .preserve = run->options->preserve,
        .existing = run->options->existing,
        .read_back = run->options->verify,
        .umask = run->own_umask ? 0 : run->umask,
        .default_umask = run->umask,
    };
}

/* ---- workers ---- */

static struct worker *worker_new(struct run *run, unsigned index)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return NULL;
    worker->run = run;
    worker->index = index;
    worker->buffer = aligned_alloc(4096, BUFFER_BYTES);
    worker->hasher = run->options->verify ? hasher_new() : NULL;
    if (worker->buffer && (worker->hasher || !run->options->verify))
        return worker;
    hasher_free(worker->hasher);
    free(worker->buffer);
    free(worker);
    return NULL;
}

static void worker_free(struct worker *worker)
{
    source_batch_free(&worker->batch);
    source_scratch_free(&worker->scratch);
    hasher_free(worker->hasher);
    free(worker->path);
    free(worker->buffer);
    free(worker);
}

static void *worker_begin(void *context, unsigned index)
{
    struct run *run = context;

    /* Modes are chosen to the bit. A thread's umask is the process's until they are parted. */
    if (run->own_umask && unshare(CLONE_FS) == 0)
        (void)umask(0); /* returns the old one, which is known */
    return run->workers[index];
}

static void worker_run(void *worker, struct pool_job *job)
{
    ((struct job *)job)->run(worker, (struct job *)job);
    worker_is_at(worker, ACTIVITY_IDLE);
}

static void worker_end(void *worker)
{
    (void)worker; /* freed by run_end(), which still wants its counters */
}

/* Makes room for that many workers, then starts their threads. Returns how many run. */
static unsigned grow(struct run *run, unsigned threads)
{
    while (run->n_workers < threads) {
        struct worker *worker = worker_new(run, run->n_workers);
        if (!worker)
            break;
        run->workers[run->n_workers++] = worker;
    }
    return pool_grow(run->pool, run->n_workers);
}

/* ---- beginning ---- */

/* The umask can only be read by setting it, which in a process with other threads would show. */
static mode_t read_umask(void)
{
    _cleanup_fclose_ FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    unsigned mask =
        077; /* without /proc: the tightest; modes are then set by a call of their own */

    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "Umask: %o", &mask) == 1)
            break;
    return (mode_t)mask;
}

/* In a thread of its own: what the umask is, and whether a thread can have its own (some containers
 * do not let it). */
static void *probe_umask(void *context)
{
    struct run *run = context;

    run->own_umask = unshare(CLONE_FS) == 0;
    run->umask = run->own_umask ? umask(0) : read_umask();
    return NULL;
}

static unsigned descriptors_for_nodes(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 16;
    /* Two for each; not so many that a tree of a million directories fills the kernel's tables. */
    rlim_t nodes =
        limit.rlim_cur > OTHER_DESCRIPTORS + 32 ? (limit.rlim_cur - OTHER_DESCRIPTORS) / 2 : 16;
    return nodes < 8192 ? (unsigned)nodes : 8192;
}

int run_begin(struct run *run, const struct shoal_options *options)
{
    static const struct pool_ops ops = {worker_begin, worker_run, worker_end};
    pthread_t prober;

    *run = (struct run){
        .options = options,
        .start_ns = clock_now_ns(),
        .open_nodes_max = descriptors_for_nodes(),
        .no_clone_dev = UINT64_MAX,
        .no_range_dev = UINT64_MAX,
    };
    (void)pthread_mutex_init(&run->events, NULL); /* glibc's do not fail */
    (void)pthread_mutex_init(&run->handles, NULL);
    pace_init(&run->pace, options->limit_bytes_second);
    int r = pthread_create(&prober, NULL, probe_umask, run);
    if (r != 0)
        return -r;
    (void)pthread_join(prober, NULL); /* a thread just made can be joined */
    run->links = links_new(options->follow == SHOAL_FOLLOW_ALWAYS);
    run->owner_names = owner_names_new();
    return run->links && run->owner_names ? pool_new(&ops, run, WORKERS_MAX, &run->pool) : -ENOMEM;
}

/* ---- watching ---- */

#define TICK_NS (NS_PER_SECOND / 20)

struct watch {
    unsigned cores, threads;
    uint64_t tick_ns, cpu_ns, moved; /* at the last tick */
    uint64_t told_ns;                /* when progress was last told */
    double rate;                     /* of the tick before workers were added; 0: none were */
    bool grown;                      /* more workers did not help, or there are enough */
    const char *bound;
};

static uint64_t process_cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* exists on every Linux */
    return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t load(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Work done so far, in a unit that small files and large ones count in: a file weighs as 32 KB. */
static uint64_t work_done(const struct run *run)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->n_workers; i++) {
        const struct counters *counters = &run->workers[i]->counters;
        sum +=
            load(&counters->moved) + 32768 * (load(&counters->files) + load(&counters->symlinks));
    }
    return sum;
}

/* Where the workers are found, most of them. */
static enum activity main_activity(const struct run *run)
{
    unsigned found[ACTIVITIES] = {0};
    enum activity most = ACTIVITY_IDLE;

    for (unsigned i = 0; i < run->n_workers; i++)
        found[__atomic_load_n(&run->workers[i]->activity, __ATOMIC_RELAXED)]++;
    for (enum activity a = ACTIVITY_SOURCE; a < ACTIVITIES; a++)
        if (found[a] > (most == ACTIVITY_IDLE ? 0 : found[most]))
            most = a;
    return most;
}

static const char *name_bound(enum activity activity, bool busy)
{
    static const char *const names[ACTIVITIES] = {
        [ACTIVITY_IDLE] = "cpu",
        [ACTIVITY_SOURCE] = "source",
        [ACTIVITY_DESTINATION] = "destination",
        [ACTIVITY_LIMIT] = "limit",
    };
    return busy ? "cpu" : names[activity];
}

/* More workers, where those there are mostly wait and there is work for more; and no more of them
 * once that did not speed things up. */
static void adapt(struct run *run, struct watch *watch, bool busy, double rate)
{
    if (watch->grown || run->options->jobs > 0)
        return;
    if (watch->rate > 0 && rate < watch->rate * 1.1) {
        watch->grown = true;
        return;
    }
    watch->rate = 0;
    if (busy || main_activity(run) == ACTIVITY_LIMIT || pool_hungry(run->pool) > 0)
        return;
    watch->rate = rate;
    watch->threads =
        grow(run, watch->threads * 2 < WORKERS_ADAPTED ? watch->threads * 2 : WORKERS_ADAPTED);
    watch->grown = watch->threads >= WORKERS_ADAPTED;
}

static void tell_progress(struct run *run, struct watch *watch, uint64_t now)
{
    const struct shoal_options *options = run->options;
    unsigned interval_ms = options->progress_interval_ms ? options->progress_interval_ms : 100;
    struct shoal_progress progress = {
        .elapsed_ns = now - run->start_ns,
        .workers = watch->threads,
        .bound = watch->bound,
    };

    if (!options->on_progress || now - watch->told_ns < (uint64_t)interval_ms * 1000000)
        return;
    watch->told_ns = now;
    for (unsigned i = 0; i < run->n_workers; i++) {
        const struct counters *counters = &run->workers[i]->counters;
        double weight;
        __atomic_load(&counters->weight, &weight, __ATOMIC_RELAXED);
        progress.files += load(&counters->files);
        progress.bytes += load(&counters->moved);
        progress.fraction += weight;
    }
    if (progress.fraction > 0.9999)
        progress.fraction = 0.9999; /* 1 is said by the end alone */
    (void)pthread_mutex_lock(&run->events);
    options->on_progress(options->context, &progress);
    (void)pthread_mutex_unlock(&run->events);
}

static void tick(struct run *run, struct watch *watch)
{
    uint64_t now = clock_now_ns(), cpu = process_cpu_ns(), moved = work_done(run);
    double seconds = (double)(now - watch->tick_ns) / (double)NS_PER_SECOND;
    unsigned can_run = watch->threads < watch->cores ? watch->threads : watch->cores;
    bool busy = (double)(cpu - watch->cpu_ns) / (double)(now - watch->tick_ns) > 0.6 * can_run;

    watch->bound = name_bound(main_activity(run), busy);
    adapt(run, watch, busy, (double)(moved - watch->moved) / seconds);
    watch->tick_ns = now;
    watch->cpu_ns = cpu;
    watch->moved = moved;
    tell_progress(run, watch, now);
}

static unsigned usable_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? (unsigned)n : 1;
}

int run_work(struct run *run)
{
    struct watch watch = {
        .cores = usable_cores(),
        .tick_ns = run->start_ns,
        .cpu_ns = process_cpu_ns(),
        .told_ns = run->start_ns,
        .bound = "cpu",
    };

    unsigned want = (run->options->jobs ? run->options->jobs : watch.cores) + run->threads_apart;
    watch.threads = grow(run, want < WORKERS_MAX ? want : WORKERS_MAX);
    if (watch.threads <= run->threads_apart)
        return -EAGAIN;
    while (!pool_wait(run->pool, clock_now_ns() + TICK_NS))
        tick(run, &watch);
    return 0;
}

/* ---- ending ---- */

int run_sync(struct run *run)
{
    struct outcome outcome = {0};
    return run->sink->ops->sync(run->sink->start, &outcome);
}

static void add_counters(struct shoal_summary *summary, const struct counters *counters)
{
    summary->files += counters->files;
    summary->directories += counters->directories;
    summary->symlinks += counters->symlinks;
    summary->specials += counters->specials;
    summary->hard_links += counters->hard_links;
    summary->bytes += counters->bytes;
    summary->kept += counters->kept;
    summary->sockets += counters->sockets;
}

static void summarise(const struct run *run, struct shoal_summary *summary)
{
    *summary = (struct shoal_summary){
        .elapsed_ns = clock_now_ns() - run->start_ns,
        .workers = run->n_workers,
        .stopped = run->stop != STOP_NONE,
        .differences = run->differences,
    };
    memcpy(summary->faults, run->faults, sizeof(summary->faults));
    for (unsigned i = 0; i < run->n_workers; i++)
        add_counters(summary, &run->workers[i]->counters);
    for (enum aspect aspect = 0; aspect < ASPECTS; aspect++)
        if (run->losses[aspect].files > 0 && summary->n_losses < SHOAL_LOSSES_MAX)
            summary->losses[summary->n_losses++] = (struct shoal_loss){
                .what = aspect_name(aspect),
                .files = run->losses[aspect].files,
                .error = -run->losses[aspect].error,
            };
}

void run_end(struct run *run, struct shoal_summary *ret_summary)
{
    pool_free(run->pool); /* the workers' counters are final once their threads are joined */
    if (run->sink)
        run->sink->ops->free(run->sink);
    if (ret_summary)
        summarise(run, ret_summary);
    for (unsigned i = 0; i < run->n_workers; i++)
        worker_free(run->workers[i]);
    links_free(run->links);
    owner_names_free(run->owner_names);
    pace_destroy(&run->pace);
    (void)pthread_mutex_destroy(&run->events);
    (void)pthread_mutex_destroy(&run->handles);
}
