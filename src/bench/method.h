/* The ways to copy a tree that the bench times: a shell command line each. */
#ifndef SHOAL_BENCH_METHOD_H
#define SHOAL_BENCH_METHOD_H

#include <stdbool.h>
#include <stddef.h>

struct bench_stop;

/* In the command, {from} stands for the source tree's top directory, {parent} and {name} for where
 * that lies and its last component, {to} for a directory that is made new and empty before each
 * run: the copy is to stand there as {to}/{name}, or right in {to}. They are quoted for the shell
 * when they are put in. A disc in an emulated drive is mounted, and {from} is the mount; but in a
 * command with {image} this stands for the image, {drive} for the drive, {time-scale} for how
 * many times as fast its world runs and {machine} for the emulated machine, and nothing is mounted.
 */
struct method {
    char *name;
    char *command;
    char *disc_command; /* that takes the image itself, if the source is on a disc; NULL: none */
    char *program; /* to be sought before a series: of the user's own the first word; NULL if that
                      is not a plain one */
    char *version; /* the first line of the program's --version, "" if unknown */
    bool is_missing;
};

/* Finds a method by name ("shoal" and "shoal-tar" are this very program), or reads NAME=COMMAND.
 * -ENOENT: no such name; -EINVAL: not of that form, a NAME with other than letters, digits and
 * "+-._", one longer than 32 bytes, or a COMMAND without {to} or without {from}, {name} or {image}.
 */
int method_parse(const char *text, struct method *ret);

/* The built-in names in order, and their commands; NULL past the last. */
const char *method_name(size_t i);
const char *method_command(size_t i);

/* Finds whether the program is there and which version it is. */
int method_probe(struct method *method, struct bench_stop *stop);

/* Where a method copies from. */
struct method_source {
    const char *parent, *name;
    const char *image, *drive; /* of the disc that it is on; NULL: it is on none */
    const char *machine;       /* whose costs are to be charged; NULL: none's */
    double time_scale;
};

/* Whether it takes the image itself where the source is on a disc, so that nothing is to be
 * mounted. */
bool method_reads_image(const struct method *method);

/* Whether it takes nothing but an image. */
bool method_needs_image(const struct method *method);

/* The command line of one run; free it. NULL: memory is out. */
char *method_expand(
    const struct method *method, const struct method_source *source, const char *to);

void method_clear(struct method *method); /* frees what it holds, not itself */

#endif
