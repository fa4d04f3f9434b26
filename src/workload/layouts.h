/* How the files of each kind of workload lie in directories. */
#ifndef SHOAL_WORKLOAD_LAYOUTS_H
#define SHOAL_WORKLOAD_LAYOUTS_H

#include <stdint.h>

struct maker;
struct workload;

#define INSIGHT_FILES 2200
#define INSIGHT_BYTES (76289ULL * 1024)

/* Each makes all that is below the top, which is the maker's current directory. */
void layout_insight(struct maker *maker);
void layout_one(struct maker *maker);
void layout_flat(struct maker *maker);
void layout_shape(struct maker *maker);

/* How many directories the books of such a workload take, the top included. */
uint64_t layout_insight_directories(const struct workload *workload);

#endif
