#include "report/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"

struct table_row {
    char **cells; /* NULL: an empty line */
};

struct table {
    const struct table_column *columns;
    size_t n_columns;
    struct table_row *rows;
    size_t n_rows, n_rows_allocated;
    int error;
};

/* One character of text: how many bytes, how many columns, and whether it can be shown. */
struct glyph {
    size_t bytes;
    size_t columns;
    bool shown;
};

/* East Asian wide and fullwidth characters and pictographs take two columns. */
static bool code_point_is_wide(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x1100, 0x115f},
        {0x2e80, 0xa4cf},
        {0xac00, 0xd7a3},
        {0xf900, 0xfaff},
        {0xfe30, 0xfe6f},
        {0xff00, 0xff60},
        {0xffe0, 0xffe6},
        {0x1f300, 0x1faff},
        {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < ELEMENTS(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static struct glyph glyph_at(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? s[0] : s[0] & (0xffU >> (n + 1));

    if (strnlen(text, n) < n || !utf8_is_valid(text, n))
        return (struct glyph){1, 1, false};
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3f);
    return (struct glyph){
        .bytes = n,
        .columns = code_point_is_wide(c) ? 2 : 1,
        .shown = c >= 0x20 && !(c >= 0x7f && c < 0xa0),
    };
}

/* A copy that is safe to show; NULL when memory is out. */
static char *text_make_safe(const char *text)
{
    char *safe = malloc(strlen(text) + 1), *out = safe;

    if (!safe)
        return NULL;
    while (*text) {
        struct glyph glyph = glyph_at(text);
        if (glyph.shown)
            out = mempcpy(out, text, glyph.bytes);
        else
            *out++ = '?';
        text += glyph.bytes;
    }
    *out = '\0';
    return safe;
}

static size_t text_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        struct glyph glyph = glyph_at(text);
        columns += glyph.columns;
        text += glyph.bytes;
    }
    return columns;
}

/* How many bytes of the text fit into so many columns. */
static size_t text_bytes_that_fit(const char *text, size_t columns)
{
    size_t bytes = 0;
    while (text[bytes]) {
        struct glyph glyph = glyph_at(text + bytes);
        if (glyph.columns > columns)
            break;
        columns -= glyph.columns;
        bytes += glyph.bytes;
    }
    return bytes;
}

struct table *table_new(const struct table_column *columns, size_t n_columns)
{
    struct table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->columns = columns;
    table->n_columns = n_columns;
    return table;
}

static void row_free(const struct table *table, struct table_row *row)
{
    for (size_t i = 0; row->cells && i < table->n_columns; i++)
        free(row->cells[i]);
    free(row->cells);
    row->cells = NULL;
}

void table_free(struct table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_rows; i++)
        row_free(table, &table->rows[i]);
    free(table->rows);
    free(table);
}

void cleanup_table_p(struct table **table)
{
    table_free(*table);
}

static int row_fill(const struct table *table, struct table_row *row, const char *const *cells)
{
    row->cells = calloc(table->n_columns, sizeof(*row->cells));
    if (!row->cells)
        return -ENOMEM;
    for (size_t i = 0; i < table->n_columns; i++) {
        row->cells[i] = text_make_safe(cells[i]);
        if (!row->cells[i])
            return -ENOMEM;
    }
    return 0;
}

/* The next, empty row; NULL when memory is out. */
static struct table_row *table_grow(struct table *table)
{
    if (table->n_rows == table->n_rows_allocated) {
        size_t n = table->n_rows_allocated ? table->n_rows_allocated * 2 : 16;
        struct table_row *rows = reallocarray(table->rows, n, sizeof(*rows));
        if (!rows) {
            table->error = -ENOMEM;
            return NULL;
        }
        table->rows = rows;
        table->n_rows_allocated = n;
    }
    table->rows[table->n_rows] = (struct table_row){0};
    return &table->rows[table->n_rows++];
}

void table_add_row(struct table *table, const char *const *cells)
{
    if (!table || table->error < 0)
        return;
    struct table_row *row = table_grow(table);
    if (row && row_fill(table, row, cells) < 0)
        table->error = -ENOMEM;
}

void table_add_gap(struct table *table)
{
    if (table && table->error == 0 && table->n_rows > 0 && table->rows[table->n_rows - 1].cells)
        (void)table_grow(table); /* a failure is kept in the table */
}

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
            width = max_size(width, text_columns(table->rows[i].cells[column]));
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

/* Fills in the columns' widths; returns the blanks between them. */
static unsigned table_lay_out(const struct table *table, size_t width, size_t *widths)
{
    size_t sum = 0, n_gaps = table->n_columns - 1;

    for (size_t i = 0; i < table->n_columns; i++)
        sum += widths[i] = column_width(table, i);
    if (sum + 2 * n_gaps <= width)
        return 2;
    for (; sum + n_gaps > width; sum--) {
        size_t cut = column_to_cut(table, widths);
        if (cut == table->n_columns)
            break;
        widths[cut]--;
    }
    return 1;
}

