#include "mount/image.h"

#include <errno.h>
#include <fcntl.h>

#include "drive/drive.h"
#include "source/paced.h"

/* Puts a drive before the sectors; frees them where it fails. */
static int pace(struct sectors **sectors, const struct image_options *options)
{
    struct drive *drive;
    int r = drive_new(options->drive, &drive);

    if (r < 0) {
        (*sectors)->ops->free(*sectors);
        return r;
    }
    return paced_sectors_new(*sectors, drive, options->time_scale, sectors);
}

int image_mount(const char *image, const char *directory, const struct image_options *options,
    struct disc_fault *fault, char **ret_why)
{
    struct sectors *sectors;
    struct disc *disc;

    int r = sectors_open(AT_FDCWD, image, options->format, &sectors, ret_why);
    if (r < 0)
        return r;
    if (options->drive) {
        r = pace(&sectors, options);
        if (r < 0)
            return r;
    }
    r = disc_open(sectors, &options->disc, &disc, fault);
    if (r < 0) {
        sectors->ops->free(sectors);
        return r;
    }
    r = mount_disc(disc, directory, &options->mount);
    disc_free(disc);
    return r;
}
