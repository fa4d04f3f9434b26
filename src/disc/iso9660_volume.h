/* The volume descriptors of an ISO 9660 disc. */
#ifndef SHOAL_DISC_ISO9660_VOLUME_H
#define SHOAL_DISC_ISO9660_VOLUME_H

#include "disc/iso9660.h"

struct iso9660_volume {
    bool is_there;
    uint32_t block_bytes, blocks;
    uint64_t root; /* offset of the top directory's extent */
    char label[64];
};

/* Finds the primary descriptor, and the supplementary one of Joliet. -EILSEQ: there is neither. */
int iso9660_volumes_find(struct sectors *sectors, struct iso9660_volume *ret_primary,
    struct iso9660_volume *ret_joliet, struct disc_fault *fault);

#endif
