/* How entries of archives are listed, as GNU tar does it. */
#ifndef SHOAL_CLI_TAR_LIST_H
#define SHOAL_CLI_TAR_LIST_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Start from TAR_LISTING_INIT. */
struct tar_listing {
    FILE *out;
    bool is_long; /* mode, owner, size and time too */
    bool numeric; /* owners by number */
    bool full_time;
    bool utc;
    char end;                     /* of a line */
    char *(*quote)(const char *); /* a new string, NULL without memory; NULL: names as they are */

    /* The columns grow with what they had to hold. */
    size_t size_width, time_width;
};

#define TAR_LISTING_INIT                                                                           \
    {                                                                                              \
        .end = '\n', .size_width = 19, .time_width = 16                                            \
    }

/* Prints one entry. 0 or -ENOMEM; whether it arrives is for who closes `out`. */
int tar_listing_print(struct tar_listing *listing, const struct shoal_entry *entry);

/* A name as GNU tar shows it in lists: what the locale does not print as a C escape. A new string;
 * NULL: no memory. */
char *tar_quote(const char *name);

/* The same as in messages, where a colon ends the name. */
char *tar_quote_colon(const char *name);

#endif
