#include "report/reference_data.h"

#include <stdint.h>

#ifndef SHOAL_REFERENCE_JSON
#error "SHOAL_REFERENCE_JSON must be the quoted path of data/sgi-small-files.json"
#endif

/* Hidden symbols, not local ones: link-time optimisation may part this from the function below. */
__asm__(".pushsection .rodata\n"
        ".global shoal_reference_begin\n"
        ".hidden shoal_reference_begin\n"
        ".global shoal_reference_length\n"
        ".hidden shoal_reference_length\n"
        "shoal_reference_begin:\n"
        ".incbin \"" SHOAL_REFERENCE_JSON "\"\n"
        "1:\n"
        ".balign 8\n"
        "shoal_reference_length:\n"
        ".quad 1b - shoal_reference_begin\n"
        ".popsection\n");

extern const char shoal_reference_begin[];
extern const uint64_t shoal_reference_length;

const char *reference_data(size_t *ret_length)
{
    *ret_length = (size_t)shoal_reference_length;
    return shoal_reference_begin;
}
