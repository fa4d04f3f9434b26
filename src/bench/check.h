/* Whether a method's copy is what it should be. */
#ifndef SHOAL_BENCH_CHECK_H
#define SHOAL_BENCH_CHECK_H

#include "results/results.h"

struct bench_stop;

/* Compares the copy at to/name (at `to` itself if that is not there) with the source tree. A copy
 * whose names, types or content differ is wrong. One that only lacks modes, owners, modification
 * times or hard links is right, and *ret_why says which is the first that differs. *ret_why is ""
 * otherwise for a right one; free it. -EINTR: stopped; -ENOMEM. */
int check_copy(const char *from, const char *name, const char *to, struct bench_stop *stop,
    enum verdict *ret_verdict, char **ret_why);

#endif
