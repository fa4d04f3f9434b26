#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "report/render.h"
#include "report/table.h"

/* Text of tables is safe to show, and so UTF-8. A column of numbers has nothing else. */
static json_t *cell_to_json(const struct table_column *column, const struct table_cell *cell)
{
    double whole;

    if (isnan(cell->value))
        return column->align == TABLE_RIGHT ? json_null() : json_string(cell->text);
    if (modf(cell->value, &whole) != 0 || fabs(whole) > 1e15)
        return json_real(cell->value);
    return json_integer((json_int_t)whole);
}

static json_t *row_to_json(const struct table *table, const struct table_row *row)
{
    json_t *object = json_object();

    for (size_t i = 0; i < table->n_columns; i++) {
        json_t *value = cell_to_json(&table->columns[i], &row->cells[i]);
        if (json_object_set_new(object, table->columns[i].key, value) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *table_to_json(const struct table *table)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].cells &&
            json_array_append_new(rows, row_to_json(table, &table->rows[i])) < 0) {
            json_decref(rows);
            return NULL;
        }
    return json_pack("{s:s?, s:o}", "title", table->title, "rows", rows);
}

int render_json(FILE *out, const struct tables *tables)
{
    json_t *list = json_array();
    int r = list ? 0 : -ENOMEM;

    for (size_t i = 0; i < tables->n && r == 0; i++)
        r = json_array_append_new(list, table_to_json(tables->all[i])) < 0 ? -ENOMEM : 0;
    json_t *root =
        json_pack("{s:s, s:i, s:O}", "schema", "shoal-tables", "version", 1, "tables", list);
    if (r == 0 && (!root || (json_dumpf(root, out, JSON_INDENT(2)) < 0 && !ferror(out))))
        r = -ENOMEM;
    (void)fputc('\n', out);
    json_decref(root);
    json_decref(list);
    return r;
}
