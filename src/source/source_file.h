/* The content of one regular file of a source, open: wherever it comes from, it is read alike. */
#ifndef SHOAL_SOURCE_SOURCE_FILE_H
#define SHOAL_SOURCE_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry/entry.h"
#include "entry/outcome.h"

struct source_file_ops;

struct source_file {
    const struct source_file_ops *ops;
    int fd;               /* a descriptor that the kernel can read it from, or -1 */
    uint64_t base;        /* where in it the content begins */
    void *own;            /* the source's */
    struct damage damage; /* set where read() fails by it */
};

/* Operations return 0 (or what is said) or a negative errno. */
struct source_file_ops {
    /* Reads at an offset: a count, 0 only at the end of the file. A short count need not be the
     * end. */
    ssize_t (*read)(struct source_file *file, void *buffer, size_t n, uint64_t offset);
    /* The same without a copy, for content that is in memory already: up to n bytes at *ret, valid
     * until the next call. Offsets rise from call to call. NULL where content has to be read. */
    ssize_t (*peek)(struct source_file *file, const void **ret, size_t n, uint64_t offset);
    /* The first range at or after `from` that holds data: 1, or 0 if only a hole follows. */
    int (*next_data)(
        struct source_file *file, uint64_t from, uint64_t *ret_start, uint64_t *ret_end);
    /* Whether the file is no longer as `entry` says. */
    bool (*has_changed)(struct source_file *file, const struct entry *entry);
    void (*close)(struct source_file *file);
};

#endif
