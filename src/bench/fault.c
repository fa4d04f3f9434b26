#include "bench/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fault_note(struct bench_fault *fault, int r, const char *operation, const char *path)
{
    if (!fault->operation) {
        fault->operation = operation;
        fault->path = path ? strdup(path) : NULL; /* without a name it still says what */
    }
    return r;
}

void fault_hint(struct bench_fault *fault, const char *format, ...)
{
    va_list arguments;

    if (fault->hint)
        return;
    va_start(arguments, format);
    if (vasprintf(&fault->hint, format, arguments) < 0)
        fault->hint = NULL; /* the reason alone has to do */
    va_end(arguments);
}
