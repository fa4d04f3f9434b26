/* The published tables with what a replay of their machines took beside each figure. */
#include "report/tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/reference.h"
#include "report/rankings.h"
#include "report/table.h"

static const struct table_column machine_columns[] = {
    {{"CDROM", "Speed"}, TABLE_LEFT, "drive"},
    {{"Published", "(m:ss)"}, TABLE_RIGHT, "published_ns"},
    {{"Replayed", "(m:ss)"}, TABLE_RIGHT, "replayed_ns"},
    {{"", "Error"}, TABLE_RIGHT, "error"},
    {{"Published", "Rate"}, TABLE_RIGHT, "published_kb_s"},
    {{"Replayed", "Rate"}, TABLE_RIGHT, "replayed_kb_s"},
};

static const struct table_column summary_columns[] = {
    {{"", "Machine"}, TABLE_LEFT, "machine"},
    {{"Published", "(m:ss)"}, TABLE_RIGHT, "published_ns"},
    {{"Replayed", "(m:ss)"}, TABLE_RIGHT, "replayed_ns"},
    {{"", "Error"}, TABLE_RIGHT, "error"},
    {{"Published", "Rate"}, TABLE_RIGHT, "published_kb_s"},
    {{"Replayed", "Rate"}, TABLE_RIGHT, "replayed_kb_s"},
};

/* The replay of a published cell: the last one, NULL if there is none that went well. */
static const struct standing *find_replay(
    const struct rankings *rankings, const char *machine, const char *drive)
{
    const struct standing *found = NULL;

    for (size_t i = 0; i < rankings->n; i++) {
        const struct series *series = rankings->all[i].series;
        if (rankings->all[i].n_ranked > 0 && strcmp(series->system.machine, machine) == 0 &&
            strcmp(series_state(series), drive) == 0)
            found = &rankings->all[i].standings[0];
    }
    return found;
}

static void add_row(struct table *table, const char *name, const struct reference_cell *cell,
    const struct standing *replay)
{
    char texts[5][FIGURE_SIZE] = {"", "", "", "", ""};
    double values[5] = {NAN, NAN, NAN, NAN, NAN};

    if (cell->has_figures) {
        values[0] = (double)cell->seconds * (double)NS_PER_SECOND;
        values[3] = cell->rate_kb_s;
        (void)format_duration(texts[0], cell->seconds * NS_PER_SECOND);
        (void)format_whole(texts[3], values[3]);
    }
    if (replay) {
        values[1] = (double)replay->real_ns;
        values[4] = replay->rate_kb_s;
        (void)format_duration(texts[1], replay->real_ns);
        (void)format_whole(texts[4], values[4]);
    }
    if (cell->has_figures && replay) {
        values[2] = values[1] / values[0] - 1;
        (void)snprintf(texts[2], FIGURE_SIZE, "%+.1f%%", values[2] * 100);
    }
    table_add_row(
        table, (const struct table_cell[]){CELL_TEXT(name), CELL_NUMBER(texts[0], values[0]),
                   CELL_NUMBER(texts[1], values[1]), CELL_NUMBER(texts[2], values[2]),
                   CELL_NUMBER(texts[3], values[3]), CELL_NUMBER(texts[4], values[4])});
    if (cell->has_figures && replay)
        table_set_mark(table, &(const struct table_mark){.value = values[3], .beside = values[4]});
}

static struct table *add_table(
    struct tables *tables, const struct table_column *columns, unsigned number)
{
    struct table *table = tables_add(tables, columns, ELEMENTS(machine_columns));

    if (table) {
        table->layout = LAYOUT_HEADED;
        table->drawing = DRAW_PAIRS;
        table->pair[0] = "published";
        table->pair[1] = "replayed";
        table->number = number;
    }
    return table;
}

static int add_machine(
    struct tables *tables, const struct reference_machine *machine, const struct rankings *rankings)
{
    struct table *table = add_table(tables, machine_columns, machine->table);

