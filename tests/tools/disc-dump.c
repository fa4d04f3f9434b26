/* disc-dump [--names=auto|rock-ridge|joliet|plain] [--libarchive] IMAGE
 *
 * Prints each file of a disc's image, ours or as libarchive reads it, by path:
 *     PATH|TYPE|MODE|NLINK|UID|GID|SIZE|MTIME|TARGET|XXH64
 * TARGET: of a symbolic link, or a device's MAJOR,MINOR. What cannot be read is named on standard
 * error; then the exit status is 1. */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xxhash.h>

#include "disc/disc.h"
#include "unit/memory_sectors.h"

struct file {
    char *path;
    char *facts; /* what follows the path */
};

struct dump {
    struct disc *disc;
    struct file *files;
    size_t n, room;
    int status;
};

static _Noreturn void give_up(const char *what)
{
    (void)fprintf(stderr, "disc-dump: %s\n", what);
    exit(2);
}

static void add(struct dump *dump, char *path, char *facts)
{
    if (!path || !facts)
        give_up("no memory");
    if (dump->n == dump->room) {
        dump->room = dump->room ? 2 * dump->room : 256;
        dump->files = realloc(dump->files, dump->room * sizeof(*dump->files));
        if (!dump->files)
            give_up("no memory");
    }
    dump->files[dump->n++] = (struct file){path, facts};
}

static char type_letter(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return 'f';
    case S_IFDIR:
        return 'd';
    case S_IFLNK:
        return 'l';
    case S_IFCHR:
        return 'c';
    case S_IFBLK:
        return 'b';
    case S_IFIFO:
        return 'p';
    default:
        return 's';
    }
}

/* Only regular files have a size that all readers agree on. */
static char *facts_of(const struct entry *entry, uint64_t hash)
{
    char hash_text[17] = "", target[DISC_TARGET_MAX] = "", *facts;

    if (S_ISREG(entry->mode))
        (void)snprintf(hash_text, sizeof(hash_text), "%016" PRIx64, hash);
    if (S_ISCHR(entry->mode) || S_ISBLK(entry->mode))
        (void)snprintf(target, sizeof(target), "%u,%u", major(entry->rdev), minor(entry->rdev));
    else if (entry->link_target)
        (void)snprintf(target, sizeof(target), "%s", entry->link_target);
    if (asprintf(&facts, "%c|%04o|%" PRIu64 "|%u|%u|%" PRIu64 "|%lld.%09ld|%s|%s",
            type_letter(entry->mode), entry->mode & 07777, entry->nlink, entry->uid, entry->gid,
            S_ISREG(entry->mode) ? entry->size : 0, (long long)entry->mtime.tv_sec,
            entry->mtime.tv_nsec, target, hash_text) < 0)
        give_up("no memory");
    return facts;
}

static void complain(struct dump *dump, const char *path, int error, const struct disc_fault *fault)
{
    (void)fprintf(stderr, "disc-dump: %s: %s: %s (sector %" PRIu64 ")\n", path, strerror(-error),
        fault->what ? fault->what : "?", fault->sector);
    dump->status = 1;
}

static uint64_t hash_content(struct dump *dump, uint64_t node, const char *path)
{
    static char buffer[1 << 20];
    XXH64_state_t *state = XXH64_createState();
    struct disc_fault fault = {0};
    uint64_t at = 0;
    ssize_t r;

    if (!state)
        give_up("no memory");
    (void)XXH64_reset(state, 0);
    while ((r = dump->disc->ops->read(dump->disc, node, buffer, sizeof(buffer), at, &fault)) > 0) {
        (void)XXH64_update(state, buffer, (size_t)r);
        at += (uint64_t)r;
    }
    if (r < 0)
        complain(dump, path, (int)r, &fault);
    uint64_t hash = XXH64_digest(state);
    (void)XXH64_freeState(state);
    return hash;
}

/* A directory, and those above it. */
struct level {
    struct dump *dump;
    const struct level *above;
    uint64_t node;
    const char *path;
};

static void walk(const struct level *level);

static int visit(void *context, const char *name, uint64_t node, unsigned char type)
{
    const struct level *level = context;
    struct dump *dump = level->dump;
    char target[DISC_TARGET_MAX], *path;
    struct entry entry;
    struct disc_fault fault = {0};
    uint64_t found = 0;

    if (asprintf(&path, "%s%s%s", level->path, *level->path ? "/" : "", name) < 0)
        give_up("no memory");
    int r = dump->disc->ops->look(dump->disc, node, target, &entry, &fault);
    if (r < 0) {
        complain(dump, path, r, &fault);
        free(path);
        return 0;
    }
    if (type != DT_UNKNOWN && type != IFTODT(entry.mode)) {
        fault.what = "listed as of another type";
        complain(dump, path, -EINVAL, &fault);
    }
    if (dump->disc->ops->find(dump->disc, level->node, name, &found, &fault) < 0 || found != node) {
        fault.what = "not found by its name";
        complain(dump, path, -EINVAL, &fault);
    }
    add(dump, path, facts_of(&entry, S_ISREG(entry.mode) ? hash_content(dump, node, path) : 0));
    if (!S_ISDIR(entry.mode))
        return 0;
    for (const struct level *above = level; above; above = above->above)
        if (above->node == node) {
            fault.what = "directory that holds itself";
            complain(dump, path, -ELOOP, &fault);
            return 0;
        }
    walk(&(struct level){dump, level, node, path});
    return 0;
}

