#include "disc/iso9660.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disc/iso9660_directory.h"
#include "disc/iso9660_names.h"
#include "disc/iso9660_rock_ridge.h"
#include "disc/iso9660_volume.h"
#include "disc/iso9660_zisofs.h"

/* Records of one file: more than any medium holds in pieces of 4 GiB. */
#define SECTIONS_MOST 4096

/* Modes where the disc says none: all may read. */
#define MODE_FILE      (S_IFREG | 0444)
#define MODE_DIRECTORY (S_IFDIR | 0555)

/* What tells the inode numbers of files with several names from node numbers. */
#define SHARED_INODE ((uint64_t)1 << 62)

/* A part of a file's content, from some offset in it on. */
struct section {
    uint64_t at, bytes;
};

static struct iso9660 *iso_of(struct disc *disc)
{
    return (struct iso9660 *)disc;
}

/* The number of the file whose record is at an offset, or of the directory that begins there. */
static uint64_t node_of(uint64_t at, bool is_directory)
{
    return at << 1 | is_directory;
}

static uint64_t node_at(uint64_t node)
{
    return node >> 1;
}

static bool node_is_directory(uint64_t node)
{
    return node & 1;
}

/* What a record says of its file, whatever it says it by. */
struct facts {
    struct rock_ridge rock_ridge; /* zero where there is none */
    mode_t mode;
    char name[ISO9660_NAME_ROOM]; /* "" of a directory's record of itself */
};

static bool type_is_known(mode_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
           S_ISFIFO(mode) || S_ISSOCK(mode);
}

static int read_name(struct iso9660 *iso, const struct iso9660_record *record, struct facts *facts,
    struct disc_fault *fault)
{
    const struct rock_ridge *rock_ridge = &facts->rock_ridge;
    int r;

    facts->name[0] = '\0';
    if (record->is_self)
        return 0;
    if (rock_ridge->name_length > 0) {
        memcpy(facts->name, rock_ridge->name, rock_ridge->name_length + 1);
        r = iso9660_name_is_good(facts->name, rock_ridge->name_length) ? 0 : -EUCLEAN;
    } else if (iso->names == DISC_NAMES_JOLIET) {
        r = iso9660_joliet_name(record->name, record->name_length, facts->name);
    } else {
        r = iso9660_plain_name(record->name, record->name_length, facts->name);
    }
    return r < 0 ? disc_fault_note(fault, r, "name that no file can have", record->at) : 0;
}

static int read_facts(struct iso9660 *iso, const struct iso9660_record *record, char *target,
    struct facts *facts, struct disc_fault *fault)
{
    struct rock_ridge *rock_ridge = &facts->rock_ridge;
    int r = 0;

    if (iso->names == DISC_NAMES_ROCK_RIDGE)
        r = rock_ridge_read(iso, record, target, rock_ridge, fault);
    else
        memset(rock_ridge, 0, sizeof(*rock_ridge));
    if (r == 0)
        r = read_name(iso, record, facts, fault);
    if (r < 0)
        return r;
    bool is_directory = record->is_directory || rock_ridge->has_child;
    facts->mode = is_directory ? MODE_DIRECTORY : MODE_FILE;
    if (rock_ridge->has_mode)
        facts->mode = rock_ridge->mode & (S_IFMT | 07777);
    /* A record that leads to a relocated directory may say what it says of a file. */
    if (rock_ridge->has_child)
        facts->mode = (facts->mode & 07777) | S_IFDIR;
    if (!type_is_known(facts->mode) || S_ISDIR(facts->mode) != is_directory)
        return disc_fault_note(
            fault, -EUCLEAN, "mode that contradicts the directory record", record->at);
    return 0;
}

/* A record that follows another is in its sector or begins the next. */
static uint64_t next_sectors_end(uint64_t at)
{
    return (at / SECTOR_BYTES + 2) * SECTOR_BYTES;
}

