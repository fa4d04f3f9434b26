/* Mounting the image of a disc: opening it, at the pace of a drive if one is given, and serving it.
 */
#ifndef SHOAL_MOUNT_IMAGE_H
#define SHOAL_MOUNT_IMAGE_H

#include "disc/disc.h"
#include "disc/sectors.h"
#include "drive/profile.h"
#include "mount/mount.h"

struct image_options {
    enum sectors_format format;
    struct disc_options disc;
    const struct drive_profile *drive; /* NULL: as fast as can be */
    double time_scale;                 /* of the drive's world */
    struct mount_options mount;
};

/* Mounts and serves it, as mount_disc() does. -EILSEQ: there is no disc that is known; *ret_why
 * (free it; NULL if nothing more is known) and *fault say more where the image is at fault. */
int image_mount(const char *image, const char *directory, const struct image_options *options,
    struct disc_fault *fault, char **ret_why);

#endif
