#include "bench/scratch_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/size.h"
#include "bench/fault.h"
#include "bench/process.h"
#include "bench/scratch.h"
#include "bench/system.h"

#define MIB            ((uint64_t)1 << 20)
#define LOOP_PATH_MAX  32
#define LOOP_ATTEMPTS  64 /* between finding a free one and taking it others may */
#define EXIT_NOT_FOUND 127

/* What mke2fs gives by itself. */
#define EXT4_INODE_EACH 16384

/* Each maker's own least size is below, and small file systems get another form than large ones. */
#define IMAGE_LEAST (1024 * MIB)

/* The largest file. */
#define SIZE_MOST ((uint64_t)INT64_MAX / MIB * MIB)

struct scratch_kind {
    const char *type;
    const char *maker; /* NULL: none is needed */
    /* What keeps the kernel from work of its own on it: the best first, as older kernels refuse
     * what they do not know. */
    const char *options[2];
};

static const struct scratch_kind kinds[] = {
    {"ext4", "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0",
        {"noinit_itable,no_prefetch_block_bitmaps", "noinit_itable"}},
    {"xfs", "mkfs.xfs -q -f", {"", NULL}},
    {"btrfs", "mkfs.btrfs -q -f", {"", NULL}},
    {"tmpfs", NULL, {NULL, NULL}},
};

const char *scratch_type(size_t i)
{
    return i < ELEMENTS(kinds) ? kinds[i].type : NULL;
}

const char *scratch_type_of(const struct scratch_spec *spec)
{
    return spec->kind->type;
}

int scratch_spec_parse(const char *text, struct scratch_spec *ret)
{
    static const char size_key[] = ",size=";
    struct scratch_spec spec = {0};
    size_t length = strcspn(text, ",");

    for (size_t i = 0; i < ELEMENTS(kinds); i++)
        if (strlen(kinds[i].type) == length && strncmp(text, kinds[i].type, length) == 0)
            spec.kind = &kinds[i];
    if (!spec.kind)
        return -ENOENT;
    if (text[length]) {
        if (strncmp(text + length, size_key, strlen(size_key)) != 0)
            return -EINVAL;
        int r = size_parse(text + length + strlen(size_key), 1, &spec.size_bytes);
        if (r < 0)
            return r;
        if (spec.size_bytes < MIB)
            return -EINVAL;
    }
    *ret = spec;
    return 0;
}

