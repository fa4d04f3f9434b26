/* The shape of a directory, learned and kept in a small JSON file: it holds no name and no content
 * of what it was learned from.
 *
 *   {"schema": "shoal-profile", "version": 1,
 *    "files": 2200, "directories": 130, "bytes": 78119936,
 *    "levels": [[1, 3], [5, 10], …],           directories and files of each depth, the top first
 *    "sizes": [[0, 12], …, [1000000000, 552112]],  billionths of all files, and the bytes that so
 *                                               many have at most; a straight line between two
 * points "files-per-directory": …, "subdirectories": …, "name-lengths": …}    in the same form
 */
#ifndef SHOAL_WORKLOAD_PROFILE_H
#define SHOAL_WORKLOAD_PROFILE_H

#include <stdio.h>

#include "workload/shape.h"

struct profile;

/* Learns from a directory: *ret is the caller's, see profile_free(). *ret_why (free it; NULL if
 * memory is out) says what could not be read. -EINVAL: there is no regular file; -ERANGE: there are
 * more, or larger ones, than a profile can have. */
int profile_learn(const char *path, struct profile **ret, char **ret_why);

/* Reads a file of ours. -EINVAL if it is none, or damaged; *ret_why names the key. */
int profile_load(const char *path, struct profile **ret, char **ret_why);

/* The caller asks the stream whether it worked. -ENOMEM. */
int profile_write(const struct profile *profile, FILE *out);

/* Is the profile's. */
const struct shape *profile_shape(const struct profile *profile);

void profile_free(struct profile *profile); /* NULL does no harm */

#endif
