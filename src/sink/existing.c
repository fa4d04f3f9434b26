#include "sink/existing.h"

#include <errno.h>

int existing_judge(const struct stat *existing, bool fresh, const struct entry *entry,
    const struct sink_options *options, struct outcome *outcome)
{
    int order = timespec_compare(&existing->st_mtim, &entry->mtime);

    if (options->existing == SHOAL_EXISTING_KEEP)
        return SINK_KEPT_OTHER;
    if (options->existing == SHOAL_EXISTING_REFUSE)
        return outcome_fail_target(outcome, "create", -EEXIST);
    if (S_ISDIR(existing->st_mode))
        return outcome_fail_target(outcome, "overwrite with a file", -EISDIR);
    if (entry_is_inode(entry, existing))
        return outcome_fail_target(outcome, "copy onto itself", -EINVAL);
    if (options->existing == SHOAL_EXISTING_IF_OLDER && order >= 0)
        return SINK_KEPT_OTHER;
    if (options->existing == SHOAL_EXISTING_IF_UNLIKE &&
        (existing->st_mode & S_IFMT) == (entry->mode & S_IFMT) && order == 0 &&
        (uint64_t)existing->st_size == entry->size)
        return SINK_KEPT_SAME;
    /* Two names of the source are one name here, where a file system folds case: the first one
     * stays. */
    if (fresh && !options->twins_replace)
        return outcome_fail_target(outcome, "overwrite what was just created,", -EEXIST);
    return 0;
}
