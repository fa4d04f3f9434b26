#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "entry/xattrs.h"
#include "sink/tar_encode.h"

#define HEADER_BYTES 110

/* The name that ends an archive. */
#define TRAILER "TRAILER!!!"

/* Names and content end at multiples of it. */
#define ALIGNMENT 4

static int put_header(struct bytes *out, const unsigned *fields, const char *name)
{
    size_t size = strlen(name) + 1;
    char text[HEADER_BYTES + 1];
    size_t at = 6;

    memcpy(text, "070701", 6);
    for (size_t i = 0; i < 13; i++, at += 8)
        (void)snprintf(text + at, 9, "%08X", fields[i]);
    int r = bytes_append(out, text, HEADER_BYTES);
    if (r == 0)
        r = bytes_append(out, name, size);
    return r == 0 ? bytes_append_zeros(
                        out, (ALIGNMENT - (HEADER_BYTES + size) % ALIGNMENT) % ALIGNMENT)
                  : r;
}

static void note_losses(
    const struct encode_options *options, const struct entry *entry, struct outcome *outcome)
{
    for (size_t i = 0; entry->xattrs && i < entry->xattrs->n; i++) {
        const char *name = xattr_set_name(entry->xattrs, i);
        if (encode_takes_xattr(options, name))
            outcome_note(outcome, xattr_aspect(name), -EOPNOTSUPP);
    }
}

int cpio_encode(const struct encode_options *options, const struct stream_record *record,
    struct bytes *out, struct outcome *outcome)
{
    const struct entry *entry = record->entry;
    bool is_link = S_ISLNK(entry->mode);
    size_t before = out->n, link_length = is_link ? strlen(entry->link_target) : 0;
    uint64_t size = is_link ? link_length : tar_content_bytes(options->format, record);
    const char *name = record->path;
    size_t prefix = strcmp(name, TRAILER) == 0 ? 2 : 0; /* else it would end the archive */

    if (size > UINT32_MAX || (record->hard_link && entry->nlink < 2))
        return outcome_fail(outcome, "record", -EOVERFLOW);
    bool time_fits = entry->mtime.tv_sec >= 0 && entry->mtime.tv_sec <= UINT32_MAX;
    if (!time_fits)
        outcome_note(outcome, ASPECT_TIMES, -EOVERFLOW);
    const unsigned fields[13] = {
        (unsigned)record->number,
        entry->mode,
        entry->uid,
        entry->gid,
        entry->nlink > UINT32_MAX ? UINT32_MAX : (unsigned)entry->nlink,
        time_fits ? (unsigned)entry->mtime.tv_sec : 0,
        (unsigned)size,
        (unsigned)(record->number >> 32), /* the device: with the inode, what names the file */
        minor(entry->dev),
        major(entry->rdev),
        minor(entry->rdev),
        (unsigned)(prefix + strlen(name)) + 1,
        0,
    };
    note_losses(options, entry, outcome);
    int r = put_header(out, fields, prefix ? "./" TRAILER : name);
    if (r == 0 && is_link) {
        r = bytes_append(out, entry->link_target, link_length);
        if (r == 0)
            r = bytes_append_zeros(out, (ALIGNMENT - link_length % ALIGNMENT) % ALIGNMENT);
    }
    if (r < 0) {
        out->n = before;
        (void)outcome_fail(outcome, "record", r);
    }
    return r;
}

int cpio_encode_end(struct bytes *out)
{
    static const unsigned fields[13] = {[4] = 1, [11] = sizeof(TRAILER)};
    return put_header(out, fields, TRAILER);
}
