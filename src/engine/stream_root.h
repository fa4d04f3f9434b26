/* A FROM that is a stream: an archive, or standard input. */
#ifndef SHOAL_ENGINE_STREAM_ROOT_H
#define SHOAL_ENGINE_STREAM_ROOT_H

#include "engine/root.h"
#include "engine/run.h"

/* Opens the archive that a descriptor yields (it stays the caller's) as the root's stream. `from`
 * and `part` are copied, `from` being how messages begin: with "archive:", or "" for the members'
 * names alone. 0 or negative errno (-EILSEQ: no archive that is known); the root is the caller's to
 * free either way. */
int stream_root_open(
    struct run *run, struct root *root, int fd, const char *from, const char *part);

#endif
