/* Charts of rows: a label, a track along which something is drawn, and a figure. */
#include "report/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/html_lines.h"
#include "report/scale.h"
#include "report/table.h"

/* Heights in pixels, the same as in report.css. */
enum { TRACK_HEIGHT = 26, BAR_TOP = 5, BAR_HEIGHT = 16, PAIR_HEIGHT = 9, DOT_RADIUS = 5 };

typedef void print_function(FILE *out, const struct table *table, const struct table_row *row);

static void print_value(FILE *out, const struct table *table, double value)
{
    char figure[FIGURE_SIZE];

    (void)fprintf(
        out, "%s%s", format_in_unit(figure, table->unit, value), unit_suffix(table->unit));
}

static void print_interval(FILE *out, const struct table *table, const struct table_mark *mark)
{
    char low[FIGURE_SIZE], high[FIGURE_SIZE];

    if (mark->high > 0)
        (void)fprintf(out, "95%% interval %s to %s%s", format_in_unit(low, table->unit, mark->low),
            format_in_unit(high, table->unit, mark->high), unit_suffix(table->unit));
    else
        (void)fputs("no interval", out);
}

/* What a bar says: "shoal, ext4 warm: 76289 KB/s". */
static void print_bar_title(FILE *out, const struct table *table, const struct table_row *row)
{
    html_print_label(out, table, row);
    (void)fputs(": ", out);
    print_value(out, table, row->mark.value);
}

static void print_bar_details(FILE *out, const struct table *table, const struct table_row *row)
{
    print_interval(out, table, &row->mark);
}

static void print_pair_details(FILE *out, const struct table *table, const struct table_row *row)
{
    (void)fprintf(out, "%s ", table->pair[0]);
    print_value(out, table, row->mark.value);
    (void)fprintf(out, ", %s ", table->pair[1]);
    print_value(out, table, row->mark.beside);
}

static void print_label_title(FILE *out, const struct table *table, const struct table_row *row)
{
    html_print_label(out, table, row);
}

/* A group of neighbours with the same label. */
static size_t count_same_label(const struct table *table, size_t at)
{
    size_t n = 0, first, end = table_label_columns(table, &first);

    for (; at + n < table->n_rows && table->rows[at + n].cells; n++)
        for (size_t i = first; i < end; i++)
            if (strcmp(table->rows[at + n].cells[i].text, table->rows[at].cells[i].text) != 0)
                return n;
    return n;
}

static void print_run_details(FILE *out, const struct table *table, const struct table_row *row)
{
    size_t n = count_same_label(table, (size_t)(row - table->rows));

    (void)fprintf(out, "%zu run%s: ", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            (void)fputs(", ", out);
        print_value(out, table, row[i].mark.value);
    }
}

static void print_row_label(FILE *out, const struct table *table, const struct table_row *row)
{
    size_t first, end = table_label_columns(table, &first);

    (void)fputs("<span class=\"label\" aria-hidden=\"true\">", out);
    html_print_text(out, row->cells[first].text);
    for (size_t i = first + 1; i < end; i++) {
        (void)fputs(" <small>", out);
        html_print_text(out, row->cells[i].text);
        (void)fputs("</small>", out);
    }
    (void)fputs("</span>\n", out);
}

static void print_grid(FILE *out, const struct scale *scale)
{
    for (size_t i = 0; i < scale->n_ticks; i++)
        (void)fprintf(out, "<line class=\"grid\" x1=\"%.3f%%\" x2=\"%.3f%%\" y2=\"100%%\"/>",
            scale_percent(scale, scale->ticks[i]), scale_percent(scale, scale->ticks[i]));
}

/* The label and an open <svg>, named for all readers, before the scale's lines. */
static void begin_track(struct page *page, const struct table *table, const struct table_row *row,
    const struct scale *scale, print_function *const texts[2])
{
    FILE *out = page->out;
    unsigned id = page->n_ids++;

    print_row_label(out, table, row);
    (void)fputs("<div class=\"track\"><svg class=\"behind\" aria-hidden=\"true\">", out);
    print_grid(out, scale);
    (void)fprintf(out,
        "</svg><svg role=\"img\" tabindex=\"0\" aria-labelledby=\"n%u\" "
        "aria-describedby=\"d%u\" height=\"%d\"><title id=\"n%u\">",
        id, id, TRACK_HEIGHT, id);
    texts[0](out, table, row);
    (void)fprintf(out, "</title><desc id=\"d%u\">", id);
    texts[1](out, table, row);
    (void)fputs("</desc>", out);
}

/* Ends what begin_track() began: what the track says is shown to those who point at it or reach it
 * by keyboard, and `figure` stands beside it. */
static void end_track(struct page *page, const struct table *table, const struct table_row *row,
    print_function *const texts[2], const char *figure)
{
    FILE *out = page->out;

    (void)fputs("</svg><span class=\"tip\" aria-hidden=\"true\">", out);
    texts[0](out, table, row);
    (void)fputs("; ", out);
    texts[1](out, table, row);
    (void)fprintf(
        out, "</span></div>\n<span class=\"value\" aria-hidden=\"true\">%s</span>\n", figure);
}

