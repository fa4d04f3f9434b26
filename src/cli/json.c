#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/cli.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD in UTF-8 */

/* The name as text: bytes that are no UTF-8 are replaced. NULL: no memory. */
static char *name_as_text(const char *name)
{
    size_t rest = strlen(name), length;
    char *text = malloc(rest * strlen(REPLACEMENT) + 1), *out = text;

    for (; text && rest > 0; name += length, rest -= length) {
        for (length = 1; length <= 4 && length <= rest; length++)
            if (utf8_is_valid(name, length))
                break;
        bool is_text = length <= 4 && length <= rest;
        length = is_text ? length : 1;
        out = is_text ? mempcpy(out, name, length) : stpcpy(out, REPLACEMENT);
    }
    if (text)
        *out = '\0';
    return text;
}

static char *name_in_hex(const char *name)
{
    size_t length = strlen(name);
    char *hex = malloc(length * 2 + 1);

    if (!hex)
        return NULL;
    for (size_t i = 0; i < length; i++)
        (void)sprintf(hex + 2 * i, "%02x", (unsigned char)name[i]);
    hex[2 * length] = '\0';
    return hex;
}

int json_put_name(json_t *object, const char *key, const char *name)
{
    _cleanup_free_ char *text = name_as_text(name);
    char hex_key[32];

    if (!text || json_object_set_new(object, key, json_string_nocheck(text)) < 0)
        return -1;
    if (utf8_is_valid(name, strlen(name)))
        return 0;
    _cleanup_free_ char *hex = name_in_hex(name);
    (void)snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    return hex ? json_object_set_new(object, hex_key, json_string_nocheck(hex)) : -1;
}

void json_print_line(json_t *object)
{
    _cleanup_free_ char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;

    if (line)
        (void)printf("%s\n", line); /* cli_finish() sees whether it arrived */
    else
        cli_error("cannot print what happened: %s", "out of memory");
    json_decref(object);
}
