#include "disc/make_efs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disc/efs.h"
#include "disc/efs_tree.h"

/* The file system begins there on discs of SGI's own applications. */
#define PARTITION_BLOCK 64

/* Blocks are addressed by 24 bits, and a cylinder group on SGI's discs is of some 16 MB. */
#define BLOCKS_MAX   ((uint64_t)1 << 24)
#define GROUP_BLOCKS 32768

#define OWNER_OTHER  65534

struct efs_piece {
    uint32_t block, length, offset; /* blocks; offset in the file */
};

struct maker {
    struct efs_tree tree;
    const struct make_efs_options *options;
    const struct make_watch *watch;
    struct make_totals totals;
    const struct efs_node *at; /* what failed */
    int directory_fd, image_fd;

    uint64_t base; /* of the partition in the image, in bytes */
    uint32_t first_group, group, groups, group_inodes;
    uint64_t next;   /* the block to be given out next */
    uint64_t blocks; /* of the file system */
    uint64_t used;   /* blocks that hold something */
    unsigned char *bitmap;
    struct bytes content; /* of the directory in hand */
};

static uint64_t blocks_of(uint64_t bytes)
{
    return (bytes + EFS_BLOCK - 1) / EFS_BLOCK;
}

/* ---- content of directories ---- */

static size_t entry_bytes(const char *name)
{
    return (EFS_ENTRY + strlen(name) + 1) & ~(size_t)1;
}

/* Adds a name to a directory's content, in a new block where the last one is full. */
static int add_entry(struct bytes *content, const char *name, uint32_t number)
{
    size_t size = entry_bytes(name), length = strlen(name);

    if (length > 255)
        return -ENAMETOOLONG;
    unsigned char *block =
        content->n > 0 ? (unsigned char *)content->data + content->n - EFS_BLOCK : NULL;
    unsigned used = block ? (block[2] ? block[2] * 2U : EFS_BLOCK) : 0;
    if (!block || block[3] == 255 || used < EFS_DIR_HEAD + block[3] + 1U + size) {
        int r = bytes_append_zeros(content, EFS_BLOCK);
        if (r < 0)
            return r;
        block = (unsigned char *)content->data + content->n - EFS_BLOCK;
        efs_put_u16(block, EFS_DIR_MAGIC);
        used = EFS_BLOCK;
    }
    used -= (unsigned)size;
    efs_put_u32(block + used, number);
    block[used + 4] = (unsigned char)length;
    memcpy(block + used + EFS_ENTRY, name, length);
    block[EFS_DIR_HEAD + block[3]] = (unsigned char)(used / 2);
    block[3]++;
    block[2] = (unsigned char)(used / 2);
    return 0;
}

static int make_directory(struct maker *maker, const struct efs_node *node)
{
    struct bytes *content = &maker->content;

    content->n = 0;
    int r = add_entry(content, ".", node->number);
    if (r == 0)
        r = add_entry(content, "..", node->parent ? node->parent->number : node->number);
    for (size_t i = 0; i < node->n_names && r == 0; i++)
        r = add_entry(content, node->names[i].name, node->names[i].node->number);
    return r;
}

/* How many bytes of a node's content go into blocks. */
static int content_bytes(struct maker *maker, const struct efs_node *node, uint64_t *ret)
{
    int r = 0;

    *ret = 0;
    if (S_ISREG(node->st.st_mode)) {
        *ret = (uint64_t)node->st.st_size;
    } else if (S_ISLNK(node->st.st_mode)) {
        *ret = node->st.st_size > EFS_INODE_DATA_BYTES ? (uint64_t)node->st.st_size : 0;
    } else if (S_ISDIR(node->st.st_mode)) {
        r = make_directory(maker, node);
        *ret = maker->content.n;
    }
    return r;
}

/* ---- layout ---- */

/* The most blocks that lie together from `next` on: to the inodes of the next group. */
static uint64_t together(const struct maker *maker)
{
    return maker->group - (maker->next - maker->first_group) % maker->group;
}

/* Steps over a group's inodes. */
static void skip_inodes(struct maker *maker)
{
    uint64_t within = (maker->next - maker->first_group) % maker->group;

    if (within < maker->group_inodes)
        maker->next += maker->group_inodes - within;
}

static int add_piece(struct efs_piece **pieces, size_t *n, struct efs_piece piece)
{
    struct efs_piece *more =
        *n & (*n - 1) ? *pieces : reallocarray(*pieces, *n ? *n * 2 : 1, sizeof(piece));

    if (!more)
        return -ENOMEM;
    more[(*n)++] = piece;
    *pieces = more;
    return 0;
}

