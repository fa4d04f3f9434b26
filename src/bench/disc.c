#include "bench/disc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench/fault.h"
#include "bench/process.h"
#include "bench/shell.h"
#include "disc/make_efs.h"

static int should_stop(void *context)
{
    return bench_stop_is_requested(context);
}

static int make_image(
    int tree_fd, int image_fd, struct bench_stop *stop, const char *tree, struct bench_fault *fault)
{
    const struct make_efs_options options = {.label = ""};
    const struct make_watch watch = {.should_stop = should_stop, .context = stop};
    struct make_failure failure = {0};
    struct make_totals totals;

    int r = make_efs(tree_fd, image_fd, &options, &watch, &totals, &failure);
    if (r < 0 && r != -EINTR) {
        if (failure.path || failure.why)
            fault_hint(fault, "%s%s%s", failure.path ? failure.path : "",
                failure.path && failure.why ? ": " : "", failure.why ? failure.why : "");
        r = fault_note(fault, r, "make a disc of", tree);
    }
    free(failure.path);
    free(failure.why);
    return r;
}

int disc_make(
    const char *tree, const char *image, struct bench_stop *stop, struct bench_fault *fault)
{
    _cleanup_close_ int tree_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree_fd < 0)
        return fault_note(fault, -errno, "open", tree);
    _cleanup_close_ int image_fd = open(image, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (image_fd < 0)
        return fault_note(fault, -errno, "create", image);
    int r = make_image(tree_fd, image_fd, stop, tree, fault);
    if (r < 0)
        (void)unlink(image); /* the directory that it is in is removed later */
    return r;
}

/* The command line; NULL: memory is out. */
static char *mount_command(const char *image, const char *drive, double time_scale, const char *at)
{
    _cleanup_free_ char *program = NULL, *quoted_image = shell_quote(image);
    _cleanup_free_ char *quoted_drive = shell_quote(drive), *quoted_at = shell_quote(at);
    char *line;

    if (!quoted_image || !quoted_drive || !quoted_at || shell_own_program(&program) < 0 ||
        asprintf(&line, "%s mount --drive=%s --time-scale=%.15g %s %s", program, quoted_drive,
            time_scale, quoted_image, quoted_at) < 0)
        return NULL;
    return line;
}

int disc_mount(const char *image, const char *drive, double time_scale, const char *at,
    struct bench_stop *stop, struct bench_fault *fault)
{
    _cleanup_free_ char *line = mount_command(image, drive, time_scale, at);
    struct process process = {0};

    if (!line)
        return -ENOMEM;
    int r = process_run(line, PROCESS_KEEP_ERRORS, -1, stop, &process);
    if (r >= 0 && process.exit_status != 0) {
        fault_hint(fault, "%s", process.said);
        r = -ENODEV;
    }
    free(process.said);
    return r < 0 && r != -EINTR ? fault_note(fault, r, "mount the disc at", at) : r;
}

/* For those whom umount(2) is not allowed. */
static int unmount_by_helper(const char *at)
{
    _cleanup_free_ char *quoted = shell_quote(at), *line = NULL;
    struct bench_stop never = {0}; /* it is done after a request to stop, too */
    struct process process = {0};

    if (!quoted || asprintf(&line, "fusermount3 -u -z %s", quoted) < 0) {
        line = NULL;
        return -ENOMEM;
    }
    int r = process_run(line, PROCESS_KEEP_ERRORS, -1, &never, &process);
    free(process.said);
    return r < 0 ? r : process.exit_status == 0 ? 0 : -EPERM;
}

int disc_unmount(const char *at, struct bench_fault *fault)
{
    int r = umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 ? -errno : 0;

    if (r == -EPERM)
        r = unmount_by_helper(at);
    return r < 0 ? fault_note(fault, r, "unmount the disc at", at) : 0;
}
