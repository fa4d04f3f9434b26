/* What a figure depends on: the machine and the file systems it was measured on. */
#ifndef SHOAL_BENCH_SYSTEM_H
#define SHOAL_BENCH_SYSTEM_H

#include "results/results.h"

/* Fills in what this machine is; series_clear() of the series it is in frees it. */
int system_describe(struct system_info *ret);

/* The same for the file system that `path` lies on; `given` is the path as the user gave it. */
int file_system_describe(const char *path, const char *given, struct file_system_info *ret);

/* The share of the last ten seconds, in percent, in which some task waited for a processor; where
 * the kernel does not count that, by how much the load is over the processors. */
double system_cpu_pressure_percent(void);

#endif
