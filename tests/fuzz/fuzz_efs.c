/* libFuzzer target: any bytes as the image of an EFS disc. Whatever they are, the reader must end,
 * and hold to what disc.h promises. */
#include <stdint.h>

#include "unit/memory_sectors.h"
#include "walk_disc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct disc_fault fault = {0};
    struct sectors *sectors = memory_sectors_new(data, size, size % 3 ? 0 : size / 4096);
    struct disc *disc;

    check(sectors != NULL, "there is memory");
    if (efs_open(sectors, &disc, &fault) < 0) {
        sectors->ops->free(sectors);
        return 0;
    }
    walk_disc(disc);
    disc->ops->free(disc);
    return 0;
}
