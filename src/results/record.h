/* What a series consists of, as tables: JSON and the database are read and written by them, and
 * memory is freed. A new field is a line here; in the database also a step of schema.c. */
#ifndef SHOAL_RESULTS_RECORD_H
#define SHOAL_RESULTS_RECORD_H

#include <stddef.h>

enum field_kind {
    FIELD_TEXT,     /* char * */
    FIELD_UINT64,   /* uint64_t */
    FIELD_UNSIGNED, /* unsigned */
    FIELD_STATUS,   /* int, 0…255 */
    FIELD_REAL,     /* double, finite and not below 0 */
    FIELD_BOOL,     /* bool */
    FIELD_MAYBE,    /* int: 1, 0 or -1, in JSON true, false or null; in a database 1, 0 or NULL */
    FIELD_VERDICT,  /* enum verdict, in JSON and a database its name */
    FIELD_RECORD,   /* a struct within; in a database columns with its key before their names */
    FIELD_LIST,     /* a pointer to an array of structs, and a size_t */
};

struct field {
    const char *key; /* its name in JSON and in a database */
    enum field_kind kind;
    size_t offset;
    const struct record *record; /* FIELD_RECORD, FIELD_LIST */
    size_t count_offset;         /* FIELD_LIST */
    unsigned since;              /* the version of JSON files that has it first; 0: all have it */
};

struct record {
    const char *table; /* in a database, of a record that stands in a list */
    const struct field *fields;
    size_t n_fields;
    size_t size;
};

extern const struct record results_record, series_record;

/* The names of enum verdict, by its value. */
enum { N_VERDICTS = 5 };
extern const char *const verdict_names[N_VERDICTS];

/* Frees what a record holds and makes it all zeroes. */
void record_clear(const struct record *record, void *at);

/* The text as it is stored: itself, or, if it is not UTF-8, as quote_name() shows it; "" for NULL.
 * Free it; NULL: memory is out. */
char *record_store_text(const char *text);

/* Says in *why what is wrong, in place of what it held (which is freed, and may be NULL); returns
 * -EBADMSG. */
int why_set(char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
