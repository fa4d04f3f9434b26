/* Names in JSON, and JSON lines on standard output. */
#ifndef SHOAL_CLI_JSON_H
#define SHOAL_CLI_JSON_H

#include <jansson.h>

/* Adds a name as `key`, and, if it is not text, its bytes as `key`_hex. -1: no memory. */
int json_put_name(json_t *object, const char *key, const char *name);

/* Prints one line and lets go of the object; NULL stands for one there was no memory for. */
void json_print_line(json_t *object);

#endif