/* Gives out blocks, in pieces as long as they may be. */
static int allot(
    struct maker *maker, uint64_t blocks, uint32_t most, struct efs_piece **pieces, size_t *n)
{
    for (uint64_t offset = 0; offset < blocks;) {
        skip_inodes(maker);
        uint64_t length = blocks - offset < most ? blocks - offset : most;
        length = length < together(maker) ? length : together(maker);
        if (maker->next + length > BLOCKS_MAX)
            return -EFBIG;
        int r = add_piece(pieces, n,
            (struct efs_piece){(uint32_t)maker->next, (uint32_t)length, (uint32_t)offset});
        if (r < 0)
            return r;
        offset += length;
        maker->next += length + (maker->options->extent_blocks > 0);
        maker->used += length;
    }
    return 0;
}

static int lay_out_node(struct maker *maker, struct efs_node *node)
{
    uint32_t most = maker->options->extent_blocks;
    uint64_t bytes;

    maker->at = node;
    int r = content_bytes(maker, node, &bytes);
    if (r == 0)
        r = allot(maker, blocks_of(bytes),
            most > 0 && most < EFS_EXTENT_MOST ? most : EFS_EXTENT_MOST, &node->pieces,
            &node->n_pieces);
    if (r == 0 && node->n_pieces > INT16_MAX)
        return -EFBIG;
    if (r == 0 && node->n_pieces > EFS_DIRECT) {
        uint64_t blocks = (node->n_pieces + EFS_EXTENTS_A_BLOCK - 1) / EFS_EXTENTS_A_BLOCK;
        /* Apart from each other where that is wanted, in twelve runs at most. */
        uint64_t run = most > 0 ? (blocks + EFS_DIRECT - 1) / EFS_DIRECT : EFS_EXTENT_MOST;
        r = allot(maker, blocks, (uint32_t)run, &node->runs, &node->n_runs);
        if (r == 0 && node->n_runs > EFS_DIRECT)
            r = -EFBIG;
    }
    return r;
}

/* How many groups there are to be, so that all has room; what is laid out shows whether it had. */
static void choose_groups(struct maker *maker, uint64_t data_blocks)
{
    uint64_t inode_blocks = (maker->tree.n + EFS_ROOT + EFS_INODES_A_BLOCK) / EFS_INODES_A_BLOCK;
    uint64_t groups = (data_blocks + inode_blocks) / GROUP_BLOCKS + 1;

    while (inode_blocks / groups >= UINT16_MAX)
        groups++;
    maker->groups = (uint32_t)groups;
    maker->group_inodes = (uint32_t)(inode_blocks / groups + 1);
    maker->group = (uint32_t)(data_blocks / groups + 1) + maker->group_inodes;
    uint64_t bitmap = (uint64_t)maker->group * groups / 8 + 1;
    maker->first_group = (uint32_t)(2 + blocks_of(bitmap) + 1);
    maker->next = maker->first_group;
    maker->used = 0;
}

/* Pieces that end at a group's inodes waste nothing, but extents and their runs are more: what is
 * needed is counted first. */
static int count_blocks(struct maker *maker, uint64_t *ret)
{
    uint32_t most = maker->options->extent_blocks;
    uint64_t each = most > 0 && most < EFS_EXTENT_MOST ? most : EFS_EXTENT_MOST, sum = 0;
    int r = 0;

    for (const struct efs_node *node = maker->tree.first; node && r == 0; node = node->next) {
        uint64_t bytes;
        maker->at = node;
        r = content_bytes(maker, node, &bytes);
        uint64_t pieces = r == 0 ? blocks_of(bytes) / each + 2 : 0;
        uint64_t runs = pieces > EFS_DIRECT ? pieces / EFS_EXTENTS_A_BLOCK + 2 : 0;
        sum += r == 0 ? blocks_of(bytes) + runs : 0;
        sum += most > 0 ? pieces + EFS_DIRECT : 0; /* the gaps */
    }
    *ret = sum;
    return r;
}

static int lay_out(struct maker *maker)
{
    uint64_t blocks = 0;
    int r = count_blocks(maker, &blocks);

    if (r < 0)
        return r;
    if (blocks > BLOCKS_MAX) {
        maker->at = NULL;
        return -EFBIG;
    }
    choose_groups(maker, blocks + 16);
    for (struct efs_node *node = maker->tree.first; node && r == 0; node = node->next)
        r = lay_out_node(maker, node);
    maker->blocks = maker->first_group + (uint64_t)maker->group * maker->groups;
    if (r == 0 && (maker->next > maker->blocks || maker->blocks > BLOCKS_MAX)) {
        maker->at = NULL;
        r = -EFBIG;
    }
    return r;
}

