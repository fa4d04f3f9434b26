#include "drive/drive.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MS_NS        1e6
#define SECTOR_BYTES 2048

/* The mechanism settles after each move. */
#define SETTLE_MS 3.0

/* Points of the disc, along each axis, over which the average access is taken. */
#define GRID 64

struct drive {
    struct drive_profile profile;
    double linear_ms, root_ms; /* of the way in stroke lengths: settle + linear x + root sqrt(x) */

    bool turns;         /* since the first request, but for rests */
    double idle_since;  /* when the last request was answered */
    uint64_t kept;      /* the buffer holds the sectors from here … */
    uint64_t head;      /* … to here, which the head comes to … */
    double head_ns;     /* … at this time */
    uint64_t delivered; /* the host has had what lies before this */
    bool paused;        /* the buffer was full: the head has lost its place */
};

/* ---- moves ---- */

/* The way between two sectors, 1 being from the first to the last. */
static double stroke(const struct geometry *geometry, uint64_t from, uint64_t to)
{
    double way = geometry_radius_mm(geometry, from) - geometry_radius_mm(geometry, to);
    return fabs(way) / (geometry->outer_mm - geometry->inner_mm);
}

static double half_turn_ns(const struct drive *drive, uint64_t lba)
{
    return geometry_turn_ns(&drive->profile.geometry, lba) / 2;
}

/* Chooses the two factors so that the average over all pairs of places, and the full stroke, are
 * what the profile says, the mean wait for the sector to come round included. */
static void fit_moves(struct drive *drive)
{
    const struct geometry *geometry = &drive->profile.geometry;
    uint64_t all = geometry_sectors(geometry);
    double linear = 0, root = 0, wait = 0;

    for (unsigned i = 0; i < GRID; i++) {
        uint64_t from = all * (2 * i + 1) / (2 * GRID);
        wait += half_turn_ns(drive, from) / GRID;
        for (unsigned k = 0; k < GRID; k++) {
            double way = stroke(geometry, from, all * (2 * k + 1) / (2 * GRID));
            linear += way / (GRID * GRID);
            root += sqrt(way) / (GRID * GRID);
        }
    }
    double mean = drive->profile.access_ms - SETTLE_MS - wait / MS_NS;
    double full = drive->profile.full_ms - SETTLE_MS - half_turn_ns(drive, all) / MS_NS;
    mean = mean > 0 ? mean : 0;
    full = full > mean ? full : mean;
    drive->linear_ms = (mean - root * full) / (linear - root);
    drive->root_ms = full - drive->linear_ms;
    /* A curve that falls towards its end, or starts below zero, is no move of a mechanism. */
    if (drive->root_ms < 0 || drive->linear_ms + drive->root_ms / 2 < 0) {
        drive->linear_ms = drive->root_ms < 0 ? mean / linear : 0;
        drive->root_ms = drive->root_ms < 0 ? 0 : mean / root;
    }
}

double drive_access_ns(const struct drive *drive, uint64_t from, uint64_t to)
{
    double way = stroke(&drive->profile.geometry, from, to);

    if (from == to)
        return 0;
    double move = SETTLE_MS + drive->linear_ms * way + drive->root_ms * sqrt(way);
    return move * MS_NS + half_turn_ns(drive, to);
}

/* ---- the buffer ---- */

static uint64_t buffer_sectors(const struct drive *drive)
{
    return drive->profile.buffer_bytes / SECTOR_BYTES;
}

/* Lets the drive read ahead until `now`, or its buffer is full. */
static void read_ahead(struct drive *drive, double now)
{
    uint64_t ahead = drive->head - drive->delivered, room = buffer_sectors(drive);

    if (drive->paused || now <= drive->head_ns)
        return;
    room = room > ahead ? room - ahead : 0;
    uint64_t n = geometry_sectors_in(&drive->profile.geometry, drive->head, now - drive->head_ns);
    if (n >= room) {
        n = room;
        drive->paused = true;
    }
    drive->head_ns += geometry_pass_ns(&drive->profile.geometry, drive->head, n);
    drive->head += n;
}

/* The head comes back to where it paused. */
static void resume(struct drive *drive, double now)
{
    if (!drive->paused)
        return;
    drive->head_ns = now + half_turn_ns(drive, drive->head);
    drive->paused = false;
}

static void move_to(struct drive *drive, uint64_t lba, double now)
{
    double access = drive_access_ns(drive, drive->head, lba);

    /* The same place again is a turn later. */
    drive->head_ns = now + (access > 0 ? access : half_turn_ns(drive, lba));
    drive->kept = drive->head = drive->delivered = lba;
    drive->paused = false;
}

/* What was read longest ago makes room, but nothing of the last request does. */
static void keep(struct drive *drive, uint64_t lba)
{
    uint64_t room = buffer_sectors(drive);

    if (drive->head - drive->kept > room)
        drive->kept = drive->head - room < lba ? drive->head - room : lba;
}

/* Spins up where it has to: when the drive can begin. */
static double begin(struct drive *drive, double now)
{
    double idle_ns = drive->profile.idle_s * 1e9;
    bool rested = drive->turns && idle_ns > 0 && now - drive->idle_since > idle_ns;

    now += drive->profile.overhead_ms * MS_NS;
    if (drive->turns && !rested)
        return now;
    drive->turns = true;
    drive->paused = true;
    return now + drive->profile.spin_up_ms * MS_NS;
}

uint64_t drive_read(struct drive *drive, uint64_t lba, uint64_t count, uint64_t now_ns)
{
    const struct geometry *geometry = &drive->profile.geometry;
    uint64_t end = count < UINT64_MAX - lba ? lba + count : UINT64_MAX;

    read_ahead(drive, (double)now_ns);
    double start = begin(drive, (double)now_ns);
    if (lba < drive->kept || lba > drive->head)
        move_to(drive, lba, start);
    double there = start;
    if (end > drive->head) {
        resume(drive, start);
        drive->head_ns += geometry_pass_ns(geometry, drive->head, end - drive->head);
        drive->head = end;
        there = drive->head_ns > start ? drive->head_ns : start;
    }
    /* What was in the buffer comes at the bus's rate; what is read meanwhile comes as it is read.
     */
    double bus = (double)(end - lba) * SECTOR_BYTES / 1024 / drive->profile.bus_kb_s * 1e9;
    there = there > start + bus ? there : start + bus;
    drive->delivered = end > drive->delivered ? end : drive->delivered;
    keep(drive, lba);
    /* Half the buffer is free: it is worth to go on. */
    if (drive->paused && drive->head - drive->delivered <= buffer_sectors(drive) / 2)
        resume(drive, there);
    drive->idle_since = there;
    return (uint64_t)ceil(there);
}

int drive_new(const struct drive_profile *profile, struct drive **ret)
{
    struct drive *drive = calloc(1, sizeof(*drive));

    if (!drive)
        return -ENOMEM;
    drive->profile = *profile;
    fit_moves(drive);
    *ret = drive;
    return 0;
}

void drive_free(struct drive *drive)
{
    free(drive);
}
