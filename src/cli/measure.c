#include "cli/measure.h"

#include <argp.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"
#include "workload/workload.h"

#define REDRAW_NS (NS_PER_SECOND / 10)

uint64_t measure_parse_number(
    struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end = NULL;
    unsigned long long number = 0;

    errno = 0;
    if (*text >= '0' && *text <= '9')
        number = strtoull(text, &end, 10);
    if (!end || *end || errno == ERANGE || number < least || number > most)
        argp_error(state, "%s: a whole number from %llu to %llu is expected", option,
            (unsigned long long)least, (unsigned long long)most);
    return number;
}

/* "there is no workload …" and those there are */
static void no_such_workload(struct argp_state *state, const char *name)
{
    char known[256] = "";

    for (size_t i = 0; workload_name(i) && strlen(known) < sizeof(known) - 32; i++)
        (void)sprintf(known + strlen(known), "%s, ", workload_name(i));
    argp_error(state,
        "there is no workload %s; there are %sfiles=N, profile=FILE and, with a '/' in it, DIR",
        name, known);
}

void measure_parse_workload(struct argp_state *state, const char *text, struct workload *ret)
{
    _cleanup_free_ char *why = NULL;
    int r = workload_find(text, ret, &why);

    if (r == 0)
        return;
    _cleanup_free_ char *quoted = quote_name(text);
    const char *name = quoted ? quoted : "?";
    if (r == -ENOENT && !why)
        no_such_workload(state, name);
    else
        argp_error(state, "workload %s: %s", name, why ? why : strerror(-r));
}

char *measure_workloads_help(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    (void)fputs("Workloads:\n", out);
    for (size_t i = 0; workload_name(i); i++)
        (void)fprintf(out, "  %-12s %s\n", workload_name(i), workload_summary(i));
    (void)fputs("  files=N[,kb=K][,per-directory=D]\n"
                "               N files of K KB in the mean (4), D to a directory (1000)\n"
                "  profile=FILE of a shape learned by 'shoal make profile'\n"
                "  DIR          a directory that is there, with a '/' in it: ./src (bench only)\n"
                "After a name or FILE: ,scale=S for S times the files (0.01 to 1000).\n"
                "After all but DIR: ,content=C for text, random, mixed or zero.\n",
        out);
    if (ferror(out) | fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

const char *measure_count(uint64_t count, char text[static COUNT_TEXT_MAX])
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    char *out = text;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

void measure_catch_signals(void (*handler)(int signal_number))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = handler};
    struct sigaction before;

    for (size_t i = 0; i < ELEMENTS(signals); i++) {
        /* Neither call can fail: the signals are valid. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

void progress_line_start(struct progress_line *line)
{
    *line = (struct progress_line){.is_terminal = isatty(STDERR_FILENO)};
}

void progress_line_show(struct progress_line *line, bool is_new, const char *format, ...)
{
    va_list arguments;
    uint64_t now_ns = clock_now_ns();

    if (!line->is_terminal || (!is_new && now_ns - line->drawn_ns < REDRAW_NS))
        return;
    line->drawn_ns = now_ns;
    line->is_drawn = true;
    /* Progress that cannot be shown is no reason to stop. */
    (void)fputs("\r\033[K", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fflush(stderr);
}

void progress_line_clear(struct progress_line *line)
{
    if (!line->is_drawn)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    line->is_drawn = false;
}

enum report_bars measure_bars(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool is_utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

    if (locale)
        freelocale(locale);
    return is_utf8 ? BARS_BLOCKS : BARS_ASCII;
}
