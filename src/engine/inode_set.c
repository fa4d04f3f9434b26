#include "engine/inode_set.h"

#include <errno.h>
#include <stdlib.h>

/* No inode has the number 0. */
struct inode_key {
    uint64_t dev, ino;
};

/* Where the key is, or the free place where it would be. The table is never full. */
static struct inode_key *find(const struct inode_set *set, uint64_t dev, uint64_t ino)
{
    size_t at = (size_t)(((ino ^ (dev << 32)) * 0x9e3779b97f4a7c15U) >> 32); /* Fibonacci hashing */

    for (;; at++) {
        struct inode_key *key = &set->keys[at & (set->room - 1)];
        if (key->ino == 0 || (key->ino == ino && key->dev == dev))
            return key;
    }
}

static int grow(struct inode_set *set)
{
    struct inode_set larger = {.n = set->n, .room = set->room ? set->room * 2 : 256};

    larger.keys = calloc(larger.room, sizeof(*larger.keys));
    if (!larger.keys)
        return -ENOMEM;
    for (size_t i = 0; i < set->room; i++)
        if (set->keys[i].ino != 0)
            *find(&larger, set->keys[i].dev, set->keys[i].ino) = set->keys[i];
    free(set->keys);
    *set = larger;
    return 0;
}

int inode_set_add(struct inode_set *set, uint64_t dev, uint64_t ino)
{
    if (set->n * 4 >= set->room * 3) {
        int r = grow(set);
        if (r < 0)
            return r;
    }
    struct inode_key *key = find(set, dev, ino);
    if (key->ino == 0) {
        *key = (struct inode_key){dev, ino};
        set->n++;
    }
    return 0;
}

bool inode_set_has(const struct inode_set *set, uint64_t dev, uint64_t ino)
{
    return set->room > 0 && find(set, dev, ino)->ino != 0;
}

void inode_set_free(struct inode_set *set)
{
    free(set->keys);
    *set = (struct inode_set){0};
}
