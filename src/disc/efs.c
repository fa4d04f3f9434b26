#include "disc/efs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "disc/disc.h"
#include "disc/sector_cache.h"
#include "disc/sectors.h"

struct efs {
    struct disc disc;
    struct sector_cache *cache;
    uint64_t base;                       /* of the partition, in bytes */
    uint64_t first_group, group, groups; /* blocks before, and in, a cylinder group */
    uint64_t group_inodes;               /* blocks of inodes in it */
};

struct inode {
    uint64_t number;
    unsigned char bytes[EFS_INODE];
};

struct extent {
    uint64_t block, length, offset; /* blocks; offset in the file */
};

/* All extents of a file, in the file's order. */
struct extents {
    struct extent few[EFS_DIRECT], *all; /* all: few, or memory of its own */
    size_t n;
};

/* ---- blocks and inodes ---- */

static int fail_at(
    const struct efs *efs, struct disc_fault *fault, int error, const char *what, uint64_t block)
{
    return disc_fault_note(fault, error, what, efs->base + block * EFS_BLOCK);
}

static int read_block(
    const struct efs *efs, uint64_t block, unsigned char *buffer, struct disc_fault *fault)
{
    return sector_cache_read(efs->cache, buffer, EFS_BLOCK, efs->base + block * EFS_BLOCK, fault);
}

static uint64_t inodes(const struct efs *efs)
{
    return efs->groups * efs->group_inodes * EFS_INODES_A_BLOCK;
}

static int read_inode(
    const struct efs *efs, uint64_t number, struct inode *ret, struct disc_fault *fault)
{
    if (number < EFS_ROOT || number >= inodes(efs))
        return disc_fault_note(fault, -EUCLEAN, "inode that cannot be there", efs->base);
    uint64_t nth = number / EFS_INODES_A_BLOCK;
    uint64_t block =
        efs->first_group + efs->group * (nth / efs->group_inodes) + nth % efs->group_inodes;
    ret->number = number;
    return sector_cache_read(efs->cache, ret->bytes, EFS_INODE,
        efs->base + block * EFS_BLOCK + number % EFS_INODES_A_BLOCK * EFS_INODE, fault);
}

static mode_t mode_of(const struct inode *inode)
{
    return efs_u16(inode->bytes);
}

static uint64_t size_of(const struct inode *inode)
{
    return efs_u32(inode->bytes + 8);
}

static unsigned count_of(const struct inode *inode)
{
    int16_t n = (int16_t)efs_u16(inode->bytes + EFS_INODE_EXTENTS);
    return n > 0 ? (unsigned)n : 0;
}

/* ---- extents ---- */

static int take_extent(
    const struct efs *efs, const unsigned char *from, struct extent *ret, struct disc_fault *fault)
{
    *ret = (struct extent){
        .block = efs_u32(from) & 0xffffff,
        .length = from[4],
        .offset = efs_u32(from + 4) & 0xffffff,
    };
    if (from[0] != 0)
        return fail_at(efs, fault, -EUCLEAN, "extent of unknown kind", ret->block);
    if (ret->length == 0 || ret->block + ret->length > efs->disc.blocks)
        return fail_at(efs, fault, -EUCLEAN, "extent past the end of the volume", ret->block);
    return 0;
}

/* Takes up to `n` extents of a run of blocks that is full of them. */
static int take_run(const struct efs *efs, const struct extent *run, size_t n, struct extents *ret,
    struct disc_fault *fault)
{
    unsigned char block[EFS_BLOCK];
    int r = 0;

    for (uint64_t i = 0; i < run->length && ret->n < n && r == 0; i++) {
        r = read_block(efs, run->block + i, block, fault);
        for (size_t k = 0; k < EFS_EXTENTS_A_BLOCK && ret->n < n && r == 0; k++) {
            r = take_extent(efs, block + k * EFS_EXTENT, &ret->all[ret->n], fault);
            ret->n += r == 0;
        }
    }
    return r;
}

/* The inode's slots are runs of blocks then: the first one's offset says how many. */
static int take_indirect(const struct efs *efs, const struct inode *inode, size_t n,
    struct extents *ret, struct disc_fault *fault)
{
    const unsigned char *slots = inode->bytes + EFS_INODE_DATA;
    struct extent run;
    int r = take_extent(efs, slots, &run, fault);
    uint64_t runs = run.offset;

