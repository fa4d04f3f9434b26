#include "model/reference.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/reference_data.h"

/* -EBADMSG with its reason; where memory for the reason is out, without. */
__attribute__((format(printf, 2, 3))) static int bad(char **ret_why, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(ret_why, format, arguments) < 0)
        *ret_why = NULL;
    va_end(arguments);
    return -EBADMSG;
}

/* A JSON object or array that lacks what json_unpack_ex() was to find in it. */
static int bad_json(char **ret_why, const char *what, const json_error_t *error)
{
    return bad(ret_why, "%s: %s", what, error->text);
}

/* Reads an optional figure: null leaves 0 and *ret_has false. */
static int parse_figure(const json_t *json, bool *ret_has, unsigned *ret)
{
    json_int_t value = json_integer_value(json);

    if (json_is_null(json)) {
        *ret_has = false;
        *ret = 0;
        return 0;
    }
    if (!json_is_integer(json) || value < 1 || value > UINT_MAX)
        return -EBADMSG;
    *ret_has = true;
    *ret = (unsigned)value;
    return 0;
}

static bool drive_is_well_formed(const char *drive)
{
    size_t digits = strspn(drive, "0123456789");
    return digits > 0 && drive[0] != '0' && strcmp(drive + digits, "X") == 0;
}

static int parse_cell(json_t *json, const struct reference *reference,
    const struct reference_machine *machine, struct reference_cell *ret, char **ret_why)
{
    json_error_t error;
    json_t *seconds, *rate;
    bool has_rate;

    if (json_unpack_ex(json, &error, 0, "{s:s, s:o, s:o}", "drive", &ret->drive, "seconds",
            &seconds, "rate", &rate) < 0)
        return bad_json(ret_why, machine->machine, &error);
    if (!drive_is_well_formed(ret->drive))
        return bad(ret_why, "%s: '%s' is not a drive", machine->machine, ret->drive);
    if (reference_machine_find(machine, ret->drive))
        return bad(ret_why, "%s: two cells for %s", machine->machine, ret->drive);
    if (parse_figure(seconds, &ret->has_figures, &ret->seconds) < 0 ||
        parse_figure(rate, &has_rate, &ret->rate_kb_s) < 0)
        return bad(ret_why, "%s, %s: not a figure", machine->machine, ret->drive);
    if (has_rate != ret->has_figures)
        return bad(ret_why, "%s, %s: half blank", machine->machine, ret->drive);
    if (has_rate && fabs((double)reference->kb / ret->seconds - ret->rate_kb_s) > 1)
        return bad(
            ret_why, "%s, %s: the rate is not that of the time", machine->machine, ret->drive);
    return 0;
}

static int parse_machine(
    json_t *json, const struct reference *reference, struct reference_machine *ret, char **ret_why)
{
    json_error_t error;
    json_t *summary_name, *cells, *cell;
    int table;
    size_t i;

    if (json_unpack_ex(json, &error, 0, "{s:i, s:s, s:s, s:o, s:o}", "table", &table, "machine",
            &ret->machine, "title", &ret->title, "summary_name", &summary_name, "cells",
            &cells) < 0)
        return bad_json(ret_why, "machine", &error);
    if (table < 1 || !(json_is_null(summary_name) || json_is_string(summary_name)) ||
        json_array_size(cells) == 0)
        return bad(ret_why, "%s: not a machine", ret->machine);
    ret->table = (unsigned)table;
    ret->summary_name = json_string_value(summary_name);
    ret->cells = calloc(json_array_size(cells), sizeof(*ret->cells));
    if (!ret->cells)
        return -ENOMEM;
    json_array_foreach(cells, i, cell)
    {
        struct reference_cell parsed;
        int r = parse_cell(cell, reference, ret, &parsed, ret_why);
        if (r < 0)
            return r;
        ret->cells[ret->n_cells++] = parsed;
    }
    return 0;
}

