/* What makes the figures of a series doubtful: what else the machine did, as far as the kernel
 * shows it, and what the samples and the place say of themselves. */
#ifndef SHOAL_BENCH_WARNINGS_H
#define SHOAL_BENCH_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>

struct series;

/* The share of the last ten seconds, in percent, in which some task waited: for a processor; where
 * the kernel does not count that, by how much the load is over the processors; and for a device. */
struct machine_load {
    double cpu_percent, io_percent;
};

void machine_load_read(struct machine_load *ret);

/* Counts since the machine was started. */
struct machine_counts {
    uint64_t all_ticks, user_ticks, stolen_ticks; /* of all processors */
    uint64_t own_user_ns;                         /* of this process and the children it reaped */
    uint64_t swapped_pages;                       /* in and out */
};

/* Make it zero but for what is known from before. */
struct doubts {
    struct machine_load load; /* when the bench began */
    uint64_t need_bytes, free_bytes;
    bool is_image_in_memory; /* what the destination's image is on */
    const char *cut_by; /* why it ended before the time asked for was measured; NULL: it did not */
    struct machine_counts begin, end;
    uint64_t dirty_kb; /* of all file systems, when what is the bench's own was written */
    bool initialises, rearranges;
};

/* Before and after the runs of a series that is described already. */
void doubts_begin(struct doubts *doubts, const struct series *series);
void doubts_end(struct doubts *doubts, const struct series *series);

/* Adds what is to be said to series->warnings, when its samples and verdicts are there. -ENOMEM. */
int doubts_to_warnings(const struct doubts *doubts, struct series *series);

#endif
