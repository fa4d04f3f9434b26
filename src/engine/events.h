/* What is told to the caller about single files: faults, losses, differences, notes. */
#ifndef SHOAL_ENGINE_EVENTS_H
#define SHOAL_ENGINE_EVENTS_H

#include "engine/node.h"
#include "engine/run.h"

/* A name as it is met in a directory of the source; at the top its copy may be called otherwise. */
struct place {
    struct node *node;
    const char *name;
    const char *target_name;
};

/* Tells what became of one entry: `r` is what its operation returned, the worker's outcome has the
 * rest. Faults are counted and told, losses counted, differences counted and told. */
void events_settle(struct worker *worker, const struct place *place, int r);

/* The copy stands, but the source changed under it. */
void events_changed(struct worker *worker, const struct place *place);

/* The copy was made (told only if the caller wants to hear of each). */
void events_copied(struct worker *worker, const struct place *place);

/* Nothing is wrong, but worth saying. */
void events_note(struct worker *worker, const struct place *place, const char *what);

/* A difference of another kind than an operation of the sink finds. */
void events_difference(struct worker *worker, const struct place *place, enum aspect aspect);

/* The same of a path that the user gave. */
void events_note_path(struct run *run, const char *what, const char *path);

/* A fault of a stream's entry that has no place: `path` is as the stream has it. */
void events_fault_entry(
    struct run *run, const struct root *root, const char *operation, const char *path, int error);

/* An entry of a stream, told to those who want to hear of each. */
void events_entry(struct run *run, const struct shoal_entry *entry);

/* The same as below, of a disc that is damaged. */
void events_fault_disc(struct run *run, const char *operation, const char *path, int error,
    const struct damage *damage);

/* A fault outside of any directory: `path` is what the user gave. */
void events_fault_path(struct run *run, const char *operation, const char *path, int error);

#endif
