/* What a drive is like. */
#ifndef SHOAL_DRIVE_PROFILE_H
#define SHOAL_DRIVE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "drive/geometry.h"

#define DRIVE_NAME_MAX 128

struct drive_profile {
    char name[DRIVE_NAME_MAX]; /* as it was given */
    struct geometry geometry;
    double access_ms;      /* on average, to any place from any other, the turn's wait included */
    double full_ms;        /* from one end to the other, the same */
    double overhead_ms;    /* of each command */
    double spin_up_ms;     /* from rest */
    double idle_s;         /* after which it stops; 0: never */
    double bus_kb_s;       /* to the host */
    uint64_t buffer_bytes; /* what it reads ahead into while the host is busy; 0: it does not */
};

/* Reads a drive: NX, N from 1 to 72 ("32X"), with "-clv" or "-cav" (up to 12X: clv), and then
 * "access=MS", "full=MS", "overhead=MS", "spin-up=MS", "idle=SECONDS", "bus=KB/S", "buffer=BYTES"
 * (K and M as usual), each after a comma. -EINVAL: *ret_why (free it; NULL if memory is out) says
 * what is wrong. */
int drive_profile_parse(const char *text, struct drive_profile *ret, char **ret_why);

/* A line with all of it: fills the buffer, and returns it. */
#define DRIVE_TEXT_MAX 256
char *drive_profile_describe(const struct drive_profile *profile, char text[static DRIVE_TEXT_MAX]);

#endif
