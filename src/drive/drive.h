/* The clockwork of an optical drive: when the data of a request is there. Time is virtual: nothing
 * waits, and the same requests at the same times always give the same answers. For one thread. */
#ifndef SHOAL_DRIVE_DRIVE_H
#define SHOAL_DRIVE_DRIVE_H

#include <stdint.h>

#include "drive/profile.h"

struct drive;

/* A drive at rest, at time 0. -ENOMEM. */
int drive_new(const struct drive_profile *profile, struct drive **ret);
void drive_free(struct drive *drive); /* NULL is ignored */

/* Asks for `count` sectors from `lba` on, at a time not before that of the last answer; returns
 * when the last of them is with the host. What the drive has read ahead since the last request, as
 * far as its buffer goes, is there at once; what comes next under its head takes as long as it
 * takes to pass; anything else an access. */
uint64_t drive_read(struct drive *drive, uint64_t lba, uint64_t count, uint64_t now_ns);

/* How long the head takes from one sector to another, on average over the turn: 0 to where it is.
 */
double drive_access_ns(const struct drive *drive, uint64_t from, uint64_t to);

#endif