/* The record at a node. */
static int read_record(struct iso9660 *iso, struct iso9660_cursor *cursor, uint64_t node,
    struct iso9660_record *ret, struct disc_fault *fault)
{
    uint64_t at = node_at(node);
    bool is_directory = node_is_directory(node);

    iso9660_cursor_start(cursor, iso, at, next_sectors_end(at));
    int r = iso9660_next_record(cursor, ret, fault);
    if (r < 0)
        return r;
    if (r == 0 || ret->at != at)
        return disc_fault_note(fault, -EUCLEAN, "no directory record", at);
    if (is_directory && !(ret->is_self && ret->is_directory && ret->data_at == at))
        return disc_fault_note(fault, -EUCLEAN, "directory that does not begin with itself", at);
    if (!is_directory && (ret->is_self || ret->is_parent || ret->is_directory))
        return disc_fault_note(fault, -EUCLEAN, "no record of a file", at);
    return 0;
}

/* Walks the sections of a file, from its first record on. 0, and the record is the next section's.
 */
static int next_section(struct iso9660_cursor *cursor, const unsigned char *name,
    unsigned name_length, struct iso9660_record *record, struct disc_fault *fault)
{
    uint64_t at = record->at;
    int r;

    cursor->end = next_sectors_end(at);
    do {
        r = iso9660_next_record(cursor, record, fault);
    } while (r > 0 && record->is_associated);
    if (r < 0)
        return r;
    if (r == 0 || !iso9660_record_has_name(record, name, name_length) || record->is_directory)
        return disc_fault_note(fault, -EUCLEAN, "file without its last section", at);
    if (record->is_interleaved)
        return disc_fault_note(fault, -EOPNOTSUPP, "interleaved file", at);
    return 0;
}

/* The section of a file that holds `offset`; past its end, the last, which is empty then.
 * `ret_size` (may be NULL) takes the size of all. */
static int find_section(struct iso9660_cursor *cursor, struct iso9660_record *record,
    uint64_t offset, struct section *ret, uint64_t *ret_size, struct disc_fault *fault)
{
    unsigned char name[256];
    unsigned name_length = record->name_length;
    struct section found = {0};
    uint64_t before = 0;
    bool is_found = false;

    memcpy(name, record->name, name_length);
    for (unsigned n = 1;; n++) {
        if (!is_found && offset - before < record->bytes) {
            found.at = record->data_at + (offset - before);
            found.bytes = record->bytes - (offset - before);
            is_found = true;
            if (!ret_size)
                break;
        }
        before += record->bytes;
        if (!record->goes_on)
            break;
        if (n == SECTIONS_MOST)
            return disc_fault_note(fault, -EUCLEAN, "file of too many sections", record->at);
        int r = next_section(cursor, name, name_length, record, fault);
        if (r < 0)
            return r;
    }
    *ret = found;
    if (ret_size)
        *ret_size = before;
    return 0;
}

/* The same number for all names of one file: those that share its content. Without content there is
 * nothing to tell it by. */
static uint64_t inode_of(const struct iso9660_record *record, const struct rock_ridge *rock_ridge)
{
    if (rock_ridge->nlink < 2 || record->bytes == 0 || !S_ISREG(rock_ridge->mode))
        return node_of(record->at, record->is_self);
    return SHARED_INODE | (uint64_t)(rock_ridge->serial & 0x3fffffff) << 32 | record->block;
}

static void fill_times(
    struct entry *entry, const struct iso9660_record *record, const struct rock_ridge *rock_ridge)
{
    struct timespec date = {.tv_sec = iso9660_date(record->date)};

    entry->mtime = rock_ridge->has_mtime ? rock_ridge->mtime : date;
    entry->atime = rock_ridge->has_atime ? rock_ridge->atime : entry->mtime;
    entry->ctime = rock_ridge->has_ctime ? rock_ridge->ctime : entry->mtime;
}

/* The number that system calls take for no change of the owner can be none. */
static uint32_t owner(uint32_t id)
{
    return id == UINT32_MAX ? 65534 : id;
}

