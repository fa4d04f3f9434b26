#include "cli/tar_values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* ---- times ---- */

/* Reads exactly `n` digits. False: there are fewer. */
static bool read_digits(const char **at, int n, int *ret)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (!isdigit((unsigned char)(*at)[i]))
            return false;
        value = value * 10 + ((*at)[i] - '0');
    }
    *at += n;
    *ret = value;
    return true;
}

static bool read_char(const char **at, const char *one_of)
{
    if (!**at || !strchr(one_of, **at))
        return false;
    ++*at;
    return true;
}

/* ".5" as nanoseconds; what is finer is cut off. */
static bool read_fraction(const char **at, long *ret_ns)
{
    long ns = 0, unit = 100000000;

    if (!read_char(at, ".,"))
        return true;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at); ++*at, unit /= 10)
        ns += unit * (**at - '0');
    *ret_ns = ns;
    return true;
}

/* "@-1.5" is half a second before -1, as GNU tar has it. */
static int parse_seconds(const char *text, struct timespec *ret)
{
    bool is_negative = *text == '-';
    char *end;
    const char *at;
    long ns = 0;

    if (!isdigit((unsigned char)text[is_negative]))
        return -EINVAL;
    errno = 0;
    long long seconds = strtoll(text, &end, 10);
    at = end;
    if (errno == ERANGE || !read_fraction(&at, &ns) || *at)
        return -EINVAL;
    if (is_negative && ns > 0) {
        seconds--;
        ns = 1000000000 - ns;
    }
    *ret = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = ns};
    return 0;
}

/* "Z", "UTC", "+02", "+0200", "+02:00". *ret_has: one stands there. */
static bool read_zone(const char **at, bool *ret_has, int *ret_seconds)
{
    int hours, minutes = 0;

    *at += strspn(*at, " ");
    bool is_utc = strncasecmp(*at, "UTC", 3) == 0 || strncasecmp(*at, "GMT", 3) == 0;
    if (**at == 'Z' || **at == 'z' || is_utc) {
        *at += is_utc ? 3 : 1;
        *ret_has = true;
        *ret_seconds = 0;
        return true;
    }
    int sign = **at == '-' ? -1 : 1;
    *ret_has = read_char(at, "+-");
    if (!*ret_has)
        return true;
    if (!read_digits(at, 2, &hours))
        return false;
    bool has_colon = read_char(at, ":");
    if (!read_digits(at, 2, &minutes) && has_colon)
        return false;
    *ret_seconds = sign * (hours * 3600 + minutes * 60);
    return hours <= 24 && minutes < 60;
}

/* "12:00[:00[.5]]". */
static bool read_clock(const char **at, struct tm *tm, long *ret_ns)
{
    if (!read_digits(at, 2, &tm->tm_hour) || !read_char(at, ":") ||
        !read_digits(at, 2, &tm->tm_min))
        return false;
    if (read_char(at, ":") && (!read_digits(at, 2, &tm->tm_sec) || !read_fraction(at, ret_ns)))
        return false;
    return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
}

static bool is_date(const struct tm *tm)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = tm->tm_year + 1900;
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    if (tm->tm_mon < 0 || tm->tm_mon > 11 || tm->tm_mday < 1)
        return false;
    return tm->tm_mday <= days[tm->tm_mon] + (tm->tm_mon == 1 && is_leap);
}

static int parse_date(const char *text, struct timespec *ret)
{
    struct tm tm = {.tm_isdst = -1};
    bool has_zone;
    int zone = 0;
    long ns = 0;

    if (!read_digits(&text, 4, &tm.tm_year) || !read_char(&text, "-") ||
        !read_digits(&text, 2, &tm.tm_mon) || !read_char(&text, "-") ||
        !read_digits(&text, 2, &tm.tm_mday))
        return -EINVAL;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    bool has_clock = (*text == 'T' || *text == ' ') && isdigit((unsigned char)text[1]);
    if (has_clock) {
        text++;
        if (!read_clock(&text, &tm, &ns))
            return -EINVAL;
    }
    if (!is_date(&tm) || !read_zone(&text, &has_zone, &zone) || *text)
        return -EINVAL;
    errno = 0;
    time_t seconds = has_zone ? timegm(&tm) - zone : mktime(&tm);
    *ret = (struct timespec){.tv_sec = seconds, .tv_nsec = ns};
    return 0;
}

int tar_parse_time(const char *text, struct timespec *ret)
{
    struct stat st;

    if (*text == '@')
        return parse_seconds(text + 1, ret);
    if (*text != '/' && *text != '.')
        return parse_date(text, ret);
    if (stat(text, &st) < 0)
        return -errno;
    *ret = st.st_mtim;
    return 0;
}

/* ---- owners ---- */

static bool read_id(const char *text, unsigned *ret)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long id = strtoull(text, &end, 10);
    if (*end || errno == ERANGE || id >= UINT_MAX) /* the last one means "none" */
        return false;
    *ret = (unsigned)id;
    return true;
}

static bool find_id(const char *name, bool is_group, unsigned *ret)
{
    const struct passwd *user = is_group ? NULL : getpwnam(name);
    const struct group *group = is_group ? getgrnam(name) : NULL;

    if (user)
        *ret = user->pw_uid;
    if (group)
        *ret = group->gr_gid;
    return user || group;
}

