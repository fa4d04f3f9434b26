/* Figures as they stand in every form of a table. */
#ifndef SHOAL_REPORT_FIGURES_H
#define SHOAL_REPORT_FIGURES_H

#include <stdint.h>

enum { FIGURE_SIZE = 32 };

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
