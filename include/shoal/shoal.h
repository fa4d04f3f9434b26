/* libshoal: copies and compares trees of files, whole and fast.
 *
 * Every call returns 0 or a negative errno for what stopped it as a whole; what could not be done
 * for one file goes to the event callback and is counted in the summary, and the rest goes on. The
 * library prints nothing, never exits, and leaves the process's umask and directory alone. Its
 * threads end before a call returns. Callbacks come from any of those threads, one at a time. */
#ifndef SHOAL_SHOAL_H
#define SHOAL_SHOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_PUBLIC __attribute__((visibility("default")))

/* What of a file's metadata is kept: bits of shoal_options.preserve and .insist. */
enum {
    SHOAL_KEEP_MODE = 1 << 0,  /* permission bits, and POSIX ACLs */
    SHOAL_KEEP_OWNER = 1 << 1, /* user and group */
    SHOAL_KEEP_TIMES = 1 << 2, /* access and modification time, in nanoseconds */
    SHOAL_KEEP_LINKS = 1 << 3, /* names of one inode stay names of one inode, within one run */
    SHOAL_KEEP_XATTR = 1 << 4, /* extended attributes, and capabilities */
    SHOAL_KEEP_ALL = (1 << 5) - 1,
};

/* A file that already stands where one is to go. */
enum shoal_existing {
    SHOAL_EXISTING_REPLACE, /* it stands until the new one is whole, then the new one takes its name
                             */
    SHOAL_EXISTING_KEEP,    /* left alone */
    SHOAL_EXISTING_REFUSE,  /* left alone, and a fault: EEXIST */
    SHOAL_EXISTING_IF_OLDER,  /* replaced if its mtime is before the source's */
    SHOAL_EXISTING_IF_UNLIKE, /* replaced if its size or mtime is not the source's: goes on after a
                                 cut */
};

enum shoal_follow {
    SHOAL_FOLLOW_NEVER,    /* a symbolic link is copied as one */
    SHOAL_FOLLOW_ARGUMENT, /* those given as FROM are followed */
    SHOAL_FOLLOW_ALWAYS,
};

enum shoal_when {
    SHOAL_AUTO,
    SHOAL_ALWAYS,
    SHOAL_NEVER,
};

/* How TO is understood, as in cp. */
enum shoal_target {
    SHOAL_TARGET_AUTO,      /* an existing directory: into it; else the new name */
    SHOAL_TARGET_DIRECTORY, /* -t: a directory to copy into; it must exist */
    SHOAL_TARGET_NAME, /* -T: the new name itself, even if a directory stands there (merged into) */
};

/* What went wrong with one file, by what it means to the person who owns it. */
enum shoal_fault {
    SHOAL_FAULT_CONTENT,  /* the file (or directory) is missing from the copy */
    SHOAL_FAULT_METADATA, /* it is there, but something of its metadata that was insisted on is not
                           */
    SHOAL_FAULT_CHANGED,  /* it is there, but the source changed while it was copied */
    SHOAL_FAULT_KINDS,
};

enum shoal_event_type {
    SHOAL_EVENT_COPIED,     /* `path` was made at `target` (only if options.want_copied) */
    SHOAL_EVENT_FAULT,      /* see `fault`, `operation`, `error` */
    SHOAL_EVENT_NOTE,       /* nothing is wrong, but worth saying: see `operation` */
    SHOAL_EVENT_DIFFERENCE, /* verify: `operation` says what differs */
};

struct shoal_event {
    enum shoal_event_type type;
    enum shoal_fault fault;
    const char *operation; /* a phrase in English: "open", "create directory", "content differs" */
    const char *path;      /* bytes; as reached from FROM (or from TO, where it concerns TO) */
    const char *target;    /* the name at TO, or NULL */
    int error;             /* a positive errno, or 0 */
    const char *damage;    /* what is wrong with the disc that was read, in English; or NULL */
    uint64_t sector;       /* and where: of 2,048 bytes, from its start */
};

struct shoal_progress {
    uint64_t files, bytes, elapsed_ns;
    double fraction; /* 0…1: share of the tree that is done, by the shape seen so far; 1 only at the
                        end */
    unsigned workers;
    const char *bound; /* what the workers are found at: "source", "cpu", "destination", "limit" */
};

/* The form of an archive that is written. */
enum shoal_format {
    SHOAL_FORMAT_PAX, /* tar with pax headers where ustar cannot hold something: keeps everything */
    SHOAL_FORMAT_GNU, /* GNU tar's own: long names and large numbers; neither xattrs nor nanoseconds
                       */
    SHOAL_FORMAT_USTAR,
    SHOAL_FORMAT_CPIO, /* "newc" */
};

enum shoal_compression {
    SHOAL_COMPRESSION_NONE,
    SHOAL_COMPRESSION_GZIP,
    SHOAL_COMPRESSION_BZIP2,
    SHOAL_COMPRESSION_XZ,
    SHOAL_COMPRESSION_ZSTD,
    SHOAL_COMPRESSION_LZ4,
};

