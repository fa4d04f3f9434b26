#include "report/render.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/table.h"
#include "report/text.h"

enum { BAR_LEAST = 6, BAR_MOST = 30 };

/* How a table is laid out. */
struct layout {
    size_t *widths; /* of the columns */
    unsigned gap;   /* blanks between them */
    size_t used;    /* columns of a whole line, without the bar */
    size_t bar;     /* columns of the largest value's bar, 0: there are no bars */
    double largest;
    enum report_bars bars;
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t column_width(const struct table *table, size_t column)
{
    const char *const *heads = table->columns[column].heads;
    size_t width = max_size(text_columns(heads[0]), text_columns(heads[1]));

    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].cells)
            width = max_size(width, text_columns(table->rows[i].cells[column].text));
    return width;
}

/* The widest column that may be cut by one more; n_columns if none may. */
static size_t column_to_cut(const struct table *table, const size_t *widths)
{
    enum { LEAST = 5 }; /* two characters and the mark that the rest is missing */
    size_t widest = table->n_columns;

    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].align == TABLE_LEFT && !table->columns[i].is_whole &&
            widths[i] > LEAST && (widest == table->n_columns || widths[i] > widths[widest]))
            widest = i;
    return widest;
}

/* Fills in the columns' widths and the blanks between them. */
static void lay_out_columns(const struct table *table, size_t width, struct layout *layout)
{
    size_t sum = 0, n_gaps = table->n_columns - 1;

    for (size_t i = 0; i < table->n_columns; i++)
        sum += layout->widths[i] = column_width(table, i);
    layout->gap = 2;
    if (sum + 2 * n_gaps > width) {
        layout->gap = 1;
        for (; sum + n_gaps > width; sum--) {
            size_t cut = column_to_cut(table, layout->widths);
            if (cut == table->n_columns)
                break;
            layout->widths[cut]--;
        }
    }
    layout->used = sum + layout->gap * n_gaps;
}

static void lay_out_bars(const struct table *table, size_t width, struct layout *layout)
{
    bool has_bars = table->drawing == DRAW_BARS || table->drawing == DRAW_BARS_AND_DOTS;
    size_t room = layout->used + 2 < width ? width - layout->used - 2 : 0;

    for (size_t i = 0; i < table->n_rows; i++)
        layout->largest = fmax(layout->largest, table->rows[i].mark.value);
    if (has_bars && layout->bars != BARS_NONE && layout->largest > 0 && room >= BAR_LEAST)
        layout->bar = room < BAR_MOST ? room : BAR_MOST;
}

/* Prints `blanks` and the bar, unless it is too short to be seen. */
static void print_bar(FILE *out, const struct layout *layout, size_t blanks, double value)
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
        "\u258a", "\u2589"}; /* LEFT ONE EIGHTH BLOCK and on */
    unsigned parts = layout->bars == BARS_BLOCKS ? 8 : 1;
    size_t n = (size_t)lround(value / layout->largest * (double)(layout->bar * parts));

    if (n == 0)
        return;
    (void)fprintf(out, "%*s", (int)blanks, "");
    for (size_t i = 0; i < n / parts; i++)
        (void)fputs(layout->bars == BARS_BLOCKS ? "\u2588" : "#", out);
    (void)fputs(eighths[n % parts], out);
}

/* Prints one line; blanks are held back until something follows them. `texts` has a text for each
 * column; `row` may be NULL. */
static void print_line(FILE *out, const struct table *table, const struct layout *layout,
    const char *const *texts, const struct table_row *row)
{
    size_t blanks = 0;

    for (size_t i = 0; i < table->n_columns; i++) {
        size_t columns = text_columns(texts[i]), bytes = strlen(texts[i]);
        size_t width = layout->widths[i];
        bool is_cut = columns > width;
        if (is_cut) {
            bytes = text_bytes_that_fit(texts[i], width - 3);
            columns = width;
        }
        if (table->columns[i].align == TABLE_RIGHT)
            blanks += width - columns;
        if (bytes > 0) {
            (void)fprintf(
                out, "%*s%.*s%s", (int)blanks, "", (int)bytes, texts[i], is_cut ? "..." : "");
            blanks = 0;
        } else {
            blanks += columns;
        }
        if (table->columns[i].align == TABLE_LEFT)
            blanks += width - columns;
        blanks += i + 1 < table->n_columns ? layout->gap : 2;
    }
    if (row && row->has_mark && layout->bar > 0)
        print_bar(out, layout, blanks, row->mark.value);
    (void)fputc('\n', out);
}

int render_text_table(FILE *out, const struct table *table, size_t width, enum report_bars bars)
{
    _cleanup_free_ size_t *widths = calloc(table->n_columns, sizeof(*widths));
    _cleanup_free_ const char **texts = calloc(table->n_columns, sizeof(*texts));
    struct layout layout = {.widths = widths, .bars = bars};

    if (!widths || !texts)
        return -ENOMEM;
    lay_out_columns(table, width, &layout);
    lay_out_bars(table, width, &layout);
    for (size_t line = 0; line < 2; line++) {
        for (size_t i = 0; i < table->n_columns; i++)
            texts[i] = table->columns[i].heads[line];
        print_line(out, table, &layout, texts, NULL);
    }
    (void)fputc('\n', out);
    for (size_t k = 0; k < table->n_rows; k++) {
        const struct table_row *row = &table->rows[k];
        if (!row->cells) {
            (void)fputc('\n', out);
            continue;
        }
        for (size_t i = 0; i < table->n_columns; i++)
            texts[i] = row->cells[i].text;
        print_line(out, table, &layout, texts, row);
    }
    return 0;
}

