#include "engine/finish.h"

#include <errno.h>

#include "engine/admission.h"
#include "engine/events.h"
#include "engine/run.h"

struct surplus {
    struct worker *worker;
    struct node *node;
};

/* A comparison: a name at TO that the source does not have. */
static void tell_if_surplus(void *context, const char *name)
{
    struct surplus *surplus = context;
    struct worker *worker = surplus->worker;
    struct place place = {surplus->node, name, name};
    struct entry entry;

    int r = surplus->node->root->source->ops->look(
        surplus->node->source_dir, name, false, &worker->scratch, &entry, &worker->outcome);
    outcome_clear(&worker->outcome);
    if (r == -ENOENT && place_is_admitted(worker, &place, false))
        events_difference(worker, &place, ASPECT_SURPLUS);
}

static void tell_surplus(struct worker *worker, struct node *node)
{
    struct surplus surplus = {worker, node};
    struct place place = {node, NULL, NULL};
    int r = worker->run->sink->ops->for_each_name(
        node->sink_dir, tell_if_surplus, &surplus, &worker->outcome);
    events_settle(worker, &place, r);
}

void directory_finish(struct worker *worker, struct node *node)
{
    struct place place = {node, NULL, NULL};

    if (node->entered) {
        int r = node_acquire(worker, node);
        if (r == 0) {
            worker_is_at(worker, ACTIVITY_DESTINATION);
            if (worker->run->sink->ops->for_each_name && node->root->source)
                tell_surplus(worker, node);
            r = worker->run->sink->ops->finish_dir(node->sink_dir, &node->meta, &worker->outcome);
            node_release(worker, node);
        }
        if (r == 0)
            count(&worker->counters.directories, 1);
        events_settle(worker, &place, r);
    }
    node_close(worker->run, node);
}
