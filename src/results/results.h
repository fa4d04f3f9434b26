/* What the bench measured and the report shows: every raw sample, with what was measured where.
 * A results file is JSON (schema "shoal-results", version 2; version 1 is read, too); each series
 * is one run of `shoal bench` for one workload and cache state. */
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

struct results {
    struct series *series;
    size_t n_series;
};

/* Reads a whole results file. A file that does not exist gives an empty one. -EBADMSG if it is not
 * a results file or damaged: *ret_why (free it) then says where. */
int results_load(const char *path, struct results **ret, char **ret_why);

/* Adds a series to a results file, making the file and its directories at need: written beside it
 * and renamed, under a lock, so that two writers lose nothing and a cut leaves the old one. A
 * damaged or foreign file is refused (-EBADMSG), never overwritten. */
int results_append(const char *path, const struct series *series, char **ret_why);

/* The text of a results file that holds just these series, as results_load() reads it. Free it with
 * free(). -ENOMEM, or -ERANGE if a number is past what JSON readers hold (2^63-1). Names that are
 * not UTF-8 are given as quote_name() shows them, here and in results_append(). */
int results_to_json(const struct results *results, char **ret_text);

/* $XDG_DATA_HOME/shoal/results.json or ~/.local/share/shoal/results.json; free it. NULL if neither
 * is known, or memory is out. */
char *results_default_path(void);

void results_free(struct results *results);
void series_clear(struct series *series); /* frees what it holds, not itself */

#endif