/* Prints one line; blanks are held back until something follows them. */
static void print_line(FILE *out, const struct table *table, const size_t *widths, unsigned gap,
    const char *const *cells)
{
    size_t blanks = 0;

    for (size_t i = 0; i < table->n_columns; i++) {
        size_t columns = text_columns(cells[i]), bytes = strlen(cells[i]);
        bool is_cut = columns > widths[i];
        if (is_cut) {
            bytes = text_bytes_that_fit(cells[i], widths[i] - 3);
            columns = widths[i];
        }
        size_t padding = widths[i] - columns;
        if (table->columns[i].align == TABLE_RIGHT)
            blanks += padding;
        if (bytes > 0) {
            (void)fprintf(
                out, "%*s%.*s%s", (int)blanks, "", (int)bytes, cells[i], is_cut ? "..." : "");
            blanks = 0;
        } else {
            blanks += columns;
        }
        if (table->columns[i].align == TABLE_LEFT)
            blanks += padding;
        blanks += gap;
    }
    (void)fputc('\n', out);
}

int table_print(FILE *out, const struct table *table, size_t width)
{
    if (!table)
        return -ENOMEM;
    if (table->error < 0)
        return table->error;
    _cleanup_free_ size_t *widths = calloc(table->n_columns, sizeof(*widths));
    _cleanup_free_ const char **heads = calloc(table->n_columns, sizeof(*heads));
    if (!widths || !heads)
        return -ENOMEM;
    unsigned gap = table_lay_out(table, width, widths);
    for (size_t line = 0; line < 2; line++) {
        for (size_t i = 0; i < table->n_columns; i++)
            heads[i] = table->columns[i].heads[line];
        print_line(out, table, widths, gap, heads);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < table->n_rows; i++) {
        if (table->rows[i].cells)
            print_line(out, table, widths, gap, (const char *const *)table->rows[i].cells);
        else
            (void)fputc('\n', out);
    }
    return 0;
}

/* How many bytes of the text go on a line of so many columns: up to a blank where there is one. */
static size_t line_length(const char *text, size_t columns)
{
    size_t fits = text_bytes_that_fit(text, columns), at = fits;

    bool is_in_word = text[fits] != '\0' && text[fits] != ' ';
    while (is_in_word && at > 0 && text[at - 1] != ' ')
        at--;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    return at > 0 ? at : fits;
}

int text_print_wrapped(FILE *out, unsigned first, unsigned rest, const char *text)
{
    _cleanup_free_ char *safe = text_make_safe(text);
    unsigned indent = first;

    if (!safe)
        return -ENOMEM;
    const char *at = safe;
    do {
        at += strspn(at, " ");
        size_t n = line_length(at, TABLE_WIDTH - indent);
        (void)fprintf(out, "%*s%.*s\n", n > 0 ? (int)indent : 0, "", (int)n, at);
        at += n;
        indent = rest;
    } while (at[strspn(at, " ")]);
    return 0;
}

/* ns / unit, rounded to the nearest. */
static uint64_t rounded(uint64_t ns, uint64_t unit)
{
    return ns / unit + (ns % unit >= unit / 2);
}

char *format_duration(char *buffer, uint64_t ns)
{
    uint64_t ms = rounded(ns, NS_PER_SECOND / 1000), cs = rounded(ns, NS_PER_SECOND / 100);
    uint64_t s = rounded(ns, NS_PER_SECOND);

    if (ms < 1000)
        (void)snprintf(buffer, FIGURE_SIZE, "0:00.%03" PRIu64, ms);
    else if (cs < 1000)
        (void)snprintf(buffer, FIGURE_SIZE, "0:%02" PRIu64 ".%02" PRIu64, cs / 100, cs % 100);
    else
        (void)snprintf(buffer, FIGURE_SIZE, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    return buffer;
}

char *format_whole(char *buffer, double value)
{
    (void)snprintf(buffer, FIGURE_SIZE, "%.0f", round(value));
    return buffer;
}

char *format_count(char *buffer, uint64_t value)
{
    char digits[FIGURE_SIZE];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    char *out = buffer;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

char *format_ratio(char *buffer, double value)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(buffer, FIGURE_SIZE, "%.*f", decimals, value);
    return buffer;
}

double rate_kb_per_second(uint64_t bytes, uint64_t ns)
{
    return ns == 0 ? 0 : (double)bytes / 1024 / ((double)ns / (double)NS_PER_SECOND);
}

uint64_t bytes_to_kb(uint64_t bytes)
{
    return rounded(bytes, 1024);
}
