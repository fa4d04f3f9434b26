#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/exchange.h"
#include "cli/measure.h"
#include "cli/report_group.h"
#include "report/report.h"
#include "results/results.h"
#include "version.h"

enum {
    KEY_REFERENCE = 256,
    KEY_BESIDE_REFERENCE,
    KEY_REPLAYED,
    KEY_LIST,
    KEY_IMPORT,
    KEY_EXPORT,
    KEY_DB,
    KEY_SERIES,
    KEY_LAST,
    KEY_ALL,
    KEY_WORKLOAD,
    KEY_METHOD,
    KEY_BASELINE,
    KEY_JSON,
    KEY_FORMAT,
    KEY_OUTPUT,
    KEY_USAGE,
};

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What to print (default: the tables of the stored results):", 1},
    {"reference", KEY_REFERENCE, NULL, 0, "The published tables: six SGI machines", 1},
    {"beside-reference", KEY_BESIDE_REFERENCE, NULL, 0,
        "This machine's methods and the published machines in one table, fastest first", 1},
    {"replayed", KEY_REPLAYED, NULL, 0,
        "The published tables with what replays of those machines took beside each figure", 1},
    {"list", KEY_LIST, NULL, 0, "A line for each series (default: of all)", 1},
    {"export", KEY_EXPORT, NULL, 0,
        "The series as JSON, on standard output or into the FILE that is named after the options "
        "(default: all)",
        1},
    {"import", KEY_IMPORT, "FILE", 0,
        "No tables: add the series of the JSON file FILE ('-': standard input) that are not there "
        "yet",
        1},
    {NULL, 0, NULL, 0,
        "Which series (default: the last one of each system, workload, source, cache state and "
        "destination):",
        2},
    {"series", KEY_SERIES, "ID", 0, "This one; may be given several times", 2},
    {"last", KEY_LAST, NULL, 0, "The one measured last", 2},
    {"all", KEY_ALL, NULL, 0, "All of them", 2},
    {"workload", KEY_WORKLOAD, "NAME", 0,
        "Of those, the ones of this workload; may be given "
        "several times",
        2},
    {"method", KEY_METHOD, "NAME", 0, "And of each only this method; may be given several times",
        2},
    {NULL, 0, NULL, 0, "How:", 3},
    {"db", KEY_DB, "FILE", 0, "The database of results; otherwise $XDG_DATA_HOME/shoal/results.db",
        3},
    {"baseline", KEY_BASELINE, "METHOD", 0, "Give times as multiples of METHOD's (default: shoal)",
        3},
    {"format", KEY_FORMAT, "FORM", 0,
        "text (default), markdown, csv (one line for each method of each series, every figure "
        "unrounded), json, or html (one page with charts that needs nothing else)",
        3},
    {"json", KEY_JSON, NULL, 0, "The same as --format=json", 3},
    {"output", KEY_OUTPUT, "FILE", 0, "Write to FILE; '-', the default, is standard output", 3},
    {NULL, 0, NULL, 0, "Help:", 4},
    {"help", '?', NULL, 0, "Print this help", 4},
    {"usage", KEY_USAGE, NULL, 0, "Print the options in brief", 4},
    {"version", 'V', NULL, 0, "Print the version", 4},
    {0},
};

enum content {
    CONTENT_TABLES,
    CONTENT_REFERENCE,
    CONTENT_BESIDE_REFERENCE,
    CONTENT_REPLAYED,
    CONTENT_LIST,
    CONTENT_IMPORT,
    CONTENT_EXPORT,
};

enum choice { CHOICE_DEFAULT, CHOICE_NAMED, CHOICE_LAST, CHOICE_ALL };

struct arguments {
    enum content content;
    enum choice choice;
    const char **ids; /* of CHOICE_NAMED; room for as many as there are arguments */
    size_t n_ids;
    struct names workloads, methods; /* room as for ids */
    const char *db;                  /* NULL: the default */
    const char *file;                /* of CONTENT_IMPORT; of CONTENT_EXPORT, or NULL */
    const char *baseline;
    const char *output; /* NULL: standard output */
    bool has_format;
    enum report_format format;
};

static void set_content(struct arguments *arguments, enum content content, struct argp_state *state)
{
    if (arguments->content != CONTENT_TABLES && arguments->content != content)
        argp_error(state, "--reference, --beside-reference, --replayed, --list, --import and "
                          "--export exclude each "
                          "other");
    arguments->content = content;
}

static void set_choice(struct arguments *arguments, enum choice choice, struct argp_state *state)
{
    if (arguments->choice != CHOICE_DEFAULT && arguments->choice != choice)
        argp_error(state, "--series, --last and --all exclude each other");
    arguments->choice = choice;
}

