/* `shoal bench --baseline`: what it is compared with, and what comes of it. */
#ifndef SHOAL_CLI_BENCH_GATE_H
#define SHOAL_CLI_BENCH_GATE_H

#include "results/results.h"

/* What to compare with: some or all series of a file or of the database. */
struct baseline {
    struct results *read;   /* all that was read */
    struct results results; /* those of it that count; they are read's */
};

/* Reads the baseline: `name` is a file, JSON or database, or else the ID of a series in the
 * database
 * (`database` NULL: none is known). Says what is wrong; returns an exit code. */
int baseline_read(const char *name, const char *database, struct baseline *ret);
void baseline_clear(struct baseline *baseline);

/* Says on stderr, a line each, how what was measured compares. Returns EXIT_OK, or EXIT_SOME_FAILED
 * if a method is slower by more than the share `max_slowdown`, or nothing could be compared. */
int baseline_compare(
    const struct baseline *baseline, const struct results *measured, double max_slowdown);

#endif
