/* Where an archive's member goes: its path made safe and relative to the top of the copy. */
#ifndef SHOAL_ENGINE_MEMBER_PATH_H
#define SHOAL_ENGINE_MEMBER_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* Longer paths, and deeper ones, are refused: what is pending must stay bounded. */
#define MEMBER_PATH_BYTES  ((size_t)1024 * 1024)
#define MEMBER_PATH_LEVELS 32768

struct member_rule {
    unsigned strip;   /* leave out so many leading components; "." is one, as in GNU tar */
    const char *part; /* only what lies at or below it, made relative to it; NULL: everything */
    const char *top;  /* then put it below this path, unless it lies there already; NULL: not */
    const char *base; /* absolute paths and ".." are obeyed, relative ones are below this absolute
                         one; NULL: neither leads out of the top */
};

enum member_fate {
    MEMBER_TAKEN,
    MEMBER_LEFT_OUT, /* the rule leaves nothing of it */
    MEMBER_ESCAPES,  /* it has a ".." */
    MEMBER_TOO_LONG,
    MEMBER_NO_MEMORY,
};

/* Puts the components of `path` that remain, parted by single slashes and ended by NUL, into `out`
 * (emptied first): "" is the top itself. *ret_was_absolute: a leading slash was left out. */
enum member_fate member_path_resolve(
    const struct member_rule *rule, const char *path, struct bytes *out, bool *ret_was_absolute);

#endif
