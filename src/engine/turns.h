/* Output that many produce and one writes, in order: each turn's goes into buffers of its own,
 * within one budget, and the emitter writes turn after turn. The first turn not written always gets
 * room, so that nobody waits for ever. */
#ifndef SHOAL_ENGINE_TURNS_H
#define SHOAL_ENGINE_TURNS_H

#include <shoal/shoal.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/events.h"
#include "sink/stream_sink.h"
#include "source/source_file.h"

#define TURN_BUFFER_BYTES (256 * 1024)

struct turns;
struct turn;

int turns_new(struct run *run, struct stream_sink *sink, struct turns **ret);
void turns_free(struct turns *turns);

/* The next turn, in the order of the calls. NULL: no memory. */
struct turn *turn_begin(struct turns *turns);
/* Nothing more comes of the turn. */
void turn_end(struct turn *turn);

/* Room for output: NULL if the run is to stop. turn_advance() says how much was filled. */
char *turn_room(struct turn *turn, size_t *ret_room);
void turn_advance(struct turn *turn, size_t n);

/* Output by copy. 0 or -ECANCELED. */
int turn_put(struct turn *turn, const void *data, size_t n);

/* A whole file's content and what follows it, for the emitter to move; takes `from` over. 0 or
 * negative errno. */
int turn_put_file(struct turn *turn, struct source_file *from, const struct entry *entry,
    const struct place *place);

/* An entry to be told when its turn is written; its owner's names must live as long as the turns.
 * Without memory it is not told. */
void turn_tell(struct turn *turn, const struct shoal_entry *entry);

/* Waits until all earlier turns are written. False if the run is to stop. */
bool turn_await(struct turn *turn);

/* No turn begins any more. */
void turns_close(struct turns *turns);

/* Writes turn after turn until all are written after turns_close(); stops the run if the sink
 * fails. */
void turns_emit(struct worker *worker, struct turns *turns);

/* The sink's first failure, or 0. */
int turns_error(const struct turns *turns);

#endif
