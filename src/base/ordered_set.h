/* A set of the caller's items by their order: libc's tsearch(3), whose header claims the name
 * `struct entry`. */
#ifndef SHOAL_BASE_ORDERED_SET_H
#define SHOAL_BASE_ORDERED_SET_H

#include <stdbool.h>

typedef int (*ordered_set_compare)(const void *a, const void *b);

/* NULL is an empty set. Items are found by any that compares equal. */
void *ordered_set_find(void *const *set, const void *key, ordered_set_compare compare);
/* False: no memory. Nothing equal may be in the set. */
bool ordered_set_add(void **set, void *item, ordered_set_compare compare);
void ordered_set_remove(void **set, const void *key, ordered_set_compare compare);

#endif
