/* A profile from within: for what learns, reads and writes it. */
#ifndef SHOAL_WORKLOAD_PROFILE_STORE_H
#define SHOAL_WORKLOAD_PROFILE_STORE_H

#include "workload/shape.h"

enum {
    PROFILE_SIZES,
    PROFILE_FILES,
    PROFILE_SUBDIRECTORIES,
    PROFILE_NAMES,
    PROFILE_N_TABLES,
};

struct profile_table {
    struct quantile points[QUANTILE_POINTS_MAX];
    size_t n;
};

struct profile {
    struct shape shape;
    struct shape_level levels[SHAPE_LEVELS_MAX];
    struct profile_table tables[PROFILE_N_TABLES];
};

/* Has the shape point to the tables and the levels, once those are there. */
void profile_connect(struct profile *profile);

#endif
