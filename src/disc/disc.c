#include "disc/disc.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

int disc_names_parse(const char *text, enum disc_names *ret)
{
    static const char *const names[] = {
        [DISC_NAMES_AUTO] = "auto",
        [DISC_NAMES_ROCK_RIDGE] = "rock-ridge",
        [DISC_NAMES_JOLIET] = "joliet",
        [DISC_NAMES_PLAIN] = "plain",
    };

    for (size_t i = 0; i < ELEMENTS(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum disc_names)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* A volume header alone does not make it EFS, nor does it spoil an ISO 9660 disc: bootable ones
 * have both. */
int disc_open(struct sectors *sectors, const struct disc_options *options, struct disc **ret,
    struct disc_fault *fault)
{
    struct disc_fault none = {0};
    int r = efs_open(sectors, ret, &none);

    return r == -EILSEQ ? iso9660_open(sectors, options, ret, fault) : r;
}

void disc_free(struct disc *disc)
{
    if (disc)
        disc->ops->free(disc);
}