static void fill_entry(
    struct entry *entry, const struct iso9660_record *record, const struct facts *facts)
{
    const struct rock_ridge *rock_ridge = &facts->rock_ridge;

    *entry = (struct entry){
        .mode = facts->mode,
        .uid = owner(rock_ridge->uid),
        .gid = owner(rock_ridge->gid),
        .nlink = rock_ridge->nlink ? rock_ridge->nlink : 1,
        .dev = 1,
        .ino = inode_of(record, rock_ridge),
        .rdev = S_ISCHR(facts->mode) || S_ISBLK(facts->mode) ? rock_ridge->rdev : 0,
    };
    fill_times(entry, record, rock_ridge);
}

/* Content's size, by all records of a file. */
static int measure(struct iso9660_cursor *cursor, struct iso9660_record *record,
    const struct rock_ridge *rock_ridge, struct entry *entry, struct disc_fault *fault)
{
    struct section section;
    int r = find_section(cursor, record, 0, &section, &entry->allocated, fault);

    if (r < 0)
        return r;
    entry->size = rock_ridge->is_compressed ? rock_ridge->uncompressed_bytes : entry->allocated;
    /* What is compressed has no holes: whoever asks whether less is stored means those. */
    entry->allocated = entry->size;
    return 0;
}

static int iso9660_look(
    struct disc *disc, uint64_t node, char *target, struct entry *ret, struct disc_fault *fault)
{
    struct iso9660_cursor cursor;
    struct iso9660_record record;
    struct facts facts;
    struct entry entry;
    int r = read_record(iso_of(disc), &cursor, node, &record, fault);

    target[0] = '\0';
    if (r == 0)
        r = read_facts(iso_of(disc), &record, target, &facts, fault);
    if (r < 0)
        return r;
    fill_entry(&entry, &record, &facts);
    if (S_ISREG(entry.mode)) {
        r = measure(&cursor, &record, &facts.rock_ridge, &entry, fault);
    } else if (S_ISDIR(entry.mode)) {
        entry.size = entry.allocated = record.bytes;
    } else if (S_ISLNK(entry.mode)) {
        entry.link_target = target;
        entry.size = strlen(target);
        if (entry.size == 0)
            r = disc_fault_note(fault, -EUCLEAN, "symbolic link that leads nowhere", record.at);
    } else if (S_ISCHR(entry.mode) || S_ISBLK(entry.mode)) {
        if (!facts.rock_ridge.has_device)
            r = disc_fault_note(fault, -EUCLEAN, "device without a number", record.at);
    }
    if (r == 0)
        *ret = entry;
    return r;
}

/* A listing under way. */
struct listing {
    struct iso9660 *iso;
    bool is_root;
    bool goes_on; /* the record before was of a file with further sections */
    unsigned char name[256];
    unsigned name_length; /* of that record */
    int error;            /* the first one */
};

/* Whether a record is another section of the file before it. */
static bool is_further_section(struct listing *listing, const struct iso9660_record *record)
{
    bool further =
        listing->goes_on && iso9660_record_has_name(record, listing->name, listing->name_length);

    listing->goes_on = record->goes_on;
    listing->name_length = record->name_length;
    memcpy(listing->name, record->name, record->name_length);
    return further;
}

static int list_records(struct iso9660 *iso, uint64_t node, disc_name_taker each, void *context,
    struct disc_fault *fault);

static int found_a_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    (void)context;
    (void)name;
    (void)node;
    (void)type;
    return 1;
}

/* Whether a directory is there only to hold relocated ones. */
static bool holds_relocated_only(struct iso9660 *iso, uint64_t node)
{
    struct iso9660_cursor cursor;
    struct iso9660_record record;
    struct rock_ridge rock_ridge;
    struct disc_fault fault = {0};
    bool relocated = false;

    if (list_records(iso, node, found_a_name, NULL, &fault) != 0 ||
        read_record(iso, &cursor, node, &record, &fault) != 0)
        return false;
    iso9660_cursor_start(&cursor, iso, record.at, record.at + record.bytes);
    while (iso9660_next_record(&cursor, &record, &fault) > 0)
        if (!record.is_self && !record.is_parent &&
            rock_ridge_read(iso, &record, NULL, &rock_ridge, &fault) == 0)
            relocated |= rock_ridge.is_relocated;
    return relocated;
}

