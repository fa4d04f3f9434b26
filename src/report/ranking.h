/* Which method was how fast in a series: what every table of measured figures shows. */
#ifndef SHOAL_REPORT_RANKING_H
#define SHOAL_REPORT_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/statistics.h"

struct series;
struct method_result;
struct report_options;

/* One method's place. Without a rank all figures are 0. */
struct standing {
    const struct method_result *method;
    bool is_ranked;
    uint64_t real_ns;   /* medians */
    uint64_t synced_ns; /* 0: not measured */
    uint64_t user_ns, sys_ns;
    uint64_t real_mad_ns; /* median absolute deviation */
    double rate_kb_s, files_s;
    struct ratio as_long; /* of real times, to the baseline's; n 0: of the medians, no interval */
};

struct ranking {
    const struct series *series;
    struct standing
        *standings; /* the ranked ones, fastest first, then the others in the series' order */
    size_t n_standings, n_ranked;
    const struct standing *baseline; /* NULL if nothing is ranked */
};

/* Ranks the methods by their median real time, equals in the series' order. The baseline is the
 * ranked method of that name, otherwise the fastest. -ENOMEM. */
int ranking_make(const struct series *series, const char *baseline, struct ranking *ret);

/* The method that `options`, which may be NULL, ask to be the baseline. */
const char *ranking_baseline(const struct report_options *options);

void ranking_clear(struct ranking *ranking);

enum { REASON_SIZE = 256, SOURCE_SIZE = 64 };

/* The source as a row names it, "ext4 warm": fills the buffer of SOURCE_SIZE bytes and returns it.
 */
char *series_describe_source(char *buffer, const struct series *series);

/* Why the method has no rank: fills the buffer of REASON_SIZE bytes and returns it. */
char *standing_describe_reason(char *buffer, const struct standing *standing);

#endif
