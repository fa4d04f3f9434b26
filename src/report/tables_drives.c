/* What was copied off emulated drives, in the form of the published tables. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/rankings.h"
#include "report/table.h"
#include "report/tables.h"

static bool is_same_block_of_drives(const struct series *a, const struct series *b)
{
    return series_has_drive(a) && series_has_drive(b) && is_same_block(a, b);
}

static const struct standing *find_ranked(const struct ranking *ranking, const char *method)
{
    for (size_t i = 0; i < ranking->n_ranked; i++)
        if (strcmp(ranking->standings[i].method->name, method) == 0)
            return &ranking->standings[i];
    return NULL;
}

static void add_drive(
    struct table *table, const struct series *series, const struct standing *standing)
{
    char time[FIGURE_SIZE], rate[FIGURE_SIZE];

    table_add_row(
        table, (const struct table_cell[]){
                   CELL_TEXT(series->drive),
                   CELL_NUMBER(format_duration(time, standing->real_ns), standing->real_ns),
                   CELL_NUMBER(format_whole(rate, standing->rate_kb_s), standing->rate_kb_s),
               });
    table_set_mark(table, &(const struct table_mark){.value = standing->rate_kb_s});
}

/* A row for each drive that the method was measured with. */
static int add_method(struct tables *tables, const struct rankings *rankings,
    const struct series *block, const char *method)
{
    static const struct table_column columns[] = {
        {{"CDROM", "Speed"}, TABLE_LEFT, "drive"},
        {{"Time", "(m:ss)"}, TABLE_RIGHT, "real_ns"},
        {{"Data", "Rate"}, TABLE_RIGHT, "rate_kb_s"},
    };
    struct table *table = tables_add(tables, columns, ELEMENTS(columns));

    if (!table)
        return -ENOMEM;
    table->layout = LAYOUT_PUBLISHED_MACHINE;
    table->drawing = DRAW_BARS;
    table_set_title(table, "Results for %s, %s, %s", block->system.name, block->workload, method);
    for (size_t i = 0; i < rankings->n; i++) {
        const struct ranking *ranking = &rankings->all[i];
        const struct standing *standing = find_ranked(ranking, method);
        if (standing && is_same_block_of_drives(ranking->series, block))
            add_drive(table, ranking->series, standing);
    }
    return 0;
}

/* Whether an earlier series of the block has the method ranked, so that its table is there. */
static bool has_earlier_table(const struct rankings *rankings, size_t at, const char *method)
{
    for (size_t i = 0; i < at; i++)
        if (is_same_block_of_drives(rankings->all[i].series, rankings->all[at].series) &&
            find_ranked(&rankings->all[i], method))
            return true;
    return false;
}

int tables_make_drives(struct tables *tables, const struct series *const *series, size_t n_series)
{
    _cleanup_(cleanup_rankings_p) struct rankings rankings = {0};
    int r = rankings_make(series, n_series, NULL, &rankings);

    for (size_t i = 0; i < rankings.n && r == 0; i++) {
        const struct ranking *ranking = &rankings.all[i];
        for (size_t k = 0; series_has_drive(series[i]) && k < ranking->n_ranked && r == 0; k++) {
            const char *method = ranking->standings[k].method->name;
            if (!has_earlier_table(&rankings, i, method))
                r = add_method(tables, &rankings, series[i], method);
        }
    }
    return r;
}
