/* The published figures, data/sgi-small-files.json, inside the program: no file is sought at run
 * time. */
#ifndef SHOAL_MODEL_REFERENCE_DATA_H
#define SHOAL_MODEL_REFERENCE_DATA_H

#include <stddef.h>

/* The file's text, not NUL-terminated. */
const char *reference_data(size_t *ret_length);

#endif