static int print_texts(FILE *out, unsigned first, unsigned rest, const struct text_list *list)
{
    int r = 0;

    for (size_t i = 0; i < list->n && r == 0; i++)
        r = text_print_wrapped(out, first, rest, list->all[i]);
    return r;
}

/* The title and what follows it, ended by `end`. */
static int print_title(FILE *out, unsigned indent, const struct table *table, const char *end)
{
    _cleanup_free_ char *text = NULL;

    int n = table->number > 0 ? asprintf(&text, "Table %u: %s%s", table->number, table->title, end)
                              : asprintf(&text, "%s%s", table->title, end);
    if (n < 0) {
        text = NULL; /* undefined after a failure */
        return -ENOMEM;
    }
    return text_print_wrapped(out, indent, indent + 2, text);
}

static int print_head(FILE *out, const struct table *table)
{
    _cleanup_free_ char *end = NULL;
    int r = 0;

    if (table->layout == LAYOUT_HEADED) {
        r = print_title(out, 0, table, ":");
        if (r == 0)
            r = print_texts(out, 0, 2, &table->details);
    } else if (table->layout == LAYOUT_JOINED) {
        if (asprintf(&end, ", %s:", table->details.all[0]) < 0) {
            end = NULL; /* undefined after a failure */
            return -ENOMEM;
        }
        r = print_title(out, 0, table, end);
    } else {
        return 0;
    }
    (void)fputc('\n', out);
    return r;
}

static int print_caption(FILE *out, const struct table *table)
{
    if (table->layout != LAYOUT_CAPTIONED)
        return 0;
    (void)fputc('\n', out);
    int r = print_title(out, 3, table, "");
    return r < 0 ? r : print_texts(out, 3, 5, &table->details);
}

static int print_plain(FILE *out, const struct table *table, enum report_bars bars)
{
    int r = print_head(out, table);

    if (r == 0)
        r = render_text_table(out, table, TEXT_WIDTH, bars);
    if (r == 0)
        r = print_caption(out, table);
    if (table->notes.n > 0)
        (void)fputc('\n', out);
    if (r == 0)
        r = print_texts(out, 2, 4, &table->notes);
    if (table->layout != LAYOUT_BARE)
        (void)fputc('\n', out);
    return r;
}

/* The published tables keep their published layout to the column; longer names of drives than were
 * published shift what follows. */
static void print_published_machine(FILE *out, const struct table *table)
{
    int width = 4;

    for (size_t i = 0; i < table->n_rows; i++) {
        int length = (int)strlen(table->rows[i].cells[0].text);
        width = length > width ? length : width;
    }
    (void)fprintf(out, "\n\n%s:\n\nCDROM%*s     Time     Data\nSpeed%*s    (m:ss)    Rate\n\n",
        table->title, width - 4, "", width - 4, "");
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_cell *cells = table->rows[i].cells;
        if (*cells[1].text)
            (void)fprintf(out, "%*s%10s%8s\n", width, cells[0].text, cells[1].text, cells[2].text);
        else
            (void)fprintf(out, "%*s\n", width, cells[0].text);
    }
    if (table->number > 0)
        (void)fprintf(out, "\n        Table %u\n", table->number);
    else
        (void)fputc('\n', out);
}

static void print_published_summary(FILE *out, const struct table *table)
{
    (void)fprintf(out, "\n\n%25sTime     Data\n%24s(m:ss)    Rate\n\n", "", "");
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_cell *cells = table->rows[i].cells;
        int width = fprintf(out, "%s:", cells[0].text);
        (void)fprintf(out, "%*s%8s\n", 29 - width, cells[1].text, cells[2].text);
    }
    (void)fprintf(out, "\n   Table %u: %s\n", table->number, table->title);
    for (size_t i = 0; i < table->details.n; i++)
        (void)fprintf(out, "   %s\n", table->details.all[i]);
}

static int print_table(FILE *out, const struct table *table, enum report_bars bars)
{
    if (table->layout == LAYOUT_PUBLISHED_MACHINE)
        print_published_machine(out, table);
    else if (table->layout == LAYOUT_PUBLISHED_SUMMARY)
        print_published_summary(out, table);
    else
        return print_plain(out, table, bars);
    return 0;
}

/* Only what is published heads a text: measured tables say themselves what they are. */
static int print_published_head(FILE *out, const struct tables *tables)
{
    if (!tables->command)
        return 0;
    int r = text_print_wrapped(out, 0, 0, tables->title);
    if (r == 0)
        r = print_texts(out, 0, 2, &tables->intro);
    (void)fprintf(out, "\n   %s\n", tables->command);
    return r;
}

int render_text(FILE *out, const struct tables *tables, enum report_bars bars)
{
    int r = print_published_head(out, tables);

    for (size_t i = 0; i < tables->n && r == 0; i++)
        if (!tables->all[i]->is_background)
            r = print_table(out, tables->all[i], bars);
    return r;
}
