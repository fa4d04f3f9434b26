#include "workload/workload.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "workload/layouts.h"
#include "workload/maker.h"
#include "workload/profile.h"
#include "workload/survey.h"

#define SCALE_LEAST (SCALE_ONE / 100)
#define SCALE_MOST  (1000ULL * SCALE_ONE)

struct workload_kind {
    const char *name, *summary;
    void (*lay_out)(struct maker *maker);
    const char *content;
    const struct shape *shape; /* NULL: files and bytes are */
    uint64_t files, bytes;
    unsigned divisor; /* of the shape, at scale 1 */
};

static const struct workload_kind kinds[] = {
    {"insight", "2,200 files, 76,289 KB: the books of a documentation disc", layout_insight,
        "text and random", NULL, INSIGHT_FILES, INSIGHT_BYTES, 1},
    {"one-large", "the same bytes in one file", layout_one, "text", NULL, 1, INSIGHT_BYTES, 1},
    {"linux-tree", "78,579 files, 1.3 GB: the source of Linux", layout_shape, NULL,
        &shape_linux_tree, 0, 0, 1},
    {"node-modules", "20,713 files, 431 MB: an npm install", layout_shape, NULL,
        &shape_node_modules, 0, 0, 1},
    {"imagenet", "12,812 files, 1.5 GB: a hundredth of ImageNet's images", layout_shape, NULL,
        &shape_imagenet, 0, 0, 100},
    {"maildir", "20,000 files, 328 MB: mail, in one directory", layout_shape, NULL, &shape_maildir,
        0, 0, 1},
    {"desktop", "40,000 files, 12.4 GB: a home directory", layout_shape, NULL, &shape_desktop, 0, 0,
        1},
};
static const struct workload_kind flat_kind = {.lay_out = layout_flat, .content = "text"};
static const struct workload_kind profile_kind = {.lay_out = layout_shape, .divisor = 1};

const char *workload_name(size_t i)
{
    return i < ELEMENTS(kinds) ? kinds[i].name : NULL;
}

const char *workload_summary(size_t i)
{
    return i < ELEMENTS(kinds) ? kinds[i].summary : NULL;
}

/* --- Reading --- */

/* Says what is wrong, and gives `error` back. */
__attribute__((format(printf, 3, 4))) static int wrong(
    char **ret_why, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(ret_why, format, arguments) < 0)
        *ret_why = NULL;
    va_end(arguments);
    return error;
}

/* "KEY=VALUE,…" that is taken apart. */
struct parameters {
    char *rest;
    char **ret_why;
};

/* The next one; false at the end. *ret_value is NULL if there is no '='. */
static bool next_parameter(struct parameters *parameters, const char **ret_key, char **ret_value)
{
    char *key = strsep(&parameters->rest, ",");

    if (!key)
        return false;
    *ret_key = key;
    *ret_value = strchr(key, '=');
    if (*ret_value)
        *(*ret_value)++ = '\0';
    return true;
}

static int parse_number(const struct parameters *parameters, const char *key, const char *value,
    uint64_t most, uint64_t *ret)
{
    char *end;

    if (*value < '0' || *value > '9')
        return wrong(parameters->ret_why, -EINVAL, "%s: a whole number is expected", key);
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (*end)
        return wrong(parameters->ret_why, -EINVAL, "%s: a whole number is expected", key);
    if (errno == ERANGE || number > most)
        return wrong(
            parameters->ret_why, -ERANGE, "%s: %llu is the most", key, (unsigned long long)most);
    *ret = number;
    return 0;
}

