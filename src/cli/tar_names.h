/* The names given to shoal tar, on its command line and in lists, and the directories of -C. */
#ifndef SHOAL_CLI_TAR_NAMES_H
#define SHOAL_CLI_TAR_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct tar_name {
    const char *text;
    const char *directory; /* where -C had led by then; NULL: where the program was started */
    unsigned how;          /* TAR_MATCH_*, as a pattern of members */
};

/* Start from zero. */
struct tar_names {
    struct tar_name *names; /* in the order given */
    size_t n;
    const char *directory; /* where -C leads now; NULL: nowhere */
    bool quoted;           /* C escapes in names stand for the bytes they name */

    char **texts; /* owns all text */
    size_t n_texts;
};

/* How a list of names is to be read. */
struct tar_list_form {
    bool null;     /* names end in NUL */
    bool verbatim; /* a line that begins with "-" is a name too, and no escape stands for a byte */
    unsigned how;
};

/* 0 or -ENOMEM. The text is copied. */
int tar_names_add(struct tar_names *names, const char *text, unsigned how);

/* -C: from where it led before. 0 or -ENOMEM. */
int tar_names_change_directory(struct tar_names *names, const char *directory);

/* -T: adds the names that a file ("-": standard input) lists; a line may be a -C. 0, -ENOMEM, or
 * -ECANCELED after the reason was said. */
int tar_names_read(struct tar_names *names, const char *path, const struct tar_list_form *form);

void tar_names_free(struct tar_names *names);

#endif
