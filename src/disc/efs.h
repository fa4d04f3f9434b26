/* What the reader and the maker of EFS, SGI's extent file system, share: where fields lie. All
 * numbers are big-endian; blocks are of 512 bytes, counted from the start of the partition. Facts:
 * IRIX's fs/efs_*.h as described in Linux's Documentation and in readers of old discs. */
#ifndef SHOAL_DISC_EFS_H
#define SHOAL_DISC_EFS_H

#include <stdint.h>

#define EFS_BLOCK 512

/* ---- the volume header, block 0 of the medium ---- */

#define VOLUME_MAGIC       0x0be5a941U
#define VOLUME_PARTITIONS  16
#define VOLUME_PARTITION   312 /* {blocks, first block, type}, four bytes each */
#define VOLUME_CHECKSUM    504
#define VOLUME_TYPE_HEADER 0
#define VOLUME_TYPE_SYSV   5
#define VOLUME_TYPE_WHOLE  6

/* ---- the superblock, block 1 ---- */

#define EFS_SIZE        0 /* blocks */
#define EFS_FIRST_GROUP 4
#define EFS_GROUP       8  /* blocks in a cylinder group */
#define EFS_GROUP_INODE 12 /* of which hold inodes, u16 */
#define EFS_SECTORS     14 /* u16 */
#define EFS_HEADS       16 /* u16 */
#define EFS_GROUPS      18 /* u16 */
#define EFS_TIME        24
#define EFS_MAGIC       28
#define EFS_MAGIC_OLD   0x00072959U
#define EFS_MAGIC_NEW   0x0007295aU
#define EFS_NAME        32 /* six bytes */
#define EFS_PACK        38 /* six bytes */
#define EFS_BITMAP      44 /* its bytes */
#define EFS_FREE_BLOCKS 48
#define EFS_FREE_INODES 52
#define EFS_BITMAP_AT   56 /* 0: block 2 */
#define EFS_REPLICA     60
#define EFS_CHECKSUM    88 /* of what precedes it */

/* ---- inodes ---- */

#define EFS_ROOT             2
#define EFS_INODE            128
#define EFS_INODES_A_BLOCK   (EFS_BLOCK / EFS_INODE)
#define EFS_INODE_EXTENTS    28 /* how many, i16 */
#define EFS_INODE_DATA       32
#define EFS_INODE_DATA_BYTES 96

/* An extent: {magic 8 bits, block 24, length 8, offset in the file 24}. */
#define EFS_EXTENT          8
#define EFS_EXTENT_MOST     248 /* blocks */
#define EFS_DIRECT          12  /* extents in an inode */
#define EFS_EXTENTS_A_BLOCK (EFS_BLOCK / EFS_EXTENT)

/* ---- directories ---- */

#define EFS_DIR_MAGIC 0xbeefU
#define EFS_DIR_HEAD  4 /* magic, first used byte / 2, slots; then a byte a slot */
#define EFS_ENTRY     5 /* inode, length of the name; then the name */

static inline uint32_t efs_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint16_t efs_u16(const unsigned char *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline void efs_put_u32(unsigned char *at, uint32_t value)
{
    at[0] = (unsigned char)(value >> 24);
    at[1] = (unsigned char)(value >> 16);
    at[2] = (unsigned char)(value >> 8);
    at[3] = (unsigned char)value;
}

static inline void efs_put_u16(unsigned char *at, uint16_t value)
{
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
}

#endif
