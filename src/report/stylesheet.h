/* report.css inside the program. */
#ifndef SHOAL_REPORT_STYLESHEET_H
#define SHOAL_REPORT_STYLESHEET_H

#include <stddef.h>

/* The file's text, not NUL-terminated. */
const char *stylesheet(size_t *ret_length);

#endif