static bool is_place_of_relocated(
    const struct listing *listing, const struct iso9660_record *record, const char *name)
{
    return listing->is_root && listing->iso->names == DISC_NAMES_ROCK_RIDGE &&
           record->is_directory && (!strcmp(name, "rr_moved") || !strcmp(name, ".rr_moved")) &&
           holds_relocated_only(listing->iso, node_of(record->data_at, true));
}

static int list_record(struct listing *listing, const struct iso9660_record *record,
    disc_name_taker each, void *context, struct disc_fault *fault)
{
    struct iso9660 *iso = listing->iso;
    struct facts facts;
    uint64_t node = node_of(record->at, false);

    if (record->is_self || record->is_parent || record->is_associated ||
        is_further_section(listing, record))
        return 0;
    int r = read_facts(iso, record, NULL, &facts, fault);
    if (r < 0) {
        listing->error = listing->error ? listing->error : r;
        return 0;
    }
    if (facts.rock_ridge.is_relocated || is_place_of_relocated(listing, record, facts.name))
        return 0;
    if (facts.rock_ridge.has_child)
        node = node_of(iso9660_block_at(iso, facts.rock_ridge.child), true);
    else if (record->is_directory)
        node = node_of(record->data_at, true);
    return each(context, facts.name, node, IFTODT(facts.mode));
}

/* All names of a directory; then the first error there was. */
static int list_records(struct iso9660 *iso, uint64_t node, disc_name_taker each, void *context,
    struct disc_fault *fault)
{
    struct listing listing = {.iso = iso, .is_root = node == iso->disc.root};
    struct iso9660_cursor cursor;
    struct iso9660_record record;
    if (!node_is_directory(node))
        return -ENOTDIR;
    int r = read_record(iso, &cursor, node, &record, fault);
    if (r < 0)
        return r;
    if (record.is_interleaved)
        return disc_fault_note(fault, -EOPNOTSUPP, "interleaved directory", record.at);
    iso9660_cursor_start(&cursor, iso, record.at, record.at + record.bytes);
    while ((r = iso9660_next_record(&cursor, &record, fault)) != 0) {
        if (r < 0) {
            listing.error = listing.error ? listing.error : r;
            continue;
        }
        r = list_record(&listing, &record, each, context, fault);
        if (r != 0)
            return r;
    }
    return listing.error;
}

static int iso9660_list(
    struct disc *disc, uint64_t node, disc_name_taker each, void *context, struct disc_fault *fault)
{
    return list_records(iso_of(disc), node, each, context, fault);
}

struct wanted {
    const char *name;
    uint64_t node;
};

static int compare_name(void *context, const char *name, uint64_t node, unsigned char type)
{
    struct wanted *wanted = context;

    (void)type;
    if (strcmp(name, wanted->name) != 0)
        return 0;
    wanted->node = node;
    return 1;
}

static int iso9660_find(struct disc *disc, uint64_t directory, const char *name, uint64_t *ret,
    struct disc_fault *fault)
{
    struct wanted wanted = {.name = name};
    struct disc_fault others = {0};
    int r = list_records(iso_of(disc), directory, compare_name, &wanted, &others);

    if (r == 1) {
        *ret = wanted.node;
        return 0;
    }
    if (r < 0 && others.what)
        *fault = others;
    return r < 0 ? r : -ENOENT;
}

/* The content of a regular file at an offset: 1 and where it lies, or 0 past its end. What is
 * compressed, as `ret_rock_ridge` tells, is given from its begin as it is stored. */
