#include "disc/iso9660_zisofs.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "disc/iso9660.h"
#include "disc/iso9660_rock_ridge.h"

/* The file begins with this header; a pointer to each block's begin follows, and one to the end of
 * all. */
#define HEADER_BYTES   16
#define POINTER_BYTES  4

#define BLOCK_LOG2_MIN 15
#define BLOCK_LOG2_MAX 17

static const unsigned char magic[] = {0x37, 0xe4, 0x53, 0x96, 0xc9, 0xdb, 0xd6, 0x07};

/* Some bytes of what is stored, all of them. */
static int read_stored(struct sectors *sectors, const struct zisofs_file *file, void *buffer,
    size_t n, uint64_t at, struct disc_fault *fault)
{
    uint64_t bad = (file->at + at) / SECTOR_BYTES;

    if (at > file->bytes || n > file->bytes - at)
        return disc_fault_note(
            fault, -EUCLEAN, "compressed block outside its file", file->at + file->bytes);
    ssize_t r = sectors->ops->read(sectors, buffer, n, file->at + at, &bad);
    if (r < 0)
        return disc_fault_note(fault, (int)r, "unreadable sector", bad * SECTOR_BYTES);
    if ((size_t)r < n)
        return disc_fault_note(
            fault, -EUCLEAN, "extent past the end of the image", file->at + at + (uint64_t)r);
    return 0;
}

static int check_header(
    struct sectors *sectors, const struct zisofs_file *file, struct disc_fault *fault)
{
    unsigned char header[HEADER_BYTES];
    int r = read_stored(sectors, file, header, sizeof(header), 0, fault);

    if (r < 0)
        return r;
    if (memcmp(header, magic, sizeof(magic)) != 0 ||
        iso9660_u32(header + 8) != file->rock_ridge->uncompressed_bytes)
        return disc_fault_note(fault, -EUCLEAN, "compressed file without its header", file->at);
    return 0;
}

/* Where a block lies in what is stored. */
static int find_block(struct sectors *sectors, const struct zisofs_file *file, uint64_t block,
    uint32_t *ret_at, size_t *ret_bytes, struct disc_fault *fault)
{
    unsigned char pointers[2 * POINTER_BYTES];
    size_t most = compressBound(1UL << file->rock_ridge->block_log2);
    uint64_t at = file->rock_ridge->header_words * 4ULL + block * POINTER_BYTES;
    int r = read_stored(sectors, file, pointers, sizeof(pointers), at, fault);

    if (r < 0)
        return r;
    uint32_t begin = iso9660_u32(pointers), end = iso9660_u32(pointers + POINTER_BYTES);
    if (end < begin || end - begin > most)
        return disc_fault_note(fault, -EUCLEAN, "compressed block of a wrong size", file->at + at);
    *ret_at = begin;
    *ret_bytes = end - begin;
    return 0;
}

/* Exactly `size` bytes; a block of which nothing is stored is of zeros. */
static int expand_block(struct sectors *sectors, const struct zisofs_file *file, uint64_t block,
    void *to, size_t size, struct disc_fault *fault)
{
    uint32_t at = 0;
    size_t bytes = 0;
    int r = find_block(sectors, file, block, &at, &bytes, fault);

    if (r < 0)
        return r;
    if (bytes == 0) {
        memset(to, 0, size);
        return 0;
    }
    _cleanup_free_ void *stored = malloc(bytes);
    if (!stored)
        return -ENOMEM;
    r = read_stored(sectors, file, stored, bytes, at, fault);
    if (r < 0)
        return r;
    uLongf expanded = size;
    r = uncompress(to, &expanded, stored, bytes);
    if (r == Z_MEM_ERROR)
        return -ENOMEM;
    if (r != Z_OK || expanded != size)
        return disc_fault_note(
            fault, -EUCLEAN, "compressed block that cannot be expanded", file->at + at);
    return 0;
}

ssize_t zisofs_read(struct sectors *sectors, const struct zisofs_file *file, void *buffer, size_t n,
    uint64_t offset, struct disc_fault *fault)
{
    const struct rock_ridge *rock_ridge = file->rock_ridge;
    uint64_t size = rock_ridge->uncompressed_bytes;

    if (memcmp(rock_ridge->compression, "pz", 2) != 0 || rock_ridge->block_log2 < BLOCK_LOG2_MIN ||
        rock_ridge->block_log2 > BLOCK_LOG2_MAX)
        return disc_fault_note(fault, -EOPNOTSUPP, "unknown compression (ZF)", file->at);
    if (offset >= size || n == 0)
        return 0;
    uint64_t block = offset >> rock_ridge->block_log2, begin = block << rock_ridge->block_log2;
    size_t block_size = (size_t)1 << rock_ridge->block_log2, skip = (size_t)(offset - begin);
    if (block_size > size - begin)
        block_size = (size_t)(size - begin);
    int r = block == 0 ? check_header(sectors, file, fault) : 0;
    if (r < 0)
        return r;
    if (skip == 0 && n >= block_size) {
        r = expand_block(sectors, file, block, buffer, block_size, fault);
        return r < 0 ? r : (ssize_t)block_size;
    }
    _cleanup_free_ char *expanded = malloc(block_size);
    if (!expanded)
        return -ENOMEM;
    r = expand_block(sectors, file, block, expanded, block_size, fault);
    if (r < 0)
        return r;
    if (n > block_size - skip)
        n = block_size - skip;
    memcpy(buffer, expanded + skip, n);
    return (ssize_t)n;
}
