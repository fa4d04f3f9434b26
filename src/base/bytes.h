/* Bytes that grow. */
#ifndef SHOAL_BASE_BYTES_H
#define SHOAL_BASE_BYTES_H

#include <stddef.h>

/* Start from zero; what is kept between uses is the memory. */
struct bytes {
    char *data;
    size_t n, room;
};

/* Makes room for n more behind those there are. 0 or -ENOMEM. */
int bytes_reserve(struct bytes *bytes, size_t n);

/* 0 or -ENOMEM; then nothing was added. */
int bytes_append(struct bytes *bytes, const void *data, size_t n);
int bytes_append_zeros(struct bytes *bytes, size_t n);

void bytes_free(struct bytes *bytes);

#endif