static int locate(struct iso9660 *iso, uint64_t node, uint64_t offset, struct section *ret,
    struct rock_ridge *ret_rock_ridge, struct disc_fault *fault)
{
    struct iso9660_cursor cursor;
    struct iso9660_record record;
    struct facts facts;
    uint64_t there = iso->disc.sectors->bytes;
    int r = read_record(iso, &cursor, node, &record, fault);

    if (r == 0)
        r = read_facts(iso, &record, NULL, &facts, fault);
    if (r < 0)
        return r;
    if (!S_ISREG(facts.mode))
        return S_ISDIR(facts.mode) ? -EISDIR : -EINVAL;
    if (record.is_interleaved)
        return disc_fault_note(fault, -EOPNOTSUPP, "interleaved file", record.at);
    if (facts.rock_ridge.is_sparse)
        return disc_fault_note(fault, -EOPNOTSUPP, "sparse file (SF)", record.at);
    if (facts.rock_ridge.is_compressed)
        offset = 0;
    r = find_section(&cursor, &record, offset, ret, NULL, fault);
    if (r < 0)
        return r;
    *ret_rock_ridge = facts.rock_ridge;
    if (ret->bytes == 0)
        return 0;
    if (ret->at >= there)
        return disc_fault_note(fault, -EUCLEAN, "extent past the end of the image", ret->at);
    if (ret->bytes > there - ret->at)
        ret->bytes = there - ret->at;
    return 1;
}

static ssize_t read_content(struct iso9660 *iso, const struct section *section, void *buffer,
    size_t n, struct disc_fault *fault)
{
    struct sectors *sectors = iso->disc.sectors;
    uint64_t bad = section->at / SECTOR_BYTES;

    if (n > section->bytes)
        n = (size_t)section->bytes;
    ssize_t got = sectors->ops->read(sectors, buffer, n, section->at, &bad);
    /* What precedes a bad sector is given; it is met again by the next call. */
    if (got < 0 && bad > section->at / SECTOR_BYTES && bad * SECTOR_BYTES - section->at < n) {
        n = (size_t)(bad * SECTOR_BYTES - section->at);
        got = sectors->ops->read(sectors, buffer, n, section->at, &bad);
    }
    if (got < 0)
        return disc_fault_note(fault, (int)got, "unreadable sector", bad * SECTOR_BYTES);
    if (got == 0 && n > 0)
        return disc_fault_note(fault, -EUCLEAN, "extent past the end of the image", section->at);
    return got;
}

static ssize_t iso9660_read(struct disc *disc, uint64_t node, void *buffer, size_t n,
    uint64_t offset, struct disc_fault *fault)
{
    struct section section = {0};
    struct rock_ridge rock_ridge = {0};
    int r = locate(iso_of(disc), node, offset, &section, &rock_ridge, fault);

    if (r < 0)
        return r;
    if (rock_ridge.is_compressed) {
        const struct zisofs_file file = {
            .at = section.at, .bytes = section.bytes, .rock_ridge = &rock_ridge};
        return zisofs_read(disc->sectors, &file, buffer, n, offset, fault);
    }
    return r == 0 ? 0 : read_content(iso_of(disc), &section, buffer, n, fault);
}

static int iso9660_map(struct disc *disc, uint64_t node, uint64_t offset, uint64_t *ret_at,
    uint64_t *ret_length, struct disc_fault *fault)
{
    struct section section = {0};
    struct rock_ridge rock_ridge = {0};
    int r = locate(iso_of(disc), node, offset, &section, &rock_ridge, fault);

    if (r < 0)
        return r;
    if (rock_ridge.is_compressed)
        return disc_fault_note(
            fault, -EOPNOTSUPP, "compressed file, which lies nowhere", node_at(node));
    if (r == 0)
        return -ENODATA;
    *ret_at = section.at;
    *ret_length = section.bytes;
    return 0;
}

static void iso9660_free(struct disc *disc)
{
    struct iso9660 *iso = iso_of(disc);

    sector_cache_free(iso->cache);
    if (disc->sectors)
        disc->sectors->ops->free(disc->sectors);
    free(iso);
}

