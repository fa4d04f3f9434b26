/* A set of inodes, at some 32 bytes each. */
#ifndef SHOAL_ENGINE_INODE_SET_H
#define SHOAL_ENGINE_INODE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start from zero. */
struct inode_set {
    struct inode_key *keys;
    size_t n, room; /* room: 0 or a power of two */
};

/* 0 or -ENOMEM. */
int inode_set_add(struct inode_set *set, uint64_t dev, uint64_t ino);
bool inode_set_has(const struct inode_set *set, uint64_t dev, uint64_t ino);
void inode_set_free(struct inode_set *set);

#endif
