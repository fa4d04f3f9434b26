#include "report/render.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"

/* The shortest decimal that reads back as the same number. */
static void print_number(FILE *out, double value)
{
    char text[FIGURE_SIZE];

    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (!(back < value) && !(back > value))
            break;
    }
    (void)fputs(text, out);
}

/* A field of text, quoted where it must be. */
static void print_text(FILE *out, const char *text)
{
    bool is_formula = *text && strchr("=+-@", *text);

    if (!is_formula && !strpbrk(text, ",\"\r\n") && *text != ' ') {
        (void)fputs(text, out);
        return;
    }
    (void)fputs(is_formula ? "\"'" : "\"", out);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void print_header(FILE *out, const struct table *table)
{
    if (table->title)
        (void)fputs("table,", out);
    for (size_t i = 0; i < table->n_columns; i++)
        (void)fprintf(out, "%s%s", i > 0 ? "," : "", table->columns[i].key);
    (void)fputs("\r\n", out);
}

static void print_row(FILE *out, const struct table *table, const struct table_row *row)
{
    if (table->title) {
        print_text(out, table->title);
        (void)fputc(',', out);
    }
    for (size_t i = 0; i < table->n_columns; i++) {
        if (i > 0)
            (void)fputc(',', out);
        if (!isnan(row->cells[i].value))
            print_number(out, row->cells[i].value);
        else
            print_text(out, row->cells[i].text);
    }
    (void)fputs("\r\n", out);
}

int render_csv(FILE *out, const struct tables *tables)
{
    for (size_t i = 0; i < tables->n; i++) {
        const struct table *table = tables->all[i];
        if (i == 0)
            print_header(out, table);
        for (size_t k = 0; k < table->n_rows; k++)
            if (table->rows[k].cells)
                print_row(out, table, &table->rows[k]);
    }
    return 0;
}
