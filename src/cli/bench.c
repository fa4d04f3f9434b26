#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"
#include "bench/method.h"
#include "bench/process.h"
#include "bench/run.h"
#include "bench/scratch_fs.h"
#include "cli/bench_gate.h"
#include "cli/bench_output.h"
#include "cli/drive_options.h"
#include "cli/measure.h"
#include "report/report.h"
#include "results/results.h"
#include "results/statistics.h"
#include "version.h"
#include "workload/workload.h"

#define MIN_TIME_MAX_SECONDS 86400

enum {
    KEY_WORKLOAD = 'w',
    KEY_METHOD = 'm',
    KEY_RUNS = 'r',
    KEY_VERBOSE = 'v',
    KEY_WARM = 0x100,
    KEY_COLD,
    KEY_FROM,
    KEY_TO,
    KEY_SCRATCH,
    KEY_DRIVE,
    KEY_TIME_SCALE,
    KEY_MIN_TIME,
    KEY_SEED,
    KEY_DB,
    KEY_JSON,
    KEY_NO_SAVE,
    KEY_BASELINE,
    KEY_MAX_SLOWDOWN,
};

enum cache { CACHE_UNSAID, CACHE_WARM, CACHE_COLD };

struct bench_arguments {
    struct workload *workloads; /* as many as there are arguments, at most */
    size_t n_workloads;
    struct method *methods;
    size_t n_methods;
    struct scratch_spec *scratches;
    size_t n_scratches;
    struct drive_list drives;
    double time_scale;          /* 0: not given */
    struct bench_world *worlds; /* of the drives */
    size_t n_worlds;
    unsigned runs;
    uint64_t min_time_ns;
    enum cache cache;
    const char *from, *to, *db;
    uint64_t seed;
    bool json, no_save, verbose;
    const char *baseline;
    double max_slowdown; /* a share; below 0: not given */
};

/* Told by a signal. */
static struct bench_stop stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    bench_stop_request(&stop);
}

/* --- Arguments --- */

static const struct argp_option options[] = {
    {"workload", KEY_WORKLOAD, "W", 0,
        "A workload, see below; may be repeated (insight and one-large)", 0},
    {"method", KEY_METHOD, "NAME[=CMD]", 0,
        "A way to copy: one of those below, or any command line with {from} and {to}; may be "
        "repeated "
        "(all of those below)",
        0},
    {"runs", KEY_RUNS, "N", 0, "How often each method runs (5)", 0},
    {"min-time", KEY_MIN_TIME, "SECONDS", 0,
        "Run more often, until each method has run for so long", 0},
    {"warm", KEY_WARM, NULL, 0,
        "The source is in the page cache: one unrecorded run first (default)", 0},
    {"cold", KEY_COLD, NULL, 0, "Empty the page cache before each run; needs root", 0},
    {"from", KEY_FROM, "DIR", 0, "Where the source trees are made (with the destinations)", 0},
    {"to", KEY_TO, "DIR", 0, "Where the destinations are made (the current directory)", 0},
    {"scratch", KEY_SCRATCH, "FS[,size=N]", 0,
        "Make a new file system for each workload, an image in --to or in memory, and measure on "
        "it: ext4, xfs, btrfs or tmpfs; may be repeated; needs root",
        0},
    {"drive", KEY_DRIVE, "DRIVE,...", 0,
        "Make a disc of each workload and copy off it in each of these emulated drives: 2X, 12X, "
        "32X, 24X-cav,access=90ms",
        0},
    {"time-scale", KEY_TIME_SCALE, "N", 0, "The drives' world runs N times as fast (1)", 0},
    {"seed", KEY_SEED, "N", 0, "The number that the trees and the order of runs are chosen by (1)",
        0},
    {"db", KEY_DB, "FILE", 0, "The database of results ($XDG_DATA_HOME/shoal/results.db)", 0},
    {"no-save", KEY_NO_SAVE, NULL, 0, "Add to no database", 0},
    {"json", KEY_JSON, NULL, 0, "Print the series as JSON, as 'shoal report --import' takes them",
        0},
    {"baseline", KEY_BASELINE, "FILE|ID", 0,
        "Fail if a method got slower than in the series of FILE (JSON or a database), or in the "
        "one "
        "of this ID",
        0},
    {"max-slowdown", KEY_MAX_SLOWDOWN, "N%", 0,
        "How much slower is still allowed; only what is surely more fails (10%)", 0},
    {"verbose", KEY_VERBOSE, NULL, 0,
        "Also print when all was on the device, memory, page faults, bytes read and written", 0},
    {0},
};

