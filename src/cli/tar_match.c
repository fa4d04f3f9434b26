#include "cli/tar_match.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int tar_patterns_add(struct tar_patterns *patterns, const char *text, unsigned how)
{
    struct tar_pattern *all =
        reallocarray(patterns->patterns, patterns->n + 1, sizeof(*patterns->patterns));

    if (!all)
        return -ENOMEM;
    patterns->patterns = all;
    char *copy = strdup(text);
    if (!copy)
        return -ENOMEM;
    all[patterns->n++] = (struct tar_pattern){.text = copy, .how = how};
    return 0;
}

static bool is_plain(const struct tar_pattern *pattern)
{
    return (pattern->how & (TAR_MATCH_WILDCARDS | TAR_MATCH_ANCHORED | TAR_MATCH_IGNORE_CASE)) ==
           TAR_MATCH_ANCHORED;
}

static int compare_names(const void *a, const void *b)
{
    const struct tar_pattern *const *left = a, *const *right = b;
    return strcmp((*left)->text, (*right)->text);
}

int tar_patterns_prepare(struct tar_patterns *patterns)
{
    patterns->names = calloc(patterns->n + 1, sizeof(struct tar_pattern *));
    if (!patterns->names)
        return -ENOMEM;
    for (size_t i = 0; i < patterns->n; i++)
        if (is_plain(&patterns->patterns[i]))
            patterns->names[patterns->n_names++] = &patterns->patterns[i];
    qsort(patterns->names, patterns->n_names, sizeof(struct tar_pattern *), compare_names);
    return 0;
}

static void mark(struct tar_pattern *pattern)
{
    __atomic_store_n(&pattern->found, true, __ATOMIC_RELAXED);
}

/* Compares a name with the first n bytes of a path. */
static int compare_with(const char *name, const char *path, size_t n)
{
    int order = strncmp(name, path, n);
    return order != 0 ? order : name[n] != '\0';
}

/* Marks the plain names that are the first n bytes of a path. */
static bool match_names(struct tar_patterns *patterns, const char *path, size_t n)
{
    size_t low = 0, high = patterns->n_names;
    bool matched = false;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_with(patterns->names[middle]->text, path, n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < patterns->n_names; low++) {
        if (compare_with(patterns->names[low]->text, path, n) != 0)
            break;
        mark(patterns->names[low]);
        matched = true;
    }
    return matched;
}

/* Whether it takes a path, seen from one place in it on. */
static bool matches_at(const struct tar_pattern *pattern, const char *path)
{
    size_t length = strlen(pattern->text);
    bool ignore_case = pattern->how & TAR_MATCH_IGNORE_CASE;

    if (pattern->how & TAR_MATCH_WILDCARDS) {
        int flags = FNM_LEADING_DIR | (ignore_case ? FNM_CASEFOLD : 0) |
                    (pattern->how & TAR_MATCH_KEEP_SLASH ? FNM_PATHNAME : 0);
        return fnmatch(pattern->text, path, flags) == 0;
    }
    int order = (ignore_case ? strncasecmp : strncmp)(pattern->text, path, length);
    return order == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool matches(const struct tar_pattern *pattern, const char *path)
{
    if (matches_at(pattern, path))
        return true;
    if (pattern->how & TAR_MATCH_ANCHORED)
        return false;
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
        if (slash[1] && slash[1] != '/' && matches_at(pattern, slash + 1))
            return true;
    return false;
}

static bool match_all(struct tar_patterns *patterns, const char *path)
{
    bool matched = false;

    for (size_t n = 1; patterns->n_names > 0 && path[n - 1]; n++)
        if (path[n] == '/' || path[n] == '\0')
            matched |= match_names(patterns, path, n);
    for (size_t i = 0; patterns->n > patterns->n_names && i < patterns->n; i++) {
        struct tar_pattern *pattern = &patterns->patterns[i];
        if (is_plain(pattern) || !matches(pattern, path))
            continue;
        mark(pattern);
        matched = true;
    }
    return matched;
}

bool tar_patterns_match(struct tar_patterns *patterns, const char *path)
{
    size_t length = strlen(path);

    if (patterns->n == 0)
        return false;
    if (length < 2 || path[length - 1] != '/')
        return match_all(patterns, path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    _cleanup_free_ char *shorter = strndup(path, length);
    return match_all(patterns, shorter ? shorter : path);
}

void tar_patterns_free(struct tar_patterns *patterns)
{
    for (size_t i = 0; i < patterns->n; i++)
        free(patterns->patterns[i].text);
    free(patterns->patterns);
    free(patterns->names);
    *patterns = (struct tar_patterns){0};
}
