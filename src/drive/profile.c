#include "drive/profile.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/size.h"

#define RATING_MAX     72
#define CLV_RATING_MAX 12 /* faster ones were all CAV */

/* Published averages and full strokes; between them straight lines over the logarithm of the
 * rating. 32X is an estimate, as there is no figure for such a SCSI drive. */
static const struct {
    double rating, access_ms, full_ms;
    unsigned buffer_kb;
} published[] = {
    {1, 350, 700, 64},
    {2, 270, 390, 64},
    {4, 190, 350, 128},
    {12, 120, 250, 128},
    {15, 95, 180, 128},
    {24, 90, 160, 128},
    {32, 88, 155, 256},
    {40, 80, 150, 512},
    {72, 75, 140, 512},
};

static double interpolate(double rating, size_t i, double before, double after)
{
    double low = log(published[i - 1].rating), high = log(published[i].rating);
    return before + (after - before) * (log(rating) - low) / (high - low);
}

static void set_defaults(struct drive_profile *profile, double rating)
{
    size_t i = 1;

    while (i + 1 < ELEMENTS(published) && published[i].rating < rating)
        i++;
    profile->geometry = (struct geometry){
        .inner_mm = 25,
        .outer_mm = 58,
        .pitch_um = 1.6,
        .speed_m_s = 1.3,
        .rating = rating,
        .is_cav = rating > CLV_RATING_MAX,
    };
    profile->access_ms = interpolate(rating, i, published[i - 1].access_ms, published[i].access_ms);
    profile->full_ms = interpolate(rating, i, published[i - 1].full_ms, published[i].full_ms);
    profile->buffer_bytes =
        1024ULL * (published[i].rating <= rating ? published[i] : published[i - 1]).buffer_kb;
    profile->overhead_ms = 1;
    profile->spin_up_ms = 1300;
    profile->idle_s = 0;
    profile->bus_kb_s = 10000;
}

static int refuse(char **ret_why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(char **ret_why, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(ret_why, format, arguments) < 0)
        *ret_why = NULL;
    va_end(arguments);
    return -EINVAL;
}

/* ---- parameters ---- */

static const struct {
    const char *key, *unit;
    size_t offset;
    double least, most;
} parameters[] = {
    {"access", "ms", offsetof(struct drive_profile, access_ms), 1, 10000},
    {"full", "ms", offsetof(struct drive_profile, full_ms), 1, 10000},
    {"overhead", "ms", offsetof(struct drive_profile, overhead_ms), 0, 1000},
    {"spin-up", "ms", offsetof(struct drive_profile, spin_up_ms), 0, 60000},
    {"idle", "s", offsetof(struct drive_profile, idle_s), 0, 86400},
    {"bus", "", offsetof(struct drive_profile, bus_kb_s), 100, 1e7},
};

/* A number, with or without its unit. */
static int set_parameter(
    struct drive_profile *profile, const char *word, const char *value, size_t i, char **ret_why)
{
    char *end;
    double number = strtod(value, &end);

    if (end == value || (*end && strcmp(end, parameters[i].unit) != 0) || !isfinite(number) ||
        number < parameters[i].least || number > parameters[i].most)
        return refuse(ret_why, "'%s': a number from %g to %g%s%s is expected", word,
            parameters[i].least, parameters[i].most, *parameters[i].unit ? " " : "",
            parameters[i].unit);
    void *member = (char *)profile + parameters[i].offset;
    *(double *)member = number;
    return 0;
}

static int parse_parameter(struct drive_profile *profile, const char *word, char **ret_why)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;

    for (size_t i = 0; i < ELEMENTS(parameters) && equals; i++)
        if (strlen(parameters[i].key) == length && strncmp(word, parameters[i].key, length) == 0)
            return set_parameter(profile, word, equals + 1, i, ret_why);
    if (length != 6 || strncmp(word, "buffer", length) != 0)
        return refuse(ret_why,
            "'%s': access=, full=, overhead=, spin-up=, idle=, bus= or buffer= is expected", word);
    if (size_parse(equals + 1, 1, &profile->buffer_bytes) < 0 ||
        profile->buffer_bytes > 64 * 1024 * 1024)
        return refuse(ret_why, "'%s': a size up to 64M is expected", word);
    return 0;
}

/* "32X", "24X-cav". */
static int parse_rating(struct drive_profile *profile, const char *word, char **ret_why)
{
    char *end;
    double rating = strtod(word, &end);

    if (end == word || (*end != 'X' && *end != 'x') || !(rating >= 1 && rating <= RATING_MAX))
        return refuse(ret_why, "'%s': a drive is NX, N from 1 to %d, as in 32X", word, RATING_MAX);
    set_defaults(profile, rating);
    end++;
    if (strcmp(end, "-clv") == 0)
        profile->geometry.is_cav = false;
    else if (strcmp(end, "-cav") == 0)
        profile->geometry.is_cav = true;
    else if (*end)
        return refuse(ret_why, "'%s': -clv or -cav is expected after the X", word);
    return 0;
}

int drive_profile_parse(const char *text, struct drive_profile *ret, char **ret_why)
{
    _cleanup_free_ char *copy = strdup(text);
    struct drive_profile profile = {0};
    char *rest = copy;
    int r;

    *ret_why = NULL;
    if (!copy)
        return -ENOMEM;
    if (strlen(text) >= sizeof(profile.name))
        return refuse(ret_why, "it is too long");
    (void)strcpy(profile.name, text);
    r = parse_rating(&profile, strsep(&rest, ","), ret_why);
    while (r == 0 && rest)
        r = parse_parameter(&profile, strsep(&rest, ","), ret_why);
    if (r == 0 && profile.full_ms < profile.access_ms)
        r = refuse(ret_why, "the full stroke (%g ms) takes less than the average access (%g ms)",
            profile.full_ms, profile.access_ms);
    if (r == 0)
        *ret = profile;
    return r;
}

char *drive_profile_describe(const struct drive_profile *profile, char text[static DRIVE_TEXT_MAX])
{
    (void)snprintf(text, DRIVE_TEXT_MAX,
        "%gX %s, access %g ms (full %g), overhead %g ms, spin-up %g ms, buffer %llu KB, bus %g "
        "KB/s",
        profile->geometry.rating, profile->geometry.is_cav ? "CAV" : "CLV", profile->access_ms,
        profile->full_ms, profile->overhead_ms, profile->spin_up_ms,
        (unsigned long long)profile->buffer_bytes / 1024, profile->bus_kb_s);
    return text;
}
