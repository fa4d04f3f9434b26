/* A range of a file's bytes. */
#ifndef SHOAL_ENTRY_RANGE_H
#define SHOAL_ENTRY_RANGE_H

#include <stdint.h>

struct range {
    uint64_t start, end; /* [start, end) */
};

#endif