/* An entry as it is listed, read from an archive or written to one. Strings are bytes, valid during
 * the callback; those an entry does not have are NULL. */
struct shoal_entry {
    const char *path;        /* as in the archive; a directory's may end in a slash */
    const char *hard_link;   /* the earlier entry that this is another name of */
    const char *link_target; /* of a symbolic link */
    const char *user, *group;
    unsigned mode; /* as st_mode: type and permissions */
    unsigned uid, gid;
    uint64_t size; /* bytes */
    uint64_t rdev; /* of a device, as makedev() packs it */
    struct timespec mtime;
};

/* A list of rsync-like patterns and names that says which entries take part. */
struct shoal_filter;

/* Asks a running call to end soon: files in hand are finished or undone. Make it zero; the function
 * may be called from a signal handler and from any thread. */
struct shoal_stop {
    int requested;
};
SHOAL_PUBLIC void shoal_stop_request(struct shoal_stop *stop);

/* What concerns archives alone. */
struct shoal_archive_options {
    /* Writing. */
    enum shoal_when write_archive; /* shoal_copy(): the same of TO; AUTO also of "-" */
    enum shoal_format format;
    enum shoal_compression compression;
    int level;           /* of compression; 0: its own default */
    size_t record_bytes; /* the archive ends at a multiple of it, itself one of 512; 0: 10,240 */
    bool sort_names; /* each directory's names in order of their bytes: the same archive every time
                      */
    bool set_mtime, set_uid, set_gid; /* record these instead of the files' own */
    struct timespec mtime;
    unsigned uid, gid;
    const char *user, *group; /* names to go with them, or NULL */
    bool no_recursion;        /* of a directory only itself */

    /* Reading. */
    enum shoal_when
        read_archives; /* a FROM that is a file is an archive if its name says so, always, never */
    bool ignore_zeros; /* a tar's end may be followed by another tar */
    bool mask_modes;   /* permissions are what the umask leaves of them, without
                          set-ID and sticky bits */
    bool devices;      /* device nodes are made, where the user may */
    unsigned strip_components; /* leave out this many leading components of each path */
    const char *top; /* then put each path below this one, unless it lies there already; NULL: not
                      */
    bool to_fd; /* regular files' content goes to content_fd in the archive's order; nothing is made
                 */
    int content_fd;
    const char *part; /* only what lies at or below this path, which becomes the top; NULL: all */

    /* Both. */
    bool numeric_owner;  /* owners by number, not by name */
    bool absolute_names; /* reading: a leading slash is obeyed; writing: recorded (tar's -P) */
    bool leave_acls;     /* access control lists are neither recorded nor restored, whatever
                            SHOAL_KEEP_MODE says */
    /* Asked of every entry's path as in the archive, from any thread; false: it takes no part, nor
     * does what a directory holds where one is read from disk. */
    bool (*select)(void *context, const char *path, bool is_directory);
    /* Told of every entry that takes part, in the archive's order, before what it holds is moved.
     */
    void (*on_entry)(void *context, const struct shoal_entry *entry);
};

/* Whether a FROM is a disc, and how its sectors are found. The last three insist on both. */
enum shoal_disc_format {
    SHOAL_DISC_AUTO, /* a FROM is a disc if its name says so */
    SHOAL_DISC_NEVER,
    SHOAL_DISC_ALWAYS, /* a FROM that is a file or a block device is one */
    SHOAL_DISC_2048,   /* 2,048 bytes each, nothing between them */
    SHOAL_DISC_2352,   /* raw: mode 1, or mode 2 form 1 */
    SHOAL_DISC_CUE,    /* FROM is a CUE sheet */
};

/* Which names of an ISO 9660 disc are used. */
enum shoal_disc_names {
    SHOAL_DISC_NAMES_AUTO, /* Rock Ridge where there is some, else Joliet, else plain */
    SHOAL_DISC_NAMES_ROCK_RIDGE,
    SHOAL_DISC_NAMES_JOLIET,
    SHOAL_DISC_NAMES_PLAIN,
};

/* What concerns discs alone. */
struct shoal_disc_options {
    enum shoal_disc_format format;
    enum shoal_disc_names names;
    const char *drive; /* read at the pace of an emulated drive, "32X"; NULL: at once */
    double time_scale; /* how many times as fast the drive's world runs; 0: once */
};

