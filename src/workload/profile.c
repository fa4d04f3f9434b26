#include "workload/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "workload/profile_store.h"

#define SCHEMA         "shoal-profile"
#define VERSION        1
#define FILE_BYTES_MAX (1 << 20)

/* The tables, what they are called, and what their values may be. */
static const struct {
    const char *key;
    uint64_t least, most;
} tables[PROFILE_N_TABLES] = {
    [PROFILE_SIZES] = {"sizes", 0, QUANTILE_VALUE_MAX},
    [PROFILE_FILES] = {"files-per-directory", 0, SHAPE_COUNT_MAX},
    [PROFILE_SUBDIRECTORIES] = {"subdirectories", 0, SHAPE_COUNT_MAX},
    [PROFILE_NAMES] = {"name-lengths", 1, NAME_ROOM - 1},
};

void profile_connect(struct profile *profile)
{
    struct quantiles *const of[] = {
        [PROFILE_SIZES] = &profile->shape.sizes,
        [PROFILE_FILES] = &profile->shape.files_per_directory,
        [PROFILE_SUBDIRECTORIES] = &profile->shape.subdirectories,
        [PROFILE_NAMES] = &profile->shape.name_lengths,
    };

    for (size_t i = 0; i < PROFILE_N_TABLES; i++)
        *of[i] = (struct quantiles){profile->tables[i].points, profile->tables[i].n};
    profile->shape.levels = profile->levels;
    profile->shape.naming = &naming_by_length;
}

const struct shape *profile_shape(const struct profile *profile)
{
    return &profile->shape;
}

void profile_free(struct profile *profile)
{
    free(profile);
}

/* --- Reading --- */

/* "KEY: what is wrong" */
__attribute__((format(printf, 2, 3))) static int bad(char **ret_why, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(ret_why, format, arguments) < 0)
        *ret_why = NULL;
    va_end(arguments);
    return -EINVAL;
}

static int read_number(const json_t *root, const char *key, uint64_t least, uint64_t most,
    uint64_t *ret, char **ret_why)
{
    const json_t *value = json_object_get(root, key);

    if (!value)
        return bad(ret_why, "%s: is missing", key);
    if (!json_is_integer(value) || json_integer_value(value) < (json_int_t)least ||
        json_integer_value(value) > (json_int_t)most)
        return bad(ret_why, "%s: a whole number from %llu to %llu is expected", key,
            (unsigned long long)least, (unsigned long long)most);
    *ret = (uint64_t)json_integer_value(value);
    return 0;
}

/* The i-th element of an array, two numbers from 0 on. */
static bool read_pair(const json_t *array, size_t i, uint64_t ret[static 2])
{
    const json_t *pair = json_array_get(array, i);

    if (!json_is_array(pair) || json_array_size(pair) != 2)
        return false;
    for (size_t k = 0; k < 2; k++) {
        const json_t *number = json_array_get(pair, k);
        if (!json_is_integer(number) || json_integer_value(number) < 0)
            return false;
        ret[k] = (uint64_t)json_integer_value(number);
    }
    return true;
}

/* An array of so many pairs of numbers; NULL, said. */
static const json_t *read_pairs(
    const json_t *root, const char *key, size_t least, size_t most, char **ret_why)
{
    const json_t *array = json_object_get(root, key);

    if (!array)
        (void)bad(ret_why, "%s: is missing", key);
    else if (!json_is_array(array) || json_array_size(array) < least ||
             json_array_size(array) > most)
        (void)bad(
            ret_why, "%s: an array of %zu to %zu pairs of numbers is expected", key, least, most);
    else
        return array;
    return NULL;
}

