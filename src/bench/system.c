#include "bench/system.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

/* --- The machine --- */

/* The value of the first line "KEY : VALUE" of a file, NULL if there is none; free it. */
static char *value_of(const char *path, const char *key)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    _cleanup_free_ char *line = NULL;
    size_t room = 0;

    while (file && getline(&line, &room, file) > 0) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        char *value = line + strlen(key);
        value += strspn(value, " \t");
        if (*value++ != ':')
            continue;
        value += strspn(value, " \t");
        value[strcspn(value, "\n")] = '\0';
        return strdup(value);
    }
    return NULL;
}

/* The first line of a file, NULL if it cannot be read; free it. */
static char *line_of(const char *path)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    if (!file || getline(&line, &room, file) < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* What the processor is called: x86 and POWER say it in /proc/cpuinfo, most ARM boards by their
 * device tree. */
static char *cpu_model(const struct utsname *uts)
{
    static const char *const keys[] = {"model name", "cpu model", "cpu", "Processor", "Model"};

    for (size_t i = 0; i < ELEMENTS(keys); i++) {
        char *model = value_of("/proc/cpuinfo", keys[i]);
        if (model && *model)
            return model;
        free(model);
    }
    char *board = line_of("/proc/device-tree/model");
    return board ? board : strdup(uts->machine);
}

/* Ends that say nothing: "(R)", "CPU", … */
static size_t noise_length(const char *at)
{
    static const char *const noise[] = {"(R)", "(TM)", "(tm)", " CPU", " Processor"};

    for (size_t i = 0; i < ELEMENTS(noise); i++)
        if (strncmp(at, noise[i], strlen(noise[i])) == 0)
            return strlen(noise[i]);
    return 0;
}

/* The processor's name short enough for a row: without trade marks, and without "@ 2.60GHz", which
 * is not the clock it runs at. */
static char *short_name(const char *cpu)
{
    char *name = strdup(cpu), *out = name;

    if (!name)
        return NULL;
    for (const char *at = cpu; *at && *at != '@';) {
        size_t skip = noise_length(at);
        if (skip == 0 && isspace((unsigned char)*at) && (out == name || out[-1] == ' '))
            skip = 1;
        if (skip == 0)
            *out++ = *at++;
        at += skip;
    }
    while (out > name && out[-1] == ' ')
        out--;
    *out = '\0';
    return name;
}

/* Processors that this process may run on. */
static unsigned cores(void)
{
    cpu_set_t set;
    long n;

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    n = sysconf(_SC_NPROCESSORS_ONLN); /* more than the set holds */
    return n > 0 ? (unsigned)n : 1;
}

#define GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"

static char *line_or_empty(const char *path)
{
    char *line = line_of(path);
    return line ? line : strdup("");
}

static char *emulation_name(const char *machine)
{
    char *name;

    return asprintf(&name, "%s, emulated", machine) < 0 ? NULL : name;
}

int system_describe(const char *machine, struct system_info *ret)
{
    struct utsname uts;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    struct system_info info = {.cores = cores()};

    if (uname(&uts) < 0)
        return -errno;
    if (pages > 0 && page_bytes > 0)
        info.memory_kb = (uint64_t)pages * ((uint64_t)page_bytes / 1024);
    info.cpu = cpu_model(&uts);
    info.name = machine ? emulation_name(machine) : info.cpu ? short_name(info.cpu) : NULL;
    info.governor = line_or_empty(GOVERNOR);
    if (asprintf(&info.kernel, "%s %s", uts.sysname, uts.release) < 0)
        info.kernel = NULL;
    info.machine = strdup(machine ? machine : "");
    if (!info.cpu || !info.name || !info.kernel || !info.governor || !info.machine) {
        free(info.cpu);
        free(info.name);
        free(info.kernel);
        free(info.governor);
        free(info.machine);
        return -ENOMEM;
    }
    *ret = info;
    return 0;
}

uint64_t system_available_memory_kb(void)
{
    static const char *const keys[] = {"MemAvailable", "SwapFree"};
    uint64_t kb = 0;

    for (size_t i = 0; i < ELEMENTS(keys); i++) {
        _cleanup_free_ char *value = value_of("/proc/meminfo", keys[i]);
        kb += value ? strtoull(value, NULL, 10) : 0;
    }
    return kb;
}

/* --- File systems --- */

/* Which mount a descriptor is on, by the number that mountinfo's lines begin with: the device
 * number will not do, since btrfs shows another one to stat(). */
static int mount_id(int fd, int *ret)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    _cleanup_free_ char *value = value_of(path, "mnt_id");
    if (!value)
        return -ENODATA;
    *ret = atoi(value);
    return 0;
}