static const struct disc_ops iso9660_ops = {
    .look = iso9660_look,
    .list = iso9660_list,
    .find = iso9660_find,
    .read = iso9660_read,
    .map = iso9660_map,
    .free = iso9660_free,
};

/* Takes a volume's numbers and looks at its top directory. */
static int use(struct iso9660 *iso, const struct iso9660_volume *volume, enum disc_names names,
    struct disc_fault *fault)
{
    struct iso9660_cursor cursor;
    struct iso9660_record record;

    iso->names = names;
    iso->block_bytes = volume->block_bytes;
    iso->disc.root = node_of(volume->root, true);
    iso->disc.block_bytes = volume->block_bytes;
    iso->disc.blocks = iso->disc.blocks_used = volume->blocks;
    memcpy(iso->disc.label, volume->label, sizeof(iso->disc.label));
    int r = read_record(iso, &cursor, iso->disc.root, &record, fault);
    if (r == 0 && names == DISC_NAMES_ROCK_RIDGE &&
        !rock_ridge_is_there(record.system_use, record.system_use_length, &iso->rock_ridge_skip))
        return -ENODATA;
    return r;
}

/* -ENODATA: what is asked for is not there. */
static int use_if_there(struct iso9660 *iso, const struct iso9660_volume *volume,
    enum disc_names names, const char *what_lacks, struct disc_fault *fault)
{
    int r = volume->is_there ? use(iso, volume, names, fault) : -ENODATA;

    return r == -ENODATA ? disc_fault_note(fault, r, what_lacks, 16 * (uint64_t)SECTOR_BYTES) : r;
}

/* The best there is; a volume whose top directory is damaged is passed over for another. */
static int use_any(struct iso9660 *iso, const struct iso9660_volume *primary,
    const struct iso9660_volume *joliet, struct disc_fault *fault)
{
    struct disc_fault ignored = {0};
    int r = use_if_there(iso, primary, DISC_NAMES_ROCK_RIDGE, "", &ignored);

    if (r < 0 && joliet->is_there)
        r = use(iso, joliet, DISC_NAMES_JOLIET, &ignored);
    if (r < 0)
        r = use_if_there(iso, primary, DISC_NAMES_PLAIN, "no primary volume descriptor", fault);
    return r;
}

static int choose_names(struct iso9660 *iso, enum disc_names wanted,
    const struct iso9660_volume *primary, const struct iso9660_volume *joliet,
    struct disc_fault *fault)
{
    switch (wanted) {
    case DISC_NAMES_ROCK_RIDGE:
        return use_if_there(iso, primary, wanted, "no Rock Ridge on the disc", fault);
    case DISC_NAMES_JOLIET:
        return use_if_there(iso, joliet, wanted, "no Joliet on the disc", fault);
    case DISC_NAMES_PLAIN:
        return use_if_there(iso, primary, wanted, "no primary volume descriptor", fault);
    default:
        return use_any(iso, primary, joliet, fault);
    }
}

int iso9660_open(struct sectors *sectors, const struct disc_options *options, struct disc **ret,
    struct disc_fault *fault)
{
    struct iso9660_volume primary, joliet;
    int r = iso9660_volumes_find(sectors, &primary, &joliet, fault);

    if (r < 0)
        return r;
    struct iso9660 *iso = calloc(1, sizeof(*iso));
    if (!iso)
        return -ENOMEM;
    iso->disc.ops = &iso9660_ops;
    iso->disc.kind = "iso9660";
    iso->disc.sectors = sectors;
    r = sector_cache_new(sectors, &iso->cache);
    if (r == 0)
        r = choose_names(iso, options->names, &primary, &joliet, fault);
    if (r < 0) {
        iso->disc.sectors = NULL; /* stays the caller's */
        iso9660_free(&iso->disc);
        return r;
    }
    *ret = &iso->disc;
    return 0;
}
