#include "report/html_lines.h"

#include <math.h>
#include <stdbool.h>

#include "report/html.h"
#include "report/scale.h"
#include "report/table.h"

/* Lines are told apart by colour (report.css) and by the shape of their points. */
enum { N_COLOURS = 6, N_SHAPES = 4 };

static const char *const shapes[N_SHAPES] = {
    "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
    "M-4,-4h8v8h-8z",
    "M0,-5.5l5.2,9h-10.4z",
    "M0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
};

struct axes {
    struct scale x, y;
};

static struct axes make_axes(const struct table *table)
{
    double least_x = INFINITY, most_x = 0, least_y = INFINITY, most_y = 0;

    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        if (!row->has_mark)
            continue;
        least_x = fmin(least_x, row->mark.at);
        most_x = fmax(most_x, row->mark.at);
        least_y = fmin(least_y, row->mark.value);
        most_y = fmax(most_y, row->mark.value);
    }
    return (struct axes){
        .x = scale_of_decades(UNIT_KB_PER_SECOND, least_x, most_x),
        .y = scale_of_decades(table->unit, least_y, most_y),
    };
}

static double place_x(const struct axes *axes, const struct table_row *row)
{
    return scale_percent(&axes->x, row->mark.at);
}

static double place_y(const struct axes *axes, const struct table_row *row)
{
    return 100 - scale_percent(&axes->y, row->mark.value);
}

static char *format_size(char *buffer, double kb)
{
    return kb < 1 ? format_ratio(buffer, kb) : format_whole(buffer, kb);
}

static void print_axes(FILE *out, const struct axes *axes)
{
    char figure[FIGURE_SIZE];

    for (size_t i = 0; i < axes->x.n_ticks; i++) {
        double x = scale_percent(&axes->x, axes->x.ticks[i]);
        (void)fprintf(out,
            "<line class=\"grid\" x1=\"%.3f%%\" x2=\"%.3f%%\" y2=\"100%%\"/>"
            "<text x=\"%.3f%%\" y=\"100%%\" dy=\"18\" text-anchor=\"middle\"%s>%s</text>",
            x, x, x, i % 2 == 1 ? " class=\"odd\"" : "", format_size(figure, axes->x.ticks[i]));
    }
    for (size_t i = 0; i < axes->y.n_ticks; i++) {
        double y = 100 - scale_percent(&axes->y, axes->y.ticks[i]);
        (void)fprintf(out,
            "<line class=\"grid\" x2=\"100%%\" y1=\"%.3f%%\" y2=\"%.3f%%\"/>"
            "<text x=\"-8\" y=\"%.3f%%\" dy=\"4\" text-anchor=\"end\">%s</text>",
            y, y, y, format_in_unit(figure, axes->y.unit, axes->y.ticks[i]));
    }
}

static void print_point(struct page *page, const struct table *table, const struct axes *axes,
    const struct table_row *row, size_t line)
{
    FILE *out = page->out;
    char value[FIGURE_SIZE];
    unsigned id = page->n_ids++;

    (void)fprintf(out,
        "<svg class=\"point\" role=\"img\" tabindex=\"0\" aria-labelledby=\"n%u\" x=\"%.3f%%\" "
        "y=\"%.3f%%\"><title id=\"n%u\">",
        id, place_x(axes, row), place_y(axes, row), id);
    html_print_label(out, table, row);
    (void)fprintf(out, ": %s KB a file, %s%s</title><path d=\"%s\"/></svg>", row->cells[3].text,
        format_in_unit(value, table->unit, row->mark.value), unit_suffix(table->unit),
        shapes[line % N_SHAPES]);
}

/* Prints the line that begins with rows[at]; returns where the next one may begin. */
static size_t print_line(
    struct page *page, const struct table *table, const struct axes *axes, size_t at, size_t line)
{
    size_t end = at;

    (void)fprintf(page->out, "<g class=\"line c%zu\">", line % N_COLOURS);
    for (; end < table->n_rows && table->rows[end].cells; end++) {
        const struct table_row *row = &table->rows[end];
        if (end > at)
            (void)fprintf(page->out,
                "<line x1=\"%.3f%%\" y1=\"%.3f%%\" x2=\"%.3f%%\" y2=\"%.3f%%\"/>",
                place_x(axes, row - 1), place_y(axes, row - 1), place_x(axes, row),
                place_y(axes, row));
    }
    for (size_t i = at; i < end; i++)
        print_point(page, table, axes, &table->rows[i], line);
    (void)fputs("</g>\n", page->out);
    return end + 1;
}

/* The lines' names, each with its colour and shape. */
static void print_keys(FILE *out, const struct table *table)
{
    bool is_first = true;
    size_t line = 0;

    (void)fputs("<ul class=\"keys\">\n", out);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        if (row->cells && is_first) {
            (void)fprintf(out,
                "<li><svg class=\"line c%zu\" width=\"14\" height=\"14\" viewBox=\"-7 -7 14 14\" "
                "aria-hidden=\"true\"><path d=\"%s\"/></svg> ",
                line % N_COLOURS, shapes[line % N_SHAPES]);
            html_print_text(out, row->cells[0].text);
            (void)fputs("</li>\n", out);
            line++;
        }
        is_first = !row->cells;
    }
    (void)fputs("</ul>\n", out);
}

void html_print_lines(struct page *page, const struct table *table)
{
    struct axes axes = make_axes(table);
    FILE *out = page->out;
    unsigned id = page->n_ids++;

    (void)fprintf(out,
        "<figure class=\"chart lines\" role=\"group\" aria-labelledby=\"c%u\">\n"
        "<figcaption id=\"c%u\">Files per second (upward) against the mean size of a file in KB "
        "(rightward), both on logarithmic scales. Higher is faster.</figcaption>\n",
        id, id);
    print_keys(out, table);
    (void)fputs("<div class=\"plot\"><svg height=\"340\">\n", out);
    print_axes(out, &axes);
    for (size_t at = 0, line = 0; at < table->n_rows; line++)
        at = print_line(page, table, &axes, at, line);
    (void)fputs("</svg></div>\n</figure>\n", out);
}
