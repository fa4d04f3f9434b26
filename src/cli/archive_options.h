/* The options of `shoal copy` for FROMs and TOs that are archives, as a child parser of argp. */
#ifndef SHOAL_CLI_ARCHIVE_OPTIONS_H
#define SHOAL_CLI_ARCHIVE_OPTIONS_H

#include <argp.h>

/* To be the child of a command's parser, which sets state->child_inputs[] to its struct
 * shoal_archive_options at ARGP_KEY_INIT. Wrong usage ends the program with argp_err_exit_status.
 */
extern const struct argp archive_options_argp;

#endif
