/* libshoal's calls: opening both ends, running the jobs, and closing up. */
#include <errno.h>
#include <shoal/shoal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/events.h"
#include "engine/pack.h"
#include "engine/root.h"
#include "engine/run.h"
#include "engine/targets.h"
#include "entry/archive_name.h"
#include "sink/compare.h"
#include "sink/directory.h"
#include "sink/plan.h"

/* Opens a sink in a directory, whose descriptor it takes over. */
typedef int (*sink_opener)(int fd, const struct sink_options *options, struct tree_sink **ret);

/* Runs the roots into the sink that `open_sink` opens. */
static int run_roots(struct run *run, struct targets *targets, const struct sink_options *options,
    sink_opener open_sink)
{
    int r = open_sink(targets->fd, options, &run->sink);

    if (r == 0 && targets->first) {
        pool_push_list(run->pool, &targets->first->job.link);
        targets->first = NULL;
        r = run_work(run);
    }
    while (targets->first) {
        struct root *next = (struct root *)targets->first->job.link.next;
        root_free(targets->first);
        targets->first = next;
    }
    return r;
}

static bool options_contradict(const struct shoal_options *options)
{
    return (options->reflink == SHOAL_ALWAYS &&
               (options->sparse != SHOAL_AUTO || options->verify)) ||
           options->jobs > WORKERS_MAX || options->archive.record_bytes % 512 != 0;
}

static int run_call(
    struct run *run, const char *const *from, size_t n_from, const char *to, sink_opener open_sink)
{
    const struct shoal_options *options = run->options;
    struct targets targets;

    int r = targets_resolve(run, from, n_from, to, &targets);
    if (r < 0)
        return r;
    struct sink_options sink_options = run_sink_options(run);
    sink_options.twins_replace = targets.first && targets.first->stream;
    r = run_roots(run, &targets, &sink_options, open_sink);
    if (r == 0 && options->sync && !options->dry_run)
        r = run_sync(run);
    return r;
}

/* Whether TO is to be written as an archive: then *options is completed by what its name says. */
static bool is_archive(const char *to, struct shoal_options *options)
{
    struct shoal_archive_options *archive = &options->archive;
    enum shoal_compression compression = SHOAL_COMPRESSION_NONE;
    bool is_cpio = false;
    struct stat st;

    bool named = archive_name_is_writable(to, &compression, &is_cpio);
    if (archive->write_archive == SHOAL_NEVER ||
        (archive->write_archive == SHOAL_AUTO &&
            (!named || options->target == SHOAL_TARGET_DIRECTORY ||
                (stat(to, &st) == 0 && S_ISDIR(st.st_mode)))))
        return false;
    if (archive->compression == SHOAL_COMPRESSION_NONE)
        archive->compression = compression;
    if (archive->format == SHOAL_FORMAT_PAX && is_cpio)
        archive->format = SHOAL_FORMAT_CPIO;
    return true;
}

static int pack_call(struct run *run, const char *const *from, size_t n_from, const char *to)
{
    struct root *roots = NULL;
    int r = targets_pack(run, from, n_from, &roots);
    return r < 0 ? r : pack_roots_to(run, roots, to);
}

int shoal_copy(const char *const *from, size_t n_from, const char *to,
    const struct shoal_options *options, struct shoal_summary *ret_summary)
{
    struct shoal_options own = *options;
    struct run run;

    if (n_from == 0 || options_contradict(options))
        return -EINVAL;
    bool to_archive = is_archive(to, &own);
    if (to_archive && (own.verify || own.dry_run || own.reflink == SHOAL_ALWAYS))
        return -EOPNOTSUPP;
    int r = run_begin(&run, &own);
    if (r == 0 && to_archive)
        r = pack_call(&run, from, n_from, to);
    else if (r == 0)
        r = run_call(&run, from, n_from, to, options->dry_run ? plan_sink_new : directory_sink_new);
    run_end(&run, ret_summary);
    return r;
}

int shoal_verify(const char *from, const char *to, const struct shoal_options *options,
    struct shoal_summary *ret_summary)
{
    struct shoal_options own = *options;
    struct run run;

    own.target = SHOAL_TARGET_NAME;
    own.dry_run = own.verify = own.sync = false;
    own.sparse = SHOAL_AUTO;
    own.reflink = SHOAL_NEVER;
    own.existing = SHOAL_EXISTING_REPLACE;
    int r = run_begin(&run, &own);
    run.comparing = true;
    if (r == 0)
        r = run_call(&run, &from, 1, to, compare_sink_new);
    run_end(&run, ret_summary);
    return r;
}
