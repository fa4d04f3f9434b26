#include "report/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"

/* One character of text: how many bytes, how many columns, and whether it can be shown. */
struct glyph {
    size_t bytes;
    size_t columns;
    bool shown;
};

/* East Asian wide and fullwidth characters and pictographs take two columns. */
static bool code_point_is_wide(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x1100, 0x115f},
        {0x2e80, 0xa4cf},
        {0xac00, 0xd7a3},
        {0xf900, 0xfaff},
        {0xfe30, 0xfe6f},
        {0xff00, 0xff60},
        {0xffe0, 0xffe6},
        {0x1f300, 0x1faff},
        {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < ELEMENTS(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static struct glyph glyph_at(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? s[0] : s[0] & (0xffU >> (n + 1));

    if (strnlen(text, n) < n || !utf8_is_valid(text, n))
        return (struct glyph){1, 1, false};
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3f);
    return (struct glyph){
        .bytes = n,
        .columns = code_point_is_wide(c) ? 2 : 1,
        .shown = c >= 0x20 && !(c >= 0x7f && c < 0xa0),
    };
}

char *text_make_safe(const char *text)
{
    char *safe = malloc(strlen(text) + 1), *out = safe;

    if (!safe)
        return NULL;
    while (*text) {
        struct glyph glyph = glyph_at(text);
        if (glyph.shown)
            out = mempcpy(out, text, glyph.bytes);
        else
            *out++ = '?';
        text += glyph.bytes;
    }
    *out = '\0';
    return safe;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        struct glyph glyph = glyph_at(text);
        columns += glyph.columns;
        text += glyph.bytes;
    }
    return columns;
}

size_t text_bytes_that_fit(const char *text, size_t columns)
{
    size_t bytes = 0;
    while (text[bytes]) {
        struct glyph glyph = glyph_at(text + bytes);
        if (glyph.columns > columns)
            break;
        columns -= glyph.columns;
        bytes += glyph.bytes;
    }
    return bytes;
}

/* How many bytes of the text go on a line of so many columns: up to a blank where there is one. */
static size_t line_length(const char *text, size_t columns)
{
    size_t fits = text_bytes_that_fit(text, columns), at = fits;

    bool is_in_word = text[fits] != '\0' && text[fits] != ' ';
    while (is_in_word && at > 0 && text[at - 1] != ' ')
        at--;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    return at > 0 ? at : fits;
}

int text_print_wrapped(FILE *out, unsigned first, unsigned rest, const char *text)
{
    _cleanup_free_ char *safe = text_make_safe(text);
    unsigned indent = first;

    if (!safe)
        return -ENOMEM;
    const char *at = safe;
    do {
        at += strspn(at, " ");
        size_t n = line_length(at, TEXT_WIDTH - indent);
        (void)fprintf(out, "%*s%.*s\n", n > 0 ? (int)indent : 0, "", (int)n, at);
        at += n;
        indent = rest;
    } while (at[strspn(at, " ")]);
    return 0;
}
