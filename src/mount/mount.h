/* The FUSE face of a disc: its file system mounted, read-only, for any program to read. */
#ifndef SHOAL_MOUNT_MOUNT_H
#define SHOAL_MOUNT_MOUNT_H

#include <stdbool.h>

struct disc;

struct mount_options {
    const char *source; /* what /proc/mounts shows as the device */
    bool foreground;    /* else the call goes on in a process of its own, and the first one exits */
    bool set_id_devices; /* set-ID bits and device nodes work as on any other disk */
    bool one_thread;     /* requests one after the other */
};

/* Mounts the disc at `directory` and serves it until it is unmounted, or SIGINT, SIGTERM or SIGHUP
 * comes: then it unmounts it. Others than the user may read too, where the system allows that, by
 * the files' own permissions. libfuse says on standard error why it cannot mount: -EIO then. */
int mount_disc(struct disc *disc, const char *directory, const struct mount_options *options);

#endif
