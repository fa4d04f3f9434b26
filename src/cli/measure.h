/* What the commands that make, measure and present share: workloads and numbers as arguments, bars,
 * and a line of progress. */
#ifndef SHOAL_CLI_MEASURE_H
#define SHOAL_CLI_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct argp_state;
struct workload;

/* Reads a whole decimal number from `least` to `most`; anything else is a usage error naming
 * `option`. */
uint64_t measure_parse_number(
    struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most);

/* Finds a workload, which the caller clears; what is wrong with it is a usage error, and for an
 * unknown one those there are get listed. */
void measure_parse_workload(struct argp_state *state, const char *text, struct workload *ret);

/* The workloads, a line each, as text for --help; free it. NULL: memory is out. */
char *measure_workloads_help(void);

/* 76289 as "76,289". */
#define COUNT_TEXT_MAX 32
const char *measure_count(uint64_t count, char text[static COUNT_TEXT_MAX]);

/* What bars in text are drawn of: block elements where the user's locale has them. */
enum report_bars measure_bars(void);

/* Has SIGINT, SIGTERM and SIGHUP caught, unless the caller of the program had them ignored (nohup).
 */
void measure_catch_signals(void (*handler)(int signal_number));

/* A line on a terminal that is drawn over itself, ten times a second at most; nothing at all where
 * standard error is no terminal. */
struct progress_line {
    bool is_terminal, is_drawn;
    uint64_t drawn_ns;
};

void progress_line_start(struct progress_line *line);
/* `is_new`: draw it in any case, it is another step and not only a higher count. */
void progress_line_show(struct progress_line *line, bool is_new, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void progress_line_clear(struct progress_line *line);

#endif
