/* What the bench measured and the report shows: every raw sample, with what was measured where.
 * Each series is one run of `shoal bench` for one workload and cache state. They are stored in a
 * SQLite database, and exchanged as JSON text (schema "shoal-results", version 4; older ones are
 * read, too). */
#ifndef SHOAL_RESULTS_RESULTS_H
#define SHOAL_RESULTS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One timed run of one method. */
struct sample {
    unsigned block;     /* the randomised block it ran in: samples of one block are pairs */
    uint64_t real_ns;   /* until the command returned */
    uint64_t synced_ns; /* until what it wrote was on the device too (syncfs) */
    uint64_t user_ns, sys_ns;
    uint64_t max_rss_kb; /* largest of its processes */
    uint64_t minor_faults, major_faults;
    uint64_t read_bytes, written_bytes; /* from and to devices, by the system's accounting */
    int exit_status;                    /* 0, or what the shell would say */
};

enum verdict {
    VERDICT_UNCHECKED,
    VERDICT_RIGHT,
    VERDICT_WRONG,   /* the copy differs from the source: reported, never ranked */
    VERDICT_FAILED,  /* the command did not exit 0 */
    VERDICT_MISSING, /* the program is not on this machine */
};

struct method_result {
    char *name;    /* "shoal", "tar", "cp", or the user's */
    char *command; /* as run, {from} and {to} in place */
    char *version; /* first line of its --version, "" if unknown */
    enum verdict verdict;
    char *why; /* what differed or failed, "" if nothing did */
    struct sample *samples;
    size_t n_samples;
};

struct system_info {
    char *name; /* host's own word for itself: CPU model as the report's row */
    char *cpu;
    unsigned cores;
    uint64_t memory_kb;
    char *kernel;
    char *governor; /* of the processor's frequency, "" if there is none to be seen */
    char *machine;  /* whose costs were charged in a replay, as the model names it; then `name` says
                       that it is an emulation; "": there was none */
};

struct file_system_info {
    char *path;          /* as the user gave it */
    char *type;          /* "ext4", "tmpfs", … */
    char *options;       /* mount options */
    int has_journal;     /* 1, 0, or -1 where the question makes no sense or is not answered */
    char *device;        /* the block device, "" if there is none */
    char *scheduler;     /* of that device, "" if there is none to be seen */
    uint64_t scratch_kb; /* the size it was made with for this series; 0: it stood before */
};

/* What makes the figures of a series doubtful, in words. */
struct warning {
    char *text;
};

struct series {
    char *id;      /* unique: start time and a few random digits */
    char *started; /* ISO 8601, UTC */
    struct system_info system;
    struct file_system_info from, to;
    /* The emulated drive that the source was in, as it was asked for; "": there was none. Then, and
     * only then, its world ran time_scale times as fast: what a sample has is real time. */
    char *drive;
    double time_scale;
    char *workload; /* "insight", "one-large", … */
    uint64_t seed;
    uint64_t files, bytes;
    char *content; /* what the files hold: "text", "random", "text and random" */
    bool cold;
    struct warning *warnings;
    size_t n_warnings;
    struct method_result *methods;
    size_t n_methods;
};

bool series_has_drive(const struct series *series);

/* Whether a machine was emulated: its figures are no one's measurement of that machine. */
bool series_is_replay(const struct series *series);

/* What state the source was in, in a word: "warm", "cold", or its drive. */
const char *series_state(const struct series *series);

/* Whether both were read from the same: the drive's world counts, or the type of the file system
 * and whether it was cached. */
bool series_is_same_source(const struct series *a, const struct series *b);

/* How many times as long as what was measured it takes in the world that the series is of: 1 but
 * for a drive whose world runs faster. */
double series_stretch(const struct series *series);

struct results {
    struct series *series;
    size_t n_series;
};

/* Reads a whole database of results. A file that does not exist, or is empty, gives no series.
 * -EBADMSG if it is not such a database, of a newer program's or damaged: *ret_why (free it) then
 * says which. One of an older program's is brought up to date. -EBUSY: another program keeps it
 * locked. */
int results_load(const char *path, struct results **ret, char **ret_why);

/* Adds a series to a database of results, making the file and its directories at need: all of it or
 * nothing, and writers at the same time wait for each other. Errors as above: what is no database
 * of results or damaged is never written to. -EBADMSG also if a sample's synced_ns is less than its
 * real_ns, which it includes. -EEXIST: a series of that ID is there. -ERANGE: a
 * number is past 2^63-1. Names that are not UTF-8 are kept as quote_name() shows them. */
int results_append(const char *path, const struct series *series, char **ret_why);

struct imported {
    size_t n_added, n_skipped; /* those whose ID is there already */
};

/* Adds those series that are not yet there, each as above. After a failure, too, *ret counts what
 * was done. */
int results_import(
    const char *path, const struct results *results, struct imported *ret, char **ret_why);

/* The series as JSON text, as results_read_json() reads it. Free it with free(). -ENOMEM, or
 * -ERANGE if a number is past what JSON readers hold (2^63-1). Names that are not UTF-8 are given
 * as quote_name() shows them. */
int results_to_json(const struct results *results, char **ret_text);

/* Reads JSON text to its end. -EBADMSG if it is not of this schema or damaged: *ret_why then names
 * the line or the key. */
int results_read_json(int fd, struct results **ret, char **ret_why);

/* Reads a file of either form, database or JSON text. -ENOENT if there is none. */
int results_read(const char *path, struct results **ret, char **ret_why);

/* Writes the JSON text to a file: beside it and renamed, so that a failure leaves what stands
 * there. A database is not replaced: -EBADMSG. */
int results_write_json(const char *path, const struct results *results, char **ret_why);

/* $XDG_DATA_HOME/shoal/results.db or ~/.local/share/shoal/results.db; free it. NULL if neither is
 * known, or memory is out. */
char *results_default_path(void);

void results_free(struct results *results);
void series_clear(struct series *series); /* frees what it holds, not itself */

#endif
