#include "cli/progress.h"

#include <inttypes.h>
#include <jansson.h>
#include <shoal/shoal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define REDRAW_MS 100
#define LINES_MS  1000

/* Before this share and this time are past, what is left cannot be told from them. */
#define ESTIMATE_FROM_FRACTION 0.01
#define ESTIMATE_FROM_NS       NS_PER_SECOND

/* Where the terminal does not say. */
#define COLUMNS_DEFAULT 80

/* ---- text ---- */

/* 76289 as "76,289". */
static const char *count_text(uint64_t count, char text[static 32])
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    char *out = text;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

/* 1536 as "1.5 KB", in units of 1024. */
static const char *size_text(uint64_t bytes, char text[static 32])
{
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;

    for (; size >= 1023.95 && unit + 1 < ELEMENTS(units); unit++)
        size /= 1024;
    (void)snprintf(text, 32, "%.*f %s", size < 99.95 ? 1 : 0, size, units[unit]);
    return text;
}

static const char *duration_text(double seconds, char text[static 32])
{
    unsigned long whole = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000;

    if (whole < 3600)
        (void)snprintf(text, 32, "%lu:%02lu", whole / 60, whole % 60);
    else
        (void)snprintf(text, 32, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    return text;
}

/* A line that grows piece by piece. A piece that does not fit is left out. */
struct pieces {
    char *text;
    size_t length, width;
};

static void add_piece(struct pieces *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_piece(struct pieces *line, const char *format, ...)
{
    char piece[96];
    va_list arguments;
    size_t gap = line->length > 0 ? 2 : 0;

    va_start(arguments, format);
    int n = vsnprintf(piece, sizeof(piece), format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof(piece) || line->length + gap + (size_t)n > line->width)
        return;
    line->length += (size_t)sprintf(line->text + line->length, "%*s%s", (int)gap, "", piece);
}

static bool can_estimate(const struct shoal_progress *now)
{
    return now->fraction > ESTIMATE_FROM_FRACTION && now->elapsed_ns > ESTIMATE_FROM_NS;
}

static double seconds_left(const struct shoal_progress *now)
{
    double seconds = (double)now->elapsed_ns / (double)NS_PER_SECOND;
    return now->fraction < 1 ? seconds * (1 - now->fraction) / now->fraction : 0;
}

static uint64_t rate(uint64_t n, uint64_t elapsed_ns)
{
    return elapsed_ns > 0 ? (uint64_t)((double)n * (double)NS_PER_SECOND / (double)elapsed_ns) : 0;
}

void progress_format(const struct shoal_progress *now, size_t width, char text[PROGRESS_TEXT_MAX])
{
    struct pieces line = {text, 0, width < PROGRESS_TEXT_MAX ? width : PROGRESS_TEXT_MAX - 1};
    char number[32];

    text[0] = '\0';
    add_piece(&line, "%s files", count_text(now->files, number));
    add_piece(&line, "%s", size_text(now->bytes, number));
    if (can_estimate(now)) {
        add_piece(&line, "%.0f%%", now->fraction * 100);
        add_piece(&line, "%s left", duration_text(seconds_left(now), number));
    }
    add_piece(&line, "%s files/s", count_text(rate(now->files, now->elapsed_ns), number));
    add_piece(&line, "%s KB/s", count_text(rate(now->bytes, now->elapsed_ns) / 1024, number));
    if (now->bound)
        add_piece(&line, "bound by %s", now->bound);
}

/* ---- drawing ---- */

static size_t terminal_columns(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : COLUMNS_DEFAULT;
}

static void print_object(const struct shoal_progress *now)
{
    json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:f, s:i, s:s*}", "event", "progress", "files",
        (json_int_t)now->files, "bytes", (json_int_t)now->bytes, "elapsed_ns",
        (json_int_t)now->elapsed_ns, "fraction", now->fraction, "workers", (int)now->workers,
        "bound", now->bound);
    _cleanup_free_ char *line =
        object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;

    if (line) /* progress that cannot be told is no reason to stop */
        (void)fprintf(stderr, "%s\n", line);
    json_decref(object);
}

void progress_begin(struct progress *progress, enum progress_when when)
{
    bool is_terminal = isatty(STDERR_FILENO);

    *progress = (struct progress){.style = PROGRESS_SILENT};
    if (when == PROGRESS_JSON)
        progress->style = PROGRESS_OBJECTS;
    else if (when != PROGRESS_NEVER && is_terminal)
        progress->style = PROGRESS_REDRAWN;
    else if (when == PROGRESS_ALWAYS)
        progress->style = PROGRESS_LINES;
}

unsigned progress_interval_ms(const struct progress *progress)
{
    if (progress->style == PROGRESS_SILENT)
        return 0;
    return progress->style == PROGRESS_LINES ? LINES_MS : REDRAW_MS;
}

void progress_show(struct progress *progress, const struct shoal_progress *now)
{
    char text[PROGRESS_TEXT_MAX];

    progress->fraction = now->fraction;
    switch (progress->style) {
    case PROGRESS_SILENT:
        return;
    case PROGRESS_OBJECTS:
        print_object(now);
        return;
    case PROGRESS_LINES:
        progress_format(now, COLUMNS_DEFAULT, text);
        (void)fprintf(stderr, "%s\n", text); /* as above: no reason to stop */
        return;
    case PROGRESS_REDRAWN:
        /* The last column stays free: in it, some terminals begin a new line. */
        progress_format(now, terminal_columns() - 1, text);
        (void)fprintf(stderr, "\r\033[K%s", text);
        (void)fflush(stderr);
        progress->drawn = true;
    }
}

void progress_clear(struct progress *progress)
{
    if (!progress->drawn)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    progress->drawn = false;
}

void progress_end(struct progress *progress, const struct shoal_summary *summary)
{
    progress_clear(progress);
    if (progress->style != PROGRESS_OBJECTS || !summary)
        return;
    struct shoal_progress last = {
        .files = summary->files,
        .bytes = summary->bytes,
        .elapsed_ns = summary->elapsed_ns,
        .fraction = summary->stopped ? progress->fraction : 1,
        .workers = summary->workers,
    };
    print_object(&last);
}
