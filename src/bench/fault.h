/* What stopped the bench, in parts that the caller makes a line of. */
#ifndef SHOAL_BENCH_FAULT_H
#define SHOAL_BENCH_FAULT_H

struct bench_fault {
    const char *operation; /* "make source tree", … */
    char *path;            /* what it concerns, NULL if nothing in particular; free it */
    char *hint;            /* what to do, NULL if nothing is known; free it */
};

/* Keeps the first fault with what it concerns (`path` is copied and may be NULL); returns the
 * error.
 */
int fault_note(struct bench_fault *fault, int r, const char *operation, const char *path);

/* Adds what to do about it, unless that is said already. */
void fault_hint(struct bench_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