static void walk(const struct level *level)
{
    struct disc *disc = level->dump->disc;
    struct disc_fault fault = {0};
    int r = disc->ops->list(disc, level->node, visit, (void *)level, &fault);

    if (r < 0)
        complain(level->dump, level->path, r, &fault);
}

static void dump_disc(struct dump *dump, const char *image, enum disc_names names)
{
    struct disc_options options = {.names = names};
    struct disc_fault fault = {0};
    int fd = open(image, O_RDONLY | O_CLOEXEC), r;
    struct sectors *sectors = fd < 0 ? NULL : file_sectors_new(fd);

    if (!sectors)
        give_up("cannot open the image");
    r = disc_open(sectors, &options, &dump->disc, &fault);
    if (r < 0) {
        complain(dump, image, r, &fault);
        sectors->ops->free(sectors);
        return;
    }
    walk(&(struct level){dump, NULL, dump->disc->root, ""});
    dump->disc->ops->free(dump->disc);
}

static uint64_t hash_archived(struct archive *archive)
{
    XXH64_state_t *state = XXH64_createState();
    static char buffer[1 << 20];
    la_ssize_t r;

    if (!state)
        give_up("no memory");
    (void)XXH64_reset(state, 0);
    while ((r = archive_read_data(archive, buffer, sizeof(buffer))) > 0)
        (void)XXH64_update(state, buffer, (size_t)r);
    if (r < 0)
        give_up(archive_error_string(archive));
    uint64_t hash = XXH64_digest(state);
    (void)XXH64_freeState(state);
    return hash;
}

static const char *facts_at(const struct dump *dump, const char *path)
{
    for (size_t i = 0; i < dump->n; i++)
        if (!strcmp(dump->files[i].path, path))
            return dump->files[i].facts;
    give_up("hard link to what was not there");
}

static char *archived_facts(struct archive *archive, struct archive_entry *from)
{
    const struct entry entry = {
        .mode = archive_entry_mode(from),
        .uid = (uid_t)archive_entry_uid(from),
        .gid = (gid_t)archive_entry_gid(from),
        .nlink = archive_entry_nlink(from),
        .rdev = archive_entry_rdev(from),
        .size = (uint64_t)archive_entry_size(from),
        .mtime = {archive_entry_mtime(from), archive_entry_mtime_nsec(from)},
        .link_target = archive_entry_symlink(from),
    };

    return facts_of(&entry, S_ISREG(entry.mode) ? hash_archived(archive) : 0);
}

static void dump_by_libarchive(struct dump *dump, const char *image, enum disc_names names)
{
    struct archive *archive = archive_read_new();
    const char *options = names == DISC_NAMES_JOLIET  ? "iso9660:!rockridge"
                          : names == DISC_NAMES_PLAIN ? "iso9660:!rockridge,iso9660:!joliet"
                                                      : "iso9660:rockridge";
    struct archive_entry *entry;
    int r;

    if (!archive || archive_read_support_format_iso9660(archive) != ARCHIVE_OK ||
        archive_read_set_options(archive, options) != ARCHIVE_OK ||
        archive_read_open_filename(archive, image, 65536) != ARCHIVE_OK)
        give_up("libarchive cannot open the image");
    while ((r = archive_read_next_header(archive, &entry)) >= ARCHIVE_WARN && r != ARCHIVE_EOF) {
        const char *path = archive_entry_pathname(entry), *link = archive_entry_hardlink(entry);
        if (!strcmp(path, "."))
            continue;
        add(dump, strdup(path),
            link ? strdup(facts_at(dump, link)) : archived_facts(archive, entry));
    }
    if (r != ARCHIVE_EOF)
        give_up(archive_error_string(archive));
    (void)archive_read_free(archive);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"auto", "rock-ridge", "joliet", "plain"};
    struct dump dump = {0};
    unsigned chosen = 0;
    bool libarchive = false;

    for (int i = 1; i < argc - 1; i++) {
        if (!strcmp(argv[i], "--libarchive")) {
            libarchive = true;
            continue;
        }
        for (chosen = 0; chosen < 4; chosen++)
            if (!strncmp(argv[i], "--names=", 8) && !strcmp(argv[i] + 8, names[chosen]))
                break;
        if (chosen == 4)
            give_up("no such option");
    }
    if (argc < 2)
        give_up("an image is needed");
    (void)setlocale(LC_ALL, "C.UTF-8"); /* libarchive's names are in it */
    if (libarchive)
        dump_by_libarchive(&dump, argv[argc - 1], (enum disc_names)chosen);
    else
        dump_disc(&dump, argv[argc - 1], (enum disc_names)chosen);
    if (dump.n > 0)
        qsort(dump.files, dump.n, sizeof(*dump.files), compare);
    for (size_t i = 0; i < dump.n; i++) {
        (void)printf("%s|%s\n", dump.files[i].path, dump.files[i].facts);
        free(dump.files[i].path);
        free(dump.files[i].facts);
    }
    free(dump.files);
    return fflush(stdout) == 0 ? dump.status : 2;
}
