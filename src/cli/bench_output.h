/* What `shoal bench` says: times as timex gives them, and what makes a figure doubtful. */
#ifndef SHOAL_CLI_BENCH_OUTPUT_H
#define SHOAL_CLI_BENCH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct results;
struct series;

/* For one series: real, user and sys of each method, medians of the runs that went well, in
 * columns; if it is to be verbose also the time until all was on the device, memory, page faults,
 * and what was read and written. Methods whose copy is not known to be wrong only. -ENOMEM. */
int bench_print_times(FILE *out, const struct series *series, bool is_verbose);

/* Says on stderr which methods were not measured, failed, copied wrongly or lost metadata. Returns
 * the exit code that follows: a wrong copy is a difference, and measuring nothing is a failure. */
int bench_complain(const struct results *results);

/* Says on stderr what makes the figures doubtful, each thing once. */
void bench_warn(const struct results *results);

#endif
