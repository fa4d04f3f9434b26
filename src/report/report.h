/* The tables of what was measured, in the form of the published ones, as text of at most 80
 * columns.
 *
 * Every function writes to `out` and returns 0 or a negative errno (-ENOMEM, or as said). A stream
 * that does not take what is written keeps its own error flag: the caller checks ferror(out) once,
 * at the end. Names from a results file are shown with control characters and invalid UTF-8 as '?'.
 *
 * Series are passed as an array of pointers, so that any choice from a results file can be shown;
 * what they point to stays the caller's and is only read. A bench that has just measured one series
 * says report_print(stdout, (const struct series *const[]){&series}, 1, NULL);
 *
 * What the tables mean. Time is the median of the samples' real time, m:ss, with three decimals
 * below one second and two below ten; On Disk is the same until everything was on the device too
 * (blank if not measured). Data Rate is KB of file content (1024 bytes) per second of that real
 * time, a whole number. Times as Long is the time as a multiple of the baseline's: the median of
 * the ratios of the samples that ran in the same block, and, of five and more, its 95% interval;
 * the ratio of the medians, and no interval, where no blocks are shared. Ranks are shared ("1=")
 * where the samples show no difference; a line below the table names each pair of such methods,
 * with the interval of their ratio (see report/ranking.h and results/statistics.h).
 *
 * A method is ranked if its copy is right (or was not checked, which a note says), it has samples,
 * and every sample exited 0. All others stand below the table with the reason, without rank or
 * figures. A row is one method from one source; a source is the file system type and whether the
 * cache was warm or cold, or an emulated drive. Warm and cold samples never meet in a row. Times of
 * a drive whose world ran N times as fast are of that world: N times what was measured. */
#ifndef SHOAL_REPORT_REPORT_H
#define SHOAL_REPORT_REPORT_H

#include <stddef.h>
#include <stdio.h>

struct series;

enum report_format {
    REPORT_TEXT,
    REPORT_MARKDOWN, /* as GitHub renders it */
    REPORT_CSV,      /* RFC 4180: one header line, then a line for each method of each series */
    REPORT_JSON,
    REPORT_HTML, /* one page that needs nothing else, with charts */
};

/* Bars in text: none, of '#', or of block elements in UTF-8. */
enum report_bars { BARS_NONE, BARS_ASCII, BARS_BLOCKS };

/* Zeroes are the defaults, and so is a NULL pointer. */
struct report_options {
    /* The method that Times as Long is relative to; NULL: "shoal". A series in which it is not
     * ranked takes its fastest method. A line below the table says which it is. */
    const char *baseline;
    enum report_format format;
    enum report_bars bars;
};

/* Everything there is to say of the series, of which there must be one: for each workload the
 * results of each system, with each source's methods fastest first, and each method's times off
 * each drive in the published form; then, where there is more than one series, a table for each
 * workload and source, of all systems and methods, fastest first; then the rates of many small
 * files beside those of one large file (a workload of one file) where both were measured for the
 * same system, source and destination. HTML has the single runs, too, and files per second by the
 * mean size of a file. CSV is all figures in one table. JSON is
 * {"schema": "shoal-report", "version": 1, "series": […]}, every series with its system and methods
 * in the order of the table, times in nanoseconds, rates unrounded. */
int report_print(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options);

/* The published tables, every figure as published: the machines (41, 27 to 31), then 32 and 33,
 * fastest first. CSV has the machines only, which the others repeat; JSON is the reference data
 * (data/sgi-small-files.json) itself. */
int report_print_reference(FILE *out, const struct report_options *options);

/* The published machines and this one's methods in one table, fastest first, with how many times
 * the Origin200's rate each has. Only series of the same amount of data (as many files, as many KB)
 * are shown, a table for each system. -ENODATA, and nothing printed, if there is none. JSON is of
 * schema "shoal-tables": {"tables": [{"title", "rows": [{…}]}]} with the keys that CSV has. */
int report_print_beside_reference(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options);

/* The published tables with what replays of the machines took beside each figure, and how far off
 * that is; only those of which there is a replay of the same amount of data, the last of each.
 * -ENODATA, and nothing printed, if there is none. CSV has the machines only. JSON as above. */
int report_print_replayed(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options);

/* A list of the series: id (whole, however long), when, workload, source, destination, how many
 * methods. JSON as above. */
int report_print_list(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options);

#endif
