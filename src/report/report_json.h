/* The figures of the tables for programs: as report.h says of JSON. */
#ifndef SHOAL_REPORT_REPORT_JSON_H
#define SHOAL_REPORT_REPORT_JSON_H

#include <stddef.h>
#include <stdio.h>

struct series;

/* -ENOMEM. */
int report_print_json(
    FILE *out, const struct series *const *series, size_t n_series, const char *baseline);

/* Returns 0. */
int report_print_reference_json(FILE *out);

#endif
