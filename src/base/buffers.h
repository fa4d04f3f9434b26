/* Memory of a fixed budget in equal buffers, each held by whoever refers to it. */
#ifndef SHOAL_BASE_BUFFERS_H
#define SHOAL_BASE_BUFFERS_H

#include <stddef.h>

struct buffers;

struct buffer {
    struct buffers *owner;
    struct buffer *next; /* among the free ones; its holder's while it is held */
    unsigned refs;       /* atomic */
    size_t used;         /* the holder's to keep */
    char *bytes;         /* as many as the pool's buffers have */
};

/* At most `most` buffers of `size` bytes, made as they are first needed. 0 or -ENOMEM. */
int buffers_new(size_t size, unsigned most, struct buffers **ret);
/* All must be free. */
void buffers_free(struct buffers *buffers);

size_t buffers_size(const struct buffers *buffers);

/* A free buffer, held by the caller; waits for one if all are held. NULL: no memory. */
struct buffer *buffers_get(struct buffers *buffers);
/* The same without waiting: one beyond the budget if need be. NULL: no memory. */
struct buffer *buffers_get_now(struct buffers *buffers);

void buffer_ref(struct buffer *buffer);
void buffer_unref(struct buffer *buffer); /* NULL is ignored */

#endif
