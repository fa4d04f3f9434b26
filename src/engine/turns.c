#include "engine/turns.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffers.h"
#include "base/bytes.h"
#include "engine/content.h"
#include "engine/run.h"

/* So many buffers are in use at once. */
#define BUFFERS_MAX 64
/* The first turn may have so many even then. */
#define BUFFERS_FIRST 4

/* Smaller pieces are gathered before they are written. */
#define GATHER_BELOW_BYTES (32 * 1024)
#define MOVE_STEP_BYTES    (1024 * 1024)

/* Part of a turn's output: one of the three. */
struct chunk {
    struct chunk *next;
    struct buffer *buffer;
    struct shoal_entry *told; /* with its strings behind it */
    struct source_file file;
    struct entry entry; /* the file's */
    struct node *node;  /* referred to: where the file is, for messages */
    char *name;
};

struct turn {
    struct turns *turns;
    struct turn *next;
    struct buffer *filling; /* the worker's alone */
    struct chunk *chunks, *last;
    unsigned buffers; /* in use */
    bool ended;
};

struct turns {
    struct run *run;
    struct stream_sink *sink;
    struct buffers *buffers;
    struct bytes gathered; /* the emitter's */
    int error;             /* the first failure: atomic */

    pthread_mutex_t lock;
    pthread_cond_t output; /* for the emitter: there is something to write, or the end */
    pthread_cond_t room;   /* for workers: a buffer came free, or another turn is first */
    struct turn *first, *last;
    unsigned buffers_used;
    bool closed;
};

int turns_new(struct run *run, struct stream_sink *sink, struct turns **ret)
{
    struct turns *turns = calloc(1, sizeof(*turns));
    int r = turns ? buffers_new(TURN_BUFFER_BYTES, BUFFERS_MAX + BUFFERS_FIRST, &turns->buffers)
                  : -ENOMEM;

    if (r < 0) {
        free(turns);
        return r;
    }
    turns->run = run;
    turns->sink = sink;
    (void)pthread_mutex_init(&turns->lock, NULL); /* glibc's do not fail */
    (void)pthread_cond_init(&turns->output, NULL);
    (void)pthread_cond_init(&turns->room, NULL);
    *ret = turns;
    return 0;
}

void turns_free(struct turns *turns)
{
    if (!turns)
        return;
    buffers_free(turns->buffers);
    bytes_free(&turns->gathered);
    (void)pthread_mutex_destroy(&turns->lock);
    (void)pthread_cond_destroy(&turns->output);
    (void)pthread_cond_destroy(&turns->room);
    free(turns);
}

int turns_error(const struct turns *turns)
{
    return __atomic_load_n(&turns->error, __ATOMIC_RELAXED);
}

/* ---- producing ---- */

struct turn *turn_begin(struct turns *turns)
{
    struct turn *turn = calloc(1, sizeof(*turn));

    if (!turn)
        return NULL;
    turn->turns = turns;
    (void)pthread_mutex_lock(&turns->lock);
    *(turns->last ? &turns->last->next : &turns->first) = turn;
    turns->last = turn;
    (void)pthread_mutex_unlock(&turns->lock);
    return turn;
}

static void add_chunk(struct turn *turn, struct chunk *chunk)
{
    struct turns *turns = turn->turns;

    (void)pthread_mutex_lock(&turns->lock);
    *(turn->last ? &turn->last->next : &turn->chunks) = chunk;
    turn->last = chunk;
    if (turns->first == turn)
        (void)pthread_cond_signal(&turns->output);
    (void)pthread_mutex_unlock(&turns->lock);
}

/* Without memory the stream cannot be whole. */
static void give_up(struct turns *turns)
{
    __atomic_store_n(&turns->error, -ENOMEM, __ATOMIC_RELAXED);
    run_stop(turns->run, STOP_FULL);
    (void)pthread_mutex_lock(&turns->lock);
    (void)pthread_cond_broadcast(&turns->room);
    (void)pthread_mutex_unlock(&turns->lock);
}

