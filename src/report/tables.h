/* What tables there are: made from series and from the published figures. Each function adds to
 * `tables` and returns 0 or a negative errno (-ENOMEM, or as said); a failure of an addition is
 * kept in `tables`, for tables_error(). */
#ifndef SHOAL_REPORT_TABLES_H
#define SHOAL_REPORT_TABLES_H

#include <stddef.h>

struct series;
struct tables;

/* Title and intro: which systems, when. */
int tables_make_title(struct tables *tables, const struct series *const *series, size_t n_series);

/* A block for each system, workload and destination. */
int tables_make_blocks(struct tables *tables, const struct series *const *series, size_t n_series,
    const char *baseline);

/* The table of a published machine for each system, workload, destination and method that copied
 * off emulated drives: a row a drive. */
int tables_make_drives(struct tables *tables, const struct series *const *series, size_t n_series);

/* All systems and methods in one table, fastest first, for each workload and source. */
int tables_make_summaries(
    struct tables *tables, const struct series *const *series, size_t n_series);

/* Many small files beside one large file, wherever both were measured. */
int tables_make_contrasts(
    struct tables *tables, const struct series *const *series, size_t n_series);

/* Files per second against the mean size of a file, for each system, source and destination where
 * workloads of more than one mean size were measured. */
int tables_make_sizes(struct tables *tables, const struct series *const *series, size_t n_series);

/* Every run of the ranked methods, a table for each block. */
int tables_make_runs(struct tables *tables, const struct series *const *series, size_t n_series);

/* The series, a row each. */
int tables_make_list(struct tables *tables, const struct series *const *series, size_t n_series);

/* One table for programs: a row for each method of each series, with every figure. */
int tables_make_all_figures(struct tables *tables, const struct series *const *series,
    size_t n_series, const char *baseline);

/* The published tables of the machines, with title and intro. */
int tables_make_reference_machines(struct tables *tables);

/* The published summary tables: the machines ranked for one drive each. */
int tables_make_reference_summaries(struct tables *tables);

/* A table for each system that copied as much as the published machines did, with those.
 * -ENODATA if there is no such system. */
int tables_make_beside_reference(
    struct tables *tables, const struct series *const *series, size_t n_series);

/* The published tables of the machines with what their replays took beside each figure: those of
 * which a cell was replayed, the last time counts. -ENODATA if there is none. */
int tables_make_replayed_machines(
    struct tables *tables, const struct series *const *series, size_t n_series);

/* The published summaries in the same way; none is no error. */
int tables_make_replayed_summaries(
    struct tables *tables, const struct series *const *series, size_t n_series);

#endif
