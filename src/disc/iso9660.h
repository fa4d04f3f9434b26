/* What the parts of the ISO 9660 reader share.
 *
 * Facts: ECMA-119 (ISO 9660), SUSP and RRIP (IEEE P1281, P1282) in versions 1.10 and 1.12, the
 * Joliet specification, the description of zisofs; where they leave room, what Linux's isofs does.
 *
 * Node numbers are twice a byte offset in the image: of a file's directory record; or one more than
 * that, of a directory's record of itself, with which its extent begins. So a relocated directory
 * has one number whoever leads to it, and no number is of a file and of a directory. */
#ifndef SHOAL_DISC_ISO9660_H
#define SHOAL_DISC_ISO9660_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disc/disc.h"
#include "disc/sector_cache.h"
#include "disc/sectors.h"

struct iso9660 {
    struct disc disc;
    struct sector_cache *cache;
    uint32_t block_bytes;     /* of a logical block: 512, 1024 or 2048 */
    enum disc_names names;    /* what is used; never AUTO */
    unsigned rock_ridge_skip; /* bytes of each system use field that come before Rock Ridge's */
};

static inline uint16_t iso9660_u16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

/* Of a number in both byte orders, too: the little-endian one comes first. */
static inline uint32_t iso9660_u32(const unsigned char *bytes)
{
    return (uint32_t)iso9660_u16(bytes) | (uint32_t)iso9660_u16(bytes + 2) << 16;
}

/* Where a block begins, as an offset in the image. */
static inline uint64_t iso9660_block_at(const struct iso9660 *iso, uint32_t block)
{
    return (uint64_t)block * iso->block_bytes;
}

#endif