/* ---- writing ---- */

static int write_at(const struct maker *maker, const void *bytes, size_t n, uint64_t offset)
{
    const char *from = bytes;

    while (n > 0) {
        ssize_t k = pwrite(maker->image_fd, from, n, (off_t)offset);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? -errno : -EIO;
        from += k;
        n -= (size_t)k;
        offset += (uint64_t)k;
    }
    return 0;
}

static uint64_t block_at(const struct maker *maker, uint64_t block)
{
    return maker->base + block * EFS_BLOCK;
}

/* A bit that is set is a free block. */
static void mark_used(struct maker *maker, uint64_t block, uint64_t length)
{
    for (uint64_t i = block; i < block + length; i++)
        maker->bitmap[i / 8] &= (unsigned char)~(1U << (i % 8));
}

static int write_memory(
    struct maker *maker, const struct efs_node *node, const char *bytes, size_t n)
{
    int r = 0;

    for (size_t i = 0; i < node->n_pieces && r == 0; i++) {
        const struct efs_piece *piece = &node->pieces[i];
        size_t at = (size_t)piece->offset * EFS_BLOCK, part = (size_t)piece->length * EFS_BLOCK;
        r = write_at(
            maker, bytes + at, n - at < part ? n - at : part, block_at(maker, piece->block));
    }
    return r;
}