/* What was filled so far goes to the emitter. 0 or -ENOMEM. */
static int flush(struct turn *turn)
{
    if (!turn->filling)
        return 0;
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return -ENOMEM;
    chunk->buffer = turn->filling;
    turn->filling = NULL;
    add_chunk(turn, chunk);
    return 0;
}

/* With the lock held. */
static bool may_take_buffer(const struct turn *turn)
{
    const struct turns *turns = turn->turns;
    return turns->buffers_used < BUFFERS_MAX ||
           (turns->first == turn && turn->buffers < BUFFERS_FIRST);
}

static struct buffer *take_buffer(struct turn *turn)
{
    struct turns *turns = turn->turns;

    (void)pthread_mutex_lock(&turns->lock);
    while (!may_take_buffer(turn) && !run_is_stopping(turns->run))
        (void)pthread_cond_wait(&turns->room, &turns->lock);
    turn->buffers++;
    turns->buffers_used++;
    (void)pthread_mutex_unlock(&turns->lock);
    if (run_is_stopping(turns->run))
        return NULL;
    struct buffer *buffer = buffers_get_now(turns->buffers);
    if (!buffer)
        give_up(turns);
    return buffer;
}

char *turn_room(struct turn *turn, size_t *ret_room)
{
    if (turn->filling && turn->filling->used == TURN_BUFFER_BYTES && flush(turn) < 0) {
        give_up(turn->turns);
        return NULL;
    }
    if (!turn->filling)
        turn->filling = take_buffer(turn);
    if (!turn->filling)
        return NULL;
    *ret_room = TURN_BUFFER_BYTES - turn->filling->used;
    return turn->filling->bytes + turn->filling->used;
}

void turn_advance(struct turn *turn, size_t n)
{
    turn->filling->used += n;
}

int turn_put(struct turn *turn, const void *data, size_t n)
{
    while (n > 0) {
        size_t room;
        char *to = turn_room(turn, &room);
        if (!to)
            return -ECANCELED;
        size_t k = n < room ? n : room;
        memcpy(to, data, k);
        turn_advance(turn, k);
        data = (const char *)data + k;
        n -= k;
    }
    return 0;
}

static void chunk_free(struct turn *turn, struct chunk *chunk)
{
    if (chunk->buffer) {
        struct turns *turns = turn->turns;
        buffer_unref(chunk->buffer);
        (void)pthread_mutex_lock(&turns->lock);
        turn->buffers--;
        turns->buffers_used--;
        (void)pthread_cond_broadcast(&turns->room);
        (void)pthread_mutex_unlock(&turns->lock);
    }
    if (chunk->file.ops)
        chunk->file.ops->close(&chunk->file);
    node_unref(chunk->node);
    free(chunk->name);
    free(chunk->told);
    free(chunk);
}

int turn_put_file(struct turn *turn, struct source_file *from, const struct entry *entry,
    const struct place *place)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    int r = chunk ? flush(turn) : -ENOMEM;

    if (r == 0 && !(chunk->name = strdup(place->name)))
        r = -ENOMEM;
    if (r < 0) {
        free(chunk);
        from->ops->close(from);
        return r;
    }
    chunk->file = *from;
    chunk->entry = *entry;
    chunk->entry.xattrs = NULL;
    node_ref(place->node);
    chunk->node = place->node;
    add_chunk(turn, chunk);
    return 0;
}

static const char *put_string(char **at, const char *string)
{
    const char *copy = *at;

    if (!string)
        return NULL;
    *at = stpcpy(*at, string) + 1;
    return copy;
}

static size_t string_size(const char *string)
{
    return string ? strlen(string) + 1 : 0;
}