static void print_axis(FILE *out, const struct scale *scale)
{
    char figure[FIGURE_SIZE];

    (void)fputs("<svg class=\"axis\" aria-hidden=\"true\" height=\"20\">", out);
    for (size_t i = 0; i < scale->n_ticks; i++) {
        double percent = scale_percent(scale, scale->ticks[i]);
        const char *anchor = percent > 0 && percent < 4 ? "start" : "middle";
        (void)fprintf(out, "<text x=\"%.3f%%\" y=\"14\" text-anchor=\"%s\"%s>%s</text>", percent,
            anchor, i % 2 == 1 ? " class=\"odd\"" : "",
            format_in_unit(figure, scale->unit, scale->ticks[i]));
    }
    (void)fputs("</svg>\n", out);
}

/* A whisker at that height, of that half-height at its ends. */
static void print_whisker(
    FILE *out, const struct scale *scale, const struct table_mark *mark, int middle)
{
    if (mark->high <= 0)
        return;
    double low = scale_percent(scale, mark->low), high = scale_percent(scale, mark->high);
    (void)fprintf(out,
        "<g class=\"whisker\"><line x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%d\" y2=\"%d\"/>"
        "<line x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%d\" y2=\"%d\"/>"
        "<line x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%d\" y2=\"%d\"/></g>",
        low, high, middle, middle, low, low, middle - 4, middle + 4, high, high, middle - 4,
        middle + 4);
}

static void begin_figure(struct page *page, const char *kind, const char *caption)
{
    unsigned id = page->n_ids++;

    (void)fprintf(page->out,
        "<figure class=\"chart %s\" role=\"group\" aria-labelledby=\"c%u\">\n"
        "<figcaption id=\"c%u\">%s</figcaption>\n<div class=\"rows\">\n",
        kind, id, id, caption);
}

static void end_figure(struct page *page, const struct scale *scale)
{
    print_axis(page->out, scale);
    (void)fputs("</div>\n</figure>\n", page->out);
}

/* Whether this machine's rows stand among others. */
static bool has_own(const struct table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].mark.is_own)
            return true;
    return false;
}

static const char *bar_class(const struct table *table, const struct table_row *row)
{
    return has_own(table) && !row->mark.is_own ? "bar other" : "bar";
}

static bool has_interval(const struct table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].mark.high > 0)
            return true;
    return false;
}

static void print_group_gap(FILE *out)
{
    (void)fputs("<span class=\"gap\"></span>\n", out);
}

static void print_bars(struct page *page, const struct table *table)
{
    static print_function *const texts[] = {print_bar_title, print_bar_details};
    struct scale scale =
        scale_from_zero(table->unit, fmax(table->scale_to, table_largest_mark(table)));
    char figure[FIGURE_SIZE];

    begin_figure(page, "bars",
        has_interval(table)
            ? "Data rate in KB/s: the median, and a line over its 95% interval. Longer is faster."
            : "Data rate in KB/s. Longer is faster.");
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        if (!row->cells)
            print_group_gap(page->out);
        if (!row->has_mark)
            continue;
        begin_track(page, table, row, &scale, texts);
        (void)fprintf(page->out,
            "<rect class=\"%s\" y=\"%d\" width=\"%.3f%%\" height=\"%d\" rx=\"1\"/>",
            bar_class(table, row), BAR_TOP, scale_percent(&scale, row->mark.value), BAR_HEIGHT);
        print_whisker(page->out, &scale, &row->mark, TRACK_HEIGHT / 2);
        end_track(page, table, row, texts, format_in_unit(figure, table->unit, row->mark.value));
    }
    end_figure(page, &scale);
}

/* The least value that is drawn; INFINITY of none. */
static double least_mark(const struct table *table)
{
    double least = INFINITY;

    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_mark *mark = &table->rows[i].mark;
        if (mark->value > 0)
            least = fmin(least, mark->high > 0 ? fmin(mark->low, mark->value) : mark->value);
    }
    return least;
}

static void print_dots(struct page *page, const struct table *table)
{
    static print_function *const texts[] = {print_bar_title, print_bar_details};
    struct scale scale =
        scale_of_decades(table->unit, least_mark(table), table_largest_mark(table));
    char figure[FIGURE_SIZE];

    begin_figure(page, "dots",
        "The same rates in KB/s on a logarithmic scale, which parts the slower ones.");
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        if (!row->has_mark || row->mark.value <= 0)
            continue;
        double percent = scale_percent(&scale, row->mark.value);
        begin_track(page, table, row, &scale, texts);
        (void)fprintf(page->out,
            "<line class=\"guide\" x2=\"%.3f%%\" y1=\"%d\" y2=\"%d\"/>"
            "<circle class=\"%s\" cx=\"%.3f%%\" cy=\"%d\" r=\"%d\"/>",
            percent, TRACK_HEIGHT / 2, TRACK_HEIGHT / 2, bar_class(table, row), percent,
            TRACK_HEIGHT / 2, DOT_RADIUS);
        end_track(page, table, row, texts, format_in_unit(figure, table->unit, row->mark.value));
    }
    end_figure(page, &scale);
}

