/* Prints what the library tells of single files, and its summary: for people, or as JSON lines. */
#ifndef SHOAL_CLI_TREE_EVENTS_H
#define SHOAL_CLI_TREE_EVENTS_H

#include <shoal/shoal.h>
#include <stdbool.h>

#include "cli/progress.h"
#include "cli/tree_options.h"

struct tree_events {
    bool json;
    const char *copied; /* the past of what is done: "copied", "compared" */
    struct progress progress;
};

/* Has the events and the progress of options->shoal printed; `copied` is "copied" or "compared".
 * The structure must stay until the library's call returns, as must the options. Set want_copied
 * for a line for each file made. */
void tree_events_begin(
    struct tree_events *events, struct tree_options *options, const char *copied);

/* After the library's call: clears the progress and prints the summary. If the call failed as a
 * whole, `summary` is NULL and nothing is printed. */
void tree_events_end(struct tree_events *events, const struct shoal_summary *summary);

#endif
