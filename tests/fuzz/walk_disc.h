/* Walks what a reader finds on a disc, whatever that is, and checks that it holds to what disc.h
 * promises. */
#ifndef SHOAL_TESTS_WALK_DISC_H
#define SHOAL_TESTS_WALK_DISC_H

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disc/disc.h"

#define DEPTH_MOST 4
#define NODES_MOST 300
#define READS_MOST 20

/* A listing under way, of a walk that ends after so many nodes. */
struct walk {
    struct disc *disc;
    unsigned depth, *nodes;
};

static inline void check(int holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "not so: %s\n", what);
    abort();
}

static inline void check_entry(const struct entry *entry, const char *target)
{
    check(
        entry->uid != (uid_t)-1 && entry->gid != (gid_t)-1, "owners are none that mean no change");
    check(entry->mtime.tv_nsec >= 0 && entry->mtime.tv_nsec < 1000000000, "nanoseconds are such");
    check(entry->dev == 1 && entry->nlink > 0 && !entry->xattrs, "what every entry has");
    if (S_ISLNK(entry->mode))
        check(entry->link_target == target && *target && strlen(target) < DISC_TARGET_MAX,
            "a symbolic link has a target");
    else
        check(!entry->link_target, "nothing else has a target");
}

static inline void read_content(struct disc *disc, uint64_t node, const struct entry *entry)
{
    static char buffer[5000];
    struct disc_fault fault = {0};
    uint64_t at = 0, where = 0, length = 0;

    for (unsigned i = 0; i < READS_MOST; i++) {
        ssize_t n = disc->ops->read(disc, node, buffer, sizeof(buffer), at, &fault);
        check(n >= 0 || n == -ENOMEM || fault.what, "a failure says what failed");
        if (n <= 0) {
            check(n < 0 || at == entry->size, "content is as long as the entry says");
            break;
        }
        at += (uint64_t)n;
        check(at <= entry->size, "content is no longer than the entry says");
    }
    if (disc->ops->map(disc, node, 0, &where, &length, &fault) == 0)
        check(length > 0 && (where == UINT64_MAX || (where < disc->sectors->bytes &&
                                                        length <= disc->sectors->bytes - where)),
            "what is mapped is there");
}

static inline void list(const struct walk *walk, uint64_t node);

static inline int visit(void *context, const char *name, uint64_t node, unsigned char type)
{
    const struct walk *walk = context;
    struct disc *disc = walk->disc;
    struct disc_fault fault = {0};
    struct entry entry;
    char target[DISC_TARGET_MAX];

    check(*name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, ".."), "names are good");
    if ((*walk->nodes)++ >= NODES_MOST)
        return 1;
    int r = disc->ops->look(disc, node, target, &entry, &fault);
    check(r == 0 || fault.what, "a failure says what failed");
    if (r < 0)
        return 0;
    check(type == DT_UNKNOWN || type == IFTODT(entry.mode), "a listing says the type");
    check_entry(&entry, target);
    if (S_ISREG(entry.mode))
        read_content(disc, node, &entry);
    if (S_ISDIR(entry.mode) && walk->depth < DEPTH_MOST)
        list(&(struct walk){disc, walk->depth + 1, walk->nodes}, node);
    return 0;
}

static inline void list(const struct walk *walk, uint64_t node)
{
    struct disc_fault fault = {0};
    int r = walk->disc->ops->list(walk->disc, node, visit, (void *)walk, &fault);

    check(r >= 0 || fault.what || r == -ENOTDIR, "a failure says what failed");
}

static inline void walk_disc(struct disc *disc)
{
    unsigned nodes = 0;
    list(&(struct walk){disc, 0, &nodes}, disc->root);
}

#endif