void turn_tell(struct turn *turn, const struct shoal_entry *entry)
{
    size_t size = sizeof(*entry) + string_size(entry->path) + string_size(entry->hard_link) +
                  string_size(entry->link_target);
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    struct shoal_entry *told = malloc(size);

    if (!chunk || !told || flush(turn) < 0) {
        free(chunk);
        free(told);
        return;
    }
    char *strings = (char *)(told + 1);
    *told = *entry;
    told->path = put_string(&strings, entry->path);
    told->hard_link = put_string(&strings, entry->hard_link);
    told->link_target = put_string(&strings, entry->link_target);
    chunk->told = told;
    add_chunk(turn, chunk);
}

bool turn_await(struct turn *turn)
{
    struct turns *turns = turn->turns;

    (void)pthread_mutex_lock(&turns->lock);
    while (turns->first != turn && !run_is_stopping(turns->run))
        (void)pthread_cond_wait(&turns->room, &turns->lock);
    (void)pthread_mutex_unlock(&turns->lock);
    return !run_is_stopping(turns->run);
}

void turn_end(struct turn *turn)
{
    struct turns *turns = turn->turns;

    if (flush(turn) < 0) {
        buffer_unref(turn->filling);
        give_up(turns);
    }
    (void)pthread_mutex_lock(&turns->lock);
    turn->ended = true;
    if (turns->first == turn)
        (void)pthread_cond_signal(&turns->output);
    (void)pthread_mutex_unlock(&turns->lock);
}

void turns_close(struct turns *turns)
{
    (void)pthread_mutex_lock(&turns->lock);
    turns->closed = true;
    (void)pthread_cond_signal(&turns->output);
    (void)pthread_mutex_unlock(&turns->lock);
}

/* ---- writing ---- */

/* The sink failed: what follows would, too. */
static void fail(struct worker *worker, struct turns *turns, int r)
{
    if (turns_error(turns) == 0 && r != -ECANCELED)
        __atomic_store_n(&turns->error, r, __ATOMIC_RELAXED);
    outcome_clear(&worker->outcome); /* told by whoever asked for the whole */
    run_stop(turns->run, STOP_FULL);
    (void)pthread_mutex_lock(&turns->lock);
    (void)pthread_cond_broadcast(&turns->room);
    (void)pthread_mutex_unlock(&turns->lock);
}

static void write_now(struct worker *worker, struct turns *turns, const char *data, size_t n)
{
    while (n > 0 && !run_is_stopping(turns->run)) {
        size_t step = content_await_pace(worker, n);
        worker_is_at(worker, ACTIVITY_DESTINATION);
        int r = step > 0 ? turns->sink->ops->write(turns->sink, data, step, &worker->outcome)
                         : -ECANCELED;
        if (r < 0) {
            fail(worker, turns, r);
            return;
        }
        data += step;
        n -= step;
    }
}

static void write_gathered(struct worker *worker, struct turns *turns)
{
    write_now(worker, turns, turns->gathered.data, turns->gathered.n);
    turns->gathered.n = 0;
}

static void write_bytes(struct worker *worker, struct turns *turns, const char *data, size_t n)
{
    if (n < GATHER_BELOW_BYTES && bytes_append(&turns->gathered, data, n) == 0) {
        if (turns->gathered.n >= TURN_BUFFER_BYTES)
            write_gathered(worker, turns);
        return;
    }
    write_gathered(worker, turns);
    write_now(worker, turns, data, n);
}

/* Moves a file by the kernel as far as that goes. Returns how far. */
static uint64_t move_file(struct worker *worker, struct turns *turns, const struct chunk *chunk)
{
    struct stream_sink *sink = turns->sink;
    uint64_t at = 0;

    while (at < chunk->entry.size && !run_is_stopping(turns->run)) {
        uint64_t rest = chunk->entry.size - at;
        size_t step =
            content_await_pace(worker, rest < MOVE_STEP_BYTES ? (size_t)rest : MOVE_STEP_BYTES);
        worker_is_at(worker, ACTIVITY_DESTINATION);
        size_t k =
            step == 0 ? 0 : sink->ops->move(sink, chunk->file.fd, chunk->file.base + at, step);
        if (k == 0)
            break;
        at += k;
        count(&worker->counters.moved, k);
    }
    return at;
}