/* A decimal number, in millionths. */
static int parse_scale(const struct parameters *parameters, const char *value, uint64_t *ret)
{
    static const char digits[] = "0123456789";
    size_t n_whole = strspn(value, digits), n_decimals = 0;
    const char *end = value + n_whole;
    uint64_t scale = strtoull(value, NULL, 10), decimals = 0;
    bool has_point = *end == '.';

    if (has_point) {
        n_decimals = strspn(++end, digits);
        decimals = strtoull(end, NULL, 10);
        end += n_decimals;
    }
    if (n_whole == 0 || (has_point && n_decimals == 0) || n_decimals > 6 || *end)
        return wrong(
            parameters->ret_why, -EINVAL, "scale: a number with at most six decimals is expected");
    for (; n_decimals < 6; n_decimals++)
        decimals *= 10;
    if (scale > SCALE_MOST / SCALE_ONE || scale * SCALE_ONE + decimals > SCALE_MOST ||
        scale * SCALE_ONE + decimals < SCALE_LEAST)
        return wrong(parameters->ret_why, -ERANGE, "scale: from 0.01 to 1000 is possible");
    *ret = scale * SCALE_ONE + decimals;
    return 0;
}

/* In the order of enum content. */
static const struct {
    const char *key, *said;
} contents[] = {
    {"text", "text"}, {"random", "random"}, {"mixed", "text and random"}, {"zero", "zeros"}};

static int parse_content(
    const struct parameters *parameters, const char *value, struct workload *workload)
{
    for (size_t i = 0; i < ELEMENTS(contents); i++) {
        if (strcmp(value, contents[i].key) != 0)
            continue;
        workload->has_content = true;
        workload->content_kind = (enum content)i;
        return 0;
    }
    return wrong(parameters->ret_why, -EINVAL, "content: text, random, mixed or zero is expected");
}

static int no_such_parameter(const struct parameters *parameters, const char *key, const char *form)
{
    _cleanup_free_ char *quoted = quote_name(key);

    return wrong(parameters->ret_why, -EINVAL, "%s: no such parameter; the form is %s",
        quoted ? quoted : "?", form);
}

/* --- Finding --- */

static uint64_t scaled(uint64_t number, uint64_t scale, unsigned divisor)
{
    uint64_t whole = (uint64_t)SCALE_ONE * divisor;
    __extension__ unsigned __int128 product = (unsigned __int128)number * scale + whole / 2;

    return (uint64_t)(product / whole);
}

static int scale_shape(struct workload *workload, char **ret_why)
{
    const struct shape *shape = workload->shape;
    unsigned divisor = workload->kind->divisor;

    workload->files = scaled(shape->files, workload->scale, divisor);
    workload->directories = 1 + scaled(shape->directories - 1, workload->scale, divisor);
    workload->bytes = scaled(shape->bytes, workload->scale, divisor);
    if (workload->files == 0)
        workload->files = 1;
    if (workload->files > SHAPE_COUNT_MAX || workload->directories > SHAPE_COUNT_MAX ||
        workload->bytes > SHAPE_BYTES_MAX)
        return wrong(ret_why, -ERANGE, "scale: that are too many files, directories or bytes");
    return 0;
}

static int scale_files(struct workload *workload)
{
    const struct workload_kind *kind = workload->kind;

    workload->bytes = scaled(kind->bytes, workload->scale, 1);
    if (kind->files == 1) {
        workload->files = workload->directories = 1;
    } else {
        workload->files = scaled(kind->files, workload->scale, 1);
        workload->directories = layout_insight_directories(workload);
    }
    return 0;
}

/* Adds what is not usual: one tree has one name, however it was asked for. */
static void finish_name(struct workload *workload)
{
    char *out = workload->name + strlen(workload->name);

    if (workload->scale != SCALE_ONE) {
        out += sprintf(out, ",scale=%llu", (unsigned long long)(workload->scale / SCALE_ONE));
        if (workload->scale % SCALE_ONE) {
            out += sprintf(out, ".%06llu", (unsigned long long)(workload->scale % SCALE_ONE));
            while (out[-1] == '0')
                *--out = '\0';
        }
    }
    if (workload->has_content) {
        (void)sprintf(out, ",content=%s", contents[workload->content_kind].key);
        workload->content = contents[workload->content_kind].said;
    }
}

