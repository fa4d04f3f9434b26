#include "engine/member_path.h"

#include <string.h>

static const char *skip_slashes(const char *path)
{
    return path + strspn(path, "/");
}

/* Leaves out leading components; NULL if there are no more than that. */
static const char *strip(const char *path, unsigned n)
{
    for (; n > 0; n--) {
        path += strcspn(path, "/");
        if (!*path)
            return NULL;
        path = skip_slashes(path);
    }
    return *path ? path : NULL;
}

static void drop_last(struct bytes *out)
{
    while (out->n > 0 && out->data[out->n - 1] != '/')
        out->n--;
    if (out->n > 0)
        out->n--;
}

static enum member_fate add_component(struct bytes *out, const char *name, size_t length)
{
    if ((out->n > 0 && bytes_append(out, "/", 1) < 0) || bytes_append(out, name, length) < 0)
        return MEMBER_NO_MEMORY;
    return MEMBER_TAKEN;
}

static enum member_fate add_components(struct bytes *out, const char *path, bool obey_dots)
{
    enum member_fate fate = MEMBER_TAKEN;
    unsigned levels = 0;

    for (path = skip_slashes(path); *path && fate == MEMBER_TAKEN; path = skip_slashes(path)) {
        size_t length = strcspn(path, "/");
        bool is_dots = length == 2 && path[0] == '.' && path[1] == '.';
        if (++levels > MEMBER_PATH_LEVELS)
            return MEMBER_TOO_LONG;
        if (is_dots && !obey_dots)
            return MEMBER_ESCAPES;
        if (is_dots)
            drop_last(out);
        else if (length != 1 || path[0] != '.')
            fate = add_component(out, path, length);
        path += length;
    }
    return fate;
}

/* Makes the path in `out` relative to the part. */
static enum member_fate take_part(struct bytes *out, const char *part)
{
    struct bytes wanted = {0};
    enum member_fate fate = add_components(&wanted, part, true);
    size_t n = wanted.n;

    if (fate == MEMBER_TAKEN && n > 0) {
        bool is_below = out->n >= n && memcmp(out->data, wanted.data, n) == 0 &&
                        (out->n == n || out->data[n] == '/');
        size_t cut = out->n == n ? n : n + 1;
        if (is_below) {
            memmove(out->data, out->data + cut, out->n - cut);
            out->n -= cut;
        }
        fate = is_below ? MEMBER_TAKEN : MEMBER_LEFT_OUT;
    }
    bytes_free(&wanted);
    return fate;
}

/* Puts the path in `out` below `top`, unless it lies there. */
static enum member_fate put_below(struct bytes *out, const char *top)
{
    struct bytes below = {0};
    enum member_fate fate = add_components(&below, top, true);
    size_t n = below.n;
    bool is_below = out->n >= n && memcmp(out->data, below.data, n) == 0 &&
                    (out->n == n || out->data[n] == '/');

    if (fate == MEMBER_TAKEN && n > 0 && !is_below) {
        if (out->n > 0)
            fate = add_component(&below, out->data, out->n);
        struct bytes before = *out;
        *out = below;
        below = before;
    }
    bytes_free(&below);
    return fate;
}

enum member_fate member_path_resolve(
    const struct member_rule *rule, const char *path, struct bytes *out, bool *ret_was_absolute)
{
    bool is_absolute = *path == '/';
    enum member_fate fate = MEMBER_TAKEN;

    out->n = 0;
    *ret_was_absolute = is_absolute && !rule->base;
    if (strlen(path) > MEMBER_PATH_BYTES)
        return MEMBER_TOO_LONG;
    if (rule->strip > 0) {
        path = strip(skip_slashes(path), rule->strip);
        if (!path)
            return MEMBER_LEFT_OUT;
        is_absolute = false;
    }
    if (rule->base && !is_absolute)
        fate = add_components(out, rule->base, true);
    if (fate == MEMBER_TAKEN)
        fate = add_components(out, path, rule->base);
    if (fate == MEMBER_TAKEN && rule->part)
        fate = take_part(out, rule->part);
    if (fate == MEMBER_TAKEN && rule->top)
        fate = put_below(out, rule->top);
    if (fate == MEMBER_TAKEN && bytes_append(out, "", 1) < 0)
        fate = MEMBER_NO_MEMORY;
    return fate;
}
