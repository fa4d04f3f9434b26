#include "bench/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "bench/process.h"

/* What every tar keeps for everybody. Extended attributes are left out: the trees have none, and
 * those that a file system adds by itself depend on the place. */
#define KEPT_BY_TAR (SHOAL_KEEP_MODE | SHOAL_KEEP_OWNER | SHOAL_KEEP_TIMES | SHOAL_KEEP_LINKS)

struct comparison {
    const char *from, *to;
    char *first; /* the first difference, in words */
    uint64_t differences;
};

/* The name below the tree it is in: the trees themselves are gone when someone reads this. */
static const char *name_below(const char *path, const char *top)
{
    size_t length = strlen(top);

    if (strncmp(path, top, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return path[length] ? path + length + 1 : ".";
}

static void take_event(void *context, const struct shoal_event *event)
{
    struct comparison *comparison = context;

    if (event->type != SHOAL_EVENT_DIFFERENCE && event->type != SHOAL_EVENT_FAULT)
        return;
    if (comparison->differences++ > 0)
        return;
    const char *path = event->path ? event->path : "";
    const char *below = name_below(path, comparison->from);
    if (!below)
        below = name_below(path, comparison->to);
    _cleanup_free_ char *quoted = quote_name(below ? below : path);
    const char *reason = event->error ? strerrordesc_np(event->error) : NULL;
    if (asprintf(&comparison->first, "%s: %s%s%s", event->operation, quoted ? quoted : "?",
            reason ? ": " : "", reason ? reason : "") < 0)
        comparison->first = NULL; /* the count still tells */
}

/* 1 if they differ, 0 if not, or a negative errno. */
static int compare(struct comparison *comparison, unsigned preserve, struct bench_stop *stop)
{
    struct shoal_options options = SHOAL_OPTIONS_INIT;
    struct shoal_summary summary = {0};

    options.preserve = preserve;
    options.stop = &stop->copy;
    options.on_event = take_event;
    options.context = comparison;
    int r = shoal_verify(comparison->from, comparison->to, &options, &summary);
    if (bench_stop_is_requested(stop))
        return -EINTR;
    if (r < 0)
        return r;
    return comparison->differences > 0 || summary.differences > 0;
}

/* "FIRST (and N more)" */
static char *sum_up(const char *prefix, const struct comparison *comparison)
{
    const char *first = comparison->first ? comparison->first : "differs";
    char *text;
    int n;

    if (comparison->differences > 1)
        n = asprintf(&text, "%s%s (and %llu more)", prefix, first,
            (unsigned long long)comparison->differences - 1);
    else
        n = asprintf(&text, "%s%s", prefix, first);
    return n < 0 ? NULL : text;
}

static char *no_comparison(int error)
{
    const char *reason = strerrordesc_np(-error);
    char *text;

    return asprintf(&text, "cannot be compared: %s", reason ? reason : "?") < 0 ? NULL : text;
}

/* Of what compare() says of the content. That the comparison fails for a reason of its own is not
 * held against the copy, unless the reason is that there is none. */
static enum verdict verdict_of(int r)
{
    if (r == 0)
        return VERDICT_RIGHT;
    return r > 0 || r == -ENOENT || r == -ENOTDIR ? VERDICT_WRONG : VERDICT_UNCHECKED;
}

static int check_at(const char *from, const char *to, struct bench_stop *stop,
    enum verdict *ret_verdict, char **ret_why)
{
    struct comparison whole = {.from = from, .to = to}, content = {.from = from, .to = to};

    int r = compare(&whole, KEPT_BY_TAR, stop);
    int r_content = r > 0 ? compare(&content, 0, stop) : r;
    if (r == 0)
        *ret_why = strdup("");
    else if (r == -EINTR || r_content == -EINTR)
        *ret_why = NULL;
    else if (r_content < 0)
        *ret_why = no_comparison(r_content);
    else if (r_content == 0)
        *ret_why = sum_up("does not keep all metadata: ", &whole);
    else
        *ret_why = sum_up("", &content);
    *ret_verdict = verdict_of(r_content);
    free(whole.first);
    free(content.first);
    if (r == -EINTR || r_content == -EINTR)
        return -EINTR;
    return *ret_why ? 0 : -ENOMEM;
}

int check_copy(const char *from, const char *name, const char *to, struct bench_stop *stop,
    enum verdict *ret_verdict, char **ret_why)
{
    _cleanup_free_ char *below = NULL;

    if (asprintf(&below, "%s/%s", to, name) < 0) {
        below = NULL;
        return -ENOMEM;
    }
    return check_at(from, access(below, F_OK) == 0 ? below : to, stop, ret_verdict, ret_why);
}
