/* The hard-link table: which inodes of the source were met, and the name each has in the copy. */
#ifndef SHOAL_ENGINE_LINKS_H
#define SHOAL_ENGINE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/node.h"
#include "entry/entry.h"

struct links;
struct link;

/* A name that waits for its inode's first name to be made. */
struct link_waiter {
    struct job job;    /* first; its link chains the waiters, its run is for the caller to set */
    struct node *node; /* holds a reference and counts as pending there */
    char *target_name; /* points behind `name` */
    char name[];
};

enum links_answer {
    LINKS_FIRST, /* the first name met: make the file, then settle */
    LINKS_READY, /* made before: link to it, then links_linked() */
    LINKS_WAITS, /* being made by another worker: the name was queued and will come out of settle */
    LINKS_NO_MEMORY,
};

/* Where the first name of an inode is. */
struct link_first {
    struct node *node; /* a reference is held until links_linked() */
    const char *name;
};

/* `keep_all`: link counts do not tell when all names were met (symbolic links are followed, each a
 * name more), so nothing is forgotten. NULL: no memory. */
struct links *links_new(bool keep_all);
void links_free(struct links *links);

/* Asks for an inode by one of its names. `ret` gets the link, `ret_first` is filled for
 * LINKS_READY. */
enum links_answer links_claim(struct links *links, const struct entry *entry, struct node *node,
    const char *name, const char *target_name, struct link **ret, struct link_first *ret_first);

/* The first name was made (or not): returns those that waited for it, for the caller to claim anew;
 * free each with link_waiter_free(). Unless made, the inode is forgotten. */
struct link_waiter *links_settle(
    struct links *links, struct link *link, bool made, struct node *node, const char *target_name);
void link_waiter_free(struct link_waiter *waiter);

/* After LINKS_READY: the name was dealt with. The inode is forgotten when all its names are. */
void links_linked(struct links *links, struct link *link);

#endif