/* The parameters of all that is made but "files=N". */
static int parse_shaped(struct parameters *parameters, struct workload *workload)
{
    const char *key;
    char *value;
    int r = 0;

    workload->scale = SCALE_ONE;
    while (r == 0 && next_parameter(parameters, &key, &value)) {
        if (value && strcmp(key, "scale") == 0)
            r = parse_scale(parameters, value, &workload->scale);
        else if (value && strcmp(key, "content") == 0)
            r = parse_content(parameters, value, workload);
        else
            r = no_such_parameter(parameters, key, "[,scale=S][,content=C]");
    }
    return r;
}

static int find_named(
    const struct workload_kind *kind, struct parameters *parameters, struct workload *ret)
{
    struct workload workload = {.kind = kind, .shape = kind->shape, .content = kind->content};

    int r = parse_shaped(parameters, &workload);
    if (r < 0)
        return r;
    if (kind->shape)
        workload.content = kind->shape->naming->content;
    r = kind->shape ? scale_shape(&workload, parameters->ret_why) : scale_files(&workload);
    if (r < 0)
        return r;
    (void)stpcpy(workload.name, kind->name);
    finish_name(&workload);
    *ret = workload;
    return 0;
}

/* "profile=" and the file's name without its directory and ".json". */
static int name_profile(struct workload *workload, const char *path, char **ret_why)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
        length -= 5;
    if (length > 100)
        return wrong(ret_why, -ERANGE, "the profile's name is too long, 100 bytes are the most");
    char *out = stpcpy(workload->name, "profile=");
    for (size_t i = 0; i < length; i++)
        *out++ = strchr(plain, name[i]) ? name[i] : '_';
    *out = '\0';
    return 0;
}

static int find_profile(struct parameters *parameters, struct workload *ret)
{
    struct workload workload = {.kind = &profile_kind};
    const char *key;
    char *path = NULL;

    if (!next_parameter(parameters, &key, &path) || !path || !*path)
        return wrong(parameters->ret_why, -EINVAL, "profile: a file is expected");
    int r = name_profile(&workload, path, parameters->ret_why);
    if (r >= 0)
        r = parse_shaped(parameters, &workload);
    if (r >= 0)
        r = profile_load(path, &workload.profile, parameters->ret_why);
    if (r < 0)
        return r;
    workload.shape = profile_shape(workload.profile);
    workload.content = workload.shape->naming->content;
    r = scale_shape(&workload, parameters->ret_why);
    if (r < 0) {
        workload_clear(&workload);
        return r;
    }
    finish_name(&workload);
    *ret = workload;
    return 0;
}

static int parse_flat(struct parameters *parameters, struct workload *workload, uint64_t *kb)
{
    const char *key;
    char *value;
    int r = 0;

    while (r == 0 && next_parameter(parameters, &key, &value)) {
        if (value && strcmp(key, "files") == 0)
            r = parse_number(parameters, key, value, SHAPE_COUNT_MAX, &workload->files);
        else if (value && strcmp(key, "kb") == 0)
            r = parse_number(parameters, key, value, 1048576, kb);
        else if (value && strcmp(key, "per-directory") == 0)
            r = parse_number(parameters, key, value, SHAPE_COUNT_MAX, &workload->per_directory);
        else if (value && strcmp(key, "content") == 0)
            r = parse_content(parameters, value, workload);
        else
            r = no_such_parameter(parameters, key, "files=N[,kb=K][,per-directory=D][,content=C]");
    }
    return r;
}

