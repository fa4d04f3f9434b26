/* CUE sheets: text that says which tracks of a disc lie where in which file. */
#ifndef SHOAL_DISC_CUE_H
#define SHOAL_DISC_CUE_H

#include <stdbool.h>
#include <stdint.h>

/* The first track of data. */
struct cue_track {
    char *file;            /* its name, in the sheet's own directory */
    unsigned sector_bytes; /* 2048 or 2352 */
    uint64_t first;        /* the sector in the file at which it begins (INDEX 01) */
    uint64_t end;          /* and that at which the next one does; 0: it is the file's last */
};

/* Whether text may be a sheet. */
bool cue_looks_like(const char *text);

/* Finds the first track of data. -EILSEQ: there is none that can be read; *ret_why (free it) says
 * why. -ENOMEM. */
int cue_parse(const char *text, struct cue_track *ret, char **ret_why);

void cue_track_clear(struct cue_track *track);

#endif
