/* Where sectors lie on a disc, and how fast they pass the head.
 *
 * Data runs in a spiral from the inner to the outer radius. At 1X the head reads 75 sectors of
 * 2,048 bytes a second, whatever the radius: so a sector is v / 75 of track long, v being the
 * linear speed at 1X, and sector n lies at r(n) = sqrt(r0^2 + n * v / 75 * pitch / pi). A drive of
 * constant linear velocity (CLV) reads everywhere at its rating; one of constant angular velocity
 * (CAV) turns at one speed and reaches its rating at the outer radius alone. Figures: ECMA-130, and
 * what is published of drives; see docs/drives.md. */
#ifndef SHOAL_DRIVE_GEOMETRY_H
#define SHOAL_DRIVE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#define SECTORS_PER_SECOND_1X 75

struct geometry {
    double inner_mm, outer_mm; /* radii of the data */
    double pitch_um;           /* between turns */
    double speed_m_s;          /* of the track under the head at 1X: 1.2 to 1.4 */
    double rating;             /* 32 for "32X" */
    bool is_cav;
};

/* The radius of a sector, never beyond the outer one. */
double geometry_radius_mm(const struct geometry *geometry, uint64_t lba);

/* Sectors a second at a sector, in multiples of 1X. */
double geometry_rate_x(const struct geometry *geometry, uint64_t lba);

/* Turns a minute at a sector. */
double geometry_rpm(const struct geometry *geometry, uint64_t lba);

/* The time of a turn there. */
double geometry_turn_ns(const struct geometry *geometry, uint64_t lba);

/* How long `count` sectors from `lba` on take to pass the head. */
double geometry_pass_ns(const struct geometry *geometry, uint64_t lba, uint64_t count);

/* How many sectors from `lba` on pass within a time. */
uint64_t geometry_sectors_in(const struct geometry *geometry, uint64_t lba, double ns);

/* How many sectors there are up to the outer radius. */
uint64_t geometry_sectors(const struct geometry *geometry);

#endif
