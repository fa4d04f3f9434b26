/* Places to measure in: new directories, their file system's state before a run, and their removal.
 */
#ifndef SHOAL_BENCH_SCRATCH_H
#define SHOAL_BENCH_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Makes a new directory "shoal-bench-XXXXXX" in `parent`; its absolute path (free it) and the
 * parent's own (so that a later change of directory, or of a link on the way, changes nothing). */
int scratch_make(const char *parent, char **ret_path);

/* Whether the file system of `path` has room for so much more: -ENOSPC (then *ret_free_bytes is
 * what is free). Files are not counted where the file system does not. */
int scratch_has_room(const char *path, uint64_t files, uint64_t bytes, uint64_t *ret_free_bytes);

/* Writes out what the file system of `path` has in memory only. */
int scratch_flush(const char *path);

/* Empties the page cache of clean pages, names and inodes: sync first. -EPERM or -EACCES without
 * root. */
int scratch_drop_caches(void);

/* Whether scratch_drop_caches() may be called: 0, or its error. */
int scratch_can_drop_caches(void);

/* Removes a directory (or file) and all below it, following nothing; what cannot be removed does
 * not stop the rest, and the first error is returned. -EINTR as soon as *should_stop(context) says
 * so. 0 if nothing is there. */
int scratch_remove(
    int parent_fd, const char *name, bool (*should_stop)(const void *context), const void *context);

#endif
