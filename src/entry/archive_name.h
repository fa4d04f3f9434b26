/* What the name of a file says of the archive in it. */
#ifndef SHOAL_ENTRY_ARCHIVE_NAME_H
#define SHOAL_ENTRY_ARCHIVE_NAME_H

#include <shoal/shoal.h>
#include <stdbool.h>

/* Whether a path ends as archives' names do (".tar", ".tgz", ".tar.zst", ".cpio.gz", ".zip", …) or
 * is "-". */
bool archive_name_is_readable(const char *path);

/* The same of those that can be written, and how: *ret_is_cpio says whether the name asks for cpio.
 * "-" asks for neither compression nor cpio. */
bool archive_name_is_writable(
    const char *path, enum shoal_compression *ret_compression, bool *ret_is_cpio);

/* Whether a path ends as images of discs do: ".iso", ".efs", ".img", ".cue", ".bin", …. */
bool disc_name_is_readable(const char *path);

/* Parts "archive:/path" at its first ":/" before which a file of that name stands, unless the whole
 * is the name of a file. Returns the archive's path and the part's behind it, to be freed; or NULL
 * where nothing is to be parted (or memory is out). */
char *archive_name_split(const char *text, const char **ret_part);

#endif
