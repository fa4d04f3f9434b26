/* A file's bytes as part of the program. */
#ifndef SHOAL_BASE_EMBED_H
#define SHOAL_BASE_EMBED_H

#include <stdint.h>

/* Defines `symbol`_begin and `symbol`_length from the file of that quoted path. Hidden symbols, not
 * local ones: link-time optimisation may part them from the functions that use them. The compiler's
 * list of what an object depends on does not know .incbin: the build has to. */
#define EMBED_FILE(symbol, path)                                                                   \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #symbol "_begin\n"                                                          \
            ".hidden " #symbol "_begin\n"                                                          \
            ".global " #symbol "_length\n"                                                         \
            ".hidden " #symbol "_length\n" #symbol "_begin:\n"                                     \
            ".incbin \"" path "\"\n"                                                               \
            "1:\n"                                                                                 \
            ".balign 8\n" #symbol "_length:\n"                                                     \
            ".quad 1b - " #symbol "_begin\n"                                                       \
            ".popsection\n");                                                                      \
    extern const char symbol##_begin[];                                                            \
    extern const uint64_t symbol##_length

#endif
