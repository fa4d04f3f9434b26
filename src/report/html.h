/* Parts of a page of HTML. */
#ifndef SHOAL_REPORT_HTML_H
#define SHOAL_REPORT_HTML_H

#include <stdio.h>

struct table;
struct table_column;
struct table_row;

/* The page being written. Each part that is referred to has an ID of its own. */
struct page {
    FILE *out;
    unsigned n_ids;
};

/* Prints text so that none of it is markup, in elements and in attributes. */
void html_print_text(FILE *out, const char *text);

/* The two lines of a column's head in one: "Data Rate", "Files/s". */
void html_print_head(FILE *out, const struct table_column *column);

/* A row's label: "shoal, ext4 warm". */
void html_print_label(FILE *out, const struct table *table, const struct table_row *row);

/* Draws what the table's marks say, in inline SVG whose places are percentages of its width, so
 * that it fits any; nothing where nothing is to be drawn. -ENOMEM. */
int html_print_chart(struct page *page, const struct table *table);

#endif
