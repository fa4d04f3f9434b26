/* Giving a file the metadata of an entry, with no call for what already holds, in the order that
 * loses nothing: owner (a change of it clears set-ID bits and capabilities), ACL and mode, xattrs,
 * times. */
#ifndef SHOAL_SINK_METADATA_H
#define SHOAL_SINK_METADATA_H

#include <sys/types.h>

#include "entry/entry.h"
#include "entry/outcome.h"
#include "entry/xattrs.h"

/* What a file has by the way it was created. */
struct born {
    uid_t uid;
    gid_t gid;
    mode_t mode;       /* permission bits */
    bool may_have_acl; /* inherited from its directory, or there before */
};

/* The permission bits with which to create a file, so that at no moment more people can read or
 * write it than may in the end: `owned` says that it will be born with its final owner and group.
 */
mode_t metadata_creation_mode(
    const struct entry *entry, unsigned preserve, mode_t default_umask, bool owned);

/* The permission bits an entry is to have in the end. */
mode_t metadata_final_mode(const struct entry *entry, unsigned preserve, mode_t default_umask);

struct metadata_change {
    struct xattr_place place;
    const struct entry *entry;
    struct born born;
    unsigned preserve; /* SHOAL_KEEP_* */
    mode_t final_mode; /* from metadata_final_mode() */
};

/* Applies what `preserve` names. What cannot be kept is noted in `outcome`. */
void metadata_apply(const struct metadata_change *change, struct outcome *outcome);

#endif