/* "rw,relatime" and the file system's own "rw,discard": one list, without saying rw twice. */
static char *join_options(const char *mount, const char *super)
{
    char *joined;

    if (strncmp(super, "rw", 2) == 0 || strncmp(super, "ro", 2) == 0)
        super += strcspn(super, ",") + (strchr(super, ',') ? 1 : 0);
    return asprintf(&joined, "%s%s%s", mount, *super ? "," : "", super) < 0 ? NULL : joined;
}

/* The name that the kernel has for a block device, NULL if it is none of its own (in memory, over
 * the network, of several devices); free it. */
static char *device_name(dev_t dev)
{
    char path[64], link[PATH_MAX];

    (void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
    ssize_t n = readlink(path, link, sizeof(link) - 1);
    if (n < 0)
        return NULL;
    link[n] = '\0';
    const char *slash = strrchr(link, '/');
    return strdup(slash ? slash + 1 : link);
}

/* The chosen one of "none [mq-deadline] kyber", of the disk itself or of the one a partition is on.
 */
static char *scheduler_of(dev_t dev)
{
    static const char *const places[] = {"queue", "../queue"};
    char path[96];

    for (size_t i = 0; i < ELEMENTS(places); i++) {
        (void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/scheduler", major(dev),
            minor(dev), places[i]);
        _cleanup_free_ char *line = line_of(path);
        const char *open = line ? strchr(line, '[') : NULL;
        if (open)
            return strndup(open + 1, strcspn(open + 1, "]"));
        if (line)
            return strdup(line);
    }
    return strdup("");
}

/* Which device a file system is on. btrfs gives its files a number that is no device's: then it is
 * the one that the mount names. */
static int describe_device(dev_t dev, const char *source, struct file_system_info *info)
{
    struct stat st;
    char *name = device_name(dev);

    if (!name && source && stat(source, &st) == 0 && S_ISBLK(st.st_mode)) {
        dev = st.st_rdev;
        name = device_name(dev);
    }
    info->device = name ? name : strdup("");
    info->scheduler = name ? scheduler_of(dev) : strdup("");
    return info->device && info->scheduler ? 0 : -ENOMEM;
}

/* A line of mountinfo: id, parent, device, root, mount point, options, optional fields, "-", type,
 * source, the file system's options. */
static int parse_mount(char *line, struct file_system_info *info, char **ret_source)
{
    char *rest = strstr(line, " - ");
    char *options = NULL, *type, *source, *super, *save;

    if (!rest)
        return -EBADMSG;
    *rest = '\0';
    char *word = strtok_r(line, " ", &save);
    for (int i = 0; word && i < 6; i++, word = strtok_r(NULL, " ", &save))
        options = word;
    type = strtok_r(rest + 3, " \n", &save);
    source = strtok_r(NULL, " \n", &save);
    super = strtok_r(NULL, " \n", &save);
    if (!type || !options || !source)
        return -EBADMSG;
    info->type = strdup(type);
    info->options = join_options(options, super ? super : "");
    *ret_source = strdup(source);
    return info->type && info->options && *ret_source ? 0 : -ENOMEM;
}

static int find_mount(int id, struct file_system_info *info, char **ret_source)
{
    _cleanup_fclose_ FILE *file = fopen("/proc/self/mountinfo", "re");
    _cleanup_free_ char *line = NULL;
    size_t room = 0;

    if (!file)
        return -errno;
    while (getline(&line, &room, file) > 0)
        if (atoi(line) == id)
            return parse_mount(line, info, ret_source);
    return -ENODATA;
}

/* Whether /proc/fs/jbd2 has a journal of the device: its entries are "DEVICE-NUMBER". */
static int has_jbd2(const char *device)
{
    _cleanup_closedir_ DIR *dir = opendir("/proc/fs/jbd2");
    const struct dirent *entry;
    size_t length = strlen(device);

    while (dir && (entry = readdir(dir)))
        if (strncmp(entry->d_name, device, length) == 0 && entry->d_name[length] == '-')
            return 1;
    return -1; /* kernels before 2.6.31 listed them elsewhere, and a container may show none */
}

static int ext4_has_journal(const char *device)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "/sys/fs/ext4/%.200s/journal_task", device);
    _cleanup_free_ char *task = line_of(path);
    if (!task) /* kernels before 5.0 */
        return has_jbd2(device);
    return strcmp(task, "<none>") != 0;
}