static void print_pairs(struct page *page, const struct table *table)
{
    static print_function *const texts[] = {print_label_title, print_pair_details};
    struct scale scale = scale_from_zero(table->unit, table_largest_mark(table));
    char figures[2][FIGURE_SIZE], figure[3 * FIGURE_SIZE], legend[256];

    (void)snprintf(legend, sizeof(legend),
        "Data rate in KB/s: <span class=\"key small\">%s</span> and "
        "<span class=\"key large\">%s</span>. Longer is faster.",
        table->pair[0], table->pair[1]);
    begin_figure(page, "pairs", legend);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        if (!row->has_mark)
            continue;
        begin_track(page, table, row, &scale, texts);
        (void)fprintf(page->out,
            "<rect class=\"bar\" y=\"3\" width=\"%.3f%%\" height=\"%d\" rx=\"1\"/>"
            "<rect class=\"bar large\" y=\"%d\" width=\"%.3f%%\" height=\"%d\" rx=\"1\"/>",
            scale_percent(&scale, row->mark.value), PAIR_HEIGHT, 4 + PAIR_HEIGHT,
            scale_percent(&scale, row->mark.beside), PAIR_HEIGHT);
        (void)snprintf(figure, sizeof(figure), "%s<br>%s",
            format_in_unit(figures[0], table->unit, row->mark.value),
            format_in_unit(figures[1], table->unit, row->mark.beside));
        end_track(page, table, row, texts, figure);
    }
    end_figure(page, &scale);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle of the runs' values; `room` holds one for each. */
static double runs_median(const struct table_row *rows, size_t n, double *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = rows[i].mark.value;
    qsort(room, n, sizeof(*room), compare_doubles);
    return n % 2 == 1 ? room[n / 2] : (room[n / 2 - 1] + room[n / 2]) / 2;
}

/* One method's runs, neighbours at different heights so that equal ones can be told apart. */
static void print_run_dots(
    struct page *page, const struct scale *scale, const struct table_row *rows, size_t n)
{
    static const int heights[] = {TRACK_HEIGHT / 2, TRACK_HEIGHT / 2 - 5, TRACK_HEIGHT / 2 + 5};
    char figure[FIGURE_SIZE];

    for (size_t i = 0; i < n; i++)
        (void)fprintf(page->out,
            "<circle class=\"run\" cx=\"%.3f%%\" cy=\"%d\" r=\"4\"><title>Block %s: "
            "%s</title></circle>",
            scale_percent(scale, rows[i].mark.value), heights[i % ELEMENTS(heights)],
            rows[i].cells[2].text, format_in_unit(figure, scale->unit, rows[i].mark.value));
}

static int print_runs(struct page *page, const struct table *table)
{
    static print_function *const texts[] = {print_label_title, print_run_details};
    struct scale scale = scale_around(table->unit, least_mark(table), table_largest_mark(table));
    _cleanup_free_ double *room = calloc(table->n_rows, sizeof(*room));
    char figure[FIGURE_SIZE];
    size_t n;

    if (!room)
        return -ENOMEM;
    begin_figure(page, "runs",
        scale.is_logarithmic
            ? "A dot for each run, a bar across at their median. The times are on a logarithmic "
              "scale. Further left is faster."
            : "A dot for each run, a bar across at their median. The times do not begin at 0. "
              "Further left is faster.");
    for (size_t i = 0; i < table->n_rows; i += n) {
        const struct table_row *row = &table->rows[i];
        n = row->cells ? count_same_label(table, i) : 1;
        if (!row->cells) {
            print_group_gap(page->out);
            continue;
        }
        double median = runs_median(row, n, room);
        begin_track(page, table, row, &scale, texts);
        print_run_dots(page, &scale, row, n);
        (void)fprintf(page->out,
            "<line class=\"median\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"2\" y2=\"24\"/>",
            scale_percent(&scale, median), scale_percent(&scale, median));
        end_track(page, table, row, texts, format_in_unit(figure, table->unit, median));
    }
    end_figure(page, &scale);
    return 0;
}

int html_print_chart(struct page *page, const struct table *table)
{
    const double far_apart = 50; /* shorter bars than the largest's fiftieth tell nothing */

    if (!(table_largest_mark(table) > 0))
        return 0;
    switch (table->drawing) {
    case DRAW_NOTHING:
        break;
    case DRAW_BARS:
        print_bars(page, table);
        break;
    case DRAW_BARS_AND_DOTS:
        print_bars(page, table);
        if (table_largest_mark(table) > far_apart * least_mark(table))
            print_dots(page, table);
        break;
    case DRAW_PAIRS:
        print_pairs(page, table);
        break;
    case DRAW_RUNS:
        return print_runs(page, table);
    case DRAW_LINES:
        html_print_lines(page, table);
        break;
    }
    return 0;
}