static int read_table(struct profile *profile, const json_t *root, size_t i, char **ret_why)
{
    const char *key = tables[i].key;
    struct profile_table *table = &profile->tables[i];
    const json_t *array = read_pairs(root, key, 2, QUANTILE_POINTS_MAX, ret_why);
    struct quantile before = {0, tables[i].least};

    if (!array)
        return -EINVAL;
    table->n = json_array_size(array);
    for (size_t k = 0; k < table->n; k++) {
        uint64_t pair[2];
        if (!read_pair(array, k, pair))
            return bad(ret_why, "%s: element %zu is not a pair of numbers from 0 on", key, k);
        if (pair[0] < before.share || pair[0] > QUANTILE_ONE || (k == 0 && pair[0] != 0))
            return bad(ret_why, "%s: the shares do not rise from 0 to %u", key, QUANTILE_ONE);
        if (pair[1] < before.value || pair[1] > tables[i].most)
            return bad(ret_why, "%s: the values do not rise between %llu and %llu", key,
                (unsigned long long)tables[i].least, (unsigned long long)tables[i].most);
        before = table->points[k] = (struct quantile){(uint32_t)pair[0], pair[1]};
    }
    if (before.share != QUANTILE_ONE)
        return bad(ret_why, "%s: the shares do not rise from 0 to %u", key, QUANTILE_ONE);
    return 0;
}

static int read_levels(struct profile *profile, const json_t *root, char **ret_why)
{
    const json_t *array = read_pairs(root, "levels", 1, SHAPE_LEVELS_MAX, ret_why);
    uint64_t files = 0, directories = 0;

    if (!array)
        return -EINVAL;
    profile->shape.n_levels = json_array_size(array);
    for (size_t i = 0; i < profile->shape.n_levels; i++) {
        uint64_t pair[2];
        if (!read_pair(array, i, pair))
            return bad(ret_why, "levels: element %zu is not a pair of numbers from 0 on", i);
        if (pair[0] == 0 || pair[0] > SHAPE_COUNT_MAX || pair[1] > SHAPE_COUNT_MAX)
            return bad(ret_why, "levels: element %zu has no directory, or too many", i);
        profile->levels[i] = (struct shape_level){pair[0], pair[1]};
        directories += pair[0];
        files += pair[1];
    }
    if (profile->levels[0].directories != 1)
        return bad(ret_why, "levels: the top is one directory");
    if (directories != profile->shape.directories || files != profile->shape.files)
        return bad(ret_why, "levels: they do not come to the directories and files");
    return 0;
}

/* What is scaled to the total must be near it, or the quantiles would not be met. */
static int check_mean(const struct shape *shape, char **ret_why)
{
    __extension__ typedef unsigned __int128 uint128;
    uint128 by_table = (uint128)quantiles_mean(&shape->sizes) * shape->files / 1000;
    uint128 bytes = shape->bytes, slack = bytes / 20 + shape->files;

    if (by_table > bytes + slack || by_table + slack < bytes)
        return bad(ret_why, "sizes: their mean is not that of bytes and files");
    return 0;
}

static int check_keys(json_t *root, char **ret_why)
{
    static const char *const known[] = {
        "schema", "version", "files", "directories", "bytes", "levels"};
    const char *key;
    json_t *value;

    json_object_foreach(root, key, value)
    {
        bool is_known = false;
        for (size_t i = 0; i < ELEMENTS(known); i++)
            is_known = is_known || strcmp(key, known[i]) == 0;
        for (size_t i = 0; i < PROFILE_N_TABLES; i++)
            is_known = is_known || strcmp(key, tables[i].key) == 0;
        if (!is_known)
            return bad(ret_why, "%s: no such key is known", key);
    }
    return 0;
}

