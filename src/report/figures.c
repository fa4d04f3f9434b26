#include "report/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"

/* ns / unit, rounded to the nearest. */
static uint64_t rounded(uint64_t ns, uint64_t unit)
{
    return ns / unit + (ns % unit >= unit / 2);
}

char *format_duration(char *buffer, uint64_t ns)
{
    uint64_t ms = rounded(ns, NS_PER_SECOND / 1000), cs = rounded(ns, NS_PER_SECOND / 100);
    uint64_t s = rounded(ns, NS_PER_SECOND);

    if (ms < 1000)
        (void)snprintf(buffer, FIGURE_SIZE, "0:00.%03" PRIu64, ms);
    else if (cs < 1000)
        (void)snprintf(buffer, FIGURE_SIZE, "0:%02" PRIu64 ".%02" PRIu64, cs / 100, cs % 100);
    else
        (void)snprintf(buffer, FIGURE_SIZE, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    return buffer;
}

char *format_whole(char *buffer, double value)
{
    (void)snprintf(buffer, FIGURE_SIZE, "%.0f", round(value));
    return buffer;
}

char *format_count(char *buffer, uint64_t value)
{
    char digits[FIGURE_SIZE];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    char *out = buffer;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

char *format_ratio(char *buffer, double value)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(buffer, FIGURE_SIZE, "%.*f", decimals, value);
    return buffer;
}

double rate_kb_per_second(uint64_t bytes, uint64_t ns)
{
    return ns == 0 ? 0 : (double)bytes / 1024 / ((double)ns / (double)NS_PER_SECOND);
}

uint64_t bytes_to_kb(uint64_t bytes)
{
    return rounded(bytes, 1024);
}
