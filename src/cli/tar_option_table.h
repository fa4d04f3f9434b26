/* The names and letters of shoal tar's options, and what --help says of them. */
#ifndef SHOAL_CLI_TAR_OPTION_TABLE_H
#define SHOAL_CLI_TAR_OPTION_TABLE_H

#include <argp.h>

enum {
    KEY_ZSTD = 0x100, /* others have their letters */
    KEY_LZ4,
    KEY_LZIP,
    KEY_LZMA,
    KEY_LZOP,
    KEY_NO_AUTO_COMPRESS,
    KEY_ADD_FILE,
    KEY_NULL,
    KEY_NO_NULL,
    KEY_VERBATIM,
    KEY_NO_VERBATIM,
    KEY_UNQUOTE,
    KEY_NO_UNQUOTE,
    KEY_SKIP_OLD_FILES,
    KEY_KEEP_NEWER_FILES,
    KEY_OVERWRITE,
    KEY_RECORD_SIZE,
    KEY_SAME_OWNER,
    KEY_NO_SAME_OWNER,
    KEY_NO_SAME_PERMISSIONS,
    KEY_NUMERIC_OWNER,
    KEY_EXCLUDE,
    KEY_EXCLUDE_VCS,
    KEY_EXCLUDE_BACKUPS,
    KEY_STRIP_COMPONENTS,
    KEY_ONE_TOP_LEVEL,
    KEY_WILDCARDS,
    KEY_NO_WILDCARDS,
    KEY_ANCHORED,
    KEY_NO_ANCHORED,
    KEY_IGNORE_CASE,
    KEY_NO_IGNORE_CASE,
    KEY_MATCH_SLASH,
    KEY_NO_MATCH_SLASH,
    KEY_RECURSION,
    KEY_NO_RECURSION,
    KEY_SORT,
    KEY_MTIME,
    KEY_OWNER,
    KEY_GROUP,
    KEY_POSIX,
    KEY_OLD_ARCHIVE,
    KEY_XATTRS,
    KEY_NO_XATTRS,
    KEY_XATTRS_INCLUDE,
    KEY_ACLS,
    KEY_NO_ACLS,
    KEY_ONE_FILE_SYSTEM,
    KEY_HARD_DEREFERENCE,
    KEY_TOTALS,
    KEY_FULL_TIME,
    KEY_UTC,
    KEY_WARNING,
    KEY_ACCEPTED, /* is how shoal tar works anyhow */
};

extern const struct argp_option tar_option_table[];

#endif
