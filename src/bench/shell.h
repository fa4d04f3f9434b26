/* Words for the shell. */
#ifndef SHOAL_BENCH_SHELL_H
#define SHOAL_BENCH_SHELL_H

#include <stddef.h>

/* The most that a text of so many bytes comes to, the NUL included. */
#define SHELL_QUOTED_MAX(length) (4 * (length) + 3)

/* Writes the text in '…', as every sh reads it back; returns the end. */
char *shell_put_quoted(char *out, const char *text);

/* The same, to be freed. NULL: memory is out. */
char *shell_quote(const char *text);

/* This very program's path, quoted; free it. */
int shell_own_program(char **ret);

#endif
