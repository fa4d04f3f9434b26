/* A FROM that can be entered anywhere: a directory on disk, a disc image. Directories are listed in
 * batches, and any entry's content can be opened, by any worker at any time.
 *
 * Every operation returns 0 (or what is said) or a negative errno, and says in `outcome` which step
 * failed. Names are one component, bytes; no operation follows a symbolic link unless told to. */
#ifndef SHOAL_SOURCE_TREE_SOURCE_H
#define SHOAL_SOURCE_TREE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry/entry.h"
#include "entry/outcome.h"
#include "entry/xattrs.h"
#include "source/source_file.h"

/* An open directory; what it is, only its source knows. */
struct source_dir;

/* A name in a listing. */
struct source_name {
    const char *name;   /* valid until the batch is filled again */
    unsigned char type; /* DT_…; DT_UNKNOWN where the listing does not say */
    uint64_t position;  /* where on the medium it lies: batches come sorted by it */
};

/* What list() fills: reused from one directory to the next. Start from zero. */
struct source_batch {
    struct source_name *names;
    size_t n, room;
    char *buffer;
};
void source_batch_free(struct source_batch *batch);

/* Memory that an entry's link target and attributes point into, filled anew for each entry. */
struct source_scratch {
    char *target;
    size_t target_room;
    struct xattr_set xattrs;
};
void source_scratch_free(struct source_scratch *scratch);

struct tree_source;

struct tree_source_ops {
    /* Opens a directory and says what it is. Its attributes' memory is the scratch's. */
    int (*open_dir)(struct source_dir *parent, const char *name, bool follow,
        struct source_scratch *scratch, struct entry *ret_entry, struct source_dir **ret,
        struct outcome *outcome);
    /* The next names, "." and ".." left out: 1, or 0 at the end. */
    int (*list)(struct source_dir *dir, struct source_batch *batch, struct outcome *outcome);
    /* All of an entry but its content. */
    int (*look)(struct source_dir *dir, const char *name, bool follow,
        struct source_scratch *scratch, struct entry *ret_entry, struct outcome *outcome);
    /* Opens a regular file and says what it is, as of before anything of it is read.
     * -ESTALE: what stands there (now) is no regular file; look() again. */
    int (*open_file)(struct source_dir *dir, const char *name, bool follow,
        struct source_scratch *scratch, struct entry *ret_entry, struct source_file *ret,
        struct outcome *outcome);
    void (*close_dir)(struct source_dir *dir);
    void (*free)(struct tree_source *source);
};

struct tree_source {
    const struct tree_source_ops *ops;
    struct source_dir
        *start;       /* where names are first looked up; the source's own, not to be closed */
    bool want_xattrs; /* entries come with their attributes */
};

#endif
