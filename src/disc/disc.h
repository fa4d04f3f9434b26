/* A file system on a disc. Every node is reached by its number, without state between calls, from
 * any thread. Nothing of an image is trusted: every offset, count and length is checked before it
 * is used, loops are cut, and names are one component without "/" and NUL, never "." or "..".
 *
 * Operations return 0 (or what is said) or a negative errno: -EUCLEAN where the disc is damaged,
 * -EIO where it cannot be read. `fault` (never NULL) then says where. */
#ifndef SHOAL_DISC_DISC_H
#define SHOAL_DISC_DISC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry/entry.h"

struct disc;
struct sectors;

/* What is wrong, and where: the first thing found. Start from zero. */
struct disc_fault {
    const char *what; /* "extent past the end of the volume", …; NULL: nothing known */
    uint64_t sector;  /* of SECTOR_BYTES, from the start of the image */
};

/* Called with each name of a directory in its order: not 0 ends the listing, and is returned.
 * `type` is DT_…, DT_UNKNOWN where the listing does not say. */
typedef int (*disc_name_taker)(void *context, const char *name, uint64_t node, unsigned char type);

struct disc_ops {
    /* All of a node but its content. `target` (DISC_TARGET_MAX bytes) takes what a symbolic link
     * leads to; ret->link_target points to it. dev is 1, ino the same for all names of one file,
     * xattrs NULL. */
    int (*look)(struct disc *disc, uint64_t node, char *target, struct entry *ret,
        struct disc_fault *fault);
    /* "." and ".." left out. What is damaged is left out after the rest was given; then that error
     * is returned. */
    int (*list)(struct disc *disc, uint64_t node, disc_name_taker each, void *context,
        struct disc_fault *fault);
    /* The node of one name. -ENOENT, -ENOTDIR. */
    int (*find)(struct disc *disc, uint64_t directory, const char *name, uint64_t *ret,
        struct disc_fault *fault);
    /* Reads a regular file's content at an offset: how many bytes, 0 only at its end; short counts
     * need not be the end. Holes read as zeros. */
    ssize_t (*read)(struct disc *disc, uint64_t node, void *buffer, size_t n, uint64_t offset,
        struct disc_fault *fault);
    /* Where a regular file's content at an offset lies: *ret_at in the sectors' bytes, UINT64_MAX
     * in a hole, and how far it goes on there. -ENODATA at or beyond the end. */
    int (*map)(struct disc *disc, uint64_t node, uint64_t offset, uint64_t *ret_at,
        uint64_t *ret_length, struct disc_fault *fault);
    void (*free)(struct disc *disc);
};

#define DISC_TARGET_MAX 4096

struct disc {
    const struct disc_ops *ops;
    const char *kind;                          /* "efs", "iso9660" */
    struct sectors *sectors;                   /* the disc's own */
    uint64_t root;                             /* the node of its top directory */
    uint64_t nodes;                            /* how many there are, 0 if the disc does not say */
    uint64_t blocks_used, blocks, block_bytes; /* of the volume */
    char label[64];                            /* of the volume, "" if it has none */
};

/* What of an ISO 9660 disc is used. */
enum disc_names {
    DISC_NAMES_AUTO, /* Rock Ridge where there is some, else Joliet, else plain */
    DISC_NAMES_ROCK_RIDGE,
    DISC_NAMES_JOLIET,
    DISC_NAMES_PLAIN,
};

/* Reads "auto", "rock-ridge", "joliet" or "plain". -EINVAL. */
int disc_names_parse(const char *text, enum disc_names *ret);

struct disc_options {
    enum disc_names names;
};

/* Finds the file system by its own magic and opens it; takes `sectors` over, unless it fails.
 * -EILSEQ: none is known there. */
int disc_open(struct sectors *sectors, const struct disc_options *options, struct disc **ret,
    struct disc_fault *fault);

/* The readers, one file each: -EILSEQ where the disc is not of their kind. */
int efs_open(struct sectors *sectors, struct disc **ret, struct disc_fault *fault);
int iso9660_open(struct sectors *sectors, const struct disc_options *options, struct disc **ret,
    struct disc_fault *fault);

void disc_free(struct disc *disc); /* NULL is ignored */

#endif
