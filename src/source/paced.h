/* Sectors at the pace of an emulated drive: each read waits, against absolute deadlines, until the
 * drive would have delivered it. */
#ifndef SHOAL_SOURCE_PACED_H
#define SHOAL_SOURCE_PACED_H

#include "disc/sectors.h"

struct drive;

/* Takes over `sectors` and `drive`, also where it fails. The whole world runs `time_scale` times as
 * fast (1: as it is). What was read once stays with the host, which is taken to have memory enough:
 * reading it again takes no time. 0 or -ENOMEM. */
int paced_sectors_new(
    struct sectors *sectors, struct drive *drive, double time_scale, struct sectors **ret);

#endif
