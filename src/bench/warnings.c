#include "bench/warnings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"
#include "results/results.h"
#include "results/statistics.h"

/* Below this the median and its interval say little. */
#define RUNS_ENOUGH 5

/* From these on it is said. Each is well above what a machine left alone shows. */
#define LOAD_PERCENT   10.0
#define OTHERS_PERCENT 5.0
#define STOLEN_PERCENT 1.0
#define SPREAD_PERCENT 10.0
#define DIRTY_KB       ((uint64_t)64 << 10)

/* Fewer ticks make no share. */
#define TICKS_ENOUGH 100

/* --- What the machine does --- */

/* "some avg10=1.23 …": -1 if the kernel does not say. */
static double pressure_of(const char *path)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    double percent;

    return file && fscanf(file, "some avg10=%lf", &percent) == 1 ? percent : -1;
}

static double overload_percent(void)
{
    double cores = (double)sysconf(_SC_NPROCESSORS_ONLN), load;

    if (getloadavg(&load, 1) != 1 || cores < 1 || load < cores)
        return 0;
    return 100 * (load - cores) / cores;
}

void machine_load_read(struct machine_load *ret)
{
    double cpu = pressure_of("/proc/pressure/cpu"), io = pressure_of("/proc/pressure/io");

    ret->cpu_percent = cpu >= 0 ? cpu : overload_percent();
    ret->io_percent = io >= 0 ? io : 0;
}

/* The sum of the numbers in the lines "KEY NUMBER" or "KEY: NUMBER …" of a file. */
static uint64_t sum_of(const char *path, const char *const keys[2])
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    uint64_t sum = 0;

    while (file && getline(&line, &room, file) > 0) {
        size_t length = strcspn(line, ": ");
        for (int i = 0; i < 2; i++)
            if (strlen(keys[i]) == length && strncmp(line, keys[i], length) == 0)
                sum += strtoull(line + length + strspn(line + length, ": "), NULL, 10);
    }
    return sum;
}

static void read_ticks(struct machine_counts *counts)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_TICKS };
    _cleanup_fclose_ FILE *file = fopen("/proc/stat", "re");
    unsigned long long ticks[N_TICKS] = {0};

    if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[USER],
                     &ticks[NICE], &ticks[SYSTEM], &ticks[IDLE], &ticks[IOWAIT], &ticks[IRQ],
                     &ticks[SOFTIRQ], &ticks[STEAL]) < IDLE + 1)
        return;
    for (int i = 0; i < N_TICKS; i++)
        counts->all_ticks += ticks[i];
    counts->user_ticks = ticks[USER] + ticks[NICE];
    counts->stolen_ticks = ticks[STEAL];
}

static uint64_t user_ns_of(int who)
{
    struct rusage usage;

    if (getrusage(who, &usage) < 0)
        return 0;
    return (uint64_t)usage.ru_utime.tv_sec * NS_PER_SECOND +
           (uint64_t)usage.ru_utime.tv_usec * 1000;
}

static void read_counts(struct machine_counts *ret)
{
    static const char *const swapped[2] = {"pswpin", "pswpout"};
    struct machine_counts counts = {0};

    read_ticks(&counts);
    counts.own_user_ns = user_ns_of(RUSAGE_SELF) + user_ns_of(RUSAGE_CHILDREN);
    counts.swapped_pages = sum_of("/proc/vmstat", swapped);
    *ret = counts;
}

/* Whether a kernel thread of that name is there. */
static bool is_at_work(const char *thread)
{
    _cleanup_closedir_ DIR *proc = opendir("/proc");
    const struct dirent *entry;
    char path[sizeof("/proc//comm") + sizeof(entry->d_name)], name[32];

    while (proc && (entry = readdir(proc))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        if (file && fgets(name, sizeof(name), file)) {
            name[strcspn(name, "\n")] = '\0';
            if (strcmp(name, thread) == 0)
                return true;
        }
    }
    return false;
}

