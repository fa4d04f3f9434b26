#include "base/quote.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the well-formed UTF-8 sequence at s (at most n bytes), 0 if there is none. */
static size_t utf8_sequence_length(const unsigned char *s, size_t n)
{
    static const struct {
        unsigned char first, last, low, high; /* lead bytes, and the second byte's bounds */
        size_t length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    if (n == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last)
            continue;
        if (n < forms[i].length || s[1] < forms[i].low || s[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

bool utf8_is_valid(const char *bytes, size_t length)
{
    const unsigned char *s = (const unsigned char *)bytes;
    while (length > 0) {
        size_t n = utf8_sequence_length(s, length);
        if (n == 0)
            return false;
        s += n;
        length -= n;
    }
    return true;
}

/* How many bytes from s on can stand as they are inside '…'; 0 if the first one cannot. */
static size_t plain_length(const unsigned char *s, size_t n)
{
    size_t k = utf8_sequence_length(s, n);
    if (k == 1 && (s[0] < 0x20 || s[0] == 0x7f || s[0] == '\''))
        return 0;
    if (k == 2 && s[0] == 0xc2 && s[1] < 0xa0) /* C1 control characters */
        return 0;
    return k;
}

static char *put_escape(char *out, unsigned char c)
{
    static const char letters[] = "\a\b\t\n\v\f\r";
    const char *at = c ? strchr(letters, c) : NULL;

    *out++ = '\\';
    if (at) {
        *out++ = "abtnvfr"[at - letters];
        return out;
    }
    return out + sprintf(out, "%03o", c);
}

char *quote_name(const char *name)
{
    const unsigned char *s = (const unsigned char *)name;
    size_t n = strlen(name);
    enum { PLAIN, ESCAPED } in = PLAIN;

    /* The worst byte opens an escape, is four long, and closes it: '$'\ooo''. */
    char *quoted = malloc(n * 9 + 3);
    if (!quoted)
        return NULL;
    char *out = quoted;
    *out++ = '\'';
    while (n > 0) {
        size_t k = plain_length(s, n);
        if (k == 0 && *s == '\'') {
            out = stpcpy(out, in == ESCAPED ? "\\'" : "'\\''");
            k = 1;
        } else if (k == 0) {
            if (in == PLAIN)
                out = stpcpy(out, "'$'");
            in = ESCAPED;
            out = put_escape(out, *s);
            k = 1;
        } else {
            if (in == ESCAPED)
                out = stpcpy(out, "''");
            in = PLAIN;
            out = mempcpy(out, s, k);
        }
        s += k;
        n -= k;
    }
    *out++ = '\'';
    *out = '\0';
    return quoted;
}
