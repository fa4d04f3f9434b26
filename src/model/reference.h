/* The published figures that this program takes up: six machines, their CD-ROM drives, and the time
 * each took to copy one directory of many small files. */
#ifndef SHOAL_MODEL_REFERENCE_H
#define SHOAL_MODEL_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reference_cell {
    const char *drive;  /* "2X", … */
    bool has_figures;   /* false: published blank, the next two are 0 */
    unsigned seconds;   /* published as m:ss */
    unsigned rate_kb_s; /* as published */
};

struct reference_machine {
    unsigned table;           /* the published number */
    const char *machine;      /* maker's order: model, CPU, clock */
    const char *title;        /* as it heads its table */
    const char *summary_name; /* as it stands in the summary tables; NULL: it does not */
    struct reference_cell *cells;
    size_t n_cells;
};

struct reference_summary {
    unsigned table;
    const char *drive;
    const char *title, *caption;
};

struct reference {
    const char *title, *command;
    const char *workload, *workload_from;
    uint64_t files, kb;
    struct reference_machine *machines; /* in the published order */
    size_t n_machines;
    struct reference_summary *summaries;
    size_t n_summaries;
    const char *yardstick_name;             /* short */
    const struct reference_cell *yardstick; /* what the others are multiples of; has figures */
    void *json;                             /* holds the strings */
};

/* Reads and checks the data that the program holds. -ENOMEM, or -EBADMSG where it is not as it must
 * be: *ret_why (free it) then says what and where, unless memory is out. */
int reference_load(struct reference **ret, char **ret_why);

/* The same from any text, which need not be NUL-terminated. */
int reference_parse(const char *text, size_t length, struct reference **ret, char **ret_why);

void reference_free(struct reference *reference);

static inline void cleanup_reference_p(struct reference **reference)
{
    reference_free(*reference);
}

/* The machine's cell for that drive, NULL if there is none. */
const struct reference_cell *reference_machine_find(
    const struct reference_machine *machine, const char *drive);

/* The machines of a summary table with figures for its drive, fastest first, equals in published
 * order. `rows` has room for n_machines; returns how many there are. */
size_t reference_summary_rank(const struct reference *reference,
    const struct reference_summary *summary, const struct reference_machine **rows);

#endif
