/* Files that zisofs compressed: in blocks of 32 to 128 KiB by zlib, each by itself. */
#ifndef SHOAL_DISC_ISO9660_ZISOFS_H
#define SHOAL_DISC_ISO9660_ZISOFS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct disc_fault;
struct rock_ridge;
struct sectors;

struct zisofs_file {
    uint64_t at, bytes; /* what is stored */
    const struct rock_ridge *rock_ridge;
};

/* As disc_ops.read. -EOPNOTSUPP: compressed in another way. */
ssize_t zisofs_read(struct sectors *sectors, const struct zisofs_file *file, void *buffer, size_t n,
    uint64_t offset, struct disc_fault *fault);

#endif
