/* File systems that are made for a series and go with it: an image, attached to a loop device and
 * without a name from the start, or one in memory; mounted where only this process and its children
 * see it. When the process ends, in whatever way, nothing of them stays but an empty directory if
 * it was killed. */
#ifndef SHOAL_BENCH_SCRATCH_FS_H
#define SHOAL_BENCH_SCRATCH_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_fault;
struct bench_stop;
struct scratch_kind;

struct scratch_spec {
    const struct scratch_kind *kind;
    uint64_t size_bytes; /* 0: as the work needs */
};

/* Reads "TYPE[,size=SIZE]". -ENOENT: no such type; -EINVAL: malformed; -ERANGE: a size that no
 * number holds. */
int scratch_spec_parse(const char *text, struct scratch_spec *ret);

/* The types in order; NULL past the last. */
const char *scratch_type(size_t i);

const char *scratch_type_of(const struct scratch_spec *spec);

/* What mounts this process makes from now on are its own and its children's. */
int scratch_fs_isolate(struct bench_fault *fault);

struct scratch_fs_request {
    const struct scratch_spec *spec;
    uint64_t files, bytes; /* what it is to have room for */
    unsigned margin;       /* times as much, if its size is not given: from 2 on */
    const char *parent;    /* an existing directory: image and mount point are made there */
    struct bench_stop *stop;
    struct bench_fault *fault;
};

/* -ENOSPC: what it is to be in (the file system of `parent`, or memory) lacks the room. */
int scratch_fs_check_room(const struct scratch_fs_request *request);

struct scratch_fs {
    char *path; /* where it is mounted */
    uint64_t size_bytes;
    bool is_image_in_memory; /* what the image is on is itself in memory */
};

/* Makes and mounts one, after scratch_fs_isolate(). -ENOSPC as above; -EINTR: stopped. On failure
 * nothing is left. */
int scratch_fs_make(const struct scratch_fs_request *request, struct scratch_fs *ret);

/* Unmounts it, which ends it with all it holds, and removes the mount point. Does nothing to one
 * that is zero. On failure fs->path stays, and is the caller's to free. */
int scratch_fs_unmake(struct scratch_fs *fs);

#endif
