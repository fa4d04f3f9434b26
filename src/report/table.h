/* A report as data: a list of tables of what was measured or published. What makes them is
 * tables.h; how they are shown is render.h. */
#ifndef SHOAL_REPORT_TABLE_H
#define SHOAL_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/figures.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *heads[2]; /* two lines; "" for none */
    enum table_align align;
    const char *key; /* its name for programs; only where they are given the table */
    bool is_whole;   /* never cut, though the text gets too wide */
};

/* Where a table of text has its title and details. */
enum table_layout {
    LAYOUT_BARE,              /* nowhere */
    LAYOUT_HEADED,            /* above it, each on its line */
    LAYOUT_JOINED,            /* above it, as one sentence */
    LAYOUT_CAPTIONED,         /* below it */
    LAYOUT_PUBLISHED_MACHINE, /* as published: three columns (drive, time, rate) */
    LAYOUT_PUBLISHED_SUMMARY, /* as published: three columns (machine, time, rate) */
};

/* How the marks of a table's rows are drawn where there is room to draw. A row's label is made of
 * the first left-aligned columns that stand together. */
enum table_drawing {
    DRAW_NOTHING,
    DRAW_BARS,          /* a bar a row, with its interval */
    DRAW_BARS_AND_DOTS, /* the same, and all once more on a logarithmic scale */
    DRAW_PAIRS,         /* two bars a row: value and beside */
    DRAW_RUNS,          /* a dot a row; neighbours with the same label share a line */
    DRAW_LINES,         /* value against at, both logarithmic; a line for each first column */
};

/* The unit of the marks' values. */
enum table_unit { UNIT_KB_PER_SECOND, UNIT_FILES_PER_SECOND, UNIT_TIME_NS };

/* What is drawn of a row. */
struct table_mark {
    double value;
    double low, high; /* the value's 95% interval; both 0: there is none */
    double beside;
    double at;
    bool is_own; /* of this machine, among others */
};

/* `value` is the number that `text` shows, unrounded; NAN where it is not a number. */
struct table_cell {
    const char *text;
    double value;
};

#define CELL_TEXT(shown)         ((struct table_cell){(shown), (double)NAN})
#define CELL_NUMBER(shown, real) ((struct table_cell){(shown), (double)(real)})

struct table_row {
    struct table_cell *cells; /* NULL: a gap between groups of rows */
    bool has_mark;
    struct table_mark mark;
};

struct text_list {
    char **all;
    size_t n;
};

/* All text in it is safe to show: control characters and what is not UTF-8 have become '?'. */
struct table {
    const struct table_column *columns;
    size_t n_columns;
    enum table_layout layout;
    enum table_drawing drawing;
    enum table_unit unit;
    const char *pair[2];      /* what value and beside are, where pairs are drawn */
    bool is_background;       /* its figures are behind those of the other tables: text, Markdown
                                 leave it out */
    double scale_to;          /* charts are drawn for values up to this; 0: up to its own largest */
    unsigned number;          /* as published; 0: none */
    char *title;              /* NULL: none */
    struct text_list details; /* what was measured */
    struct text_list notes;
    struct table_row *rows;
    size_t n_rows, n_rows_allocated;
    int error; /* 0, or the first failure */
};

struct tables {
    char *title;            /* NULL: none */
    struct text_list intro; /* what this is about */
    char *command;          /* what was run; NULL: as the tables say */
    struct table **all;
    size_t n;
    int error; /* 0, or the first failure */
};

/* Adds an empty table, which `tables` owns. NULL when memory is out, which `tables` keeps.
 * `columns` must outlive it. */
struct table *tables_add(
    struct tables *tables, const struct table_column *columns, size_t n_columns);

/* Both set once; the text is made safe and copied. */
void tables_set_title(struct tables *tables, const char *title);
void tables_set_command(struct tables *tables, const char *command);

/* Adds a line to the intro, made up like printf's. */
void tables_add_intro(struct tables *tables, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* 0, or the first failure of the list or of a table in it. */
int tables_error(const struct tables *tables);

/* Frees what it holds, not itself. */
void tables_clear(struct tables *tables);

/* All of these take a NULL table and keep the first failure in it. Text is made safe and copied. */

/* Adds a row of as many cells as there are columns. */
void table_add_row(struct table *table, const struct table_cell *cells);

/* Says what is drawn of the row that was added last. */
void table_set_mark(struct table *table, const struct table_mark *mark);

/* Adds a gap, unless the table is empty or ends with one. */
void table_add_gap(struct table *table);

void table_set_title(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_add_detail(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_add_note(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The largest value that is drawn (values, besides and interval ends); 0 of none. */
double table_largest_mark(const struct table *table);

/* Which columns make up a row's label: from *ret_first on up to the one that is returned. */
size_t table_label_columns(const struct table *table, size_t *ret_first);

#endif
