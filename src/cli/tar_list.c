#include "cli/tar_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

#include "base/cleanup.h"

/* ---- names ---- */

/* How many bytes from s on the locale prints as they are; 0 if not even one. */
static size_t printable_length(const char *s, size_t n)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t length = mbrtowc(&wide, s, n, &state);

    return length > 0 && length <= n && iswprint((wint_t)wide) ? length : 0;
}

static char *put_escape(char *out, unsigned char c)
{
    static const char letters[] = "\a\b\f\n\r\t\v\\";
    const char *at = strchr(letters, c);

    *out++ = '\\';
    if (!at)
        return out + sprintf(out, "%03o", c);
    *out++ = "abfnrtv\\"[at - letters];
    return out;
}

static char *quote(const char *name, bool quotes_colon)
{
    size_t n = strlen(name);
    char *quoted = malloc(n * 4 + 1), *out = quoted;

    for (size_t length; quoted && n > 0; name += length, n -= length) {
        length = *name == '\\' ? 0 : printable_length(name, n);
        if (quotes_colon && *name == ':')
            *out++ = '\\';
        if (length > 0) {
            out = mempcpy(out, name, length);
            continue;
        }
        out = put_escape(out, (unsigned char)*name);
        length = 1;
    }
    if (quoted)
        *out = '\0';
    return quoted;
}

char *tar_quote(const char *name)
{
    return quote(name, false);
}

char *tar_quote_colon(const char *name)
{
    return quote(name, true);
}

/* A directory's name ends in a slash, whatever the archive says. */
static char *name_of(const struct tar_listing *listing, const struct shoal_entry *entry)
{
    char *name = listing->quote ? listing->quote(entry->path) : strdup(entry->path);
    size_t length = strlen(entry->path);
    bool has_slash = length > 0 && entry->path[length - 1] == '/';
    char *longer;

    if (!name || !S_ISDIR(entry->mode) || has_slash || entry->hard_link)
        return name;
    if (asprintf(&longer, "%s/", name) < 0)
        longer = NULL;
    free(name);
    return longer;
}

/* ---- columns ---- */

static char type_letter(const struct shoal_entry *entry)
{
    if (entry->hard_link)
        return 'h';
    switch (entry->mode & S_IFMT) {
    case S_IFDIR:
        return 'd';
    case S_IFLNK:
        return 'l';
    case S_IFIFO:
        return 'p';
    case S_IFCHR:
        return 'c';
    case S_IFBLK:
        return 'b';
    case S_IFSOCK:
        return 's';
    default:
        return '-';
    }
}

/* The letter of an execute bit, which shows a set-ID or sticky bit too. */
static char execute_letter(unsigned mode, unsigned execute, unsigned special, const char *letters)
{
    if (mode & special)
        return mode & execute ? letters[0] : letters[1];
    return mode & execute ? 'x' : '-';
}

static void format_mode(const struct shoal_entry *entry, char text[static 11])
{
    unsigned mode = entry->mode;

    text[0] = type_letter(entry);
    for (int i = 0; i < 3; i++) {
        text[1 + 3 * i] = mode & (S_IRUSR >> (3 * i)) ? 'r' : '-';
        text[2 + 3 * i] = mode & (S_IWUSR >> (3 * i)) ? 'w' : '-';
    }
    text[3] = execute_letter(mode, S_IXUSR, S_ISUID, "sS");
    text[6] = execute_letter(mode, S_IXGRP, S_ISGID, "sS");
    text[9] = execute_letter(mode, S_IXOTH, S_ISVTX, "tT");
    text[10] = '\0';
}

/* "USER/GROUP". NULL: no memory. */
static char *format_owner(const struct tar_listing *listing, const struct shoal_entry *entry)
{
    bool user = entry->user && *entry->user && !listing->numeric;
    bool group = entry->group && *entry->group && !listing->numeric;
    char uid[16], gid[16], *text;

    (void)snprintf(uid, sizeof(uid), "%u", entry->uid);
    (void)snprintf(gid, sizeof(gid), "%u", entry->gid);
    if (asprintf(&text, "%s/%s", user ? entry->user : uid, group ? entry->group : gid) < 0)
        return NULL;
    return text;
}

static void format_size(const struct shoal_entry *entry, char text[static 32])
{
    if (S_ISCHR(entry->mode) || S_ISBLK(entry->mode))
        (void)snprintf(text, 32, "%u,%u", major(entry->rdev), minor(entry->rdev));
    else
        (void)snprintf(text, 32, "%" PRIu64, entry->size);
}

/* ".25" for a quarter of a second; nothing for none. */
static void format_fraction(long ns, char text[static 16])
{
    int n = ns == 0 ? 0 : sprintf(text, ".%09ld", ns);

    while (n > 0 && text[n - 1] == '0')
        n--;
    text[n] = '\0';
}

static void format_time(
    const struct tar_listing *listing, const struct timespec *time, char text[static 64])
{
    const char *format = listing->full_time ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M";
    struct tm tm;
    bool known = listing->utc ? gmtime_r(&time->tv_sec, &tm) : localtime_r(&time->tv_sec, &tm);
    size_t length = known ? strftime(text, 48, format, &tm) : 0;

    if (length == 0)
        (void)snprintf(text, 64, "%jd", (intmax_t)time->tv_sec);
    else if (listing->full_time)
        format_fraction(time->tv_nsec, text + length);
}

static int print_columns(struct tar_listing *listing, const struct shoal_entry *entry)
{
    _cleanup_free_ char *owner = format_owner(listing, entry);
    char mode[11], size[32], time[64];

    if (!owner)
        return -ENOMEM;
    format_mode(entry, mode);
    format_size(entry, size);
    format_time(listing, &entry->mtime, time);
    size_t width = strlen(owner) + 1 + strlen(size);
    if (width > listing->size_width)
        listing->size_width = width;
    if (strlen(time) > listing->time_width)
        listing->time_width = strlen(time);
    (void)fprintf(listing->out, "%s %s %*s %-*s ", mode, owner,
        (int)(listing->size_width - width + strlen(size)), size, (int)listing->time_width, time);
    return 0;
}

int tar_listing_print(struct tar_listing *listing, const struct shoal_entry *entry)
{
    const char *target = entry->hard_link ? entry->hard_link : entry->link_target;
    _cleanup_free_ char *name = name_of(listing, entry);
    _cleanup_free_ char *shown = NULL;

    if (!name)
        return -ENOMEM;
    if (listing->is_long && target) {
        shown = listing->quote ? listing->quote(target) : strdup(target);
        if (!shown)
            return -ENOMEM;
    }
    if (listing->is_long && print_columns(listing, entry) < 0)
        return -ENOMEM;
    (void)fputs(name, listing->out);
    if (shown)
        (void)fprintf(listing->out, "%s%s", entry->hard_link ? " link to " : " -> ", shown);
    (void)fputc(listing->end, listing->out);
    return 0;
}