int tar_parse_owner(char *text, bool is_group, struct tar_owner *ret)
{
    struct tar_owner owner = {.name = text};
    char *colon = strchr(text, ':');

    if (colon) {
        *colon = '\0';
        if (!read_id(colon + 1, &owner.id))
            return -EINVAL;
        owner.has_id = true;
        if (colon == text)
            owner.name = NULL;
    } else if (read_id(text + (*text == '+'), &owner.id)) {
        owner.has_id = true;
        owner.name = NULL;
    } else {
        if (!*text || *text == '+')
            return -EINVAL;
        owner.has_id = find_id(text, is_group, &owner.id);
    }
    *ret = owner;
    return 0;
}

/* ---- compression ---- */

bool tar_compression_of_name(const char *name, enum shoal_compression *ret)
{
    static const struct {
        const char *suffix;
        enum shoal_compression compression;
        bool is_unwritable;
    } suffixes[] = {
        {"gz", SHOAL_COMPRESSION_GZIP, false},
        {"tgz", SHOAL_COMPRESSION_GZIP, false},
        {"taz", SHOAL_COMPRESSION_GZIP, false},
        {"bz2", SHOAL_COMPRESSION_BZIP2, false},
        {"tbz", SHOAL_COMPRESSION_BZIP2, false},
        {"tbz2", SHOAL_COMPRESSION_BZIP2, false},
        {"tz2", SHOAL_COMPRESSION_BZIP2, false},
        {"xz", SHOAL_COMPRESSION_XZ, false},
        {"txz", SHOAL_COMPRESSION_XZ, false},
        {"zst", SHOAL_COMPRESSION_ZSTD, false},
        {"tzst", SHOAL_COMPRESSION_ZSTD, false},
        {"lz4", SHOAL_COMPRESSION_LZ4, false},
        {"Z", SHOAL_COMPRESSION_NONE, true},
        {"taZ", SHOAL_COMPRESSION_NONE, true},
        {"lz", SHOAL_COMPRESSION_NONE, true},
        {"lzma", SHOAL_COMPRESSION_NONE, true},
        {"tlz", SHOAL_COMPRESSION_NONE, true},
        {"lzo", SHOAL_COMPRESSION_NONE, true},
    };
    const char *base = strrchr(name, '/');
    const char *dot = strrchr(base ? base : name, '.');

    for (size_t i = 0; dot && i < ELEMENTS(suffixes); i++) {
        if (strcmp(dot + 1, suffixes[i].suffix) != 0)
            continue;
        *ret = suffixes[i].compression;
        return !suffixes[i].is_unwritable;
    }
    *ret = SHOAL_COMPRESSION_NONE;
    return true;
}

static bool find_program(const char *word, size_t length, enum shoal_compression *ret)
{
    static const struct {
        const char *program;
        enum shoal_compression compression;
    } programs[] = {
        {"gzip", SHOAL_COMPRESSION_GZIP},
        {"pigz", SHOAL_COMPRESSION_GZIP},
        {"bzip2", SHOAL_COMPRESSION_BZIP2},
        {"pbzip2", SHOAL_COMPRESSION_BZIP2},
        {"lbzip2", SHOAL_COMPRESSION_BZIP2},
        {"xz", SHOAL_COMPRESSION_XZ},
        {"pixz", SHOAL_COMPRESSION_XZ},
        {"pxz", SHOAL_COMPRESSION_XZ},
        {"zstd", SHOAL_COMPRESSION_ZSTD},
        {"zstdmt", SHOAL_COMPRESSION_ZSTD},
        {"pzstd", SHOAL_COMPRESSION_ZSTD},
        {"lz4", SHOAL_COMPRESSION_LZ4},
    };
    const char *slash = memrchr(word, '/', length);

    if (slash) {
        length -= (size_t)(slash + 1 - word);
        word = slash + 1;
    }
    for (size_t i = 0; i < ELEMENTS(programs); i++) {
        if (strlen(programs[i].program) != length || memcmp(programs[i].program, word, length) != 0)
            continue;
        *ret = programs[i].compression;
        return true;
    }
    return false;
}

/* "-9", "-T0" and the like: threads are ours to choose. */
static bool read_program_option(const char *word, size_t length, int *level)
{
    int value = 0;

    if (length < 2 || word[0] != '-')
        return false;
    if (word[1] == 'T' || (word[1] == 'c' && length == 2))
        return true;
    for (size_t i = 1; i < length; i++) {
        if (!isdigit((unsigned char)word[i]) || i > 2)
            return false;
        value = value * 10 + (word[i] - '0');
    }
    *level = value;
    return value > 0;
}

bool tar_compression_of_program(const char *command, enum shoal_compression *ret, int *ret_level)
{
    enum shoal_compression compression;
    int level = 0;

    command += strspn(command, " ");
    size_t length = strcspn(command, " ");
    if (!find_program(command, length, &compression))
        return false;
    for (;;) {
        command += length;
        command += strspn(command, " ");
        if (!*command)
            break;
        length = strcspn(command, " ");
        if (!read_program_option(command, length, &level))
            return false;
    }
    *ret = compression;
    *ret_level = level;
    return true;
}