/* The rest of a file through a buffer; zeros where it was cut, since its size was promised. Returns
 * whether it was. */
static bool write_rest(struct worker *worker, struct turns *turns, struct chunk *chunk, uint64_t at)
{
    struct place place = {chunk->node, chunk->name, chunk->name};
    bool cut = false;

    while (at < chunk->entry.size && !run_is_stopping(turns->run)) {
        uint64_t rest = chunk->entry.size - at;
        size_t want = rest < BUFFER_BYTES ? (size_t)rest : BUFFER_BYTES;
        ssize_t got = cut ? 0 : chunk->file.ops->read(&chunk->file, worker->buffer, want, at);
        if (got < 0) {
            worker->outcome.damage = chunk->file.damage;
            events_settle(worker, &place, outcome_fail(&worker->outcome, "read", (int)got));
        }
        if (got <= 0) {
            cut = true;
            memset(worker->buffer, 0, want);
            got = (ssize_t)want;
        }
        write_now(worker, turns, worker->buffer, (size_t)got);
        at += (uint64_t)got;
        count(&worker->counters.moved, (uint64_t)got);
    }
    return cut;
}

static void write_file(struct worker *worker, struct turns *turns, struct chunk *chunk)
{
    struct place place = {chunk->node, chunk->name, chunk->name};

    write_gathered(worker, turns);
    uint64_t moved = move_file(worker, turns, chunk);
    bool cut = write_rest(worker, turns, chunk, moved);
    if (cut || chunk->file.ops->has_changed(&chunk->file, &chunk->entry))
        events_changed(worker, &place);
    if (turns->sink->ops->pad(turns->sink, chunk->entry.size, &turns->gathered) < 0)
        fail(worker, turns, -ENOMEM);
}

static void write_chunk(struct worker *worker, struct turns *turns, struct chunk *chunk)
{
    if (run_is_stopping(turns->run))
        return;
    if (chunk->told)
        events_entry(turns->run, chunk->told);
    else if (chunk->buffer)
        write_bytes(worker, turns, chunk->buffer->bytes, chunk->buffer->used);
    else
        write_file(worker, turns, chunk);
}

/* With the lock held: the next turn is first. */
static void drop_first(struct turns *turns)
{
    struct turn *turn = turns->first;

    turns->first = turn->next;
    if (!turns->first)
        turns->last = NULL;
    free(turn);
    (void)pthread_cond_broadcast(&turns->room);
}

/* With the lock held: the next chunk of the first turn; NULL at the end of all. */
static struct chunk *await_chunk(struct turns *turns)
{
    for (;;) {
        struct turn *turn = turns->first;
        if (turn && turn->chunks) {
            struct chunk *chunk = turn->chunks;
            turn->chunks = chunk->next;
            if (!turn->chunks)
                turn->last = NULL;
            return chunk;
        }
        if (turn && turn->ended)
            drop_first(turns);
        else if (!turn && turns->closed)
            return NULL;
        else
            (void)pthread_cond_wait(&turns->output, &turns->lock);
    }
}

void turns_emit(struct worker *worker, struct turns *turns)
{
    for (;;) {
        worker_is_at(worker, ACTIVITY_IDLE);
        (void)pthread_mutex_lock(&turns->lock);
        struct chunk *chunk = await_chunk(turns);
        struct turn *turn = turns->first;
        (void)pthread_mutex_unlock(&turns->lock);
        if (!chunk)
            break;
        write_chunk(worker, turns, chunk);
        chunk_free(turn, chunk);
    }
    if (!run_is_stopping(turns->run))
        write_gathered(worker, turns);
}
