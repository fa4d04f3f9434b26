#include "source/deferred_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* More are not held back: each then comes as the archive has it. GNU cpio writes a file's names one
 * after the other. */
#define DEFERRED_MAX 4096

struct deferred {
    struct deferred *next;
    uint64_t dev, ino;
    struct entry entry;
    char *first; /* the name that it is a link to, once that is known */
    char path[];
};

struct deferred_links {
    struct deferred *waiting, *ready, *current;
    size_t n;
};

struct deferred_links *deferred_links_new(void)
{
    return calloc(1, sizeof(struct deferred_links));
}

static void free_list(struct deferred *list)
{
    while (list) {
        struct deferred *next = list->next;
        free(list->first);
        free(list);
        list = next;
    }
}

void deferred_links_free(struct deferred_links *deferred)
{
    if (!deferred)
        return;
    free_list(deferred->waiting);
    free_list(deferred->ready);
    free_list(deferred->current);
    free(deferred);
}

static int hold_back(
    struct deferred_links *deferred, uint64_t dev, uint64_t ino, const struct stream_entry *entry)
{
    size_t size = strlen(entry->path) + 1;
    struct deferred *name = calloc(1, sizeof(*name) + size);

    if (!name)
        return -ENOMEM;
    memcpy(name->path, entry->path, size);
    name->dev = dev;
    name->ino = ino;
    name->entry = entry->entry;
    name->entry.xattrs = NULL; /* the last name brings them */
    name->next = deferred->waiting;
    deferred->waiting = name;
    deferred->n++;
    return 0;
}

/* All that waits for an inode is a link to `first` now. Returns whether anything waited. */
static int release(struct deferred_links *deferred, uint64_t dev, uint64_t ino, const char *first)
{
    int released = 0;

    for (struct deferred **at = &deferred->waiting; *at;) {
        struct deferred *name = *at;
        if (name->dev != dev || name->ino != ino) {
            at = &name->next;
            continue;
        }
        name->first = strdup(first);
        if (!name->first)
            return -ENOMEM;
        *at = name->next;
        name->next = deferred->ready;
        deferred->ready = name;
        deferred->n--;
        released = 1;
    }
    return released;
}

int deferred_links_take(struct deferred_links *deferred, uint64_t dev, uint64_t ino, unsigned nlink,
    struct stream_entry *entry)
{
    if (nlink < 2 || !S_ISREG(entry->entry.mode))
        return 1;
    if (entry->entry.size == 0 && deferred->n < DEFERRED_MAX) {
        bool is_known = entry->hard_link;
        for (const struct deferred *name = deferred->waiting; is_known && name; name = name->next)
            if (name->dev == dev && name->ino == ino)
                is_known = false;
        /* A link to a file whose content came with its first name. */
        if (is_known)
            return 1;
        int r = hold_back(deferred, dev, ino, entry);
        return r < 0 ? r : 0;
    }
    int r = release(deferred, dev, ino, entry->path);
    if (r > 0)
        entry->hard_link = NULL;
    return r < 0 ? r : 1;
}

int deferred_links_next(struct deferred_links *deferred, struct stream_entry *ret)
{
    struct deferred *name = deferred->ready;

    free_list(deferred->current);
    deferred->current = NULL;
    if (!name)
        return 0;
    deferred->ready = name->next;
    name->next = NULL;
    deferred->current = name;
    *ret = (struct stream_entry){
        .path = name->path, .hard_link = name->first, .entry = name->entry, .stored_fd = -1};
    return 1;
}

bool deferred_links_end(struct deferred_links *deferred)
{
    struct deferred *name = deferred->waiting;

    if (!name)
        return false;
    deferred->waiting = name->next;
    deferred->n--;
    /* Without memory for their target, the others come by themselves, as empty files. */
    (void)release(deferred, name->dev, name->ino, name->path);
    name->next = deferred->ready;
    deferred->ready = name;
    return true;
}
