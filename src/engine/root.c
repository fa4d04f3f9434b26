#include "engine/root.h"

#include <stdlib.h>

void root_free(struct root *root)
{
    if (!root)
        return;
    free(root->from);
    free(root->target);
    free(root->parent_path);
    free(root->source_name);
    free(root->target_name);
    free(root);
}
