/* libshoal's calls for archives alone: packing trees, unpacking and listing. */
#include <errno.h>
#include <fcntl.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/open.h"
#include "base/path.h"
#include "engine/events.h"
#include "engine/pack.h"
#include "engine/root.h"
#include "engine/run.h"
#include "engine/stream_root.h"
#include "engine/stream_to_stream.h"
#include "engine/stream_to_tree.h"
#include "engine/targets.h"
#include "sink/directory.h"
#include "sink/plan.h"

/* ---- packing ---- */

/* A name as it is recorded: less leading slashes, and less all that comes before and with a "..".
 */
static const char *recorded_name(struct run *run, const char *path)
{
    const char *start = path, *at = path;

    if (run->options->archive.absolute_names)
        return path;
    while (*at) {
        const char *component = at + strspn(at, "/");
        size_t length = strcspn(component, "/");
        if (length == 2 && component[0] == '.' && component[1] == '.')
            start = component + 2;
        at = component + length;
    }
    start += strspn(start, "/");
    if (start != path)
        events_note_path(run,
            *path == '/' ? "leading '/' removed from names" : "leading '../' removed from names",
            path);
    return *start ? start : ".";
}

static int name_roots(struct run *run, const struct shoal_name *names, size_t n, struct root **ret)
{
    struct root_chain chain = {0};
    int r = 0;

    for (size_t i = 0; i < n && (r == 0 || r == -ECANCELED); i++) {
        struct root *root;
        r = pack_root_new(
            run, names[i].directory, names[i].path, recorded_name(run, names[i].path), &root);
        if (r < 0)
            continue;
        root->weight = 1.0 / (double)n;
        root_chain_append(&chain, root);
    }
    if (r == 0 || r == -ECANCELED) {
        *ret = chain.first;
        return 0;
    }
    root_chain_free(&chain);
    return r;
}

int shoal_pack(const struct shoal_name *names, size_t n_names, int fd,
    const struct shoal_options *options, struct shoal_summary *ret_summary)
{
    struct root *roots = NULL;
    struct run run;
    if (options->archive.record_bytes % 512 != 0)
        return -EINVAL;
    int r = run_begin(&run, options);
    if (r == 0)
        r = name_roots(&run, names, n_names, &roots);
    if (r == 0)
        r = pack_roots(&run, roots, fd);
    run_end(&run, ret_summary);
    return r;
}

/* ---- unpacking and listing ---- */

/* Reads `fd` in a run, which is begun and ended; `use` does what is to be done with the root. */
typedef int (*stream_user)(struct run *run, struct root *root, const char *to);

static int use_stream(int fd, const char *name, const char *to, const struct shoal_options *options,
    stream_user use, struct shoal_summary *ret_summary)
{
    _cleanup_free_ char *from = NULL;
    struct run run;

    if (asprintf(&from, "%s%s", name ? name : "", name ? ":" : "") < 0)
        return -ENOMEM;
    int r = run_begin(&run, options);
    struct root *root = r == 0 ? calloc(1, sizeof(*root)) : NULL;
    if (r == 0)
        r = root ? stream_root_open(&run, root, fd, from, options->archive.part) : -ENOMEM;
    if (r == 0)
        r = use(&run, root, to);
    else
        root_free(root);
    run_end(&run, ret_summary);
    return r;
}

static int list(struct run *run, struct root *root, const char *to)
{
    const struct shoal_archive_options *archive = &run->options->archive;
    struct converting converting = {
        .job = {.run = stream_to_stream_run},
        .root = root,
        .content_fd = archive->to_fd ? archive->content_fd : -1,
    };

    (void)to;
    pool_push(run->pool, &converting.job.link);
    int r = run_work(run);
    root_free(root);
    return r < 0 ? r : converting.error;
}

static int unpack(struct run *run, struct root *root, const char *to)
{
    const struct shoal_options *options = run->options;
    struct sink_options sink = run_sink_options(run);

    sink.twins_replace = true;
    root->job.run = stream_to_tree_run_root;
    root->target = strdup(to);
    root->target_name = strdup(".");
    if (options->archive.absolute_names)
        root->base = realpath(to, NULL);
    bool ready =
        root->target && root->target_name && (root->base || !options->archive.absolute_names);
    int fd = ready ? open_at(AT_FDCWD, root->base ? "/" : to, O_PATH | O_DIRECTORY, 0) : -ENOMEM;
    int r = fd < 0 ? fd
                   : (options->dry_run ? plan_sink_new : directory_sink_new)(fd, &sink, &run->sink);
    if (r < 0) {
        root_free(root);
        return r;
    }
    run->threads_apart = 1;
    pool_push(run->pool, &root->job.link);
    r = run_work(run);
    if (r == 0 && options->sync && !options->dry_run)
        r = run_sync(run);
    return r;
}

int shoal_list_stream(int fd, const char *name, const struct shoal_options *options,
    struct shoal_summary *ret_summary)
{
    return use_stream(fd, name, NULL, options, list, ret_summary);
}

int shoal_list(
    const char *from, const struct shoal_options *options, struct shoal_summary *ret_summary)
{
    struct root *root = NULL;
    struct run run;
    int r = run_begin(&run, options);

    if (r == 0)
        r = targets_list(&run, from, &root);
    if (r == 0)
        r = root->stream ? list(&run, root, NULL) : pack_list(&run, root);
    run_end(&run, ret_summary);
    return r == -ECANCELED ? 0 : r;
}

int shoal_unpack(int fd, const char *name, const char *to, const struct shoal_options *options,
    struct shoal_summary *ret_summary)
{
    return options->archive.to_fd ? use_stream(fd, name, NULL, options, list, ret_summary)
                                  : use_stream(fd, name, to, options, unpack, ret_summary);
}
