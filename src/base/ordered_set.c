#include "base/ordered_set.h"

#include <search.h>
#include <stddef.h>

void *ordered_set_find(void *const *set, const void *key, ordered_set_compare compare)
{
    void **found = tfind(key, set, compare);
    return found ? *found : NULL;
}

bool ordered_set_add(void **set, void *item, ordered_set_compare compare)
{
    return tsearch(item, set, compare);
}

void ordered_set_remove(void **set, const void *key, ordered_set_compare compare)
{
    (void)tdelete(key, set, compare);
}
