/* Names of a cpio archive that come before the content of their file does: "newc" archives hold it
 * once, which GNU cpio does with the last name. They are held back, and come as hard links once the
 * content has. */
#ifndef SHOAL_SOURCE_DEFERRED_LINKS_H
#define SHOAL_SOURCE_DEFERRED_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/stream_source.h"

struct deferred_links;

/* NULL: no memory. */
struct deferred_links *deferred_links_new(void);
void deferred_links_free(struct deferred_links *deferred);

/* Looks at an entry of the archive, and its inode there: 1: take it now, as it may have been
 * changed to; 0: it is held back; or -ENOMEM. */
int deferred_links_take(struct deferred_links *deferred, uint64_t dev, uint64_t ino, unsigned nlink,
    struct stream_entry *entry);

/* A name whose time has come: 1, with memory good until the next call; or 0. */
int deferred_links_next(struct deferred_links *deferred, struct stream_entry *ret);

/* The archive has ended: what is still held back has no content. Whether there is any. */
bool deferred_links_end(struct deferred_links *deferred);

#endif