int scratch_fs_isolate(struct bench_fault *fault)
{
    int r = unshare(CLONE_NEWNS) < 0 ? -errno : 0;

    if (r >= 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        r = -errno;
    if (r == -EPERM)
        fault_hint(fault, "--scratch needs root");
    return r < 0 ? fault_note(fault, r, "mount file systems of its own", NULL) : 0;
}

/* --- Sizes --- */

/* A file takes whole blocks, an inode and a name, on btrfs twice. */
static uint64_t need_bytes(const struct scratch_fs_request *request)
{
    uint64_t each = 4096, all;

    if (__builtin_mul_overflow(request->files, each, &all) ||
        __builtin_add_overflow(all, request->bytes, &all))
        return UINT64_MAX;
    return all;
}

/* Whole MiB, so that every device has whole blocks. */
static uint64_t size_bytes(const struct scratch_fs_request *request)
{
    uint64_t need = need_bytes(request);

    if (request->spec->size_bytes > 0)
        return request->spec->size_bytes / MIB * MIB;
    if (__builtin_mul_overflow(need, request->margin, &need) || need > SIZE_MOST - IMAGE_LEAST)
        return SIZE_MOST;
    return (need + IMAGE_LEAST + MIB - 1) / MIB * MIB;
}

/* An image that is sparse takes only what is written. */
int scratch_fs_check_room(const struct scratch_fs_request *request)
{
    const bool is_image = request->spec->kind->maker;
    const uint64_t need = need_bytes(request);
    uint64_t free_bytes = 0;
    int r = 0;

    if (is_image)
        r = scratch_has_room(request->parent, 1, need, &free_bytes);
    else if ((free_bytes = system_available_memory_kb() * 1024) < need)
        r = -ENOSPC;
    if (r >= 0)
        return r;
    if (r == -ENOSPC)
        fault_hint(request->fault,
            "%llu MB are needed, %llu MB are free; fewer runs, methods or files need less",
            (unsigned long long)(need / MIB), (unsigned long long)(free_bytes / MIB));
    return is_image ? fault_note(request->fault, r, "make a file system in", request->parent)
                    : fault_note(request->fault, r, "make a file system in memory", NULL);
}

/* --- The image --- */

static int image_make(const struct scratch_fs_request *request, uint64_t size, int *ret_fd)
{
    _cleanup_free_ char *path = NULL;

    if (asprintf(&path, "%s/shoal-bench-XXXXXX.img", request->parent) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    _cleanup_close_ int fd = mkostemps(path, strlen(".img"), O_CLOEXEC);
    if (fd < 0)
        return fault_note(request->fault, -errno, "create a file in", request->parent);
    if (unlink(path) < 0)
        return fault_note(request->fault, -errno, "unlink", path);
    if (ftruncate(fd, (off_t)size) < 0)
        return fault_note(request->fault, -errno, "make a sparse file in", request->parent);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* It is detached when the last that has it open, or mounted, leaves it. */
static int loop_take(int control, int image, char path[static LOOP_PATH_MAX], int *ret_fd)
{
    const struct loop_config config = {
        .fd = (unsigned)image, .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
    int n = ioctl(control, LOOP_CTL_GET_FREE);

    if (n < 0)
        return -errno;
    (void)snprintf(path, LOOP_PATH_MAX, "/dev/loop%d", n);
    _cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, LOOP_CONFIGURE, &config) < 0)
        return -errno;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int loop_attach(
    int image, struct bench_fault *fault, char path[static LOOP_PATH_MAX], int *ret_fd)
{
    static const char control_path[] = "/dev/loop-control";
    _cleanup_close_ int control = open(control_path, O_RDWR | O_CLOEXEC);
    int r = -EBUSY;

    if (control < 0)
        return fault_note(fault, -errno, "open", control_path);
    for (int i = 0; i < LOOP_ATTEMPTS && r == -EBUSY; i++)
        r = loop_take(control, image, path, ret_fd);
    return r < 0 ? fault_note(fault, r, "attach an image to", path) : 0;
}

/* More inodes than by itself only where the files need them. */
static int maker_line(
    const struct scratch_fs_request *request, uint64_t size, const char *device, char **ret)
{
    const struct scratch_kind *kind = request->spec->kind;
    uint64_t inodes = request->margin * request->files + 1024;
    char count[40] = "";

    if (strcmp(kind->type, "ext4") == 0 && inodes > size / EXT4_INODE_EACH)
        (void)snprintf(count, sizeof(count), "-N %llu ", (unsigned long long)inodes);
    /* A user that became root by su may lack the directories of mkfs. */
    return asprintf(ret, "PATH=$PATH:/usr/sbin:/sbin; export PATH; %s %s%s", kind->maker, count,
               device) < 0
               ? -ENOMEM
               : 0;
}

static int image_format(const struct scratch_fs_request *request, uint64_t size, const char *device)
{
    _cleanup_free_ char *line = NULL, *said = NULL;
    struct process process = {0};

    int r = maker_line(request, size, device, &line);
    if (r < 0) {
        line = NULL;
        return r;
    }
    r = process_run(line, PROCESS_KEEP_ERRORS, -1, request->stop, &process);
    said = process.said;
    if (r < 0 || process.exit_status == 0)
        return r;
    if (process.exit_status == EXIT_NOT_FOUND)
        fault_hint(request->fault, "there is no program mkfs.%s", request->spec->kind->type);
    else
        fault_hint(request->fault, "mkfs.%s: %s", request->spec->kind->type, said);
    return fault_note(request->fault, process.exit_status == EXIT_NOT_FOUND ? -ENOENT : -EIO,
        "make a file system on", device);
}

/* --- Mounting --- */

static int mount_image(const struct scratch_kind *kind, const char *device, const char *path)
{
    int r = -EINVAL;

    for (size_t i = 0; i < ELEMENTS(kind->options) && kind->options[i] && r == -EINVAL; i++)
        r = mount(device, path, kind->type, 0, kind->options[i]) < 0 ? -errno : 0;
    return r;
}

static int make_on_image(const struct scratch_fs_request *request, uint64_t size, const char *path)
{
    _cleanup_close_ int image = -1, loop = -1;
    char device[LOOP_PATH_MAX] = "";

    int r = image_make(request, size, &image);
    if (r >= 0)
        r = loop_attach(image, request->fault, device, &loop);
    if (r >= 0)
        r = image_format(request, size, device);
    if (r < 0)
        return r;
    r = mount_image(request->spec->kind, device, path);
    return r < 0 ? fault_note(request->fault, r, "mount", device) : 0;
}

static int make_in_memory(const struct scratch_fs_request *request, uint64_t size, const char *path)
{
    char options[64];

    (void)snprintf(
        options, sizeof(options), "size=%llu,mode=755,nr_inodes=0", (unsigned long long)size);
    if (mount("shoal-bench", path, request->spec->kind->type, 0, options) < 0)
        return fault_note(request->fault, -errno, "mount a tmpfs on", path);
    return 0;
}

static bool is_in_memory(const char *path)
{
    struct statfs fs;

    return statfs(path, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

int scratch_fs_make(const struct scratch_fs_request *request, struct scratch_fs *ret)
{
    const uint64_t size = size_bytes(request);
    char *path = NULL;

    int r = scratch_fs_check_room(request);
    if (r < 0)
        return r;
    r = scratch_make(request->parent, &path);
    if (r < 0)
        return fault_note(request->fault, r, "make a directory in", request->parent);
    r = request->spec->kind->maker ? make_on_image(request, size, path)
                                   : make_in_memory(request, size, path);
    if (r < 0) {
        (void)rmdir(path); /* it is empty, and the first error is the one to tell */
        free(path);
        return r;
    }
    *ret = (struct scratch_fs){.path = path,
        .size_bytes = size,
        .is_image_in_memory = request->spec->kind->maker && is_in_memory(request->parent)};
    return 0;
}

int scratch_fs_unmake(struct scratch_fs *fs)
{
    if (!fs->path)
        return 0;
    int r = umount2(fs->path, UMOUNT_NOFOLLOW) < 0 ? -errno : 0;
    /* Something of a method's is still in it: then it ends when that does. */
    if (r == -EBUSY)
        r = umount2(fs->path, UMOUNT_NOFOLLOW | MNT_DETACH) < 0 ? -errno : 0;
    if (r >= 0 && rmdir(fs->path) < 0)
        r = -errno;
    if (r < 0)
        return r;
    free(fs->path);
    *fs = (struct scratch_fs){0};
    return 0;
}
