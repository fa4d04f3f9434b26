/* Sectors as they stand on the disc: 2,352 bytes, of which 2,048 are data. Each begins with twelve
 * bytes of synchronisation, its address and its mode (ECMA-130, 14); mode 2 has a subheader of
 * eight bytes, whose submode tells form 1 (2,048 bytes) from form 2 (2,324, for sound and film). */
#ifndef SHOAL_DISC_RAW_SECTORS_H
#define SHOAL_DISC_RAW_SECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disc/sectors.h"

#define RAW_SECTOR_BYTES 2352
#define RAW_SYNC_BYTES   12

struct raw_layout {
    uint64_t offset;       /* of the first sector in the file, in bytes */
    uint64_t bytes;        /* where they end in it */
    unsigned sector_bytes; /* RAW_SECTOR_BYTES, or SECTOR_BYTES for data alone */
};

/* Takes the descriptor over, unless it fails. -EILSEQ: the first sector is none. Sectors without
 * 2,048 bytes of data (sound, form 2) cannot be read: -EIO. */
int raw_sectors_new(int fd, const struct raw_layout *layout, struct sectors **ret);

/* Whether a raw sector begins there. */
bool raw_begins_sector(const char *bytes, size_t n);

#endif
