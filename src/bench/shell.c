#include "bench/shell.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *shell_put_quoted(char *out, const char *text)
{
    *out++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            out = stpcpy(out, "'\\''");
        else
            *out++ = *text;
    }
    return stpcpy(out, "'");
}

char *shell_quote(const char *text)
{
    char *quoted = malloc(SHELL_QUOTED_MAX(strlen(text)));

    if (quoted)
        (void)shell_put_quoted(quoted, text);
    return quoted;
}

int shell_own_program(char **ret)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (n < 0)
        return -errno;
    path[n] = '\0';
    if (access(path, X_OK) < 0) /* replaced by a new build while it runs */
        return -errno;
    *ret = shell_quote(path);
    return *ret ? 0 : -ENOMEM;
}
