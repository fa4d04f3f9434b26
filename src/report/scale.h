/* Where a value stands along an axis. */
#ifndef SHOAL_REPORT_SCALE_H
#define SHOAL_REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/table.h"

enum { TICKS_MOST = 16 };

struct scale {
    double low, high; /* the values at the axis' ends; above 0 if it is logarithmic */
    bool is_logarithmic;
    enum table_unit unit;
    double ticks[TICKS_MOST]; /* round values, ascending */
    size_t n_ticks;
};

/* From 0 to a little above `largest`. */
struct scale scale_from_zero(enum table_unit unit, double largest);

/* Around the values, logarithmic. */
struct scale scale_of_decades(enum table_unit unit, double least, double largest);

/* Around the values, logarithmic where they are far apart. */
struct scale scale_around(enum table_unit unit, double least, double largest);

/* The value's place: 0 at the axis' begin, 100 at its end; what is outside is put at the nearer
 * end. */
double scale_percent(const struct scale *scale, double value);

/* Fills the buffer of FIGURE_SIZE bytes and returns it. */
char *format_in_unit(char *buffer, enum table_unit unit, double value);

/* " KB/s", " files/s", or "" for times, which need none. */
const char *unit_suffix(enum table_unit unit);

#endif
