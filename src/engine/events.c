#include "engine/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(struct run *run, const struct shoal_event *event)
{
    (void)pthread_mutex_lock(&run->events);
    if (event->type == SHOAL_EVENT_FAULT)
        run->faults[event->fault]++;
    if (event->type == SHOAL_EVENT_DIFFERENCE)
        run->differences++;
    if (run->options->on_event)
        run->options->on_event(run->options->context, event);
    (void)pthread_mutex_unlock(&run->events);
}

/* Tells an event about a place; `at_target` says which of its two paths it is about. */
static void tell_of(
    struct worker *worker, const struct place *place, bool at_target, struct shoal_event *event)
{
    char *path = at_target ? node_target_path(place->node, place->target_name)
                           : node_source_path(place->node, place->name);
    char *target = event->type == SHOAL_EVENT_COPIED
                       ? node_target_path(place->node, place->target_name)
                       : NULL;

    event->path = path ? path : place->name; /* without memory for more */
    event->target = target;
    tell(worker->run, event);
    free(path);
    free(target);
}

static void tell_fault(struct worker *worker, const struct place *place, enum shoal_fault fault)
{
    const struct outcome *outcome = &worker->outcome;
    struct shoal_event event = {
        .type = SHOAL_EVENT_FAULT,
        .fault = fault,
        .operation = outcome->operation ? outcome->operation : "copy",
        .error = -outcome->error,
        .damage = outcome->damage.what,
        .sector = outcome->damage.sector,
    };
    tell_of(worker, place, outcome->at_target, &event);
}

static void count_losses(struct worker *worker)
{
    struct run *run = worker->run;

    (void)pthread_mutex_lock(&run->events);
    for (enum aspect aspect = 0; aspect < ASPECTS; aspect++) {
        if (!outcome_has(&worker->outcome, aspect))
            continue;
        if (run->losses[aspect].files++ == 0)
            run->losses[aspect].error = worker->outcome.aspect_error;
    }
    (void)pthread_mutex_unlock(&run->events);
}

/* Losses that the user insisted against are faults. */
static void tell_insisted(struct worker *worker, const struct place *place)
{
    for (enum aspect aspect = 0; aspect < ASPECTS; aspect++) {
        struct shoal_event event = {
            .type = SHOAL_EVENT_FAULT,
            .fault = SHOAL_FAULT_METADATA,
            .operation = aspect_name(aspect),
            .error = -worker->outcome.aspect_error,
        };
        if (outcome_has(&worker->outcome, aspect) &&
            (aspect_keep_bit(aspect) & worker->run->options->insist))
            tell_of(worker, place, true, &event);
    }
}

void events_settle(struct worker *worker, const struct place *place, int r)
{
    struct outcome *outcome = &worker->outcome;

    if (outcome->aspects && worker->run->comparing) {
        for (enum aspect aspect = 0; aspect < ASPECTS; aspect++)
            if (outcome_has(outcome, aspect))
                events_difference(worker, place, aspect);
    } else if (outcome->aspects) {
        count_losses(worker);
        tell_insisted(worker, place);
    }
    if (r < 0 && r != -ECANCELED) {
        outcome->error = r;
        tell_fault(worker, place, SHOAL_FAULT_CONTENT);
        if (outcome->at_target && (r == -ENOSPC || r == -EDQUOT))
            run_stop(worker->run, STOP_FULL);
    }
    outcome_clear(outcome);
}

void events_changed(struct worker *worker, const struct place *place)
{
    struct shoal_event event = {
        .type = SHOAL_EVENT_FAULT,
        .fault = SHOAL_FAULT_CHANGED,
        .operation = "file changed while it was copied",
    };
    tell_of(worker, place, false, &event);
}

void events_copied(struct worker *worker, const struct place *place)
{
    struct shoal_event event = {.type = SHOAL_EVENT_COPIED, .operation = "copied"};
    if (worker->run->options->want_copied)
        tell_of(worker, place, false, &event);
}

void events_note(struct worker *worker, const struct place *place, const char *what)
{
    struct shoal_event event = {.type = SHOAL_EVENT_NOTE, .operation = what};
    tell_of(worker, place, false, &event);
}

void events_difference(struct worker *worker, const struct place *place, enum aspect aspect)
{
    struct shoal_event event = {
        .type = SHOAL_EVENT_DIFFERENCE,
        .operation = aspect_name(aspect),
        .error = -worker->outcome.aspect_error,
    };
    tell_of(worker, place, true, &event);
}

void events_note_path(struct run *run, const char *what, const char *path)
{
    struct shoal_event event = {.type = SHOAL_EVENT_NOTE, .operation = what, .path = path};
    tell(run, &event);
}

void events_fault_disc(struct run *run, const char *operation, const char *path, int error,
    const struct damage *damage)
{
    struct shoal_event event = {
        .type = SHOAL_EVENT_FAULT,
        .fault = SHOAL_FAULT_CONTENT,
        .operation = operation,
        .path = path,
        .error = -error,
        .damage = damage->what,
        .sector = damage->sector,
    };
    tell(run, &event);
}

void events_fault_path(struct run *run, const char *operation, const char *path, int error)
{
    events_fault_disc(run, operation, path, error, &(struct damage){0});
}

void events_fault_entry(
    struct run *run, const struct root *root, const char *operation, const char *path, int error)
{
    const char *slash = *root->from && *path && *path != '/' ? "/" : "";
    char *whole;

    if (asprintf(&whole, "%s%s%s", root->from, slash, path) < 0)
        whole = NULL;
    events_fault_path(run, operation, whole ? whole : path, error);
    free(whole);
}

void events_entry(struct run *run, const struct shoal_entry *entry)
{
    (void)pthread_mutex_lock(&run->events);
    if (run->options->archive.on_entry)
        run->options->archive.on_entry(run->options->context, entry);
    (void)pthread_mutex_unlock(&run->events);
}