static void add_workload(
    struct bench_arguments *arguments, const char *text, struct argp_state *state)
{
    struct workload *workload = &arguments->workloads[arguments->n_workloads];

    measure_parse_workload(state, text, workload);
    for (size_t i = 0; i < arguments->n_workloads; i++)
        if (strcmp(arguments->workloads[i].name, workload->name) == 0)
            argp_error(state, "workload '%s' is given twice", workload->name);
    arguments->n_workloads++;
}

static void refuse_method(const char *text, int r, struct argp_state *state)
{
    _cleanup_free_ char *quoted = quote_name(text);
    const char *name = quoted ? quoted : "?";

    if (r == -EINVAL)
        argp_error(state,
            "method %s: the form is NAME=COMMAND, NAME of letters, digits and '+-._', COMMAND with "
            "{from} and {to}",
            name);
    if (r == -ENOENT)
        argp_error(state, "there is no method %s; any is NAME=COMMAND with {from} and {to}", name);
    argp_failure(state, EXIT_SOME_FAILED, -r, "cannot use method %s", name);
}

static void add_method(
    struct bench_arguments *arguments, const char *text, struct argp_state *state)
{
    struct method *method = &arguments->methods[arguments->n_methods];
    int r = method_parse(text, method);

    if (r < 0)
        refuse_method(text, r, state);
    for (size_t i = 0; i < arguments->n_methods; i++)
        if (strcmp(arguments->methods[i].name, method->name) == 0)
            argp_error(state, "method '%s' is given twice", method->name);
    arguments->n_methods++;
}

static void add_scratch(
    struct bench_arguments *arguments, const char *text, struct argp_state *state)
{
    int r = scratch_spec_parse(text, &arguments->scratches[arguments->n_scratches]);

    if (r == -ENOENT)
        argp_error(state, "--scratch: there is no %s; there are ext4, xfs, btrfs and tmpfs", text);
    if (r < 0)
        argp_error(state, "--scratch: %s: the form is FS[,size=N], N from 1M on", text);
    arguments->n_scratches++;
}

static uint64_t parse_seconds(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    double seconds = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;

    if (!(seconds >= 0 && seconds <= MIN_TIME_MAX_SECONDS) || *end)
        argp_error(state, "%s: seconds from 0 to %d are expected", option, MIN_TIME_MAX_SECONDS);
    return (uint64_t)(seconds * (double)NS_PER_SECOND);
}

static void set_cache(struct bench_arguments *arguments, enum cache cache, struct argp_state *state)
{
    if (arguments->cache != CACHE_UNSAID && arguments->cache != cache)
        argp_error(state, "--warm and --cold exclude each other");
    arguments->cache = cache;
}

static double parse_percent(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    double percent = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;

    if (!(percent >= 0 && percent <= 1000) || strcmp(end, "%") != 0)
        argp_error(state, "%s: '%s' is no percentage from 0%% to 1000%%", option, text);
    return percent / 100;
}

static void check_baseline(struct bench_arguments *arguments, struct argp_state *state)
{
    const double default_slowdown = 0.1;

    if (!arguments->baseline && arguments->max_slowdown >= 0)
        argp_error(state, "--max-slowdown goes with --baseline");
    if (arguments->baseline && arguments->runs < STATISTICS_LEAST)
        argp_error(state, "--baseline: fewer than %d runs show no slowdown", STATISTICS_LEAST);
    if (arguments->max_slowdown < 0)
        arguments->max_slowdown = default_slowdown;
}

static void check_drives(struct bench_arguments *arguments, struct argp_state *state)
{
    if (arguments->drives.n == 0 && arguments->time_scale > 0)
        argp_error(state, "--time-scale is for a drive: give --drive, too");
    if (arguments->drives.n > 0 && arguments->cache != CACHE_UNSAID)
        argp_error(state, "--warm and --cold are for trees: what is in a --drive is never cached");
    for (size_t i = 0; i < arguments->n_methods && arguments->drives.n == 0; i++)
        if (method_needs_image(&arguments->methods[i]))
            argp_error(
                state, "method '%s' has {image}: give --drive, too", arguments->methods[i].name);
}

