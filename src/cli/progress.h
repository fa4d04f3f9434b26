/* How far a copy or a comparison is: a line on the terminal that is drawn over itself, lines, or
 * JSON, on standard error. */
#ifndef SHOAL_CLI_PROGRESS_H
#define SHOAL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct shoal_progress;
struct shoal_summary;

enum progress_when {
    PROGRESS_AUTO, /* if standard error is a terminal */
    PROGRESS_ALWAYS,
    PROGRESS_NEVER,
    PROGRESS_JSON,
};

struct progress {
    enum {
        PROGRESS_SILENT,
        PROGRESS_REDRAWN,
        PROGRESS_LINES, /* where nothing can be drawn over */
        PROGRESS_OBJECTS,
    } style;
    bool drawn;      /* a line stands on the terminal */
    double fraction; /* as last told */
};

void progress_begin(struct progress *progress, enum progress_when when);

/* How often progress_show() is of use, in milliseconds; 0: it never is. */
unsigned progress_interval_ms(const struct progress *progress);

void progress_show(struct progress *progress, const struct shoal_progress *now);

/* Takes the line away so that another can be printed; the next progress_show() draws it again. */
void progress_clear(struct progress *progress);

/* Clears; for a program, tells the final figures. */
void progress_end(struct progress *progress, const struct shoal_summary *summary);

/* The text of the line: as much of it as fits into `width` columns, the least needed left out. At
 * most PROGRESS_TEXT_MAX bytes with its NUL, all of them ASCII. */
#define PROGRESS_TEXT_MAX 256
void progress_format(const struct shoal_progress *now, size_t width, char text[PROGRESS_TEXT_MAX]);

#endif
