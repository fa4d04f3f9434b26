/* Byte counts as people type them. */
#ifndef SHOAL_BASE_SIZE_H
#define SHOAL_BASE_SIZE_H

#include <stdint.h>

/* Reads "64", "64K", "1.5M", "2G", "1T" (powers of 1024; KiB and KB mean the same, as in rsync's
 * --bwlimit; an upper- or lower-case letter). A bare number is multiplied by `bare_unit_bytes`.
 * Returns 0, -EINVAL if it is not of that form, -ERANGE if it does not fit. */
int size_parse(const char *text, uint64_t bare_unit_bytes, uint64_t *ret_bytes);

#endif