static void make_worlds(struct bench_arguments *arguments, struct argp_state *state)
{
    arguments->worlds = calloc(arguments->drives.n + 1, sizeof(*arguments->worlds));
    if (!arguments->worlds)
        argp_failure(state, EXIT_SOME_FAILED, ENOMEM, "cannot read the options");
    for (size_t i = 0; i < arguments->drives.n; i++)
        arguments->worlds[arguments->n_worlds++] =
            (struct bench_world){.drive = arguments->drives.all[i]};
}

static void check_arguments(struct bench_arguments *arguments, struct argp_state *state)
{
    if (arguments->no_save && arguments->db)
        argp_error(state, "--db and --no-save exclude each other");
    check_baseline(arguments, state);
    check_drives(arguments, state);
    make_worlds(arguments, state);
    if (arguments->n_workloads == 0) {
        add_workload(arguments, "insight", state);
        add_workload(arguments, "one-large", state);
    }
    bool is_default = arguments->n_methods == 0;
    for (size_t i = 0; is_default && method_name(i); i++)
        add_method(arguments, method_name(i), state);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct bench_arguments *arguments = state->input;

    switch (key) {
    case KEY_WORKLOAD:
        add_workload(arguments, text, state);
        return 0;
    case KEY_METHOD:
        add_method(arguments, text, state);
        return 0;
    case KEY_RUNS:
        arguments->runs = (unsigned)measure_parse_number(state, "--runs", text, 1, BENCH_RUNS_MAX);
        return 0;
    case KEY_MIN_TIME:
        arguments->min_time_ns = parse_seconds(state, "--min-time", text);
        return 0;
    case KEY_SCRATCH:
        add_scratch(arguments, text, state);
        return 0;
    case KEY_DRIVE:
        drive_list_add(&arguments->drives, text, state);
        return 0;
    case KEY_TIME_SCALE:
        arguments->time_scale = drive_parse_time_scale(text, state);
        return 0;
    case KEY_VERBOSE:
        arguments->verbose = true;
        return 0;
    case KEY_WARM:
    case KEY_COLD:
        set_cache(arguments, key == KEY_WARM ? CACHE_WARM : CACHE_COLD, state);
        return 0;
    case KEY_FROM:
        arguments->from = text;
        return 0;
    case KEY_TO:
        arguments->to = text;
        return 0;
    case KEY_SEED:
        arguments->seed = measure_parse_number(state, "--seed", text, 0, INT64_MAX);
        return 0;
    case KEY_DB:
        arguments->db = text;
        return 0;
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case KEY_NO_SAVE:
        arguments->no_save = true;
        return 0;
    case KEY_BASELINE:
        arguments->baseline = text;
        return 0;
    case KEY_MAX_SLOWDOWN:
        arguments->max_slowdown = parse_percent(state, "--max-slowdown", text);
        return 0;
    case ARGP_KEY_END:
        check_arguments(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A pipeline that is too long for a line is broken in its middle. */
static void print_method(FILE *out, const char *name, const char *command)
{
    const size_t columns = 64;
    const char *pipe = strlen(command) > columns ? strstr(command, " | ") : NULL;

    if (pipe)
        (void)fprintf(out, "  %-10s %.*s |\n  %-10s %s\n", name, (int)(pipe - command), command, "",
            pipe + strlen(" | "));
    else
        (void)fprintf(out, "  %-10s %s\n", name, command);
}

static char *help_filter(int key, const char *text, void *input)
{
    char *help = NULL;
    size_t length;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    _cleanup_free_ char *workloads = measure_workloads_help();
    FILE *out = workloads ? open_memstream(&help, &length) : NULL;
    if (!out)
        return NULL;
    (void)fprintf(out, "%s\nMethods:\n", workloads);
    for (size_t i = 0; method_name(i); i++)
        print_method(out, method_name(i), method_command(i));
    (void)fputs(
        "{to} is a new, empty directory. {parent} and {name} are the two parts of {from}.\n", out);
    if (ferror(out) | fclose(out)) {
        free(help);
        return NULL;
    }
    return help;
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .doc = "Times this machine's ways to copy many small files, and one large file.\v-",
    .help_filter = help_filter,
};

/* --- Progress --- */

static void show_progress(void *context, const struct bench_progress *progress)
{
    struct progress_line *line = context;
    char done[COUNT_TEXT_MAX], total[COUNT_TEXT_MAX];

    (void)measure_count(progress->done, done);
    (void)measure_count(progress->total, total);
    switch (progress->phase) {
    case BENCH_FORMATTING:
        progress_line_show(line, true, "makes a file system, %s", progress->workload);
        break;
    case BENCH_MAKING:
        progress_line_show(line, false, "%s: makes file %s of %s", progress->workload, done, total);
        break;
    case BENCH_MASTERING:
        progress_line_show(line, true, "%s: makes the disc", progress->workload);
        break;
    case BENCH_WARMING:
        progress_line_show(line, true, "%s: warms up, %s", progress->workload, progress->method);
        break;
    case BENCH_RUNNING:
        progress_line_show(
            line, true, "%s: run %s of %s, %s", progress->workload, done, total, progress->method);
        break;
    case BENCH_CHECKING:
        progress_line_show(
            line, true, "%s: checks the copy, %s", progress->workload, progress->method);
        break;
    case BENCH_REMOVING:
        progress_line_show(line, true, "removes what was made");
        break;
    }
}

static void complain_left_behind(void *context, const char *path, int error)
{
    _cleanup_free_ char *quoted = quote_name(path);

    progress_line_clear(context);
    cli_error("cannot remove %s: %s", quoted ? quoted : path, strerror(error));
}

/* --- Results --- */

static void complain_of_results(const char *what, const char *path, const char *why, int r)
{
    _cleanup_free_ char *quoted = quote_name(path);

    cli_error(
        "cannot %s results in %s: %s", what, quoted ? quoted : path, why ? why : strerror(-r));
}

/* Where the results go, before anything is measured in vain; *ret is NULL with --no-save. */
static int find_results(const struct bench_arguments *arguments, char **ret)
{
    _cleanup_free_ char *path = NULL, *why = NULL;
    struct results *results = NULL;

    *ret = NULL;
    if (arguments->no_save)
        return EXIT_OK;
    path = arguments->db ? strdup(arguments->db) : results_default_path();
    if (!path) {
        cli_error("cannot tell where results go: neither XDG_DATA_HOME nor HOME is set; "
                  "give --db FILE or --no-save");
        return EXIT_SOME_FAILED;
    }
    int r = results_load(path, &results, &why);
    results_free(results);
    if (r < 0) {
        complain_of_results("read", path, why, r);
        return EXIT_SOME_FAILED;
    }
    *ret = TAKE_PTR(path);
    return EXIT_OK;
}

/* What to compare with, if anything, also before anything is measured in vain. */
static int find_baseline(
    const struct bench_arguments *arguments, const char *results_path, struct baseline *ret)
{
    if (!arguments->baseline)
        return EXIT_OK;
    _cleanup_free_ char *path = results_path ? strdup(results_path) : results_default_path();
    return baseline_read(arguments->baseline, path, ret);
}

static int save(const char *path, const struct results *results)
{
    for (size_t i = 0; i < results->n_series; i++) {
        _cleanup_free_ char *why = NULL;
        int r = results_append(path, &results->series[i], &why);
        if (r < 0) {
            complain_of_results("store", path, why, r);
            return EXIT_SOME_FAILED;
        }
    }
    return EXIT_OK;
}

static int print_json(const struct results *results)
{
    _cleanup_free_ char *text = NULL;
    int r = results_to_json(results, &text);

    if (r == 0)
        (void)puts(text); /* cli_finish() asks the stream */
    return r;
}

static int print_tables(const struct bench_arguments *arguments, const struct results *results)
{
    _cleanup_free_ const struct series **list = calloc(results->n_series + 1, sizeof(*list));

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < results->n_series; i++) {
        list[i] = &results->series[i];
        int r = bench_print_times(stdout, list[i], arguments->verbose);
        if (r < 0)
            return r;
    }
    const struct report_options look = {.bars = measure_bars()};
    return report_print(stdout, list, results->n_series, &look);
}

static int print_results(const struct bench_arguments *arguments, const struct results *results)
{
    int r = arguments->json ? print_json(results) : print_tables(arguments, results);

    if (r == 0)
        return EXIT_OK;
    cli_error("cannot print the results: %s", strerror(-r));
    return EXIT_SOME_FAILED;
}

/* --- The bench --- */

static int worse(int a, int b)
{
    return a > b ? a : b;
}

/* "cannot OPERATION 'PATH': reason; hint" */
static void complain_of_fault(const struct bench_fault *fault, int r)
{
    _cleanup_free_ char *quoted = fault->path ? quote_name(fault->path) : NULL;
    const char *hint = fault->hint;

    if (!hint && (r == -EACCES || r == -EPERM) && !fault->path)
        hint = "--cold needs root";
    cli_error("cannot %s%s%s: %s%s%s", fault->operation ? fault->operation : "measure",
        quoted ? " " : "", quoted ? quoted : "", strerror(-r), hint ? "; " : "", hint ? hint : "");
}

/* Measures; what is complete is in *results even if not all is. */
static int measure(const struct bench_arguments *arguments, const char *to, struct results *results)
{
    struct progress_line line;
    struct bench_fault fault;
    const struct bench_plan plan = {
        .workloads = arguments->workloads,
        .n_workloads = arguments->n_workloads,
        .methods = arguments->methods,
        .n_methods = arguments->n_methods,
        .runs = arguments->runs,
        .min_time_ns = arguments->min_time_ns,
        .scratches = arguments->scratches,
        .n_scratches = arguments->n_scratches,
        .worlds = arguments->worlds,
        .n_worlds = arguments->n_worlds,
        .time_scale = arguments->time_scale > 0 ? arguments->time_scale : 1,
        .cold = arguments->cache == CACHE_COLD,
        .from = arguments->from,
        .to = to,
        .seed = arguments->seed,
        .stop = &stop,
        .on_progress = show_progress,
        .on_left_behind = complain_left_behind,
        .context = &line,
    };

    progress_line_start(&line);
    int r = bench_run(&plan, results, &fault);
    progress_line_clear(&line);
    if (r < 0 && r != -EINTR)
        complain_of_fault(&fault, r);
    free(fault.path);
    free(fault.hint);
    if (r == -EINTR)
        return EXIT_INTERRUPTED;
    return r < 0 ? EXIT_SOME_FAILED : EXIT_OK;
}

/* Measures, saves, prints and compares. */
static int bench_into(const struct bench_arguments *arguments, const char *results_path,
    const struct baseline *baseline)
{
    _cleanup_free_ char *here = NULL;
    struct results results = {0};

    if (!arguments->to && !(here = getcwd(NULL, 0))) {
        cli_error("cannot tell the current directory: %s; give --to DIR", strerror(errno));
        return EXIT_SOME_FAILED;
    }
    measure_catch_signals(on_signal);
    int code = measure(arguments, arguments->to ? arguments->to : here, &results);
    if (results_path)
        code = worse(code, save(results_path, &results));
    if (results.n_series > 0 && code != EXIT_INTERRUPTED) {
        code = worse(code, print_results(arguments, &results));
        bench_warn(&results);
        code = worse(code, bench_complain(&results));
        if (arguments->baseline)
            code = worse(code, baseline_compare(baseline, &results, arguments->max_slowdown));
    }
    for (size_t i = 0; i < results.n_series; i++)
        series_clear(&results.series[i]);
    free(results.series);
    return code;
}

static int bench(const struct bench_arguments *arguments)
{
    _cleanup_free_ char *results_path = NULL;
    struct baseline baseline = {0};

    int code = find_results(arguments, &results_path);
    if (code == EXIT_OK)
        code = find_baseline(arguments, results_path, &baseline);
    if (code == EXIT_OK)
        code = bench_into(arguments, results_path, &baseline);
    baseline_clear(&baseline);
    return code;
}

int command_bench(int argc, char **argv)
{
    /* No argument adds more than one, and the defaults are fewer than eight. */
    size_t room = (size_t)argc + 8;
    _cleanup_free_ struct workload *workloads = calloc(room, sizeof(*workloads));
    _cleanup_free_ struct method *methods = calloc(room, sizeof(*methods));
    _cleanup_free_ struct scratch_spec *scratches = calloc(room, sizeof(*scratches));
    struct bench_arguments arguments = {.workloads = workloads,
        .methods = methods,
        .scratches = scratches,
        .runs = 5,
        .seed = 1,
        .max_slowdown = -1};

    argp_err_exit_status = EXIT_USAGE;
    argp_program_version = "shoal " SHOAL_VERSION;
    if (!workloads || !methods || !scratches) {
        cli_error("cannot read the arguments: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    int code = bench(&arguments);
    for (size_t i = 0; i < arguments.n_methods; i++)
        method_clear(&methods[i]);
    free(arguments.worlds);
    drive_list_clear(&arguments.drives);
    for (size_t i = 0; i < arguments.n_workloads; i++)
        workload_clear(&workloads[i]);
    return cli_finish(code);
}
