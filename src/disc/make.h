/* What the makers of images share. */
#ifndef SHOAL_DISC_MAKE_H
#define SHOAL_DISC_MAKE_H

#include <stdint.h>

struct make_totals {
    uint64_t files, directories; /* files of any type; the top directory counts as one */
    uint64_t bytes;              /* of content, once for each file with several names */
    uint64_t sockets;            /* left out: nothing could be done with them */
    uint64_t owners;             /* files whose owner the disc cannot hold, and has another */
};

/* Is asked between files, and pieces of large ones, whether to end. */
struct make_watch {
    int (*should_stop)(void *context);
    void (*added)(void *context, const struct make_totals *so_far);
    void *context;
};

/* What went wrong; both are the caller's to free, NULL if nothing is known. */
struct make_failure {
    char *path; /* of what could not be added, in the directory; NULL: of the image itself */
    char *why;  /* in words, beside the error */
};

#endif
