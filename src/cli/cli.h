/* What the commands of the program share. Only this room prints or exits. */
#ifndef SHOAL_CLI_CLI_H
#define SHOAL_CLI_CLI_H

#include <stdarg.h>
#include <stdbool.h>

/* Exit codes, the same for every command. */
enum {
    EXIT_OK = 0,
    EXIT_SOME_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DIFFERENT = 3,
    EXIT_INTERRUPTED = 130,
};

struct command {
    const char *name;
    const char *summary;               /* one line for `shoal --help` */
    int (*run)(int argc, char **argv); /* argv[0] is "shoal NAME"; returns an exit code */
};

int command_copy(int argc, char **argv);
int command_mount(int argc, char **argv);
int command_tar(int argc, char **argv);
int command_list(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_report(int argc, char **argv);
int command_make(int argc, char **argv);

/* Writes "shoal: MESSAGE" and a newline to stderr, whole lines even from several threads. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with another prefix than "shoal: ". */
void cli_say(const char *prefix, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Flushes stdout; returns `code`, or EXIT_SOME_FAILED with a message where what was printed did not
 * arrive (a full disk, a closed pipe). Every command ends with it. */
int cli_finish(int code);

#endif
