/* A file, link or node of a stream on its way to the sink, and its content, which the reader
 * supplies while a worker may be writing already. */
#ifndef SHOAL_ENGINE_MEMBER_H
#define SHOAL_ENGINE_MEMBER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffers.h"
#include "engine/job.h"
#include "engine/node.h"
#include "entry/entry.h"
#include "entry/range.h"
#include "source/source_file.h"
#include "source/stream_source.h"

struct member_piece {
    const char *bytes;
    size_t n;
    uint64_t offset;
    struct buffer *buffer; /* referred to */
    struct member_piece *next;
};

struct member {
    struct job job;
    void *owner;             /* the driver's */
    struct node *node;       /* held */
    uint64_t key;            /* of node and name: see member_key() */
    const char *name;        /* in `node` */
    struct node *first_node; /* a hard link: held; where the file is */
    const char *first_name;  /* in `first_node` */
    struct entry entry;      /* with memory of its own */
    struct range *ranges;    /* where it holds data; NULL: everywhere */
    size_t n_ranges;
    struct source_file content;
    int stored_fd;                   /* where the content is stored; -1: it comes in pieces */
    size_t footprint;                /* bytes of memory, about, without pieces */
    struct member *followers, *next; /* those that wait until this one is done */

    unsigned refs;         /* atomic */
    pthread_mutex_t *lock; /* guards what follows */
    pthread_cond_t *supplied;
    struct member_piece *pieces, *last_piece;
    bool complete; /* no more pieces come */
    bool given_up; /* no more pieces are wanted */
    int error;     /* why they ended early */
};

/* A member of its own memory for an entry: `name` in `node`, referred to by the caller. NULL: no
 * memory. */
struct member *member_new(const struct stream_entry *from, struct node *node, const char *name,
    pthread_mutex_t *lock, pthread_cond_t *supplied);
/* A number for a name in a directory, different for nearly all. */
uint64_t member_key(const struct node *node, const char *name);

void member_ref(struct member *member);
void member_unref(struct member *member);

/* Adds a piece, whose buffer is referred to. False: none is wanted any more. -ENOMEM ends the
 * content. */
bool member_supply(struct member *member, const struct stream_piece *piece);
/* No more pieces come; error: 0, or why. */
void member_complete(struct member *member, int error);
/* Whether all content is there. For the reader. */
bool member_is_whole(const struct member *member);
/* What is there is dropped, and what will come. */
void member_give_up(struct member *member);

#endif