    if (r == 0 && (runs < 1 || runs > EFS_DIRECT))
        r = fail_at(efs, fault, -EUCLEAN, "file of too many runs of extents", run.block);
    for (uint64_t i = 0; i < runs && r == 0; i++) {
        r = take_extent(efs, slots + i * EFS_EXTENT, &run, fault);
        if (r == 0)
            r = take_run(efs, &run, n, ret, fault);
    }
    if (r == 0 && ret->n < n)
        r = fail_at(efs, fault, -EUCLEAN, "file with fewer extents than it says", run.block);
    return r;
}

static int by_offset(const void *a, const void *b)
{
    const struct extent *left = a, *right = b;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

/* Some discs have them in another order. */
static int sort_extents(const struct efs *efs, struct extents *extents, struct disc_fault *fault)
{
    bool sorted = true;

    for (size_t i = 1; i < extents->n; i++)
        sorted &= extents->all[i - 1].offset < extents->all[i].offset;
    if (!sorted)
        qsort(extents->all, extents->n, sizeof(*extents->all), by_offset);
    for (size_t i = 1; i < extents->n; i++) {
        const struct extent *before = &extents->all[i - 1], *extent = &extents->all[i];
        if (before->offset + before->length > extent->offset)
            return fail_at(efs, fault, -EUCLEAN, "extents that overlap", extent->block);
    }
    return 0;
}

static void extents_clear(struct extents *extents)
{
    if (extents->all != extents->few)
        free(extents->all);
}

/* Clear them also where it fails. */
static int extents_read(
    const struct efs *efs, const struct inode *inode, struct extents *ret, struct disc_fault *fault)
{
    size_t n = count_of(inode);
    int r = 0;

    *ret = (struct extents){.n = 0};
    ret->all = ret->few;
    if (n > EFS_DIRECT) {
        if (!(ret->all = calloc(n, sizeof(*ret->all))))
            return -ENOMEM;
        r = take_indirect(efs, inode, n, ret, fault);
    }
    while (n <= EFS_DIRECT && ret->n < n && r == 0) {
        r = take_extent(
            efs, inode->bytes + EFS_INODE_DATA + ret->n * EFS_EXTENT, &ret->all[ret->n], fault);
        ret->n += r == 0;
    }
    return r == 0 ? sort_extents(efs, ret, fault) : r;
}

/* Where a byte of a file lies: *ret_at in the partition, UINT64_MAX in a hole, and how far that
 * goes on, not beyond the end of the file. */
static void locate(const struct extents *extents, uint64_t size, uint64_t offset, uint64_t *ret_at,
    uint64_t *ret_length)
{
    uint64_t block = offset / EFS_BLOCK, end = size;
    size_t low = 0, high = extents->n;

    while (low < high) { /* the first extent that ends behind it */
        size_t middle = (low + high) / 2;
        if (extents->all[middle].offset + extents->all[middle].length <= block)
            low = middle + 1;
        else
            high = middle;
    }
    const struct extent *extent = low < extents->n ? &extents->all[low] : NULL;
    *ret_at = UINT64_MAX;
    if (extent && extent->offset <= block) {
        *ret_at = extent->block * EFS_BLOCK + (offset - extent->offset * EFS_BLOCK);
        end = (extent->offset + extent->length) * EFS_BLOCK;
    } else if (extent) {
        end = extent->offset * EFS_BLOCK;
    }
    *ret_length = (end < size ? end : size) - offset;
}

/* ---- operations ---- */

/* Makes the place one in the image, which may be cut. */
static int clip(const struct efs *efs, uint64_t *at, uint64_t *length, struct disc_fault *fault)
{
    uint64_t bytes = efs->disc.sectors->bytes;

    if (*at == UINT64_MAX)
        return 0;
    *at += efs->base;
    if (*at >= bytes)
        return disc_fault_note(fault, -EIO, "content past the end of the image", *at);
    *length = *length < bytes - *at ? *length : bytes - *at;
    return 0;
}

static int efs_map(struct disc *disc, uint64_t node, uint64_t offset, uint64_t *ret_at,
    uint64_t *ret_length, struct disc_fault *fault)
{
    const struct efs *efs = (const struct efs *)disc;
    struct extents extents;
    struct inode inode;

    int r = read_inode(efs, node, &inode, fault);
    if (r < 0)
        return r;
    if (offset >= size_of(&inode))
        return -ENODATA;
    r = extents_read(efs, &inode, &extents, fault);
    if (r == 0) {
        locate(&extents, size_of(&inode), offset, ret_at, ret_length);
        r = clip(efs, ret_at, ret_length, fault);
    }
    extents_clear(&extents);
    return r;
}

/* Reads content of an inode of any type. */
static ssize_t read_content(const struct efs *efs, const struct inode *inode, char *buffer,
    size_t n, uint64_t offset, struct disc_fault *fault)
{
    struct sectors *sectors = efs->disc.sectors;
    uint64_t size = size_of(inode), bad = 0;
    struct extents extents;
    size_t done = 0;

    int r = extents_read(efs, inode, &extents, fault);
    while (r == 0 && done < n && offset + done < size) {
        uint64_t at, length;
        locate(&extents, size, offset + done, &at, &length);
        size_t part = length < n - done ? (size_t)length : n - done;
        if (at == UINT64_MAX) {
            memset(buffer + done, 0, part);
            done += part;
            continue;
        }
        at += efs->base;
        ssize_t got = sectors->ops->read(sectors, buffer + done, part, at, &bad);
        if (got < 0)
            r = disc_fault_note(fault, (int)got, "sector that cannot be read", bad * SECTOR_BYTES);
        else if (got == 0)
            r = disc_fault_note(fault, -EIO, "content past the end of the image", at);
        else
            done += (size_t)got;
    }
    extents_clear(&extents);
    return done > 0 ? (ssize_t)done : r;
}

static ssize_t efs_read(struct disc *disc, uint64_t node, void *buffer, size_t n, uint64_t offset,
    struct disc_fault *fault)
{
    const struct efs *efs = (const struct efs *)disc;
    struct inode inode;
    int r = read_inode(efs, node, &inode, fault);

    return r < 0 ? r : read_content(efs, &inode, buffer, n, offset, fault);
}

/* A short target stands in the inode. */
static int read_target(
    const struct efs *efs, const struct inode *inode, char *target, struct disc_fault *fault)
{
    uint64_t size = size_of(inode);

    if (size == 0 || size >= DISC_TARGET_MAX ||
        (count_of(inode) == 0 && size > EFS_INODE_DATA_BYTES))
        return disc_fault_note(
            fault, -EUCLEAN, "symbolic link of a length that none has", efs->base);
    if (count_of(inode) == 0) {
        memcpy(target, inode->bytes + EFS_INODE_DATA, size);
    } else {
        ssize_t got = read_content(efs, inode, target, size, 0, fault);
        if (got < 0)
            return (int)got;
        if ((uint64_t)got < size)
            return disc_fault_note(fault, -EUCLEAN, "symbolic link that is cut", efs->base);
    }
    target[size] = '\0'; /* one before it ends the target too, as it does for Linux's driver */
    if (!*target)
        return disc_fault_note(fault, -EUCLEAN, "symbolic link that leads to no name", efs->base);
    return 0;
}

/* Two forms: 16 bits, or, where those are all ones, 32 behind them. */
static uint64_t device_of(const struct inode *inode)
{
    const unsigned char *data = inode->bytes + EFS_INODE_DATA;
    uint16_t old = efs_u16(data);
    uint32_t new = efs_u32(data + 2);

    if (old != 0xffff)
        return makedev(old >> 8 & 0x7f, old & 0xff);
    return makedev(new >> 18 & 0x1ff, new & 0x3ffff);
}

static int count_allocated(const struct efs *efs, const struct inode *inode, uint64_t *ret)
{
    struct disc_fault ignored = {0}; /* it is met again when the content is read */
    struct extents extents;
    int r = extents_read(efs, inode, &extents, &ignored);

    *ret = 0;
    for (size_t i = 0; r == 0 && i < extents.n; i++)
        *ret += extents.all[i].length * EFS_BLOCK;
    extents_clear(&extents);
    return r == -ENOMEM ? r : 0;
}

static int efs_look(
    struct disc *disc, uint64_t node, char *target, struct entry *ret, struct disc_fault *fault)
{
    const struct efs *efs = (const struct efs *)disc;
    struct inode inode;

    int r = read_inode(efs, node, &inode, fault);
    if (r < 0)
        return r;
    const unsigned char *bytes = inode.bytes;
    struct entry entry = {
        .mode = mode_of(&inode),
        .nlink = efs_u16(bytes + 2) > 0 ? efs_u16(bytes + 2) : 1,
        .uid = efs_u16(bytes + 4),
        .gid = efs_u16(bytes + 6),
        .dev = 1,
        .ino = node,
        .size = size_of(&inode),
        .atime.tv_sec = (int32_t)efs_u32(bytes + 12),
        .mtime.tv_sec = (int32_t)efs_u32(bytes + 16),
        .ctime.tv_sec = (int32_t)efs_u32(bytes + 20),
    };
    switch (entry.mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
        r = count_allocated(efs, &inode, &entry.allocated);
        break;
    case S_IFLNK:
        r = read_target(efs, &inode, target, fault);
        entry.link_target = target;
        entry.size = r == 0 ? strlen(target) : 0;
        break;
    case S_IFCHR:
    case S_IFBLK:
        entry.rdev = device_of(&inode);
        entry.size = 0;
        break;
    case S_IFIFO:
    case S_IFSOCK:
        entry.size = 0;
        break;
    default:
        return disc_fault_note(fault, -EUCLEAN, "inode of no type", efs->base);
    }
    if (r == 0)
        *ret = entry;
    return r;
}

/* ---- directories ---- */

static bool name_is_valid(const char *name, size_t length)
{
    return length > 0 && !memchr(name, '/', length) && !memchr(name, '\0', length);
}

static bool is_dot_or_dotdot(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static unsigned char type_of(const struct efs *efs, uint64_t number)
{
    struct disc_fault ignored = {0}; /* it is met again when the entry is looked at */
    struct inode inode;

    return read_inode(efs, number, &inode, &ignored) < 0 ? DT_UNKNOWN : IFTODT(mode_of(&inode));
}

/* What is done with the names of a block. */
struct taking {
    const struct efs *efs;
    disc_name_taker each;
    void *context;
    bool want_types;
    int error; /* the first damage */
    struct disc_fault *fault;
};

static void note_damage(struct taking *taking, const char *what, uint64_t at)
{
    int r = disc_fault_note(taking->fault, -EUCLEAN, what, at);
    taking->error = taking->error < 0 ? taking->error : r;
}

/* An entry of a directory's block: not 0 ends the listing. */
static int take_entry(
    struct taking *taking, const unsigned char *block, unsigned offset, uint64_t at)
{
    char name[256];

    if (offset + EFS_ENTRY > EFS_BLOCK || offset + EFS_ENTRY + block[offset + 4] > EFS_BLOCK) {
        note_damage(taking, "name past the end of its block", at);
        return 0;
    }
    size_t length = block[offset + 4];
    memcpy(name, block + offset + EFS_ENTRY, length);
    name[length] = '\0';
    if (!name_is_valid(name, length)) {
        note_damage(taking, "name that cannot be one", at);
        return 0;
    }
    if (is_dot_or_dotdot(name))
        return 0;
    uint64_t number = efs_u32(block + offset);
    unsigned char type = taking->want_types ? type_of(taking->efs, number) : DT_UNKNOWN;
    return taking->each(taking->context, name, number, type);
}

static int take_block(struct taking *taking, const unsigned char *block, uint64_t at)
{
    unsigned slots = block[3];
    int r = 0;

    if (efs_u16(block) != EFS_DIR_MAGIC || EFS_DIR_HEAD + slots > EFS_BLOCK) {
        note_damage(taking, "block of a directory that is none", at);
        return 0;
    }
    for (unsigned i = 0; i < slots && r == 0; i++) {
        unsigned offset = block[EFS_DIR_HEAD + i] * 2U;
        if (offset == 0)
            continue;
        if (offset < EFS_DIR_HEAD + slots)
            note_damage(taking, "name in the midst of its directory's slots", at);
        else
            r = take_entry(taking, block, offset, at);
    }
    return r;
}

/* Goes through all blocks of a directory; what is damaged is left out, and told at the end. */
static int take_directory(struct taking *taking, uint64_t node)
{
    const struct efs *efs = taking->efs;
    unsigned char block[EFS_BLOCK];
    struct extents extents;
    struct inode inode;

    int r = read_inode(efs, node, &inode, taking->fault);
    if (r < 0)
        return r;
    if (!S_ISDIR(mode_of(&inode)))
        return -ENOTDIR;
    r = extents_read(efs, &inode, &extents, taking->fault);
    uint64_t size = size_of(&inode);
    for (uint64_t at = 0; r == 0 && at < size; at += EFS_BLOCK) {
        uint64_t where, length;
        locate(&extents, size, at, &where, &length);
        if (where == UINT64_MAX) /* a hole has no names; no block comes before the next extent */
            at += length > EFS_BLOCK ? (length - 1) / EFS_BLOCK * EFS_BLOCK : 0;
        else if ((r = read_block(efs, where / EFS_BLOCK, block, taking->fault)) == 0)
            r = take_block(taking, block, efs->base + where);
        else if (r != -ENOMEM) { /* one block that cannot be read: the others may be */
            taking->error = taking->error < 0 ? taking->error : r;
            r = 0;
        }
    }
    extents_clear(&extents);
    return r != 0 ? r : taking->error;
}

static int efs_list(
    struct disc *disc, uint64_t node, disc_name_taker each, void *context, struct disc_fault *fault)
{
    struct taking taking = {
        .efs = (const struct efs *)disc,
        .each = each,
        .context = context,
        .want_types = true,
        .fault = fault,
    };
    return take_directory(&taking, node);
}

struct wanted {
    const char *name;
    uint64_t node;
};

static int compare_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct wanted *wanted = context;

    (void)type;
    if (strcmp(name, wanted->name) != 0)
        return 0;
    wanted->node = node;
    return 1;
}

static int efs_find(struct disc *disc, uint64_t directory, const char *name, uint64_t *ret,
    struct disc_fault *fault)
{
    struct wanted wanted = {.name = name};
    struct taking taking = {
        .efs = (const struct efs *)disc,
        .each = compare_name,
        .context = &wanted,
        .fault = fault,
    };
    int r = take_directory(&taking, directory);

    if (r == 1)
        *ret = wanted.node;
    return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

static void efs_free(struct disc *disc)
{
    struct efs *efs = (struct efs *)disc;

    sector_cache_free(efs->cache);
    if (disc->sectors)
        disc->sectors->ops->free(disc->sectors);
    free(efs);
}

static const struct disc_ops efs_ops = {
    .look = efs_look,
    .list = efs_list,
    .find = efs_find,
    .read = efs_read,
    .map = efs_map,
    .free = efs_free,
};

/* ---- opening ---- */

/* Whether a superblock's figures fit together; nothing of the checksum, the replica or the size of
 * the image is asked: discs are cut, and files may be there all the same. */
static bool take_superblock(struct efs *efs, const unsigned char *block)
{
    uint32_t magic = efs_u32(block + EFS_MAGIC);

    if (magic != EFS_MAGIC_OLD && magic != EFS_MAGIC_NEW)
        return false;
    efs->first_group = efs_u32(block + EFS_FIRST_GROUP);
    efs->group = efs_u32(block + EFS_GROUP);
    efs->group_inodes = efs_u16(block + EFS_GROUP_INODE);
    efs->groups = efs_u16(block + EFS_GROUPS);
    efs->disc.blocks = efs->first_group + efs->group * efs->groups;
    uint64_t free_blocks = efs_u32(block + EFS_FREE_BLOCKS);
    efs->disc.blocks_used =
        free_blocks < efs->disc.blocks ? efs->disc.blocks - free_blocks : efs->disc.blocks;
    efs->disc.nodes = inodes(efs);
    (void)snprintf(efs->disc.label, sizeof(efs->disc.label), "%.6s", block + EFS_NAME);
    return efs->group_inodes > 0 && efs->group >= efs->group_inodes && efs->groups > 0 &&
           efs->first_group >= 2;
}

/* Tries a place for the file system: 1: it is there; 0: not; or -ENOMEM. */
static int try_base(struct efs *efs, uint64_t base)
{
    unsigned char block[EFS_BLOCK];
    struct disc_fault ignored = {0}; /* it may be beyond the end of the image */

    efs->base = base;
    int r = read_block(efs, 1, block, &ignored);
    return r < 0 ? (r == -ENOMEM ? r : 0) : take_superblock(efs, block);
}

/* Looks in each partition, whatever type it is said to have. */
static int find_base(struct efs *efs, struct disc_fault *fault)
{
    unsigned char header[EFS_BLOCK];
    int r = sector_cache_read(efs->cache, header, sizeof(header), 0, fault);

    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    bool has_header = efs_u32(header) == VOLUME_MAGIC;
    for (unsigned i = 0; has_header && i < VOLUME_PARTITIONS && r == 0; i++) {
        const unsigned char *partition = header + VOLUME_PARTITION + i * 12;
        if (efs_u32(partition) > 0)
            r = try_base(efs, (uint64_t)efs_u32(partition + 4) * EFS_BLOCK);
    }
    return r == 0 ? try_base(efs, 0) : r;
}

int efs_open(struct sectors *sectors, struct disc **ret, struct disc_fault *fault)
{
    struct efs *efs = calloc(1, sizeof(*efs));

    if (!efs)
        return -ENOMEM;
    efs->disc = (struct disc){
        .ops = &efs_ops,
        .kind = "efs",
        .root = EFS_ROOT,
        .block_bytes = EFS_BLOCK,
    };
    int r = sector_cache_new(sectors, &efs->cache);
    if (r == 0) {
        r = find_base(efs, fault);
        r = r == 0 ? -EILSEQ : r;
    }
    if (r < 0) {
        efs_free(&efs->disc);
        return r;
    }
    efs->disc.sectors = sectors;
    *ret = &efs->disc;
    return 0;
}