static int find_flat(struct parameters *parameters, struct workload *ret)
{
    struct workload workload = {.kind = &flat_kind,
        .content = flat_kind.content,
        .scale = SCALE_ONE,
        .per_directory = 1000};
    uint64_t kb = 4;

    int r = parse_flat(parameters, &workload, &kb);
    if (r < 0)
        return r;
    if (workload.files == 0 || workload.per_directory == 0)
        return wrong(parameters->ret_why, -EINVAL, "%s: a number from 1 on is needed",
            workload.files == 0 ? "files" : "per-directory");
    workload.directories = 1 + (workload.files - 1) / workload.per_directory + 1;
    workload.bytes = workload.files * kb * 1024;
    (void)snprintf(workload.name, sizeof(workload.name), "files=%llu,kb=%llu,per-directory=%llu",
        (unsigned long long)workload.files, (unsigned long long)kb,
        (unsigned long long)workload.per_directory);
    finish_name(&workload);
    *ret = workload;
    return 0;
}

static int find_directory(const char *text, struct workload *ret, char **ret_why)
{
    struct workload workload = {.scale = SCALE_ONE};
    struct survey survey = {0};

    workload.directory = realpath(text, NULL);
    if (!workload.directory)
        return wrong(ret_why, -errno, "%s", strerror(errno));
    const char *name = strrchr(workload.directory, '/') + 1;
    int r = 0;
    if (!*name)
        r = wrong(ret_why, -EINVAL, "a directory below it is expected");
    else if (!utf8_is_valid(name, strlen(name)))
        r = wrong(ret_why, -EINVAL, "its name is not valid UTF-8");
    else
        r = survey_directory(workload.directory, &survey, ret_why);
    if (r >= 0 && survey.files == 0)
        r = wrong(ret_why, -EINVAL, "there is no regular file in it");
    if (r < 0) {
        workload_clear(&workload);
        return r;
    }
    (void)stpcpy(workload.name, name); /* a component has room */
    workload.files = survey.files;
    workload.directories = survey.directories;
    workload.bytes = survey.bytes;
    *ret = workload;
    return 0;
}

static bool is_profile(const char *text)
{
    return strncmp(text, "profile=", 8) == 0;
}

bool workload_is_directory(const char *text)
{
    return strchr(text, '/') && !is_profile(text);
}

int workload_find(const char *text, struct workload *ret, char **ret_why)
{
    _cleanup_free_ char *copy = strdup(text);
    struct parameters parameters = {copy, ret_why};
    size_t length = strcspn(text, ",");

    *ret_why = NULL;
    if (!copy)
        return -ENOMEM;
    if (is_profile(text))
        return find_profile(&parameters, ret);
    if (workload_is_directory(text))
        return find_directory(text, ret, ret_why);
    for (size_t i = 0; i < ELEMENTS(kinds); i++) {
        if (strlen(kinds[i].name) != length || strncmp(text, kinds[i].name, length) != 0)
            continue;
        (void)strsep(&parameters.rest, ",");
        return find_named(&kinds[i], &parameters, ret);
    }
    return memchr(text, '=', length) ? find_flat(&parameters, ret) : -ENOENT;
}

void workload_clear(struct workload *workload)
{
    free(workload->directory);
    profile_free(workload->profile);
    *workload = (struct workload){0};
}

/* --- Making --- */

int workload_make(const struct workload *workload, uint64_t seed, int parent_fd,
    const struct workload_watch *watch, struct workload_totals *ret_totals, char *ret_name)
{
    struct maker maker;

    if (ret_name)
        (void)stpcpy(ret_name, workload->name); /* nothing of it is made yet */
    if (workload->directory)
        return -EINVAL;
    int r = maker_start(&maker, workload, seed, parent_fd, watch);
    if (r < 0)
        return r;
    maker_enter(&maker, "%s", workload->name);
    if (!maker.error)
        workload->kind->lay_out(&maker);
    maker_leave(&maker);
    maker_end(&maker);
    if (maker.error) {
        if (ret_name)
            (void)stpcpy(ret_name, maker.name);
        return maker.error;
    }
    assert(maker.totals.files == workload->files &&
           maker.totals.directories == workload->directories &&
           maker.totals.bytes == workload->bytes);
    *ret_totals = maker.totals;
    return 0;
}
