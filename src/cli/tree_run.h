/* What a command that runs the library needs of its process: signals, descriptors, an exit code. */
#ifndef SHOAL_CLI_TREE_RUN_H
#define SHOAL_CLI_TREE_RUN_H

#include <stdbool.h>

struct shoal_options;
struct shoal_summary;

/* Makes SIGINT, SIGTERM and SIGHUP end the run in order (a second signal ends it at once), a closed
 * pipe an error instead of an end in the middle of a file, and as many descriptors usable as the
 * system allows. Sets options->stop. Call it before anything is opened. */
void tree_run_prepare(struct shoal_options *options);

/* Whether one of those signals came. */
bool tree_run_is_interrupted(void);

/* The exit code for what the library returned and summed up; where it failed as a whole, says so:
 * `verb` is "copy to" or "compare with", `to` the TO it is about. */
int tree_run_exit_code(
    const char *verb, const char *to, int r, const struct shoal_summary *summary);

#endif