struct shoal_options {
    unsigned preserve; /* SHOAL_KEEP_* */
    unsigned insist;   /* those of them whose loss is a fault */
    enum shoal_existing existing;
    enum shoal_follow follow;
    enum shoal_target target;
    enum shoal_when sparse;  /* ALWAYS: make holes of zero blocks; NEVER: write them out */
    enum shoal_when reflink; /* ALWAYS: a file that cannot be cloned is a fault */
    bool one_file_system;
    bool dry_run; /* everything is looked at, nothing is touched */
    bool sync;    /* durable before the call returns */
    bool verify;  /* read back from the disk and compare with a hash taken while copying */
    bool want_copied;
    unsigned jobs;                     /* workers, at most 256; 0: as many as help */
    uint64_t limit_bytes_second;       /* 0: none */
    const struct shoal_filter *filter; /* NULL: everything takes part */
    struct shoal_stop *stop;           /* NULL: runs to its end */
    void (*on_event)(void *context, const struct shoal_event *event);
    void (*on_progress)(void *context, const struct shoal_progress *progress);
    unsigned progress_interval_ms; /* how often; 0: 100 */
    void *context;
    struct shoal_archive_options archive;
    struct shoal_disc_options disc;
};

/* cp -a's choices: everything preserved, nothing insisted on, replace, follow never. */
#define SHOAL_OPTIONS_INIT                                                                         \
    {                                                                                              \
        .preserve = SHOAL_KEEP_ALL                                                                 \
    }

/* Something of the metadata that the file system or the user could not keep, counted by kind. */
struct shoal_loss {
    const char *what; /* "owner", "mode", "times", "xattr user.*", … */
    uint64_t files;
    int error; /* of the first one, a positive errno */
};

#define SHOAL_LOSSES_MAX 16

struct shoal_summary {
    uint64_t files, directories, symlinks, specials, hard_links; /* made */
    uint64_t bytes;                                              /* of content, of the files made */
    uint64_t kept;    /* left alone because of options.existing */
    uint64_t sockets; /* skipped: a socket's name means nothing without its process */
    uint64_t faults[SHOAL_FAULT_KINDS];
    uint64_t differences; /* verify */
    struct shoal_loss losses[SHOAL_LOSSES_MAX];
    size_t n_losses;
    uint64_t elapsed_ns;
    unsigned workers; /* the most that ran at once */
    bool stopped;     /* asked to, or the destination is full */
};

/* Copies each FROM to TO. -EINVAL: the options contradict each other; -EOPNOTSUPP: they are for
 * trees, and TO is an archive (verify, dry_run, reflink ALWAYS). */
SHOAL_PUBLIC int shoal_copy(const char *const *from, size_t n_from, const char *to,
    const struct shoal_options *options, struct shoal_summary *ret_summary);

/* Compares FROM with TO itself (as with -T): content and all metadata that options.preserve names.
 * Each difference is an event; entries only at TO are differences too. */
SHOAL_PUBLIC int shoal_verify(const char *from, const char *to, const struct shoal_options *options,
    struct shoal_summary *ret_summary);

/* A name to be packed: `path`, looked up in `directory` (NULL: the current one), is recorded as it
 * is given, as tar does: less a leading slash and whatever comes before a "..", which is noted. */
struct shoal_name {
    const char *directory, *path;
};

/* Writes the trees of these names to an archive. The descriptor is the caller's. -EINVAL: the
 * options contradict each other. */
SHOAL_PUBLIC int shoal_pack(const struct shoal_name *names, size_t n_names, int fd,
    const struct shoal_options *options, struct shoal_summary *ret_summary);

/* Unpacks the archive that a descriptor (the caller's) yields into the directory `to`, which must
 * exist. `name` is the archive's in messages; NULL: they have its members' paths alone. -EILSEQ: it
 * is no archive that is known. What would land outside `to` is a fault and is not made. */
SHOAL_PUBLIC int shoal_unpack(int fd, const char *name, const char *to,
    const struct shoal_options *options, struct shoal_summary *ret_summary);

/* Tells options.archive.on_entry of each entry of FROM, which is as for shoal_copy(). Damage is a
 * fault. -EILSEQ: it is no archive that is known. */
SHOAL_PUBLIC int shoal_list(
    const char *from, const struct shoal_options *options, struct shoal_summary *ret_summary);

/* The same of the archive that a descriptor yields, as shoal_unpack() takes it. */
SHOAL_PUBLIC int shoal_list_stream(int fd, const char *name, const struct shoal_options *options,
    struct shoal_summary *ret_summary);

/* Filters. Rules are tried in the order they were added and the first that matches decides; what no
 * rule matches takes part. Names are matched below FROM: "/a" is a at its top.
 * The pattern language is rsync's: see shoal-copy(1). -ENOMEM, or -EINVAL for a malformed pattern.
 */
SHOAL_PUBLIC int shoal_filter_new(struct shoal_filter **ret);
SHOAL_PUBLIC void shoal_filter_free(struct shoal_filter *filter);
SHOAL_PUBLIC int shoal_filter_add(struct shoal_filter *filter, const char *pattern, bool include);
/* Restricts the filter to listed names (relative to FROM) and the directories above them; a listed
 * directory comes without its contents unless those are listed too, as with rsync's --files-from.
 */
SHOAL_PUBLIC int shoal_filter_add_name(struct shoal_filter *filter, const char *name);

#ifdef __cplusplus
}
#endif

#endif
