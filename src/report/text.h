/* Text of any bytes, shown safely in a terminal's 80 columns. */
#ifndef SHOAL_REPORT_TEXT_H
#define SHOAL_REPORT_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { TEXT_WIDTH = 80 };

/* A copy in which control characters and what is not UTF-8 are '?'; free it. NULL when memory is
 * out. */
char *text_make_safe(const char *text);

/* How many columns the text takes in a terminal. */
size_t text_columns(const char *text);

/* How many bytes of the text fit into so many columns. */
size_t text_bytes_that_fit(const char *text, size_t columns);

/* Prints text broken at blanks into lines of at most TEXT_WIDTH columns, the first one indented by
 * `first`, the others by `rest` columns; words that are longer are split. The text is made safe.
 * Returns 0 or -ENOMEM. */
int text_print_wrapped(FILE *out, unsigned first, unsigned rest, const char *text);

#endif
