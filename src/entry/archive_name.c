#include "entry/archive_name.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* Endings of a compressed file, after ".tar" or ".cpio". */
static const struct {
    const char *ending;
    bool can_write;
    enum shoal_compression compression;
} compressions[] = {
    {"", true, SHOAL_COMPRESSION_NONE},
    {".gz", true, SHOAL_COMPRESSION_GZIP},
    {".bz2", true, SHOAL_COMPRESSION_BZIP2},
    {".xz", true, SHOAL_COMPRESSION_XZ},
    {".zst", true, SHOAL_COMPRESSION_ZSTD},
    {".lz4", true, SHOAL_COMPRESSION_LZ4},
    {".lz", false, SHOAL_COMPRESSION_NONE},
    {".lzma", false, SHOAL_COMPRESSION_NONE},
    {".Z", false, SHOAL_COMPRESSION_NONE},
};

/* Short for the above. */
static const struct {
    const char *ending, *meaning;
} shorts[] = {
    {".tgz", "x.tar.gz"},
    {".taz", "x.tar.Z"},
    {".tbz", "x.tar.bz2"},
    {".tbz2", "x.tar.bz2"},
    {".txz", "x.tar.xz"},
    {".tzst", "x.tar.zst"},
    {".tlz", "x.tar.lzma"},
};

/* Read only. */
static const char *const others[] = {".zip", ".7z", ".rar", ".cab", ".lha", ".lzh", ".ar", ".xar"};

/* Images of discs, in any case. */
static const char *const discs[] = {
    ".iso", ".efs", ".img", ".image", ".cue", ".bin", ".raw", ".cdr", ".toast"};

/* The length of the path without the ending; 0 if it does not end so, or is nothing else. */
static size_t length_without(const char *path, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    if (length <= n || memcmp(path + length - n, ending, n) != 0 || path[length - n - 1] == '/')
        return 0;
    return length - n;
}

static bool find_tar_or_cpio(const char *path, size_t length, size_t *ret_index, bool *ret_is_cpio)
{
    for (size_t i = 0; i < ELEMENTS(compressions); i++) {
        size_t rest = length_without(path, length, compressions[i].ending);
        *ret_is_cpio = rest > 0 && length_without(path, rest, ".cpio") > 0;
        if (rest > 0 && (*ret_is_cpio || length_without(path, rest, ".tar") > 0)) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

static bool find(const char *path, size_t *ret_index, bool *ret_is_cpio)
{
    for (size_t i = 0; i < ELEMENTS(shorts); i++) {
        if (length_without(path, strlen(path), shorts[i].ending) > 0)
            return find_tar_or_cpio(
                shorts[i].meaning, strlen(shorts[i].meaning), ret_index, ret_is_cpio);
    }
    return find_tar_or_cpio(path, strlen(path), ret_index, ret_is_cpio);
}

bool archive_name_is_readable(const char *path)
{
    size_t index;
    bool is_cpio;

    if (strcmp(path, "-") == 0)
        return true;
    for (size_t i = 0; i < ELEMENTS(others); i++)
        if (length_without(path, strlen(path), others[i]) > 0)
            return true;
    return find(path, &index, &is_cpio);
}

bool archive_name_is_writable(
    const char *path, enum shoal_compression *ret_compression, bool *ret_is_cpio)
{
    size_t index = 0;
    bool is_cpio = false;

    if (strcmp(path, "-") != 0 && (!find(path, &index, &is_cpio) || !compressions[index].can_write))
        return false;
    *ret_compression = compressions[index].compression;
    *ret_is_cpio = is_cpio;
    return true;
}

bool disc_name_is_readable(const char *path)
{
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < ELEMENTS(discs); i++)
        if (strcasecmp(dot, discs[i]) == 0)
            return true;
    return false;
}

static bool is_file(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISDIR(st.st_mode));
}

char *archive_name_split(const char *text, const char **ret_part)
{
    struct stat st;

    if (lstat(text, &st) == 0)
        return NULL;
    for (const char *colon = text; (colon = strstr(colon, ":/")); colon++) {
        char *path = strndup(text, (size_t)(colon - text));
        if (!path)
            return NULL;
        if (is_file(path)) {
            *ret_part = colon + 1;
            return path;
        }
        free(path);
    }
    return NULL;
}
