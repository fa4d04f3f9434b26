/* What shoal tar says on standard error, in GNU tar's words. */
#ifndef SHOAL_CLI_TAR_MESSAGES_H
#define SHOAL_CLI_TAR_MESSAGES_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes "shoal tar: MESSAGE" and a newline to stderr, whole lines even from several threads. */
void tar_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "NAME: WHAT: REASON", the name quoted; an error of 0 has no reason. */
void tar_error_name(const char *name, const char *what, int error);

/* What follows an error that ends everything. */
void tar_error_fatal(void);

/* How many bytes a name's beginning has that are not recorded: leading slashes, and all up to and
 * with a "..". */
size_t tar_prefix_length(const char *name);

/* Prints the events of a run. Start from zero. */
struct tar_messages {
    const char *archive; /* what is read, for what is told of no member; NULL: none is */
    const char *to;      /* unpacking: where to; left out of names */
    bool skips_changed;  /* files that change while they are read are nothing to tell */
    bool keeps_prefixes; /* of absolute names: nothing is left out */
    char **prefixes;     /* those told to be left out of names */
    size_t n_prefixes;
};

void tar_messages_event(struct tar_messages *messages, const struct shoal_event *event);
void tar_messages_free(struct tar_messages *messages);

#endif