static void set_format(
    struct arguments *arguments, enum report_format format, struct argp_state *state)
{
    if (arguments->has_format && arguments->format != format)
        argp_error(state, "only one format can be chosen");
    arguments->has_format = true;
    arguments->format = format;
}

static void parse_format(struct arguments *arguments, const char *word, struct argp_state *state)
{
    static const char *const words[] = {
        [REPORT_TEXT] = "text",
        [REPORT_MARKDOWN] = "markdown",
        [REPORT_CSV] = "csv",
        [REPORT_JSON] = "json",
        [REPORT_HTML] = "html",
    };

    for (size_t i = 0; i < ELEMENTS(words); i++) {
        if (strcmp(word, words[i]) == 0) {
            set_format(arguments, (enum report_format)i, state);
            return;
        }
    }
    argp_error(state, "--format is text, markdown, csv, json or html, not '%s'", word);
}

/* Options that together would have no meaning. */
static void check_arguments(const struct arguments *arguments, struct argp_state *state)
{
    enum content content = arguments->content;

    bool is_grouped = arguments->workloads.n > 0 || arguments->methods.n > 0;
    if (is_grouped && (content == CONTENT_REFERENCE || content == CONTENT_IMPORT))
        argp_error(state, "--workload and --method choose among stored results");
    if (arguments->methods.n > 0 && content == CONTENT_EXPORT)
        argp_error(state, "--export gives whole series: --method cannot choose among them");
    if (content == CONTENT_REFERENCE &&
        (arguments->choice != CHOICE_DEFAULT || arguments->db || arguments->baseline))
        argp_error(state, "--reference prints no stored results: no option can choose among them");
    if (content == CONTENT_IMPORT && arguments->choice != CHOICE_DEFAULT)
        argp_error(state, "--import takes all series: no option can choose among them");
    if ((content == CONTENT_IMPORT || content == CONTENT_EXPORT) &&
        (arguments->has_format || arguments->output))
        argp_error(state, "--format and --output are for reports: --export has a FILE of its own");
    if (content != CONTENT_TABLES && content != CONTENT_REFERENCE && arguments->baseline)
        argp_error(state, "--baseline has no meaning there");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case KEY_REFERENCE:
        set_content(arguments, CONTENT_REFERENCE, state);
        break;
    case KEY_BESIDE_REFERENCE:
        set_content(arguments, CONTENT_BESIDE_REFERENCE, state);
        return 0;
    case KEY_REPLAYED:
        set_content(arguments, CONTENT_REPLAYED, state);
        break;
    case KEY_LIST:
        set_content(arguments, CONTENT_LIST, state);
        break;
    case KEY_IMPORT:
        if (arguments->content == CONTENT_IMPORT)
            argp_error(state, "--import is given twice");
        set_content(arguments, CONTENT_IMPORT, state);
        arguments->file = value;
        break;
    case KEY_EXPORT:
        set_content(arguments, CONTENT_EXPORT, state);
        break;
    case KEY_SERIES:
        set_choice(arguments, CHOICE_NAMED, state);
        arguments->ids[arguments->n_ids++] = value;
        break;
    case KEY_WORKLOAD:
        arguments->workloads.all[arguments->workloads.n++] = value;
        break;
    case KEY_METHOD:
        arguments->methods.all[arguments->methods.n++] = value;
        break;
    case KEY_LAST:
        set_choice(arguments, CHOICE_LAST, state);
        break;
    case KEY_ALL:
        set_choice(arguments, CHOICE_ALL, state);
        break;
    case KEY_DB:
        arguments->db = value;
        break;
    case KEY_BASELINE:
        arguments->baseline = value;
        break;
    case KEY_JSON:
        set_format(arguments, REPORT_JSON, state);
        break;
    case KEY_FORMAT:
        parse_format(arguments, value, state);
        break;
    case KEY_OUTPUT:
        arguments->output = strcmp(value, "-") == 0 ? NULL : value;
        break;
    case '?':
        argp_state_help(state, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
        exit(cli_finish(EXIT_OK));
    case KEY_USAGE:
        argp_state_help(state, stdout, ARGP_HELP_USAGE);
        exit(cli_finish(EXIT_OK));
    case 'V':
        (void)printf("shoal %s\n", SHOAL_VERSION);
        exit(cli_finish(EXIT_OK));
    case ARGP_KEY_ARG: /* after all options */
        if (arguments->content == CONTENT_EXPORT && !arguments->file) {
            arguments->file = value;
            break;
        }
        argp_error(state, "'%s' is too much: no argument is expected", value);
        break;
    case ARGP_KEY_END:
        check_arguments(arguments, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse_option,
    .doc = "Prints the tables of what 'shoal bench' measured."
           "\vTimes are medians, m:ss; Data Rate is KB (1024 bytes) per second. Only methods whose "
           "copies were right are ranked.",
};

/* Says what could not be done with a file; the reason is the reader's or the system's. */
static void complain(const char *what, const char *path, const char *why)
{
    _cleanup_free_ char *quoted = quote_name(path);
    cli_error("cannot %s %s: %s", what, quoted ? quoted : path, why);
}

static int load(const char *path, struct results **ret)
{
    _cleanup_free_ char *why = NULL;
    int r = results_load(path, ret, &why);

    if (r < 0)
        complain("read results from", path, why ? why : strerror(-r));
    return r;
}

/* Whether b, measured after a, takes its place in the default choice. */
static bool series_replaces(const struct series *a, const struct series *b)
{
    return series_is_same_source(a, b) && strcmp(a->system.name, b->system.name) == 0 &&
           strcmp(a->workload, b->workload) == 0 && strcmp(a->to.type, b->to.type) == 0 &&
           strcmp(a->to.path, b->to.path) == 0;
}

static bool is_named(const struct arguments *arguments, const struct series *series)
{
    for (size_t i = 0; i < arguments->n_ids; i++)
        if (strcmp(arguments->ids[i], series->id) == 0)
            return true;
    return false;
}

static bool is_chosen(const struct arguments *arguments, const struct results *results, size_t at)
{
    if (!names_have(&arguments->workloads, results->series[at].workload))
        return false;
    switch (arguments->choice) {
    case CHOICE_NAMED:
        return is_named(arguments, &results->series[at]);
    case CHOICE_LAST:
        return at == results->n_series - 1;
    case CHOICE_ALL:
        return true;
    case CHOICE_DEFAULT:
        break;
    }
    if (arguments->content == CONTENT_LIST || arguments->content == CONTENT_EXPORT)
        return true;
    for (size_t i = at + 1; i < results->n_series; i++)
        if (series_replaces(&results->series[at], &results->series[i]))
            return false;
    return true;
}

/* Whether each ID that was asked for is there; names those that are not. */
static bool are_ids_there(
    const struct arguments *arguments, const struct results *results, const char *path)
{
    bool all = true;

    for (size_t i = 0; i < arguments->n_ids; i++) {
        size_t k = 0;
        while (k < results->n_series && strcmp(results->series[k].id, arguments->ids[i]) != 0)
            k++;
        if (k < results->n_series)
            continue;
        _cleanup_free_ char *id = quote_name(arguments->ids[i]);
        _cleanup_free_ char *file = quote_name(path);
        cli_error("cannot find series %s in %s; 'shoal report --list' lists them",
            id ? id : arguments->ids[i], file ? file : path);
        all = false;
    }
    return all;
}

static struct report_options make_options(const struct arguments *arguments)
{
    return (struct report_options){
        .baseline = arguments->baseline, .format = arguments->format, .bars = measure_bars()};
}

static int print_content(FILE *out, const struct arguments *arguments,
    const struct series *const *series, size_t n_series, const char *path)
{
    const struct report_options options = make_options(arguments);
    int r;

    if (arguments->content == CONTENT_EXPORT)
        return exchange_export(arguments->file, series, n_series);
    if (arguments->content == CONTENT_LIST)
        r = report_print_list(out, series, n_series, &options);
    else if (arguments->content == CONTENT_BESIDE_REFERENCE)
        r = report_print_beside_reference(out, series, n_series, &options);
    else if (arguments->content == CONTENT_REPLAYED)
        r = report_print_replayed(out, series, n_series, &options);
    else
        r = report_print(out, series, n_series, &options);
    if (r == -ENODATA && arguments->content == CONTENT_REPLAYED)
        complain("report replays from", path,
            "none of this choice replayed a published machine; 'shoal bench --machine' does");
    else if (r == -ENODATA)
        complain("compare results from", path,
            "none of this choice copied as much as the published machines did; "
            "'shoal bench' does, with its workload 'insight'");
    else if (r < 0)
        cli_error("cannot print the report: %s", strerror(-r));
    return r < 0 ? EXIT_SOME_FAILED : EXIT_OK;
}

/* Says that there is nothing to report, and what to do about it. */
static void complain_of_nothing(const struct arguments *arguments, const char *path)
{
    size_t stem = strlen(path) - strlen(".db");
    _cleanup_free_ char *json = NULL, *quoted = NULL, *reason = NULL;

    /* Where the results were before there was a database. */
    if (!arguments->db && asprintf(&json, "%.*s.json", (int)stem, path) < 0)
        json = NULL;
    if (json && access(json, F_OK) == 0)
        quoted = quote_name(json);
    if (quoted && asprintf(&reason,
                      "no results are there; 'shoal report --import FILE' takes over those of an "
                      "older program in %s",
                      quoted) < 0)
        reason = NULL;
    complain("report from", path,
        reason ? reason
               : "no results are there; 'shoal bench' makes some, "
                 "'shoal report --reference' prints the published ones");
}

/* Prints what of the series is of the methods asked for. */
static int print_group(FILE *out, const struct arguments *arguments,
    const struct series *const *series, size_t n_series, const char *path)
{
    struct group group;
    int r = group_make(series, n_series, &arguments->methods, &group);

    if (r < 0) {
        cli_error("cannot print the report: %s", strerror(-r));
        return EXIT_SOME_FAILED;
    }
    int code = EXIT_SOME_FAILED;
    if (group.n > 0)
        code = print_content(out, arguments, group.pointers, group.n, path);
    else
        complain("report from", path, "no series there is of these workloads and methods");
    group_free(&group);
    return code;
}

static int print_results(
    FILE *out, const struct arguments *arguments, const struct results *results, const char *path)
{
    size_t n = 0;

    if (results->n_series == 0) {
        complain_of_nothing(arguments, path);
        return EXIT_SOME_FAILED;
    }
    if (!are_ids_there(arguments, results, path))
        return EXIT_SOME_FAILED;
    _cleanup_free_ const struct series **series = calloc(results->n_series, sizeof(*series));
    if (!series) {
        cli_error("cannot print the report: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    for (size_t i = 0; i < results->n_series; i++)
        if (is_chosen(arguments, results, i))
            series[n++] = &results->series[i];
    if (arguments->methods.n == 0 && n > 0)
        return print_content(out, arguments, series, n, path);
    return print_group(out, arguments, series, n, path);
}

static int report_results(FILE *out, const struct arguments *arguments)
{
    _cleanup_free_ char *path = arguments->db ? strdup(arguments->db) : results_default_path();
    struct results *results = NULL;

    if (!path) {
        cli_error("cannot tell where the results are: neither XDG_DATA_HOME nor HOME says it; "
                  "use --db");
        return EXIT_SOME_FAILED;
    }
    if (arguments->content == CONTENT_IMPORT)
        return exchange_import(arguments->file, path);
    if (load(path, &results) < 0)
        return EXIT_SOME_FAILED;
    int code = print_results(out, arguments, results, path);
    results_free(results);
    return code;
}

static int report_reference(FILE *out, const struct arguments *arguments)
{
    const struct report_options options = make_options(arguments);
    int r = report_print_reference(out, &options);

    if (r < 0)
        cli_error("cannot print the report: %s", strerror(-r));
    return r < 0 ? EXIT_SOME_FAILED : EXIT_OK;
}

static int report(FILE *out, const struct arguments *arguments)
{
    return arguments->content == CONTENT_REFERENCE ? report_reference(out, arguments)
                                                   : report_results(out, arguments);
}

static int write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "we");

    if (!file)
        return -errno;
    size_t written = fwrite(text, 1, size, file);
    int r = written < size ? -errno : 0;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    return r;
}

/* The file is opened when the report is there: one that cannot be made leaves the file as it was.
 */
static int report_to_file(const struct arguments *arguments)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    int code = out ? report(out, arguments) : EXIT_SOME_FAILED;
    if (!out || fclose(out) != 0) {
        cli_error("cannot print the report: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    if (code != EXIT_OK)
        return code;
    int r = write_file(arguments->output, text, size);
    if (r < 0)
        complain("write the report to", arguments->output, strerror(-r));
    return r < 0 ? EXIT_SOME_FAILED : EXIT_OK;
}

int command_report(int argc, char **argv)
{
    size_t room = (size_t)argc;
    _cleanup_free_ const char **ids = calloc(3 * room, sizeof(*ids));
    struct arguments arguments = {
        .ids = ids,
        .workloads.all = ids ? ids + room : NULL,
        .methods.all = ids ? ids + 2 * room : NULL,
    };

    argp_err_exit_status = EXIT_USAGE;
    if (!ids || argp_parse(&parser, argc, argv, ARGP_NO_HELP, NULL, &arguments) != 0) {
        cli_error("cannot read the options: %s", strerror(ENOMEM));
        return EXIT_SOME_FAILED;
    }
    return cli_finish(arguments.output ? report_to_file(&arguments) : report(stdout, &arguments));
}
