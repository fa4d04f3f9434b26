#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_say(const char *prefix, const char *format, va_list arguments)
{
    flockfile(stderr);
    (void)fputs(prefix, stderr); /* nowhere is left to report a failing stderr */
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    funlockfile(stderr);
}

void cli_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    cli_say("shoal: ", format, arguments);
    va_end(arguments);
}

int cli_finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    cli_error("cannot write to standard output: %s", strerror(errno));
    return code == EXIT_OK ? EXIT_SOME_FAILED : code;
}
