/* libFuzzer target: any bytes as an ISO 9660 disc's image, by each kind of names. Whatever they
 * are, the reader must end, and hold to what disc.h promises. */
#include <stdint.h>

#include "unit/memory_sectors.h"
#include "walk_disc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (enum disc_names names = DISC_NAMES_AUTO; names <= DISC_NAMES_PLAIN; names++) {
        struct disc_options options = {.names = names};
        struct disc_fault fault = {0};
        struct sectors *sectors = memory_sectors_new(data, size, size % 3 ? 0 : size / 4096);
        struct disc *disc;
        check(sectors != NULL, "there is memory");
        int r = iso9660_open(sectors, &options, &disc, &fault);
        if (r < 0) {
            check(fault.what != NULL, "a failure says what failed");
            sectors->ops->free(sectors);
            continue;
        }
        walk_disc(disc);
        disc->ops->free(disc);
    }
    return 0;
}
