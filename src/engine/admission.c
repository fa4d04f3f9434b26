#include "engine/admission.h"

#include "entry/filter.h"

bool place_is_admitted(struct worker *worker, const struct place *place, bool is_directory)
{
    const struct shoal_filter *filter = worker->run->options->filter;

    if (!filter || (is_directory && !place->node->parent))
        return true;
    long length = node_filter_path(worker, place->node, place->name);
    if (length < 0) {
        events_settle(worker, place, outcome_fail(&worker->outcome, "filter", (int)length));
        return false;
    }
    return filter_admits(filter, worker->path, (size_t)length, is_directory);
}
