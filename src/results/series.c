#include <string.h>

#include "results/record.h"
#include "results/results.h"

bool series_has_drive(const struct series *series)
{
    return series->drive && *series->drive;
}

bool series_is_replay(const struct series *series)
{
    return series->system.machine && *series->system.machine;
}

const char *series_state(const struct series *series)
{
    if (series_has_drive(series))
        return series->drive;
    return series->cold ? "cold" : "warm";
}

bool series_is_same_source(const struct series *a, const struct series *b)
{
    double more = a->time_scale - b->time_scale;

    if (!series_has_drive(a) && !series_has_drive(b))
        return a->cold == b->cold && strcmp(a->from.type, b->from.type) == 0;
    return series_has_drive(a) && series_has_drive(b) && strcmp(a->drive, b->drive) == 0 &&
           !(more < 0) && !(more > 0);
}

double series_stretch(const struct series *series)
{
    return series_has_drive(series) && series->time_scale > 0 ? series->time_scale : 1;
}

void series_clear(struct series *series)
{
    record_clear(&series_record, series);
}