    if (!table)
        return -ENOMEM;
    table_set_title(table, "Results for %s", machine->title);
    for (size_t i = 0; i < machine->n_cells; i++) {
        const struct reference_cell *cell = &machine->cells[i];
        add_row(table, cell->drive, cell, find_replay(rankings, machine->machine, cell->drive));
    }
    return 0;
}

static int add_summary(struct tables *tables, const struct reference *reference,
    const struct reference_summary *summary, const struct rankings *rankings)
{
    _cleanup_free_ const struct reference_machine **rows =
        calloc(reference->n_machines, sizeof(*rows));
    struct table *table = add_table(tables, summary_columns, summary->table);

    if (!table || !rows)
        return -ENOMEM;
    table_set_title(table, "%s", summary->title);
    table_add_detail(table, "%s", summary->caption);
    size_t n = reference_summary_rank(reference, summary, rows);
    for (size_t i = 0; i < n; i++)
        add_row(table, rows[i]->summary_name, reference_machine_find(rows[i], summary->drive),
            find_replay(rankings, rows[i]->machine, summary->drive));
    return 0;
}

/* Whether a cell of the machine, or with `drive` of that drive's, was replayed. */
static bool has_replay(
    const struct rankings *rankings, const struct reference_machine *machine, const char *drive)
{
    for (size_t i = 0; i < machine->n_cells; i++)
        if ((!drive || strcmp(machine->cells[i].drive, drive) == 0) &&
            find_replay(rankings, machine->machine, machine->cells[i].drive))
            return true;
    return false;
}

/* What both kinds of tables are made of. */
struct replays {
    struct reference *reference;
    struct rankings rankings; /* of the replays of as much data as was published */
};

static void cleanup_replays_p(struct replays *replays)
{
    reference_free(replays->reference);
    cleanup_rankings_p(&replays->rankings);
}

static int replays_find(
    struct replays *replays, const struct series *const *series, size_t n_series)
{
    _cleanup_free_ const struct series **found = calloc(n_series + 1, sizeof(*found));
    _cleanup_free_ char *why = NULL; /* of the program's own data: nobody would read it */
    size_t n = 0;

    int r = found ? reference_load(&replays->reference, &why) : -ENOMEM;
    for (size_t i = 0; i < n_series && r == 0; i++)
        if (series_is_replay(series[i]) && is_like_reference(series[i], replays->reference))
            found[n++] = series[i];
    return r < 0 ? r : rankings_make(found, n, NULL, &replays->rankings);
}

int tables_make_replayed_machines(
    struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_replays_p) struct replays replays = {0};
    size_t n_before = tables->n;
    int r = replays_find(&replays, series, n_series);

    if (r == 0)
        tables_add_intro(tables,
            "A replay copies as much off an emulated drive, and charges what the model says that "
            "each file and KB cost the machine");
    for (size_t i = 0; r == 0 && i < replays.reference->n_machines; i++)
        if (has_replay(&replays.rankings, &replays.reference->machines[i], NULL))
            r = add_machine(tables, &replays.reference->machines[i], &replays.rankings);
    return r < 0 || tables->n > n_before ? r : -ENODATA;
}

/* Whether a machine of the summary was replayed with its drive. */
static bool summary_has_replay(
    const struct replays *replays, const struct reference_summary *summary)
{
    for (size_t i = 0; i < replays->reference->n_machines; i++) {
        const struct reference_machine *machine = &replays->reference->machines[i];
        if (machine->summary_name && has_replay(&replays->rankings, machine, summary->drive))
            return true;
    }
    return false;
}

int tables_make_replayed_summaries(
    struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_replays_p) struct replays replays = {0};
    int r = replays_find(&replays, series, n_series);

    for (size_t i = 0; r == 0 && i < replays.reference->n_summaries; i++) {
        const struct reference_summary *summary = &replays.reference->summaries[i];
        if (summary_has_replay(&replays, summary))
            r = add_summary(tables, replays.reference, summary, &replays.rankings);
    }
    return r;
}
