#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int size_parse(const char *text, uint64_t bare_unit_bytes, uint64_t *ret_bytes)
{
    static const char units[] = "kmgt";
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    double number = strtod(text, &end);
    double unit = (double)bare_unit_bytes;
    if (*end) {
        const char *at = strchr(units, tolower((unsigned char)*end));
        if (!at)
            return -EINVAL;
        unit = (double)(1ULL << (10 * (at - units + 1)));
        end++;
        if (strcasecmp(end, "") != 0 && strcasecmp(end, "b") != 0 && strcasecmp(end, "ib") != 0)
            return -EINVAL;
    }
    if (number * unit >= 18446744073709551616.0)
        return -ERANGE;
    *ret_bytes = (uint64_t)(number * unit);
    return 0;
}
