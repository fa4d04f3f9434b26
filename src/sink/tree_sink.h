/* A TO that takes directories, files and links in any order once their parent is there: a directory
 * on disk; the comparison of `verify`; the plan of a dry run.
 *
 * Every operation returns 0 or a negative errno and says in `outcome` which step failed; what of
 * the metadata could not be kept (or differs) is noted there without failing. Names are one
 * component; nothing ever follows a symbolic link, so nothing lands outside the place the sink was
 * opened at. */
#ifndef SHOAL_SINK_TREE_SINK_H
#define SHOAL_SINK_TREE_SINK_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry/entry.h"
#include "entry/outcome.h"
#include "entry/xattrs.h"

/* An open directory; what it is, only its sink knows. */
struct sink_dir;
struct tree_sink;

/* What create_file(), make_node() and make_link() may answer instead of 0. */
enum {
    SINK_KEPT_OTHER = 1, /* what stood there was left alone, and may be another file */
    SINK_KEPT_SAME = 2,  /* what stood there was left alone: it is this very file already */
};

/* A file that is being written. All but fd is the sink's. */
struct sink_file {
    int fd; /* a descriptor that the kernel can write to, or -1 */
    struct sink_dir *dir;
    const char *name;
    char temporary[32]; /* the name it bears until it is whole; "" if it bears its own */
    mode_t born_mode;
    bool differs; /* a comparison that has seen enough */
    void *own;
};

struct tree_sink_ops {
    /* Makes a directory, or enters the one that stands there. A comparison may answer
     * SINK_KEPT_OTHER: none stands there, which is noted; *ret is untouched, and nothing below is
     * to be compared. */
    int (*enter_dir)(struct sink_dir *parent, const char *name, const struct entry *entry,
        struct sink_dir **ret, struct outcome *outcome);
    /* Opens again a directory that was entered before and closed. */
    int (*reopen_dir)(
        struct sink_dir *parent, const char *name, struct sink_dir **ret, struct outcome *outcome);
    /* Gives a directory its metadata, when the last of its children is done. */
    int (*finish_dir)(struct sink_dir *dir, const struct entry *entry, struct outcome *outcome);
    void (*close_dir)(struct sink_dir *dir);
    /* Which inode this directory is; 0, 0 if it is none yet. */
    void (*dir_identity)(const struct sink_dir *dir, uint64_t *ret_dev, uint64_t *ret_ino);

    /* What a directory that was just entered is, as it was found: 1 if entering made it, else 0.
     * Attributes' memory is the set's. NULL for sinks that make nothing. */
    int (*look_dir)(struct sink_dir *dir, struct xattr_set *xattrs, struct entry *ret_entry,
        struct outcome *outcome);

    /* Begins a file. `name` must stay until commit or abort; those end it, whatever they return. */
    int (*create_file)(struct sink_dir *dir, const char *name, const struct entry *entry,
        struct sink_file *ret, struct outcome *outcome);
    /* Writes all n bytes. */
    int (*write)(struct sink_file *file, const void *buffer, size_t n, uint64_t offset);
    /* Makes the file end there: beyond what was written lies a hole. */
    int (*set_size)(struct sink_file *file, uint64_t size);
    /* Gives it its metadata and its name. */
    int (*commit_file)(struct sink_file *file, const struct entry *entry, struct outcome *outcome);
    /* Undoes it: no trace is left. */
    void (*abort_file)(struct sink_file *file);

    /* Makes a symbolic link, a FIFO or a device node, with its metadata. */
    int (*make_node)(
        struct sink_dir *dir, const char *name, const struct entry *entry, struct outcome *outcome);
    /* Makes another name of a file made before. -EXDEV, -EMLINK, -EPERM, -EOPNOTSUPP: it cannot be
     * had as a link here. */
    int (*make_link)(struct sink_dir *dir, const char *name, const struct entry *entry,
        struct sink_dir *first_dir, const char *first_name, struct outcome *outcome);

    /* A comparison's only: calls `each` with every name in the directory. NULL for other sinks. */
    int (*for_each_name)(struct sink_dir *dir, void (*each)(void *context, const char *name),
        void *context, struct outcome *outcome);
    /* Writes what is not yet on the device; a sink that makes nothing does nothing. */
    int (*sync)(struct sink_dir *dir, struct outcome *outcome);
    void (*free)(struct tree_sink *sink);
};

struct tree_sink {
    const struct tree_sink_ops *ops;
    struct sink_dir *start; /* where names are first made; the sink's own, not to be closed */
};

/* What every sink needs to know. */
struct sink_options {
    unsigned preserve; /* SHOAL_KEEP_* */
    enum shoal_existing existing;
    bool twins_replace;   /* a name that comes twice is not an error: the last one wins */
    bool read_back;       /* files are opened so that they can be read again */
    mode_t umask;         /* in force where the sink creates */
    mode_t default_umask; /* the user's, for modes that are not preserved */
};

#endif
