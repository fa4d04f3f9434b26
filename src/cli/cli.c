#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_error(const char *format, ...)
{
    va_list arguments;

    flockfile(stderr);
    (void)fputs("shoal: ", stderr); /* nowhere is left to report a failing stderr */
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    funlockfile(stderr);
}

int cli_finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    cli_error("cannot write to standard output: %s", strerror(errno));
    return code == EXIT_OK ? EXIT_SOME_FAILED : code;
}
