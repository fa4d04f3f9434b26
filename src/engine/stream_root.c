#include "engine/stream_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffers.h"
#include "base/cleanup.h"
#include "source/archive.h"

/* What a stream's content may fill on its way. */
#define STREAM_BUFFER_BYTES ((size_t)128 * 1024)
#define STREAM_BUFFERS      32

int stream_root_open(struct run *run, struct root *root, int fd, const char *from, const char *part)
{
    const struct shoal_options *options = run->options;
    struct outcome outcome = {0};

    root->run = run;
    root->from = strdup(from);
    root->part = part ? strdup(part) : NULL;
    if (!root->from || (part && !root->part))
        return -ENOMEM;
    int r = buffers_new(STREAM_BUFFER_BYTES, STREAM_BUFFERS, &root->buffers);
    if (r < 0)
        return r;
    struct archive_source_options source = {
        .buffers = root->buffers,
        .names = options->archive.numeric_owner ? NULL : run->owner_names,
        .want_xattrs = options->preserve & (SHOAL_KEEP_XATTR | SHOAL_KEEP_MODE),
        .leave_acls = options->archive.leave_acls,
        .ignore_zeros = options->archive.ignore_zeros,
    };
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return -errno;
    return archive_source_open(own, &source, &root->stream, &outcome);
}
