/* One FROM: where it lies, where it goes, and what guards the two from each other. */
#ifndef SHOAL_ENGINE_ROOT_H
#define SHOAL_ENGINE_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/job.h"
#include "source/tree_source.h"

struct buffers;
struct disc;
struct stream_source;

struct root {
    struct job job;
    struct root *next_same; /* a later FROM that may meet this one at TO: it waits for it */
    bool name_taken;        /* an earlier FROM of this run has made the file of this name */
    struct run *run;
    size_t order;      /* among the FROMs, as given */
    char *from;        /* as given, without trailing slashes: how messages begin */
    char *target;      /* the path of its copy */
    char *parent_path; /* the directory in which `source_name` is looked up */
    char *source_name; /* one component */
    char *target_name; /* one component, in the sink's start */
    double weight;     /* its share of all FROMs */
    bool follow;       /* FROM itself, should it be a symbolic link */
    struct tree_source *source;
    uint64_t from_dev, from_ino;  /* of FROM, whatever it is */
    uint64_t dev, ino;            /* of FROM, if it is a directory; 0, 0 if not */
    struct stream_source *stream; /* where FROM is a stream: then it has no tree source */
    struct buffers *buffers;      /* which lend what the stream's content travels in */
    struct disc *disc;            /* where FROM is on a disc; closed with the root */
    uint64_t disc_start; /* the node of the directory in which `source_name` is looked up there */
    char *part;          /* of the stream: what to take; NULL: all */
    char *base;          /* see member_path.h */
    uint64_t made_dev,
        made_ino; /* of its copy, once that stands: never to be entered as a source */
};

void root_free(struct root *root);

/* Roots in a chain, by job.link.next. Start from zero. */
struct root_chain {
    struct root *first, *last;
};
void root_chain_append(struct root_chain *chain, struct root *root);
void root_chain_free(struct root_chain *chain);

#endif
