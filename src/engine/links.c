#include "engine/links.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_FIRST = 1024 };

struct link {
    struct link *next; /* in its bucket */
    uint64_t dev, ino;
    uint64_t names_left; /* not met so far, by the link count */
    unsigned users;      /* who is linking to it right now */
    bool made, forgotten;
    struct node *node; /* of its first name in the copy, once made */
    char *name;
    struct link_waiter *waiters;
};

struct links {
    pthread_mutex_t lock;
    bool keep_all;
    struct link **buckets;
    size_t n_buckets, n;
};

struct links *links_new(bool keep_all)
{
    struct links *links = calloc(1, sizeof(*links));
    if (!links)
        return NULL;
    links->keep_all = keep_all;
    links->n_buckets = BUCKETS_FIRST;
    links->buckets = calloc(links->n_buckets, sizeof(struct link *));
    if (!links->buckets) {
        free(links);
        return NULL;
    }
    (void)pthread_mutex_init(&links->lock, NULL); /* glibc's does not fail */
    return links;
}

static void link_free(struct link *link)
{
    node_unref(link->node);
    free(link->name);
    free(link);
}

void links_free(struct links *links)
{
    if (!links)
        return;
    for (size_t i = 0; i < links->n_buckets; i++)
        for (struct link *link = links->buckets[i], *next; link; link = next) {
            next = link->next;
            link_free(link);
        }
    (void)pthread_mutex_destroy(&links->lock);
    free(links->buckets);
    free(links);
}

static struct link **bucket_of(struct links *links, uint64_t dev, uint64_t ino)
{
    uint64_t hash = (ino ^ (dev << 32)) * 0x9e3779b97f4a7c15U; /* Fibonacci hashing */
    return &links->buckets[(hash >> 32) & (links->n_buckets - 1)];
}

/* A table that cannot grow still works. */
static void grow(struct links *links)
{
    size_t n = links->n_buckets * 4;
    struct link **old = links->buckets, **buckets = calloc(n, sizeof(struct link *));
    size_t n_old = links->n_buckets;

    if (!buckets)
        return;
    links->buckets = buckets;
    links->n_buckets = n;
    for (size_t i = 0; i < n_old; i++)
        for (struct link *link = old[i], *next; link; link = next) {
            struct link **bucket = bucket_of(links, link->dev, link->ino);
            next = link->next;
            link->next = *bucket;
            *bucket = link;
        }
    free(old);
}

static struct link *find(struct links *links, const struct entry *entry)
{
    struct link *link = *bucket_of(links, entry->dev, entry->ino);
    while (link && (link->ino != entry->ino || link->dev != entry->dev))
        link = link->next;
    return link;
}

static struct link *add(struct links *links, const struct entry *entry)
{
    struct link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    if (links->n >= links->n_buckets * 2)
        grow(links);
    link->dev = entry->dev;
    link->ino = entry->ino;
    link->names_left = links->keep_all || entry->nlink == 0 ? UINT64_MAX : entry->nlink - 1;
    struct link **bucket = bucket_of(links, entry->dev, entry->ino);
    link->next = *bucket;
    *bucket = link;
    links->n++;
    return link;
}

/* Takes it out of the table; it lives on for as long as it is used. */
static void forget(struct links *links, struct link *link)
{
    struct link **at = bucket_of(links, link->dev, link->ino);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    links->n--;
    link->forgotten = true;
    if (link->users == 0)
        link_free(link);
}

static bool queue_waiter(
    struct link *link, struct node *node, const char *name, const char *target_name)
{
    size_t size = strlen(name) + 1, target_size = strlen(target_name) + 1;
    struct link_waiter *waiter = malloc(sizeof(*waiter) + size + target_size);
    if (!waiter)
        return false;
    memcpy(waiter->name, name, size);
    waiter->target_name = waiter->name + size;
    memcpy(waiter->target_name, target_name, target_size);
    waiter->node = node;
    node_ref(node);
    __atomic_add_fetch(&node->pending, 1, __ATOMIC_RELAXED);
    waiter->job.link.next = link->waiters ? &link->waiters->job.link : NULL;
    link->waiters = waiter;
    return true;
}

enum links_answer links_claim(struct links *links, const struct entry *entry, struct node *node,
    const char *name, const char *target_name, struct link **ret, struct link_first *ret_first)
{
    enum links_answer answer = LINKS_NO_MEMORY;

    (void)pthread_mutex_lock(&links->lock);
    struct link *link = find(links, entry);
    if (!link) {
        link = add(links, entry);
        if (link)
            answer = LINKS_FIRST;
    } else if (!link->made) {
        if (queue_waiter(link, node, name, target_name))
            answer = LINKS_WAITS;
    } else {
        link->users++;
        *ret_first = (struct link_first){.node = link->node, .name = link->name};
        answer = LINKS_READY;
    }
    *ret = link;
    (void)pthread_mutex_unlock(&links->lock);
    return answer;
}

struct link_waiter *links_settle(
    struct links *links, struct link *link, bool made, struct node *node, const char *target_name)
{
    char *name =
        made ? strdup(target_name) : NULL; /* without memory for it, it counts as not made */

    (void)pthread_mutex_lock(&links->lock);
    struct link_waiter *waiters = link->waiters;
    link->waiters = NULL;
    if (name) {
        node_ref(node);
        link->node = node;
        link->name = name;
        link->made = true;
        if (link->names_left == 0)
            forget(links, link);
    } else {
        forget(links, link);
    }
    (void)pthread_mutex_unlock(&links->lock);
    return waiters;
}

void link_waiter_free(struct link_waiter *waiter)
{
    node_unref(waiter->node);
    free(waiter);
}

void links_linked(struct links *links, struct link *link)
{
    (void)pthread_mutex_lock(&links->lock);
    link->users--;
    if (link->names_left > 0)
        link->names_left--;
    if (link->forgotten && link->users == 0)
        link_free(link);
    else if (!link->forgotten && link->names_left == 0)
        forget(links, link);
    (void)pthread_mutex_unlock(&links->lock);
}
