#include "report/stylesheet.h"

#include "base/embed.h"

#ifndef SHOAL_STYLESHEET
#error "SHOAL_STYLESHEET must be the quoted path of report.css"
#endif

EMBED_FILE(shoal_stylesheet, SHOAL_STYLESHEET);

const char *stylesheet(size_t *ret_length)
{
    *ret_length = (size_t)shoal_stylesheet_length;
    return shoal_stylesheet_begin;
}