/* Whether the btrfs on this device is being balanced, resized or the like. */
static bool is_rearranged(const char *device)
{
    static const char top[] = "/sys/fs/btrfs";
    _cleanup_closedir_ DIR *dir = opendir(top);
    const struct dirent *entry;

    while (dir && *device && (entry = readdir(dir))) {
        char path[1024], word[32] = "none";
        (void)snprintf(path, sizeof(path), "%s/%s/devices/%s", top, entry->d_name, device);
        if (access(path, F_OK) < 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s/exclusive_operation", top, entry->d_name);
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        return file && fscanf(file, "%31s", word) == 1 && strcmp(word, "none") != 0;
    }
    return false;
}

static void look_behind(struct doubts *doubts, const struct series *series)
{
    const struct file_system_info *sides[] = {&series->from, &series->to};

    for (size_t i = 0; i < ELEMENTS(sides); i++) {
        if (strcmp(sides[i]->type, "ext4") == 0 && is_at_work("ext4lazyinit"))
            doubts->initialises = true;
        if (strcmp(sides[i]->type, "btrfs") == 0 && is_rearranged(sides[i]->device))
            doubts->rearranges = true;
    }
}

void doubts_begin(struct doubts *doubts, const struct series *series)
{
    static const char *const dirty[2] = {"Dirty", "Writeback"};

    doubts->dirty_kb = sum_of("/proc/meminfo", dirty);
    look_behind(doubts, series);
    read_counts(&doubts->begin);
}

void doubts_end(struct doubts *doubts, const struct series *series)
{
    read_counts(&doubts->end);
    look_behind(doubts, series);
}

/* --- What is said of it --- */

/* The first error sticks. */
struct warner {
    struct series *series;
    char *what; /* "WORKLOAD to TYPE" */
    int error;
};

static void warn(struct warner *warner, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(struct warner *warner, const char *format, ...)
{
    struct series *series = warner->series;
    va_list arguments;
    char *text;

    if (warner->error)
        return;
    struct warning *list =
        reallocarray(series->warnings, series->n_warnings + 1, sizeof(*series->warnings));
    if (list)
        series->warnings = list;
    va_start(arguments, format);
    if (!list || vasprintf(&text, format, arguments) < 0)
        warner->error = -ENOMEM;
    else
        series->warnings[series->n_warnings++] = (struct warning){text};
    va_end(arguments);
}

static bool is_in_memory(const struct file_system_info *info)
{
    return strcmp(info->type, "tmpfs") == 0 || strcmp(info->type, "ramfs") == 0;
}

static void warn_of_file_systems(struct warner *warner, const struct doubts *doubts)
{
    const struct series *series = warner->series;
    const struct file_system_info *to = &series->to;
    _cleanup_free_ char *quoted = quote_name(to->path);
    const char *path = quoted ? quoted : to->path;
    const char *which = to->scratch_kb > 0 ? "the scratch file system in " : "";

    if (to->has_journal == 0 && strcmp(to->type, "ext4") == 0)
        warn(warner,
            "%s%s is on an ext4 without a journal: for minutes after many files were deleted "
            "there, creating files is slow",
            which, path);
    if (is_in_memory(to))
        warn(warner, "%s%s is in memory (%s): nothing is written to a disk", which, path, to->type);
    if (doubts->is_image_in_memory)
        warn(warner, "the image in %s is in memory: nothing is written to a disk", path);
    if (series->cold && is_in_memory(&series->from))
        warn(warner, "the source is in memory (%s), where nothing is ever cold", series->from.type);
    if (doubts->free_bytes / 2 < doubts->need_bytes)
        warn(warner,
            "%s%s has %llu MB free for copies of %llu MB: a file system that runs full gets slow",
            which, path, (unsigned long long)(doubts->free_bytes >> 20),
            (unsigned long long)(doubts->need_bytes >> 20));
    if (doubts->initialises)
        warn(warner, "the kernel still prepares an ext4 in the background (ext4lazyinit)");
    if (doubts->rearranges)
        warn(warner, "the btrfs is being balanced or changed in the background");
}

static void warn_of_machine(struct warner *warner, const struct doubts *doubts)
{
    const struct series *series = warner->series;
    const char *governor = series->system.governor;

    if (*governor && strcmp(governor, "performance") != 0)
        warn(warner, "the processors' frequency is governed by '%s', not by 'performance'",
            governor);
    if (doubts->load.cpu_percent >= LOAD_PERCENT)
        warn(warner, "other programs kept the processors busy when the bench began (%.0f%%)",
            doubts->load.cpu_percent);
    if (doubts->load.io_percent >= LOAD_PERCENT)
        warn(warner, "other programs kept the disks busy when the bench began (%.0f%%)",
            doubts->load.io_percent);
    if (doubts->dirty_kb >= DIRTY_KB)
        warn(warner, "%llu MB of others were still to be written when the runs of %s began",
            (unsigned long long)(doubts->dirty_kb >> 10), warner->what);
    if (!series->cold && series->bytes / 1024 > series->system.memory_kb / 2)
        warn(warner, "%s does not fit in memory twice: its warm figures are partly cold",
            series->workload);
}

/* The kernel's own work for the methods is system time, so only user time shows who else there was.
 */
static void warn_of_others(struct warner *warner, const struct doubts *doubts)
{
    const struct machine_counts *begin = &doubts->begin, *end = &doubts->end;
    double all = (double)(end->all_ticks - begin->all_ticks);
    double user = (double)(end->user_ticks - begin->user_ticks);
    double own = (double)(end->own_user_ns - begin->own_user_ns) / (double)NS_PER_SECOND *
                 (double)sysconf(_SC_CLK_TCK);

    if (all >= TICKS_ENOUGH) {
        double others_percent = 100 * (user - own) / all;
        double stolen_percent = 100 * (double)(end->stolen_ticks - begin->stolen_ticks) / all;
        if (others_percent >= OTHERS_PERCENT)
            warn(warner, "other programs took %.0f%% of the processors during the runs of %s",
                others_percent, warner->what);
        if (stolen_percent >= STOLEN_PERCENT)
            warn(warner,
                "the host gave %.0f%% of the processors' time to others during the runs of %s",
                stolen_percent, warner->what);
    }
    if (end->swapped_pages > begin->swapped_pages)
        warn(warner, "memory was short: %llu pages went to or from swap during the runs of %s",
            (unsigned long long)(end->swapped_pages - begin->swapped_pages), warner->what);
}

static bool has_copies(const struct method_result *method)
{
    return method->verdict == VERDICT_RIGHT || method->verdict == VERDICT_UNCHECKED;
}

/* -1: there are none to tell by. */
static double spread_percent(const struct method_result *method, int *error)
{
    _cleanup_free_ double *values = calloc(method->n_samples + 1, sizeof(*values));
    size_t n = 0;

    if (!values) {
        *error = -ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].exit_status == 0)
            values[n++] = (double)method->samples[i].real_ns;
    double median = statistics_median(values, n);
    return n < 3 ? -1 : 100 * statistics_mad(values, n) / median;
}

static uint64_t most_written(const struct method_result *method)
{
    uint64_t most = 0;

    for (size_t i = 0; i < method->n_samples; i++)
        if (method->samples[i].written_bytes > most)
            most = method->samples[i].written_bytes;
    return most;
}

/* A clone writes only names and inodes. That the kernel counts at all is seen by others that do
 * write. */
static void warn_of_clones(struct warner *warner)
{
    const struct series *series = warner->series;
    const uint64_t half = series->bytes / 2;
    bool is_counted = false;

    for (size_t i = 0; i < series->n_methods; i++)
        is_counted = is_counted || most_written(&series->methods[i]) >= half;
    for (size_t i = 0; is_counted && i < series->n_methods; i++) {
        const struct method_result *method = &series->methods[i];
        if (has_copies(method) && method->n_samples > 0 && most_written(method) < half)
            warn(warner,
                "%s to %s wrote less than half of what %s holds: its copies share blocks with the "
                "source, or have holes, and others' do not",
                method->name, series->to.type, series->workload);
    }
}

static void warn_of_samples(struct warner *warner, const struct doubts *doubts)
{
    const struct series *series = warner->series;
    size_t most = 0;

    for (size_t i = 0; i < series->n_methods; i++) {
        const struct method_result *method = &series->methods[i];
        most = method->n_samples > most ? method->n_samples : most;
        if (!has_copies(method))
            continue;
        double spread = spread_percent(method, &warner->error);
        if (spread > SPREAD_PERCENT)
            warn(warner,
                "the runs of %s on %s spread too widely to rank: half of them are %.0f%% or more "
                "from the median",
                method->name, warner->what, spread);
    }
    if (most > 0 && most < RUNS_ENOUGH)
        warn(warner, "the figures are of %zu run%s; fewer than %d say little", most,
            most == 1 ? "" : "s", RUNS_ENOUGH);
    if (doubts->cut_by)
        warn(warner, "the runs of %s ended before --min-time was measured: %s", warner->what,
            doubts->cut_by);
}

int doubts_to_warnings(const struct doubts *doubts, struct series *series)
{
    struct warner warner = {.series = series};

    if (asprintf(&warner.what, "%s to %s", series->workload, series->to.type) < 0)
        return -ENOMEM;
    warn_of_file_systems(&warner, doubts);
    warn_of_machine(&warner, doubts);
    warn_of_others(&warner, doubts);
    warn_of_samples(&warner, doubts);
    warn_of_clones(&warner);
    free(warner.what);
    return warner.error;
}