static int read_profile(struct profile *profile, json_t *root, char **ret_why)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    struct shape *shape = &profile->shape;
    uint64_t version;

    if (!schema || strcmp(schema, SCHEMA) != 0)
        return bad(ret_why, "schema: \"" SCHEMA "\" is expected");
    int r = read_number(root, "version", VERSION, VERSION, &version, ret_why);
    if (r >= 0)
        r = check_keys(root, ret_why);
    if (r >= 0)
        r = read_number(root, "files", 1, SHAPE_COUNT_MAX, &shape->files, ret_why);
    if (r >= 0)
        r = read_number(root, "directories", 1, SHAPE_COUNT_MAX, &shape->directories, ret_why);
    if (r >= 0)
        r = read_number(root, "bytes", 0, SHAPE_BYTES_MAX, &shape->bytes, ret_why);
    if (r >= 0)
        r = read_levels(profile, root, ret_why);
    for (size_t i = 0; i < PROFILE_N_TABLES && r >= 0; i++)
        r = read_table(profile, root, i, ret_why);
    if (r < 0)
        return r;
    profile_connect(profile);
    return check_mean(shape, ret_why);
}

/* The text of the file. */
static int read_text(const char *path, char **ret, size_t *ret_length, char **ret_why)
{
    _cleanup_free_ char *text = malloc(FILE_BYTES_MAX + 1);
    _cleanup_close_ int fd = open_at(AT_FDCWD, path, O_RDONLY, 0);
    size_t length = 0;
    ssize_t n = fd;

    if (!text)
        return -ENOMEM;
    while (n >= 0 && length <= FILE_BYTES_MAX) {
        n = read(fd, text + length, FILE_BYTES_MAX + 1 - length);
        if (n == 0)
            break;
        if (n < 0)
            n = -errno;
        else
            length += (size_t)n;
    }
    if (n < 0) {
        (void)bad(ret_why, "%s", strerror((int)-n));
        return (int)n;
    }
    if (length > FILE_BYTES_MAX)
        return bad(ret_why, "it is too large for a profile");
    *ret = TAKE_PTR(text);
    *ret_length = length;
    return 0;
}

int profile_load(const char *path, struct profile **ret, char **ret_why)
{
    _cleanup_free_ struct profile *profile = calloc(1, sizeof(*profile));
    _cleanup_free_ char *text = NULL;
    size_t length = 0;
    json_error_t error;

    if (!profile)
        return -ENOMEM;
    int r = read_text(path, &text, &length, ret_why);
    if (r < 0)
        return r;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return -ENOMEM;
    if (!json_is_object(root))
        r = root ? bad(ret_why, "it is no JSON object")
                 : bad(ret_why, "line %d: %s", error.line, error.text);
    else
        r = read_profile(profile, root, ret_why);
    json_decref(root);
    if (r < 0)
        return r;
    *ret = TAKE_PTR(profile);
    return 0;
}

/* --- Writing --- */

static int add_pair(json_t *array, uint64_t a, uint64_t b)
{
    json_t *pair = json_pack("[I, I]", (json_int_t)a, (json_int_t)b);

    return json_array_append_new(array, pair) < 0 ? -ENOMEM : 0;
}

static int add_table(json_t *root, const char *key, const struct profile_table *table)
{
    json_t *array = json_array();
    int r = json_object_set_new(root, key, array) < 0 ? -ENOMEM : 0;

    for (size_t i = 0; i < table->n && r == 0; i++)
        r = add_pair(array, table->points[i].share, table->points[i].value);
    return r;
}

int profile_write(const struct profile *profile, FILE *out)
{
    const struct shape *shape = &profile->shape;
    json_t *levels = json_array();
    json_t *root = json_pack("{s:s, s:i, s:I, s:I, s:I, s:o}", "schema", SCHEMA, "version", VERSION,
        "files", (json_int_t)shape->files, "directories", (json_int_t)shape->directories, "bytes",
        (json_int_t)shape->bytes, "levels", levels);
    int r = root ? 0 : -ENOMEM;

    for (size_t i = 0; i < shape->n_levels && r == 0; i++)
        r = add_pair(levels, shape->levels[i].directories, shape->levels[i].files);
    for (size_t i = 0; i < PROFILE_N_TABLES && r == 0; i++)
        r = add_table(root, tables[i].key, &profile->tables[i]);
    if (r == 0) {
        (void)json_dumpf(root, out, 0); /* the caller asks the stream */
        (void)fputc('\n', out);
    }
    json_decref(root);
    return r;
}
