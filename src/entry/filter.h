/* Which entries of a tree take part: rsync-like patterns and lists of names.
 *
 * Built with shoal_filter_*() of shoal.h; after that it is only read, from any number of threads.
 */
#ifndef SHOAL_ENTRY_FILTER_H
#define SHOAL_ENTRY_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct shoal_filter;

/* Whether the entry takes part. `path` is `length` bytes relative to FROM without a leading or
 * trailing slash ("a/b"); it need not end in NUL. FROM itself ("" or ".") always takes part. To be
 * asked from the top down: below a directory that does not take part, nothing does, whatever this
 * says of it. Allocates nothing, and its time is bounded by the path's length times the rules'
 * length. */
bool filter_admits(
    const struct shoal_filter *filter, const char *path, size_t length, bool is_directory);

/* Goes through the names of shoal_filter_add_name() as normalised, each once, in no promised order,
 * so that a caller can see which of them do not exist. *cursor is 0 at first. False at the end;
 * else the name's bytes, which do not end in NUL and live as long as the filter. FROM itself is not
 * among them. */
bool filter_next_name(
    const struct shoal_filter *filter, size_t *cursor, const char **ret_name, size_t *ret_length);

#endif
