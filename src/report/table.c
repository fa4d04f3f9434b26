#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/text.h"

/* Safe text made up like printf's; NULL when memory is out. */
__attribute__((format(printf, 1, 0))) static char *format_safe(
    const char *format, va_list arguments)
{
    _cleanup_free_ char *text = NULL;

    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL; /* undefined after a failure */
        return NULL;
    }
    return text_make_safe(text);
}

/* Appends the text, which the list then owns; NULL stands for one there was no memory for. */
static int text_list_append(struct text_list *list, char *text)
{
    char **all = text ? reallocarray(list->all, list->n + 1, sizeof(*all)) : NULL;

    if (!all) {
        free(text);
        return -ENOMEM;
    }
    list->all = all;
    list->all[list->n++] = text;
    return 0;
}

static void text_list_clear(struct text_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->all[i]);
    free(list->all);
}

static void row_free(const struct table *table, struct table_row *row)
{
    for (size_t i = 0; row->cells && i < table->n_columns; i++)
        free((char *)row->cells[i].text);
    free(row->cells);
}

static void table_free(struct table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        row_free(table, &table->rows[i]);
    free(table->rows);
    free(table->title);
    text_list_clear(&table->details);
    text_list_clear(&table->notes);
    free(table);
}

struct table *tables_add(
    struct tables *tables, const struct table_column *columns, size_t n_columns)
{
    struct table **all = reallocarray(tables->all, tables->n + 1, sizeof(struct table *));
    struct table *table = calloc(1, sizeof(*table));

    if (all)
        tables->all = all;
    if (!all || !table) {
        free(table);
        tables->error = -ENOMEM;
        return NULL;
    }
    table->columns = columns;
    table->n_columns = n_columns;
    return tables->all[tables->n++] = table;
}

void tables_set_title(struct tables *tables, const char *title)
{
    tables->title = text_make_safe(title);
    if (!tables->title)
        tables->error = -ENOMEM;
}

void tables_set_command(struct tables *tables, const char *command)
{
    tables->command = text_make_safe(command);
    if (!tables->command)
        tables->error = -ENOMEM;
}

void tables_add_intro(struct tables *tables, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (text_list_append(&tables->intro, format_safe(format, arguments)) < 0)
        tables->error = -ENOMEM;
    va_end(arguments);
}

int tables_error(const struct tables *tables)
{
    int r = tables->error;

    for (size_t i = 0; i < tables->n && r == 0; i++)
        r = tables->all[i]->error;
    return r;
}

void tables_clear(struct tables *tables)
{
    for (size_t i = 0; i < tables->n; i++)
        table_free(tables->all[i]);
    free(tables->all);
    free(tables->title);
    free(tables->command);
    text_list_clear(&tables->intro);
    *tables = (struct tables){0};
}

static int row_fill(
    const struct table *table, struct table_row *row, const struct table_cell *cells)
{
    row->cells = calloc(table->n_columns, sizeof(*row->cells));
    if (!row->cells)
        return -ENOMEM;
    for (size_t i = 0; i < table->n_columns; i++) {
        row->cells[i] = (struct table_cell){text_make_safe(cells[i].text), cells[i].value};
        if (!row->cells[i].text)
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

void table_add_row(struct table *table, const struct table_cell *cells)
{
    if (!table || table->error < 0)
        return;
    struct table_row *row = table_grow(table);
    if (row && row_fill(table, row, cells) < 0)
        table->error = -ENOMEM;
}

void table_set_mark(struct table *table, const struct table_mark *mark)
{
    if (!table || table->error < 0)
        return;
    table->rows[table->n_rows - 1].has_mark = true;
    table->rows[table->n_rows - 1].mark = *mark;
}

void table_add_gap(struct table *table)
{
    if (table && table->error == 0 && table->n_rows > 0 && table->rows[table->n_rows - 1].cells)
        (void)table_grow(table); /* a failure is kept in the table */
}

void table_set_title(struct table *table, const char *format, ...)
{
    va_list arguments;

    if (!table)
        return;
    va_start(arguments, format);
    free(table->title);
    table->title = format_safe(format, arguments);
    if (!table->title)
        table->error = -ENOMEM;
    va_end(arguments);
}

void table_add_detail(struct table *table, const char *format, ...)
{
    va_list arguments;

    if (!table)
        return;
    va_start(arguments, format);
    if (text_list_append(&table->details, format_safe(format, arguments)) < 0)
        table->error = -ENOMEM;
    va_end(arguments);
}

void table_add_note(struct table *table, const char *format, ...)
{
    va_list arguments;

    if (!table)
        return;
    va_start(arguments, format);
    if (text_list_append(&table->notes, format_safe(format, arguments)) < 0)
        table->error = -ENOMEM;
    va_end(arguments);
}

double table_largest_mark(const struct table *table)
{
    double largest = 0;

    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_mark *mark = &table->rows[i].mark; /* all 0 where there is none */
        largest = fmax(largest, fmax(mark->value, fmax(mark->beside, mark->high)));
    }
    return largest;
}

size_t table_label_columns(const struct table *table, size_t *ret_first)
{
    size_t first = 0, end;

    while (first < table->n_columns && table->columns[first].align != TABLE_LEFT)
        first++;
    for (end = first; end < table->n_columns && table->columns[end].align == TABLE_LEFT;)
        end++;
    *ret_first = first;
    return end;
}
