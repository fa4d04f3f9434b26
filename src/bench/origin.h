/* What a series is copied from: a tree that is made for it or was there, and the disc made of that.
 */
#ifndef SHOAL_BENCH_ORIGIN_H
#define SHOAL_BENCH_ORIGIN_H

struct place;
struct workload;

struct origin {
    char *parent, *name; /* of the tree */
    char *image;         /* of the disc; NULL: none was asked for */
};

/* Makes the workload's tree in the place, or finds the directory that it is, and makes a disc of it
 * if the plan has worlds. -EINTR: stopped. origin_clear() is due in any case. */
int origin_make(const struct place *place, const struct workload *workload, struct origin *ret);

void origin_clear(struct origin *origin); /* frees what it holds; the place removes the files */

#endif