static int parse_machines(json_t *json, struct reference *reference, char **ret_why)
{
    json_t *machine;
    size_t i;

    if (json_array_size(json) == 0)
        return bad(ret_why, "machines: none");
    reference->machines = calloc(json_array_size(json), sizeof(*reference->machines));
    if (!reference->machines)
        return -ENOMEM;
    json_array_foreach(json, i, machine)
    {
        reference->n_machines =
            i + 1; /* counted first: what a machine allocated before it fails is freed */
        int r = parse_machine(machine, reference, &reference->machines[i], ret_why);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_summaries(json_t *json, struct reference *reference, char **ret_why)
{
    json_error_t error;
    json_t *summary;
    size_t i;

    if (!json_is_array(json))
        return bad(ret_why, "summary_tables: not an array");
    reference->summaries = calloc(json_array_size(json) + 1, sizeof(*reference->summaries));
    if (!reference->summaries)
        return -ENOMEM;
    json_array_foreach(json, i, summary)
    {
        struct reference_summary *ret = &reference->summaries[i];
        int table;
        if (json_unpack_ex(summary, &error, 0, "{s:i, s:s, s:s, s:s}", "table", &table, "drive",
                &ret->drive, "title", &ret->title, "caption", &ret->caption) < 0)
            return bad_json(ret_why, "summary_tables", &error);
        if (table < 1)
            return bad(ret_why, "summary_tables: table %d", table);
        ret->table = (unsigned)table;
        reference->n_summaries = i + 1;
    }
    return 0;
}

static int find_yardstick(
    struct reference *reference, const char *name, const char *drive, char **ret_why)
{
    for (size_t i = 0; i < reference->n_machines; i++) {
        if (strcmp(reference->machines[i].machine, name) != 0)
            continue;
        reference->yardstick = reference_machine_find(&reference->machines[i], drive);
        if (reference->yardstick && reference->yardstick->has_figures)
            return 0;
    }
    return bad(ret_why, "yardstick: no figures of %s with %s", name, drive);
}

static int parse_root(struct reference *reference, char **ret_why)
{
    json_error_t error;
    json_t *machines, *summaries;
    const char *schema, *machine, *drive;
    json_int_t files, kb;
    int version;

    if (json_unpack_ex(reference->json, &error, 0,
            "{s:s, s:i, s:s, s:s, s:{s:s, s:s, s:I, s:I}, s:{s:s, s:s, s:s}, s:o, s:o}", "schema",
            &schema, "version", &version, "title", &reference->title, "command",
            &reference->command, "workload", "name", &reference->workload, "from",
            &reference->workload_from, "files", &files, "kb", &kb, "yardstick", "machine", &machine,
            "drive", &drive, "short_name", &reference->yardstick_name, "machines", &machines,
            "summary_tables", &summaries) < 0)
        return bad_json(ret_why, "reference", &error);
    if (strcmp(schema, "shoal-reference") != 0 || version != 1)
        return bad(ret_why, "schema '%s', version %d", schema, version);
    if (files < 1 || kb < 1)
        return bad(ret_why, "workload: no files");
    reference->files = (uint64_t)files;
    reference->kb = (uint64_t)kb;
    int r = parse_machines(machines, reference, ret_why);
    if (r < 0)
        return r;
    r = parse_summaries(summaries, reference, ret_why);
    return r < 0 ? r : find_yardstick(reference, machine, drive, ret_why);
}

int reference_parse(const char *text, size_t length, struct reference **ret, char **ret_why)
{
    json_error_t error;
    _cleanup_(cleanup_reference_p) struct reference *reference = calloc(1, sizeof(*reference));

    *ret_why = NULL;
    if (!reference)
        return -ENOMEM;
    reference->json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!reference->json && json_error_code(&error) == json_error_out_of_memory)
        return -ENOMEM;
    if (!reference->json)
        return bad(ret_why, "line %d: %s", error.line, error.text);
    int r = parse_root(reference, ret_why);
    if (r < 0)
        return r;
    *ret = TAKE_PTR(reference);
    return 0;
}

int reference_load(struct reference **ret, char **ret_why)
{
    size_t length;
    const char *text = reference_data(&length);
    return reference_parse(text, length, ret, ret_why);
}

void reference_free(struct reference *reference)
{
    if (!reference)
        return;
    for (size_t i = 0; i < reference->n_machines; i++)
        free(reference->machines[i].cells);
    free(reference->machines);
    free(reference->summaries);
    json_decref(reference->json);
    free(reference);
}

const struct reference_cell *reference_machine_find(
    const struct reference_machine *machine, const char *drive)
{
    for (size_t i = 0; i < machine->n_cells; i++)
        if (strcmp(machine->cells[i].drive, drive) == 0)
            return &machine->cells[i];
    return NULL;
}

size_t reference_summary_rank(const struct reference *reference,
    const struct reference_summary *summary, const struct reference_machine **rows)
{
    size_t n = 0;

    for (size_t i = 0; i < reference->n_machines; i++) {
        const struct reference_machine *machine = &reference->machines[i];
        const struct reference_cell *cell = reference_machine_find(machine, summary->drive);
        if (!machine->summary_name || !cell || !cell->has_figures)
            continue;
        size_t at = n++;
        for (; at > 0; at--) { /* insertion: few rows, and equals stay in order */
            if (reference_machine_find(rows[at - 1], summary->drive)->seconds <= cell->seconds)
                break;
            rows[at] = rows[at - 1];
        }
        rows[at] = machine;
    }
    return n;
}
