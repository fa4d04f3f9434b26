#include "model/reference_data.h"

#include "base/embed.h"

#ifndef SHOAL_REFERENCE_JSON
#error "SHOAL_REFERENCE_JSON must be the quoted path of data/sgi-small-files.json"
#endif

EMBED_FILE(shoal_reference, SHOAL_REFERENCE_JSON);

const char *reference_data(size_t *ret_length)
{
    *ret_length = (size_t)shoal_reference_length;
    return shoal_reference_begin;
}
