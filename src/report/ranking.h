/* Which method was how fast in a series: what every table of measured figures shows.
 *
 * A method is ahead of another if that is shown: its median is the smaller one, and the 95%
 * interval of the ratio of the times that they took in the same blocks leaves out 1 (see
 * results/statistics.h; it takes five shared blocks at least); or if it is ahead of one that is
 * ahead of the other. Of two methods neither of which is ahead, no difference is shown.
 *
 * A method's rank is one more than the number of methods that are ahead of it. So methods of the
 * same rank are never shown to differ, and no rank is better than that of a method ahead;
 * but a method whose times vary much may have a better rank than one with a smaller median, because
 * nothing is known to be ahead of it. */
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
    uint64_t real_mad_ns;         /* median absolute deviation */
    struct estimate real, synced; /* of real_ns and synced_ns, unrounded, with their intervals */
    size_t n_outliers;            /* of the real times */
    double rate_kb_s, files_s;
    struct estimate as_long; /* of real times, to the baseline's; n 0: of the medians */
    size_t rank;             /* 1 is the best */
    bool is_rank_shared;
};

/* Two ranked methods between which no difference is shown, by their places in the standings. */
struct tie {
    size_t faster, slower; /* by their medians */
    struct estimate
        as_long; /* the slower one's real time by the faster one's; n 0: of the medians */
};

struct ranking {
    const struct series *series;
    struct standing
        *standings; /* the ranked ones, fastest first, then the others in the series' order */
    size_t n_standings, n_ranked;
    const struct standing *baseline; /* NULL if nothing is ranked */
    struct tie *ties;                /* in the order of the standings */
    size_t n_ties;
};

/* Orders the methods by their median real time, equals in the series' order, and ranks them. The
 * baseline is the ranked method of that name, otherwise the fastest. -ENOMEM. */
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
