#include "base/buffers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct buffers {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    size_t size;
    unsigned made, most;
    struct buffer *free;
};

int buffers_new(size_t size, unsigned most, struct buffers **ret)
{
    struct buffers *buffers = calloc(1, sizeof(*buffers));

    if (!buffers)
        return -ENOMEM;
    (void)pthread_mutex_init(&buffers->lock, NULL); /* glibc's do not fail */
    (void)pthread_cond_init(&buffers->freed, NULL);
    buffers->size = size;
    buffers->most = most;
    *ret = buffers;
    return 0;
}

static void free_buffer(struct buffer *buffer)
{
    free(buffer->bytes);
    free(buffer);
}

void buffers_free(struct buffers *buffers)
{
    if (!buffers)
        return;
    for (struct buffer *buffer = buffers->free, *next; buffer; buffer = next) {
        next = buffer->next;
        free_buffer(buffer);
    }
    (void)pthread_mutex_destroy(&buffers->lock);
    (void)pthread_cond_destroy(&buffers->freed);
    free(buffers);
}

size_t buffers_size(const struct buffers *buffers)
{
    return buffers->size;
}

static struct buffer *make_buffer(struct buffers *buffers)
{
    struct buffer *buffer = calloc(1, sizeof(*buffer));

    if (!buffer)
        return NULL;
    buffer->owner = buffers;
    buffer->bytes = aligned_alloc(4096, buffers->size);
    if (buffer->bytes)
        return buffer;
    free(buffer);
    return NULL;
}

static struct buffer *get(struct buffers *buffers, bool wait)
{
    (void)pthread_mutex_lock(&buffers->lock);
    while (wait && !buffers->free && buffers->made >= buffers->most)
        (void)pthread_cond_wait(&buffers->freed, &buffers->lock);
    struct buffer *buffer = buffers->free;
    if (buffer)
        buffers->free = buffer->next;
    else if ((buffer = make_buffer(buffers)))
        buffers->made++;
    (void)pthread_mutex_unlock(&buffers->lock);
    if (buffer) {
        buffer->next = NULL;
        buffer->refs = 1;
        buffer->used = 0;
    }
    return buffer;
}

struct buffer *buffers_get(struct buffers *buffers)
{
    return get(buffers, true);
}

struct buffer *buffers_get_now(struct buffers *buffers)
{
    return get(buffers, false);
}

void buffer_ref(struct buffer *buffer)
{
    __atomic_add_fetch(&buffer->refs, 1, __ATOMIC_RELAXED);
}

void buffer_unref(struct buffer *buffer)
{
    if (!buffer || __atomic_sub_fetch(&buffer->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    struct buffers *buffers = buffer->owner;
    (void)pthread_mutex_lock(&buffers->lock);
    if (buffers->made > buffers->most) { /* one beyond the budget */
        buffers->made--;
        free_buffer(buffer);
    } else {
        buffer->next = buffers->free;
        buffers->free = buffer;
    }
    (void)pthread_cond_signal(&buffers->freed);
    (void)pthread_mutex_unlock(&buffers->lock);
}
