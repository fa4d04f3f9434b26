#include "report/render.h"

#include <string.h>

#include "report/table.h"

/* Text in which nothing is markup, a link, a mention or a number of an issue. Characters that mean
 * something only at the beginning of a line stand as they are: none of the text is put there, but
 * for paragraphs of the report's own words. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>&@#", *text))
            (void)fprintf(out, "&#%d;", *text);
        else if (strchr("\\`*_[]|~$^", *text))
            (void)fprintf(out, "\\%c", *text);
        else if (strncmp(text, "://", 3) == 0)
            (void)fputs("&#58;", out);
        else if (strncmp(text, "www.", 4) == 0)
            (void)fputs("&#119;", out);
        else
            (void)fputc(*text, out);
    }
}

/* The two lines of a head in one: "Data Rate", "Files/s". */
static void print_head(FILE *out, const struct table_column *column)
{
    const char *first = column->heads[0], *second = column->heads[1];
    bool is_apart = *first && *second && *second != '/' && first[strlen(first) - 1] != '/';

    print_escaped(out, first);
    if (is_apart)
        (void)fputc(' ', out);
    print_escaped(out, second);
}

static void print_rows(FILE *out, const struct table *table)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        (void)fputs("| ", out);
        print_head(out, &table->columns[i]);
        (void)fputc(' ', out);
    }
    (void)fputs("|\n", out);
    for (size_t i = 0; i < table->n_columns; i++)
        (void)fputs(table->columns[i].align == TABLE_RIGHT ? "| ---: " : "| :--- ", out);
    (void)fputs("|\n", out);
    for (size_t k = 0; k < table->n_rows; k++) {
        if (!table->rows[k].cells)
            continue;
        for (size_t i = 0; i < table->n_columns; i++) {
            (void)fputs("| ", out);
            print_escaped(out, table->rows[k].cells[i].text);
            (void)fputc(' ', out);
        }
        (void)fputs("|\n", out);
    }
    (void)fputc('\n', out);
}

static void print_paragraphs(FILE *out, const struct text_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        print_escaped(out, list->all[i]);
        (void)fputs("\n\n", out);
    }
}

static void print_notes(FILE *out, const struct text_list *notes)
{
    for (size_t i = 0; i < notes->n; i++) {
        (void)fputs("- ", out);
        print_escaped(out, notes->all[i]);
        (void)fputc('\n', out);
    }
    if (notes->n > 0)
        (void)fputc('\n', out);
}

static void print_table(FILE *out, const struct table *table)
{
    if (table->title) {
        (void)fputs("## ", out);
        if (table->number > 0)
            (void)fprintf(out, "Table %u: ", table->number);
        print_escaped(out, table->title);
        (void)fputs("\n\n", out);
    }
    print_paragraphs(out, &table->details);
    print_rows(out, table);
    print_notes(out, &table->notes);
}

int render_markdown(FILE *out, const struct tables *tables)
{
    if (tables->title) {
        (void)fputs("# ", out);
        print_escaped(out, tables->title);
        (void)fputs("\n\n", out);
    }
    print_paragraphs(out, &tables->intro);
    if (tables->command)
        (void)fprintf(out, "    %s\n\n", tables->command);
    for (size_t i = 0; i < tables->n; i++)
        if (!tables->all[i]->is_background)
            print_table(out, tables->all[i]);
    return 0;
}
