/* What a figure depends on: the machine and the file systems it was measured on. */
#ifndef SHOAL_BENCH_SYSTEM_H
#define SHOAL_BENCH_SYSTEM_H

#include <stdint.h>

#include "results/results.h"

/* Fills in what this machine is, while it emulates another one if `machine` is not NULL;
 * series_clear() of the series it is in frees it. */
int system_describe(const char *machine, struct system_info *ret);

/* The same for the file system that `path` lies on; `given` is the path as the user gave it. */
int file_system_describe(const char *path, const char *given, struct file_system_info *ret);

/* What can be used without taking it from anyone, swap included. */
uint64_t system_available_memory_kb(void);

#endif
