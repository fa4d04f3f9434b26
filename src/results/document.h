/* The text of a results file and the records it stands for: one table for each record says how it
 * is read, checked, written and freed. */
#ifndef SHOAL_RESULTS_DOCUMENT_H
#define SHOAL_RESULTS_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "base/cleanup.h"

struct results;
struct series;

static inline void cleanup_json_p(json_t **json)
{
    json_decref(*json);
}
#define _cleanup_json_ _cleanup_(cleanup_json_p)

/* A whole document of these series. -ENOMEM, or -ERANGE if a number is past 2^63-1. */
int document_new(const struct results *results, json_t **ret);

/* Adds a series to a document that document_parse() has accepted. Errors as above. */
int document_add(json_t *root, const struct series *series);

/* The document as indented text; free it. */
int document_text(const json_t *root, char **ret);

/* Reads and checks a whole document. Keys that are not known are let be. -ENOMEM, or -EBADMSG: *why
 * then names the offending key, or the line (what it held before is freed). */
int document_parse(
    const char *text, size_t length, json_t **ret_root, struct results **ret, char **why);

#endif
