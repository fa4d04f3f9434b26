/* Series as the text of a JSON file. */
#ifndef SHOAL_RESULTS_DOCUMENT_H
#define SHOAL_RESULTS_DOCUMENT_H

#include <stddef.h>

struct results;

/* A whole document of these series, as indented text; free it. -ENOMEM, or -ERANGE if a number is
 * past 2^63-1. */
int document_write(const struct results *results, char **ret);

/* Reads and checks a whole document. Keys that are not known are let be. -ENOMEM, or -EBADMSG: *why
 * then names the offending key, or the line (what it held before is freed). */
int document_parse(const char *text, size_t length, struct results **ret, char **why);

#endif
