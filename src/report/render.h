/* How tables are shown. Each function writes to `out` and returns 0 or -ENOMEM; a stream that does
 * not take what is written keeps its own error flag. */
#ifndef SHOAL_REPORT_RENDER_H
#define SHOAL_REPORT_RENDER_H

#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

struct table;
struct tables;

/* Text of at most 80 columns, without trailing blanks. Where six columns or more are left beside
 * a table that has bars, they are drawn there, as long as the value's share of the largest. */
int render_text(FILE *out, const struct tables *tables, enum report_bars bars);

/* One table's heads, an empty line and its rows. Columns stand two blanks apart; if that is too
 * wide for `width`, one; then left-aligned columns are cut, the widest first, which shows as "...".
 */
int render_text_table(FILE *out, const struct table *table, size_t width, enum report_bars bars);

/* Markdown as GitHub renders it. */
int render_markdown(FILE *out, const struct tables *tables);

/* CSV (RFC 4180): a line of the columns' keys, then a line for each row of the tables, which must
 * have the same columns. Numbers stand as they are, unrounded; a text that a spreadsheet would take
 * for a formula (it begins with = + - or @) has an apostrophe before it. */
int render_csv(FILE *out, const struct tables *tables);

/* JSON: {"schema": "shoal-tables", "version": 1, "tables": [{"title", "rows"}]}, each row an object
 * with the columns' keys; numbers unrounded. */
int render_json(FILE *out, const struct tables *tables);

/* One page of HTML that needs nothing else: tables, and what they draw. */
int render_html(FILE *out, const struct tables *tables);

#endif
