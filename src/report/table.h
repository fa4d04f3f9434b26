/* Text tables no wider than a terminal's 80 columns, and figures as they stand in them. */
#ifndef SHOAL_REPORT_TABLE_H
#define SHOAL_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TABLE_WIDTH = 80, FIGURE_SIZE = 32 };

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *heads[2]; /* two lines; "" for none */
    enum table_align align;
    bool is_whole; /* never cut, though the table gets too wide */
};

/* A table of text cells. Every call takes a NULL table, and keeps the first failure for
 * table_print(). */
struct table;

/* `columns` must outlive the table. NULL when memory is out. */
struct table *table_new(const struct table_column *columns, size_t n_columns);
void table_free(struct table *table);
void cleanup_table_p(struct table **table);

/* Adds a row of as many cells as there are columns; they are copied. Control characters and what is
 * not UTF-8 become '?'. */
void table_add_row(struct table *table, const char *const *cells);

/* Adds an empty line, unless the table is empty or ends with one. */
void table_add_gap(struct table *table);

/* Prints heads, an empty line and the rows, without trailing blanks. Columns stand two blanks
 * apart; if that is too wide for `width`, one; then left-aligned columns are cut, the widest first,
 * which shows as "...". Returns 0 or the first failure (-ENOMEM). */
int table_print(FILE *out, const struct table *table, size_t width);

/* Prints text broken at blanks into lines of at most TABLE_WIDTH columns, the first one indented by
 * `first`, the others by `rest` columns; words that are longer are split. The same characters are
 * made '?' as above. Returns 0 or -ENOMEM. */
int text_print_wrapped(FILE *out, unsigned first, unsigned rest, const char *text);

/* All of these fill the caller's buffer of FIGURE_SIZE bytes and return it. */

/* m:ss, rounded to the nearest: "0:00.412" below one second, "0:04.31" below ten, "1:18", "75:00".
 */
char *format_duration(char *buffer, uint64_t ns);

/* A whole number, rounded. */
char *format_whole(char *buffer, double value);

/* A whole number with its thousands parted: "76,289". */
char *format_count(char *buffer, uint64_t value);

/* A ratio with at most two decimals: "1.00", "12.3", "456". */
char *format_ratio(char *buffer, double value);

/* KB (1024 bytes) per second; 0 where no time passed. */
double rate_kb_per_second(uint64_t bytes, uint64_t ns);

/* Bytes as KB, rounded. */
uint64_t bytes_to_kb(uint64_t bytes);

#endif