static int has_journal(const char *type, const char *device)
{
    if (strcmp(type, "ext4") == 0)
        return *device ? ext4_has_journal(device) : -1;
    if (strcmp(type, "ext3") == 0 || strcmp(type, "xfs") == 0 || strcmp(type, "jfs") == 0)
        return 1;
    if (strcmp(type, "ext2") == 0 || strcmp(type, "vfat") == 0 || strcmp(type, "exfat") == 0)
        return 0;
    return -1; /* in memory, over the network, or safe by another means */
}

/* Where the mount is not shown (/proc is not mounted, or the root is a directory of a mount outside
 * of it, as under chroot), the type by its magic number, and no options. */
static int describe_by_magic(int fd, struct file_system_info *info)
{
    static const struct {
        long magic;
        const char *type;
    } types[] = {
        {EXT4_SUPER_MAGIC, "ext4"},
        {XFS_SUPER_MAGIC, "xfs"},
        {BTRFS_SUPER_MAGIC, "btrfs"},
        {TMPFS_MAGIC, "tmpfs"},
        {OVERLAYFS_SUPER_MAGIC, "overlay"},
        {NFS_SUPER_MAGIC, "nfs"},
    };
    const char *type = NULL;
    char number[32];
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return -errno;
    for (size_t i = 0; i < ELEMENTS(types); i++)
        if (types[i].magic == fs.f_type)
            type = types[i].type;
    (void)snprintf(number, sizeof(number), "0x%lx", (unsigned long)fs.f_type);
    free(info->type);
    free(info->options);
    info->type = strdup(type ? type : number);
    info->options = strdup("");
    return info->type && info->options ? 0 : -ENOMEM;
}

static void file_system_clear(struct file_system_info *info)
{
    free(info->path);
    free(info->type);
    free(info->options);
    free(info->device);
    free(info->scheduler);
}

int file_system_describe(const char *path, const char *given, struct file_system_info *ret)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_free_ char *source = NULL;
    struct file_system_info info = {0};
    struct stat st;
    int id = 0;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    info.path = strdup(given);
    int r = info.path ? mount_id(fd, &id) : -ENOMEM;
    if (r >= 0)
        r = find_mount(id, &info, &source);
    if (r == -ENODATA || r == -ENOENT)
        r = describe_by_magic(fd, &info);
    if (r >= 0)
        r = describe_device(st.st_dev, source, &info);
    if (r < 0) {
        file_system_clear(&info);
        return r;
    }
    info.has_journal = has_journal(info.type, info.device);
    *ret = info;
    return 0;
}
