/* Names for people and for JSON. A name is any bytes but NUL and, in one component, '/'. */
#ifndef SHOAL_BASE_QUOTE_H
#define SHOAL_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

/* Quotes a name so that a terminal shows it safely and a shell reads it back: 'it'\''s',
 * 'a'$'\n''b'. Control characters and bytes that are not valid UTF-8 become $'\ooo'. Returns a new
 * string (free it), or NULL when memory is out. */
char *quote_name(const char *name);

/* Whether the bytes are well-formed UTF-8 (no surrogates, nothing overlong). */
bool utf8_is_valid(const char *bytes, size_t length);

#endif
