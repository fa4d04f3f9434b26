#include "engine/admission.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/run.h"
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

bool place_is_selected(struct worker *worker, const struct place *place, bool is_directory)
{
    const struct shoal_options *options = worker->run->options;

    if (!place_is_admitted(worker, place, is_directory))
        return false;
    if (!options->archive.select)
        return true;
    char *path = node_target_path(place->node, place->target_name);
    bool selected = path && options->archive.select(options->context, path, is_directory);
    if (!path)
        events_settle(worker, place, outcome_fail(&worker->outcome, "copy", -ENOMEM));
    free(path);
    return selected;
}
