#include "source/tar_sparse.h"

#include <errno.h>
#include <string.h>

#include "entry/range.h"
#include "source/tar_header.h"
#include "source/tar_pax.h"

/* Offsets and counts of the old format: GNU tar's manual, "Old GNU Format". */
#define HEADER_RANGES      386
#define HEADER_N           4
#define HEADER_EXTENDED    482
#define HEADER_REAL_SIZE   483
#define EXTENSION_N        21
#define EXTENSION_EXTENDED 504
#define FIELD              12

static int parse_ranges(const char *at, size_t n, struct bytes *ranges)
{
    for (size_t i = 0; i < n; i++, at += FIELD + FIELD) {
        int64_t offset, length;
        if (*at == '\0') /* unused */
            return 0;
        if (tar_number_parse(at, FIELD, &offset) < 0 ||
            tar_number_parse(at + FIELD, FIELD, &length) < 0 || offset < 0 || length < 0 ||
            length > INT64_MAX - offset)
            return -EBADMSG;
        const struct range range = {(uint64_t)offset, (uint64_t)(offset + length)};
        int r = bytes_append(ranges, &range, sizeof(range));
        if (r < 0)
            return r;
    }
    return 0;
}

int tar_sparse_parse_header(const void *block, struct bytes *ranges, int64_t *ret_real_size)
{
    const char *text = block;
    int r = tar_number_parse(text + HEADER_REAL_SIZE, FIELD, ret_real_size);

    if (r == 0)
        r = parse_ranges(text + HEADER_RANGES, HEADER_N, ranges);
    return r < 0 ? r : text[HEADER_EXTENDED] != 0;
}

int tar_sparse_parse_extension(const void *block, struct bytes *ranges)
{
    const char *text = block;
    int r = parse_ranges(text, EXTENSION_N, ranges);
    return r < 0 ? r : text[EXTENSION_EXTENDED] != 0;
}

static int next_number(const char *text, size_t length, size_t *at, int64_t *ret)
{
    const char *line = text + *at, *end = memchr(line, '\n', length - *at);

    if (!end || tar_pax_parse_number(line, (size_t)(end - line), ret) < 0 || *ret < 0)
        return -EBADMSG;
    *at = (size_t)(end + 1 - text);
    return 0;
}

int tar_sparse_parse_map(const char *text, size_t length, struct bytes *ranges)
{
    int64_t n = 0, offset = 0, size = 0;
    size_t at = 0;
    int r = next_number(text, length, &at, &n);

    for (int64_t i = 0; r == 0 && i < n; i++) {
        r = next_number(text, length, &at, &offset);
        if (r == 0)
            r = next_number(text, length, &at, &size);
        if (r == 0 && size > INT64_MAX - offset)
            r = -EBADMSG;
        if (r == 0) {
            const struct range range = {(uint64_t)offset, (uint64_t)(offset + size)};
            r = bytes_append(ranges, &range, sizeof(range));
        }
    }
    return r;
}

int tar_sparse_check(struct bytes *ranges, int64_t real_size, int64_t stored)
{
    struct range *all = (struct range *)ranges->data;
    size_t n = ranges->n / sizeof(*all), kept = 0;
    uint64_t at = 0, sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (all[i].start < at || all[i].end > (uint64_t)real_size)
            return -EBADMSG;
        at = all[i].end;
        sum += all[i].end - all[i].start;
        if (all[i].end > all[i].start)
            all[kept++] = all[i];
    }
    ranges->n = kept * sizeof(*all);
    return real_size < 0 || sum != (uint64_t)stored ? -EBADMSG : 0;
}
