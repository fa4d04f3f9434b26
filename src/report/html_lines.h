/* A chart of lines, both axes logarithmic. */
#ifndef SHOAL_REPORT_HTML_LINES_H
#define SHOAL_REPORT_HTML_LINES_H

struct page;
struct table;

/* Draws mark.value against mark.at, a line for each group of the table's rows, named by its first
 * column. */
void html_print_lines(struct page *page, const struct table *table);

#endif
