/* The options for how a FROM that is an archive or a disc is read, as a child parser of argp: those
 * of copy, verify and list. */
#ifndef SHOAL_CLI_FROM_OPTIONS_H
#define SHOAL_CLI_FROM_OPTIONS_H

#include <argp.h>

/* To be the child of a command's parser, which sets state->child_inputs[] to its struct
 * shoal_options at ARGP_KEY_INIT. Wrong usage ends the program with argp_err_exit_status. */
extern const struct argp from_options_argp;

#endif
