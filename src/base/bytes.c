#include "base/bytes.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int bytes_reserve(struct bytes *bytes, size_t n)
{
    if (bytes->room - bytes->n >= n)
        return 0;
    if (n > SIZE_MAX / 2 - bytes->n)
        return -ENOMEM;
    size_t room = (bytes->n + n) * 2;
    char *data = realloc(bytes->data, room);
    if (!data)
        return -ENOMEM;
    bytes->data = data;
    bytes->room = room;
    return 0;
}

int bytes_append(struct bytes *bytes, const void *data, size_t n)
{
    int r = bytes_reserve(bytes, n);
    if (r < 0 || n == 0)
        return r;
    memcpy(bytes->data + bytes->n, data, n);
    bytes->n += n;
    return 0;
}

int bytes_append_zeros(struct bytes *bytes, size_t n)
{
    int r = bytes_reserve(bytes, n);
    if (r < 0 || n == 0)
        return r;
    memset(bytes->data + bytes->n, 0, n);
    bytes->n += n;
    return 0;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}
