#include "cli/tree_events.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/tree_run.h"

/* ---- JSON ---- */

static int put_text(json_t *object, const char *key, const char *text)
{
    return json_object_set_new(object, key, json_string(text));
}

/* Adds "errno" and "message". An error that has no name has its number. */
static int put_error(json_t *object, int error)
{
    const char *name = strerrorname_np(error);

    if (error == 0)
        return 0;
    int r = name ? put_text(object, "errno", name)
                 : json_object_set_new(object, "errno", json_integer(error));
    return r < 0 ? r : put_text(object, "message", strerror(error));
}

static json_t *make_event_object(const struct shoal_event *event)
{
    static const char *const types[] = {
        [SHOAL_EVENT_COPIED] = "copied",
        [SHOAL_EVENT_FAULT] = "fault",
        [SHOAL_EVENT_NOTE] = "note",
        [SHOAL_EVENT_DIFFERENCE] = "difference",
    };
    static const char *const classes[SHOAL_FAULT_KINDS] = {
        [SHOAL_FAULT_CONTENT] = "content",
        [SHOAL_FAULT_METADATA] = "metadata",
        [SHOAL_FAULT_CHANGED] = "changed",
    };
    json_t *object = json_object();

    int r = put_text(object, "event", types[event->type]);
    if (r == 0 && event->type == SHOAL_EVENT_FAULT)
        r = put_text(object, "class", classes[event->fault]);
    if (r == 0 && event->operation && event->type != SHOAL_EVENT_COPIED)
        r = put_text(object, "operation", event->operation);
    if (r == 0 && event->path)
        r = json_put_name(object, "path", event->path);
    if (r == 0 && event->target)
        r = json_put_name(object, "target", event->target);
    if (r == 0 && event->type != SHOAL_EVENT_DIFFERENCE)
        r = put_error(object, event->error);
    if (r == 0 && event->damage)
        r = put_text(object, "damage", event->damage);
    if (r == 0 && event->damage)
        r = json_object_set_new(object, "sector", json_integer((json_int_t)event->sector));
    if (r < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *make_losses(const struct shoal_summary *summary)
{
    json_t *losses = json_array();

    for (size_t i = 0; i < summary->n_losses; i++) {
        const struct shoal_loss *loss = &summary->losses[i];
        json_t *object =
            json_pack("{s:s, s:I}", "what", loss->what, "files", (json_int_t)loss->files);
        if (put_error(object, loss->error) < 0 || json_array_append_new(losses, object) < 0) {
            json_decref(losses);
            return NULL;
        }
    }
    return losses;
}

static void print_summary_object(const struct shoal_summary *summary)
{
    const struct {
        const char *key;
        uint64_t n;
    } made[] = {
        {"files", summary->files},
        {"directories", summary->directories},
        {"symlinks", summary->symlinks},
        {"specials", summary->specials},
        {"hard_links", summary->hard_links},
        {"bytes", summary->bytes},
        {"kept", summary->kept},
        {"sockets", summary->sockets},
    };
    json_t *object = json_pack("{s:s}", "event", "summary"), *rest;
    const uint64_t *faults = summary->faults;

    for (size_t i = 0; i < ELEMENTS(made); i++)
        (void)json_object_set_new(object, made[i].key, json_integer((json_int_t)made[i].n));
    rest = json_pack("{s:{s:I, s:I, s:I}, s:I, s:o, s:I, s:i, s:b}", "faults", "content",
        (json_int_t)faults[SHOAL_FAULT_CONTENT], "metadata",
        (json_int_t)faults[SHOAL_FAULT_METADATA], "changed",
        (json_int_t)faults[SHOAL_FAULT_CHANGED], "differences", (json_int_t)summary->differences,
        "losses", make_losses(summary), "elapsed_ns", (json_int_t)summary->elapsed_ns, "workers",
        (int)summary->workers, "stopped", summary->stopped);
    if (!rest || json_object_update(object, rest) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(rest);
    json_print_line(object);
}

/* ---- text ---- */

/* Why, for those failures that EINVAL says nothing about. */
static const char *reason_for(const struct shoal_event *event)
{
    static const struct {
        const char *operation, *reason;
    } reasons[] = {
        {"copy onto itself", "source and target are the same file"},
        {"copy into itself", "the target lies inside of it"},
        {"copy over its own source", "the source stands there"},
        {"understand the archive", "it is of no kind that is known"},
        {"make the device", "devices are made only with --devices"},
        {"follow '..' out of the destination for", "nothing is written there"},
    };

    for (size_t i = 0; i < ELEMENTS(reasons); i++)
        if (strcmp(event->operation, reasons[i].operation) == 0)
            return reasons[i].reason;
    if (event->error == EBADMSG)
        return "it is damaged";
    return strerror(event->error);
}

static void print_fault(
    const struct tree_events *events, const struct shoal_event *event, const char *name)
{
    if (event->fault == SHOAL_FAULT_CHANGED)
        cli_error("%s changed while it was %s", name, events->copied);
    else if (event->fault == SHOAL_FAULT_METADATA)
        cli_error("cannot keep %s of %s: %s", event->operation, name, strerror(event->error));
    else if (event->damage)
        cli_error("cannot %s %s: %s, sector %" PRIu64, event->operation, name, event->damage,
            event->sector);
    else
        cli_error("cannot %s %s: %s", event->operation, name, reason_for(event));
}

/* "times differ", but "mode differs". */
static bool is_plural(const char *aspect)
{
    size_t length = strlen(aspect);
    return aspect[length - 1] == 's' || strncmp(aspect, "xattrs ", 7) == 0;
}

static void print_difference(const struct shoal_event *event, const char *name)
{
    const char *aspect = event->operation;

    /* Some are there on one side only. */
    if (strcmp(aspect, "missing") == 0)
        (void)printf("%s: missing\n", name);
    else if (strcmp(aspect, "only at the target") == 0)
        (void)printf("%s: not in the source\n", name);
    else
        (void)printf("%s: %s %s\n", name, aspect, is_plural(aspect) ? "differ" : "differs");
}

static void print_event(const struct tree_events *events, const struct shoal_event *event)
{
    _cleanup_free_ char *name = quote_name(event->path);
    _cleanup_free_ char *target = event->target ? quote_name(event->target) : NULL;

    if (!name || (event->target && !target)) {
        cli_error("cannot print what happened: %s", "out of memory");
        return;
    }
    switch (event->type) {
    case SHOAL_EVENT_COPIED:
        (void)printf("%s -> %s\n", name, target ? target : "?");
        break;
    case SHOAL_EVENT_FAULT:
        print_fault(events, event, name);
        break;
    case SHOAL_EVENT_NOTE:
        cli_error("note: %s: %s", event->operation, name);
        break;
    case SHOAL_EVENT_DIFFERENCE:
        print_difference(event, name);
        break;
    }
}

/* What is not said by the events: losses, and how far a stopped run came. */
static void print_summary(const struct tree_events *events, const struct shoal_summary *summary)
{
    for (size_t i = 0; i < summary->n_losses; i++) {
        const struct shoal_loss *loss = &summary->losses[i];
        cli_error("note: %s not kept for %" PRIu64 " file%s: %s", loss->what, loss->files,
            loss->files == 1 ? "" : "s", strerror(loss->error));
    }
    if (summary->stopped)
        cli_error("%s: %" PRIu64 " file%s, %" PRIu64 " KB had been %s",
            tree_run_is_interrupted() ? "interrupted" : "stopped, the destination is full",
            summary->files, summary->files == 1 ? "" : "s", summary->bytes / 1024, events->copied);
}

/* ---- callbacks ---- */

static void on_event(void *context, const struct shoal_event *event)
{
    struct tree_events *events = context;

    progress_clear(&events->progress);
    if (events->json)
        json_print_line(make_event_object(event));
    else
        print_event(events, event);
}

static void on_progress(void *context, const struct shoal_progress *now)
{
    struct tree_events *events = context;
    progress_show(&events->progress, now);
}

void tree_events_begin(struct tree_events *events, struct tree_options *options, const char *copied)
{
    *events = (struct tree_events){.json = options->json, .copied = copied};
    progress_begin(&events->progress, options->progress);
    options->shoal.context = events;
    options->shoal.on_event = on_event;
    options->shoal.progress_interval_ms = progress_interval_ms(&events->progress);
    if (options->shoal.progress_interval_ms > 0)
        options->shoal.on_progress = on_progress;
}

void tree_events_end(struct tree_events *events, const struct shoal_summary *summary)
{
    progress_end(&events->progress, summary);
    if (!summary)
        return;
    if (events->json)
        print_summary_object(summary);
    else
        print_summary(events, summary);
}