/* A file that was cut meanwhile is an error: its size is on the disc. */
static int write_piece(struct maker *maker, int fd, const struct efs_piece *piece, uint64_t size)
{
    char buffer[EFS_EXTENT_MOST * EFS_BLOCK];
    uint64_t from = (uint64_t)piece->offset * EFS_BLOCK, done = 0;
    uint64_t n = (uint64_t)piece->length * EFS_BLOCK;

    n = n < size - from ? n : size - from;
    while (done < n) {
        ssize_t got = pread(fd, buffer + done, n - done, (off_t)(from + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -ESTALE;
        done += (uint64_t)got;
    }
    return write_at(maker, buffer, n, block_at(maker, piece->block));
}

static int write_file(struct maker *maker, const struct efs_node *node)
{
    const struct make_watch *watch = maker->watch;
    int r = 0;

    if (node->st.st_size == 0)
        return 0;
    _cleanup_close_ int fd = efs_node_open(maker->directory_fd, node);
    if (fd < 0)
        return fd;
    for (size_t i = 0; i < node->n_pieces && r == 0; i++) {
        if (watch->should_stop && watch->should_stop(watch->context))
            return -EINTR;
        r = write_piece(maker, fd, &node->pieces[i], (uint64_t)node->st.st_size);
    }
    return r;
}

static void put_extent(unsigned char *at, uint32_t block, uint32_t length, uint32_t offset)
{
    efs_put_u32(at, block); /* the magic, the first byte, is 0 */
    efs_put_u32(at + 4, length << 24 | offset);
}

/* The blocks that are full of extents. */
static int write_runs(struct maker *maker, const struct efs_node *node)
{
    size_t nth = 0;
    int r = 0;

    for (size_t i = 0; i < node->n_runs && r == 0; i++) {
        for (uint32_t k = 0; k < node->runs[i].length && r == 0; k++) {
            unsigned char block[EFS_BLOCK] = {0};
            for (size_t m = 0; m < EFS_EXTENTS_A_BLOCK && nth < node->n_pieces; m++, nth++)
                put_extent(block + m * EFS_EXTENT, node->pieces[nth].block,
                    node->pieces[nth].length, node->pieces[nth].offset);
            r = write_at(maker, block, sizeof(block), block_at(maker, node->runs[i].block + k));
        }
    }
    return r;
}

static uint16_t owner_of(uint32_t id)
{
    return id > UINT16_MAX ? OWNER_OTHER : (uint16_t)id;
}

static void put_time(unsigned char *at, const struct timespec *time)
{
    int64_t seconds = time->tv_sec;
    seconds = seconds < INT32_MIN ? INT32_MIN : seconds > INT32_MAX ? INT32_MAX : seconds;
    efs_put_u32(at, (uint32_t)seconds);
}

static void put_device(unsigned char *data, dev_t device)
{
    unsigned high = major(device), low = minor(device);

    if (high < 0x80 && low < 0x100) {
        efs_put_u16(data, (uint16_t)(high << 8 | low));
        return;
    }
    efs_put_u16(data, 0xffff);
    efs_put_u32(data + 2, (high & 0x1ff) << 18 | (low & 0x3ffff));
}

/* What stands in the inode: extents, runs of extents, a short target, a device. */
static void put_data(const struct efs_node *node, unsigned char *data)
{
    bool indirect = node->n_pieces > EFS_DIRECT;
    const struct efs_piece *pieces = indirect ? node->runs : node->pieces;
    size_t n = indirect ? node->n_runs : node->n_pieces;

    if (S_ISCHR(node->st.st_mode) || S_ISBLK(node->st.st_mode))
        put_device(data, node->st.st_rdev);
    else if (node->target && n == 0)
        memcpy(data, node->target, (size_t)node->st.st_size);
    for (size_t i = 0; i < n; i++)
        put_extent(data + i * EFS_EXTENT, pieces[i].block, pieces[i].length,
            indirect ? (uint32_t)(i == 0 ? n : 0) : pieces[i].offset);
}

static int write_inode(struct maker *maker, const struct efs_node *node, uint64_t size)
{
    unsigned char inode[EFS_INODE] = {0};
    uint64_t nth = node->number / EFS_INODES_A_BLOCK;
    uint64_t block = maker->first_group + (uint64_t)maker->group * (nth / maker->group_inodes) +
                     nth % maker->group_inodes;
    /* What did not change does not change by being read. */
    const struct timespec *mtime = &node->st.st_mtim;

    efs_put_u16(inode, (uint16_t)node->st.st_mode);
    efs_put_u16(inode + 2, (uint16_t)node->links);
    efs_put_u16(inode + 4, owner_of(node->st.st_uid));
    efs_put_u16(inode + 6, owner_of(node->st.st_gid));
    efs_put_u32(inode + 8, (uint32_t)size);
    put_time(inode + 12, mtime);
    put_time(inode + 16, mtime);
    put_time(inode + 20, mtime);
    efs_put_u16(inode + EFS_INODE_EXTENTS, (uint16_t)node->n_pieces);
    put_data(node, inode + EFS_INODE_DATA);
    return write_at(maker, inode, sizeof(inode),
        block_at(maker, block) + node->number % EFS_INODES_A_BLOCK * EFS_INODE);
}

static int write_node(struct maker *maker, struct efs_node *node)
{
    uint64_t size = (uint64_t)node->st.st_size;
    mode_t mode = node->st.st_mode;
    int r = 0;

    maker->at = node;
    if (S_ISDIR(mode)) {
        r = make_directory(maker, node);
        size = maker->content.n;
        if (r == 0)
            r = write_memory(maker, node, maker->content.data, maker->content.n);
    } else if (S_ISREG(mode)) {
        r = write_file(maker, node);
    } else if (S_ISLNK(mode) && node->n_pieces > 0) {
        r = write_memory(maker, node, node->target, size);
    } else if (!S_ISLNK(mode)) {
        size = 0;
    }
    if (r == 0)
        r = write_runs(maker, node);
    for (size_t i = 0; i < node->n_pieces; i++)
        mark_used(maker, node->pieces[i].block, node->pieces[i].length);
    for (size_t i = 0; i < node->n_runs; i++)
        mark_used(maker, node->runs[i].block, node->runs[i].length);
    return r == 0 ? write_inode(maker, node, size) : r;
}

/* Of the 44 16-bit words before it. */
static uint32_t checksum_of(const unsigned char *superblock)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < EFS_CHECKSUM; i += 2) {
        sum ^= efs_u16(superblock + i);
        sum = sum << 1 | sum >> 31;
    }
    return sum;
}

static int write_superblock(struct maker *maker)
{
    unsigned char block[EFS_BLOCK] = {0};
    const char *label = maker->options->label;
    uint64_t inodes = (uint64_t)maker->groups * maker->group_inodes * EFS_INODES_A_BLOCK;
    uint64_t data = (uint64_t)maker->groups * (maker->group - maker->group_inodes);

    efs_put_u32(block + EFS_SIZE, (uint32_t)maker->blocks);
    efs_put_u32(block + EFS_FIRST_GROUP, maker->first_group);
    efs_put_u32(block + EFS_GROUP, maker->group);
    efs_put_u16(block + EFS_GROUP_INODE, (uint16_t)maker->group_inodes);
    efs_put_u16(block + EFS_SECTORS, 32);
    efs_put_u16(block + EFS_HEADS, 1);
    efs_put_u16(block + EFS_GROUPS, (uint16_t)maker->groups);
    put_time(block + EFS_TIME, &maker->tree.first->st.st_mtim);
    efs_put_u32(block + EFS_MAGIC, EFS_MAGIC_NEW);
    memcpy(block + EFS_NAME, label, strnlen(label, 6));
    memcpy(block + EFS_PACK, label, strnlen(label, 6));
    efs_put_u32(block + EFS_BITMAP, (uint32_t)(maker->blocks / 8 + 1));
    efs_put_u32(block + EFS_FREE_BLOCKS, (uint32_t)(data - maker->used));
    efs_put_u32(block + EFS_FREE_INODES, (uint32_t)(inodes - EFS_ROOT - maker->tree.n));
    efs_put_u32(block + EFS_REPLICA, (uint32_t)maker->blocks);
    efs_put_u32(block + EFS_CHECKSUM, checksum_of(block));
    int r = write_at(maker, block, sizeof(block), block_at(maker, 1));
    return r == 0 ? write_at(maker, block, sizeof(block), block_at(maker, maker->blocks)) : r;
}

