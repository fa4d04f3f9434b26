/* The names of files on a disc that has no Rock Ridge. */
#ifndef SHOAL_DISC_ISO9660_NAMES_H
#define SHOAL_DISC_ISO9660_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Room for any name: of 255 bytes on the disc, or of 127 characters of three bytes each. */
#define ISO9660_NAME_ROOM 384

/* A plain name as Linux shows it: in lower case, without version ";1" and the "." before it; any
 * other version after a ".". 0, or -EUCLEAN for what is no name. */
int iso9660_plain_name(
    const unsigned char *name, unsigned length, char ret[static ISO9660_NAME_ROOM]);

/* A name of Joliet, UTF-16 (most significant byte first) to UTF-8, without version ";1". What is no
 * character becomes U+FFFD. 0, or -EUCLEAN for what is no name. */
int iso9660_joliet_name(
    const unsigned char *name, unsigned length, char ret[static ISO9660_NAME_ROOM]);

/* Whether it can be the name of a file: not empty, no "/", no NUL, neither "." nor "..". */
bool iso9660_name_is_good(const char *name, size_t length);

/* Text as in a name of Joliet, as far as it fits; no NUL is in it but the last. */
void iso9660_utf16_text(const unsigned char *text, size_t bytes, char *ret, size_t room);

#endif
