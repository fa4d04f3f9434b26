#include "disc/iso9660_volume.h"

#include <errno.h>
#include <string.h>

#include "disc/iso9660_names.h"

/* A volume descriptor (ECMA-119, 8.4 and 8.5). */
#define VOLUME_TYPE        0
#define VOLUME_MAGIC       1
#define VOLUME_LABEL       40
#define VOLUME_LABEL_BYTES 32
#define VOLUME_BLOCKS      80
#define VOLUME_ESCAPES     88
#define VOLUME_BLOCK_BYTES 128
#define VOLUME_ROOT        156 /* the record of the top directory */
#define ROOT_ATTRIBUTES    1
#define ROOT_BLOCK         2

enum { TYPE_PRIMARY = 1, TYPE_SUPPLEMENTARY = 2, TYPE_END = 255 };

#define FIRST_SECTOR 16
#define SECTORS_MOST 64 /* looked at for descriptors */

static bool is_joliet(const unsigned char *descriptor)
{
    const unsigned char *escapes = descriptor + VOLUME_ESCAPES;

    return escapes[0] == '%' && escapes[1] == '/' &&
           (escapes[2] == '@' || escapes[2] == 'C' || escapes[2] == 'E');
}

static void strip(char *text)
{
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
}

static int take(const unsigned char *descriptor, bool joliet, uint64_t at,
    struct iso9660_volume *ret, struct disc_fault *fault)
{
    const unsigned char *root = descriptor + VOLUME_ROOT;
    uint32_t block_bytes = iso9660_u16(descriptor + VOLUME_BLOCK_BYTES);

    if (block_bytes != 512 && block_bytes != 1024 && block_bytes != 2048)
        return disc_fault_note(fault, -EUCLEAN, "volume descriptor with an unknown block size", at);
    ret->is_there = true;
    ret->block_bytes = block_bytes;
    ret->blocks = iso9660_u32(descriptor + VOLUME_BLOCKS);
    ret->root = ((uint64_t)iso9660_u32(root + ROOT_BLOCK) + root[ROOT_ATTRIBUTES]) * block_bytes;
    if (joliet) {
        iso9660_utf16_text(
            descriptor + VOLUME_LABEL, VOLUME_LABEL_BYTES, ret->label, sizeof(ret->label));
    } else {
        memcpy(ret->label, descriptor + VOLUME_LABEL, VOLUME_LABEL_BYTES);
        ret->label[VOLUME_LABEL_BYTES] = '\0';
    }
    strip(ret->label);
    return 0;
}

int iso9660_volumes_find(struct sectors *sectors, struct iso9660_volume *ret_primary,
    struct iso9660_volume *ret_joliet, struct disc_fault *fault)
{
    struct iso9660_volume primary = {0}, joliet = {0};
    struct disc_fault why = {0};
    int error = 0;

    for (uint64_t sector = FIRST_SECTOR; sector < FIRST_SECTOR + SECTORS_MOST; sector++) {
        unsigned char bytes[SECTOR_BYTES];
        uint64_t at = sector * SECTOR_BYTES, bad = sector;
        ssize_t n = sectors->ops->read(sectors, bytes, sizeof(bytes), at, &bad);
        int r = 0;
        if (n < 0)
            r = disc_fault_note(&why, (int)n, "unreadable sector", bad * SECTOR_BYTES);
        else if (n < SECTOR_BYTES)
            break;
        else if (memcmp(bytes + VOLUME_MAGIC, "CD001", 5) != 0)
            continue;
        else if (bytes[VOLUME_TYPE] == TYPE_PRIMARY && !primary.is_there)
            r = take(bytes, false, at, &primary, &why);
        else if (bytes[VOLUME_TYPE] == TYPE_SUPPLEMENTARY && is_joliet(bytes) && !joliet.is_there)
            r = take(bytes, true, at, &joliet, &why);
        else if (bytes[VOLUME_TYPE] == TYPE_END)
            break;
        if (r < 0 && error == 0)
            error = r;
    }
    if (!primary.is_there && !joliet.is_there) {
        *fault = why;
        return error ? error
                     : disc_fault_note(fault, -EILSEQ, "no ISO 9660 volume descriptor",
                           (uint64_t)FIRST_SECTOR * SECTOR_BYTES);
    }
    *ret_primary = primary;
    *ret_joliet = joliet;
    return 0;
}
