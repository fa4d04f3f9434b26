#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *path_without_slashes(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

bool path_ends_in_slash(const char *path)
{
    size_t length = strlen(path);
    return length > 1 && path[length - 1] == '/';
}

/* Whether the last component names no entry of its parent that could be looked up or made by name.
 */
static bool is_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    return strcmp(last, "") == 0 || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

int path_split(const char *path, char **ret_parent, char **ret_name)
{
    const char *slash = strrchr(path, '/');

    if (is_unnamed(path)) {
        *ret_parent = strdup(path);
        *ret_name = strdup(".");
    } else {
        *ret_parent =
            !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
        *ret_name = strdup(slash ? slash + 1 : path);
    }
    return *ret_parent && *ret_name ? 0 : -ENOMEM;
}

char *path_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    char *path;

    if (strcmp(name, ".") == 0)
        return strdup(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}
