#include "disc/iso9660_names.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffd

bool iso9660_name_is_good(const char *name, size_t length)
{
    if (length == 0 || memchr(name, '/', length) || memchr(name, '\0', length))
        return false;
    return !(name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')));
}

int iso9660_plain_name(
    const unsigned char *name, unsigned length, char ret[static ISO9660_NAME_ROOM])
{
    if (length > 2 && memcmp(name + length - 2, ";1", 2) == 0) {
        length -= 2;
        if (length > 1 && name[length - 1] == '.')
            length--;
    }
    for (unsigned i = 0; i < length; i++) {
        unsigned char c = name[i];
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        else if (c == ';')
            c = '.';
        ret[i] = (char)c;
    }
    ret[length] = '\0';
    return iso9660_name_is_good(ret, length) ? 0 : -EUCLEAN;
}

static uint32_t unit_at(const unsigned char *text)
{
    return (uint32_t)text[0] << 8 | text[1];
}

/* The character at the text's begin; *ret_bytes is how many of the text's it took. */
static uint32_t decode(const unsigned char *text, size_t bytes, size_t *ret_bytes)
{
    uint32_t unit = unit_at(text);

    *ret_bytes = 2;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit > 0xdbff || bytes < 4)
        return REPLACEMENT;
    uint32_t low = unit_at(text + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    *ret_bytes = 4;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static size_t encode(uint32_t character, char utf8[static 4])
{
    if (character < 0x80) {
        utf8[0] = (char)character;
        return 1;
    }
    size_t n = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        utf8[i] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    utf8[0] = (char)(lead[n] | character);
    return n;
}

/* How many bytes of UTF-8, as far as they fit. */
static size_t to_utf8(const unsigned char *text, size_t bytes, char *ret, size_t room)
{
    size_t length = 0, used;

    for (size_t at = 0; at + 2 <= bytes; at += used) {
        char utf8[4];
        size_t n = encode(decode(text + at, bytes - at, &used), utf8);
        if (n > room - length)
            break;
        memcpy(ret + length, utf8, n);
        length += n;
    }
    return length;
}

int iso9660_joliet_name(
    const unsigned char *name, unsigned length, char ret[static ISO9660_NAME_ROOM])
{
    size_t n = to_utf8(name, length, ret, ISO9660_NAME_ROOM - 1);

    if (n > 2 && memcmp(ret + n - 2, ";1", 2) == 0)
        n -= 2;
    ret[n] = '\0';
    return length % 2 == 0 && iso9660_name_is_good(ret, n) ? 0 : -EUCLEAN;
}

void iso9660_utf16_text(const unsigned char *text, size_t bytes, char *ret, size_t room)
{
    size_t n = to_utf8(text, bytes, ret, room - 1);

    ret[n] = '\0';
}
