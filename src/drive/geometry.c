#include "drive/geometry.h"

#include <math.h>

#define NS_PER_SECOND 1e9

/* The square of the radius grows by so many mm^2 a sector. */
static double growth_mm2(const struct geometry *geometry)
{
    double length_mm = geometry->speed_m_s * 1000 / SECTORS_PER_SECOND_1X;
    return length_mm * geometry->pitch_um / 1000 / M_PI;
}

double geometry_radius_mm(const struct geometry *geometry, uint64_t lba)
{
    double r0 = geometry->inner_mm, r = sqrt(r0 * r0 + (double)lba * growth_mm2(geometry));
    return r < geometry->outer_mm ? r : geometry->outer_mm;
}

uint64_t geometry_sectors(const struct geometry *geometry)
{
    double inner = geometry->inner_mm, outer = geometry->outer_mm;
    return (uint64_t)((outer * outer - inner * inner) / growth_mm2(geometry));
}

double geometry_rate_x(const struct geometry *geometry, uint64_t lba)
{
    if (!geometry->is_cav)
        return geometry->rating;
    return geometry->rating * geometry_radius_mm(geometry, lba) / geometry->outer_mm;
}

double geometry_rpm(const struct geometry *geometry, uint64_t lba)
{
    double track_mm_s = geometry->speed_m_s * 1000 * geometry_rate_x(geometry, lba);
    return track_mm_s / (2 * M_PI * geometry_radius_mm(geometry, lba)) * 60;
}

double geometry_turn_ns(const struct geometry *geometry, uint64_t lba)
{
    return NS_PER_SECOND * 60 / geometry_rpm(geometry, lba);
}

/* With r dr = growth / 2 dn, the integral of dn / rate(n) is linear in r for a CAV drive. */
double geometry_pass_ns(const struct geometry *geometry, uint64_t lba, uint64_t count)
{
    double sectors_s = SECTORS_PER_SECOND_1X * geometry->rating;
    uint64_t all = geometry_sectors(geometry);

    if (!geometry->is_cav)
        return (double)count / sectors_s * NS_PER_SECOND;
    uint64_t end = count < UINT64_MAX - lba ? lba + count : UINT64_MAX;
    uint64_t inside = end < all ? end : all, from = lba < all ? lba : all;
    double radii = geometry_radius_mm(geometry, inside) - geometry_radius_mm(geometry, from);
    double beyond = (double)(count - (inside - from)); /* an image may be longer than a disc */
    return (2 * geometry->outer_mm * radii / growth_mm2(geometry) + beyond) / sectors_s *
           NS_PER_SECOND;
}

uint64_t geometry_sectors_in(const struct geometry *geometry, uint64_t lba, double ns)
{
    double sectors_s = SECTORS_PER_SECOND_1X * geometry->rating;
    double most = ns / NS_PER_SECOND * sectors_s; /* at the outer radius */
    uint64_t low = 0, high = most < 1e15 ? (uint64_t)most + 1 : (uint64_t)1e15;

    while (low < high) { /* the most that pass in time */
        uint64_t middle = low + (high - low + 1) / 2;
        if (geometry_pass_ns(geometry, lba, middle) <= ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
