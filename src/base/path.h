/* Paths as users write them. What is returned is the caller's to free; NULL or -ENOMEM: no memory.
 */
#ifndef SHOAL_BASE_PATH_H
#define SHOAL_BASE_PATH_H

#include <stdbool.h>

/* Without trailing slashes; "/" stays. */
char *path_without_slashes(const char *path);
bool path_ends_in_slash(const char *path); /* but for "/" itself */

/* A path without trailing slashes in a directory and a name in it; what cannot be named ("/", "..")
 * is "." in itself. */
int path_split(const char *path, char **ret_parent, char **ret_name);

/* "a" and "b" to "a/b"; what is "." adds nothing. */
char *path_join(const char *directory, const char *name);

#endif