static int write_header(struct maker *maker)
{
    unsigned char block[EFS_BLOCK] = {0};
    uint32_t size = (uint32_t)maker->blocks + 1, sum = 0; /* with the replica */
    const struct {
        unsigned nth;
        uint32_t blocks, first, type;
    } partitions[] = {
        {7, size, PARTITION_BLOCK, VOLUME_TYPE_SYSV},
        {8, PARTITION_BLOCK, 0, VOLUME_TYPE_HEADER},
        {10, PARTITION_BLOCK + size, 0, VOLUME_TYPE_WHOLE},
    };

    if (maker->options->no_header)
        return 0;
    efs_put_u32(block, VOLUME_MAGIC);
    for (size_t i = 0; i < ELEMENTS(partitions); i++) {
        unsigned char *at = block + VOLUME_PARTITION + partitions[i].nth * 12;
        efs_put_u32(at, partitions[i].blocks);
        efs_put_u32(at + 4, partitions[i].first);
        efs_put_u32(at + 8, partitions[i].type);
    }
    for (unsigned i = 0; i < EFS_BLOCK; i += 4)
        sum += efs_u32(block + i);
    efs_put_u32(block + VOLUME_CHECKSUM, 0 - sum);
    return write_at(maker, block, sizeof(block), 0);
}

/* Free are the blocks of groups that hold neither inodes nor anything else. */
static int prepare_bitmap(struct maker *maker)
{
    maker->bitmap = calloc(maker->blocks / 8 + 1, 1);
    if (!maker->bitmap)
        return -ENOMEM;
    for (uint64_t block = maker->first_group; block < maker->blocks; block++)
        if ((block - maker->first_group) % maker->group >= maker->group_inodes)
            maker->bitmap[block / 8] |= (unsigned char)(1U << (block % 8));
    return 0;
}

/* The image ends with a whole sector. */
static int set_length(const struct maker *maker)
{
    uint64_t bytes = block_at(maker, maker->blocks + 1);
    return ftruncate(maker->image_fd, (off_t)((bytes + 2047) / 2048 * 2048)) < 0 ? -errno : 0;
}

static int write_image(struct maker *maker)
{
    struct make_totals shown = {0};
    int r = prepare_bitmap(maker);

    if (r == 0)
        r = set_length(maker);
    for (struct efs_node *node = maker->tree.first; node && r == 0; node = node->next) {
        r = write_node(maker, node);
        shown.files += !S_ISDIR(node->st.st_mode);
        shown.bytes += S_ISREG(node->st.st_mode) ? (uint64_t)node->st.st_size : 0;
        if (maker->watch->added)
            maker->watch->added(maker->watch->context, &shown);
    }
    if (r < 0)
        return r;
    maker->at = NULL;
    r = write_at(maker, maker->bitmap, maker->blocks / 8 + 1, block_at(maker, 2));
    if (r == 0)
        r = write_superblock(maker);
    return r == 0 ? write_header(maker) : r;
}

int make_efs(int directory_fd, int image_fd, const struct make_efs_options *options,
    const struct make_watch *watch, struct make_totals *ret, struct make_failure *failure)
{
    struct maker maker = {
        .options = options,
        .watch = watch,
        .directory_fd = directory_fd,
        .image_fd = image_fd,
        .base = options->no_header ? 0 : (uint64_t)PARTITION_BLOCK * EFS_BLOCK,
    };
    struct stat image;

    if (fstat(image_fd, &image) < 0)
        return -errno;
    int r = efs_tree_read(directory_fd, &image, watch, &maker.tree, &maker.totals, &failure->path);
    if (r == 0) {
        r = lay_out(&maker);
        if (r == 0)
            r = write_image(&maker);
        if (r < 0 && r != -EINTR && maker.at)
            failure->path = efs_node_path(maker.at);
    }
    efs_tree_free(&maker.tree);
    free(maker.bitmap);
    bytes_free(&maker.content);
    if (r == 0)
        *ret = maker.totals;
    return r;
}
