/* Discs to copy off: an image of a source tree, and its mount in an emulated drive. */
#ifndef SHOAL_BENCH_DISC_H
#define SHOAL_BENCH_DISC_H

struct bench_fault;
struct bench_stop;

/* Makes an image of SGI's EFS of the directory `tree` at `image`, a new file. -EINTR: stopped. On
 * failure nothing is left. */
int disc_make(
    const char *tree, const char *image, struct bench_stop *stop, struct bench_fault *fault);

/* Mounts it at the empty directory `at`, in a drive (see drive/profile.h) that nobody has used
 * before, whose world runs time_scale times as fast. `shoal mount` does it, so that it takes FUSE.
 */
int disc_mount(const char *image, const char *drive, double time_scale, const char *at,
    struct bench_stop *stop, struct bench_fault *fault);

/* Unmounts it, whatever still uses it. */
int disc_unmount(const char *at, struct bench_fault *fault);

#endif
