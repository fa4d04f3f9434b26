/* The data of a disc, whatever holds it: an image of 2048-byte sectors, one of raw sectors of 2352
 * bytes, a BIN with its CUE sheet, a block device. Offsets are bytes of user data: sector n begins
 * at n * SECTOR_BYTES. May be used by several threads at once. */
#ifndef SHOAL_DISC_SECTORS_H
#define SHOAL_DISC_SECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SECTOR_BYTES 2048

struct sectors;

struct sectors_ops {
    /* Reads at an offset: how many bytes, less than n only at the end of what is there (0 beyond
     * it), or a negative errno; then *ret_bad (may be NULL) is the first sector that could not be
     * read. What precedes that sector can be had by reading less. */
    ssize_t (*read)(
        struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad);
    void (*free)(struct sectors *sectors);
};

struct sectors {
    const struct sectors_ops *ops;
    uint64_t bytes; /* of user data that are there */
    /* A descriptor from which the kernel can read the user data at the same offsets, or -1. */
    int fd;
};

enum sectors_format {
    SECTORS_AUTO,
    SECTORS_PLAIN, /* 2048 bytes a sector, nothing between */
    SECTORS_RAW,   /* 2352: mode 1, or mode 2 form 1 */
    SECTORS_CUE,   /* a CUE sheet, which names its BIN and the first data track in it */
};

/* Opens the image or device at `path`, looked up in the directory `dir_fd` (AT_FDCWD). -EILSEQ: it
 * is not of that format. *ret_why (free it; NULL if nothing more is known) says what is wrong. */
int sectors_open(
    int dir_fd, const char *path, enum sectors_format format, struct sectors **ret, char **ret_why);

/* The formats' names as --from-format takes them: "auto", "2048", "2352", "cue". -EINVAL. */
int sectors_format_parse(const char *text, enum sectors_format *ret);

#endif
