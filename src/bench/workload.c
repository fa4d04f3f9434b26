#include "bench/workload.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench/mix.h"

__extension__ typedef unsigned __int128 uint128;

/* What is chosen by mix(): each has its own sequence, so that one more choice changes no other. */
enum domain {
    DOMAIN_SIZE,
    DOMAIN_CONTENT,
    DOMAIN_TIME,
    DOMAIN_BOOK,
};

enum content {
    CONTENT_TEXT,
    CONTENT_RANDOM,
};

/* The tree that is being made. The first error sticks, and every later step does nothing: a layout
 * says what is there, and only the end asks whether it worked. */
struct tree {
    const struct workload *workload;
    uint64_t seed;
    const struct workload_watch *watch;
    struct workload_totals totals;
    uint128 raw_total, raw_done; /* of the sizes before they are scaled */
    int fds[8];                  /* the open directories, from the parent of the top on */
    size_t depth;                /* fds[depth - 1] is the current one */
    struct workspace *space;
    char name[WORKLOAD_NAME_MAX]; /* what is being made */
    int error;
};

struct workload_shape {
    const char *name, *summary; /* NULL: not found by name */
    uint64_t files, bytes;
    void (*lay_out)(struct tree *tree);
};

/* --- Sizes --- */

/* Sizes in thousandths of the mean at the quantiles of a lognormal distribution (sigma 1.25),
 * capped at 16.7 means: 99.8% of such files are smaller. */
static const struct {
    uint32_t below; /* share of files that are smaller, in 1/10000 */
    uint32_t size;
} quantiles[] = {
    {0, 5},
    {100, 25},
    {200, 35},
    {500, 59},
    {1000, 92},
    {2000, 160},
    {3000, 238},
    {4000, 334},
    {5000, 458},
    {6000, 628},
    {7000, 882},
    {8000, 1311},
    {9000, 2272},
    {9500, 3578},
    {9800, 5965},
    {9900, 8387},
    {9950, 11456},
    {10000, 16717},
};

/* The index-th file's size in millionths of the mean, before scaling. */
static uint64_t raw_size(uint64_t seed, uint64_t index)
{
    /* 24 bits of fraction below the table's 1/10000. */
    uint64_t at = ((mix(seed, DOMAIN_SIZE, index) >> 32) * 10000) >> 8;
    size_t i = 1;

    while (i + 1 < ELEMENTS(quantiles) && (uint64_t)quantiles[i].below << 24 <= at)
        i++;
    uint64_t left = (uint64_t)quantiles[i - 1].below << 24;
    uint64_t right = (uint64_t)quantiles[i].below << 24;
    uint64_t low = quantiles[i - 1].size, high = quantiles[i].size;
    return low * 1000 + ((high - low) * 1000 * ((at - left) >> 8)) / ((right - left) >> 8);
}

/* The next file's size. Each gets the difference of two rounded running totals, so nothing is left
 * over at the end. */
static uint64_t next_size(struct tree *tree)
{
    uint128 bytes = tree->workload->bytes;
    uint64_t before = (uint64_t)(tree->raw_done * bytes / tree->raw_total);

    tree->raw_done += raw_size(tree->seed, tree->totals.files);
    return (uint64_t)(tree->raw_done * bytes / tree->raw_total) - before;
}

/* --- Content --- */

#define CHUNK_BYTES 65536 /* is part of what is made: content starts anew at each */
#define WORD_BYTES  8
#define N_WORDS     4096

/* The same for all seeds; a twelfth of them end a line. */
struct words {
    char text[N_WORDS][WORD_BYTES]; /* each with the space or line end after it */
    uint8_t length[N_WORDS];
};

struct workspace {
    struct words words;
    char chunk[CHUNK_BYTES + WORD_BYTES]; /* the last word, or number, may stand over */
};

static void words_fill(struct words *words)
{
    static const char consonants[] = "bcdfghklmnprstvw", vowels[] = "aeiouaei";

    for (unsigned i = 0; i < N_WORDS; i++) {
        uint64_t bits = mix(0, DOMAIN_CONTENT, i);
        unsigned letters = 2 + (unsigned)(bits >> 61) % 6;
        for (unsigned k = 0; k < letters; k++, bits >>= 4)
            words->text[i][k] = k % 2 ? vowels[bits & 7] : consonants[bits & 15];
        words->text[i][letters] = bits % 12 == 0 ? '\n' : ' ';
        words->length[i] = (uint8_t)(letters + 1);
    }
}

static void fill_text(struct workspace *space, size_t length, uint64_t state)
{
    const struct words *words = &space->words;
    char *at = space->chunk;
    const char *end = at + length;

    while (at < end) {
        uint64_t bits = mix_next(&state);
        for (unsigned k = 0; k < 5 && at < end; k++, bits >>= 12) {
            memcpy(at, words->text[bits % N_WORDS], WORD_BYTES);
            at += words->length[bits % N_WORDS];
        }
    }
}

static void fill_random(struct workspace *space, size_t length, uint64_t state)
{
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t bits = htole64(mix_next(&state));
        memcpy(space->chunk + i, &bits, sizeof(bits));
    }
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        length -= (size_t)n;
    }
    return 0;
}

static bool tree_should_stop(const struct tree *tree)
{
    return tree->watch && tree->watch->should_stop &&
           tree->watch->should_stop(tree->watch->context);
}

static int write_content(struct tree *tree, int fd, enum content content, uint64_t size)
{
    uint64_t state = mix(tree->seed, DOMAIN_CONTENT, N_WORDS + tree->totals.files);

    for (uint64_t done = 0; done < size; done += CHUNK_BYTES) {
        uint64_t start = mix_finish(state + done);
        size_t n = size - done < CHUNK_BYTES ? (size_t)(size - done) : CHUNK_BYTES;
        if (content == CONTENT_TEXT)
            fill_text(tree->space, n, start);
        else
            fill_random(tree->space, n, start);
        int r = write_all(fd, tree->space->chunk, n);
        if (r < 0)
            return r;
        if (done % (64 * CHUNK_BYTES) == 0 && tree_should_stop(tree))
            return -EINTR;
    }
    return 0;
}

/* --- Entries --- */

/* Sets the mode (whatever the umask) and the times: a second within two years from July 1996. */
static int finish_entry(const struct tree *tree, int fd, mode_t mode, uint64_t index)
{
    const uint64_t first = 836179200, span = 2 * 365 * 86400;
    time_t second = (time_t)(first + mix(tree->seed, DOMAIN_TIME, index) % span);
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};

    if (fchmod(fd, mode) < 0 || futimens(fd, times) < 0)
        return -errno;
    return 0;
}

static bool tree_name(struct tree *tree, const char *format, va_list arguments)
{
    if (tree->error)
        return false;
    int n = vsnprintf(tree->name, sizeof(tree->name), format, arguments);
    if (n < 0 || (size_t)n >= sizeof(tree->name))
        tree->error = -ENAMETOOLONG;
    return tree->error == 0;
}

/* Begins a directory within the current one. */
__attribute__((format(printf, 2, 3))) static void tree_enter(
    struct tree *tree, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bool go = tree_name(tree, format, arguments);
    va_end(arguments);
    if (!go)
        return;
    assert(tree->depth < ELEMENTS(tree->fds));
    int parent = tree->fds[tree->depth - 1];
    if (mkdirat(parent, tree->name, 0700) < 0) {
        tree->error = -errno;
        return;
    }
    int fd = openat(parent, tree->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        tree->error = -errno;
    else
        tree->fds[tree->depth++] = fd;
}

/* Ends the current directory: its times are set now that nothing is added to it. */
static void tree_leave(struct tree *tree)
{
    if (tree->error)
        return;
    int fd = tree->fds[--tree->depth];
    uint64_t index = UINT64_MAX - tree->totals.directories++;
    tree->error = finish_entry(tree, fd, 0755, index);
    (void)close(fd); /* a directory read-only to us: nothing can be lost */
}

static int file_make(struct tree *tree, enum content content, uint64_t size)
{
    _cleanup_close_ int fd = openat(tree->fds[tree->depth - 1], tree->name,
        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = write_content(tree, fd, content, size);
    if (r >= 0)
        r = finish_entry(tree, fd, 0644, tree->totals.files);
    if (close(TAKE_FD(fd)) < 0 && r >= 0)
        r = -errno;
    return r;
}

__attribute__((format(printf, 3, 4))) static void tree_file(
    struct tree *tree, enum content content, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bool go = tree_name(tree, format, arguments);
    va_end(arguments);
    if (!go)
        return;
    uint64_t size = next_size(tree);
    tree->error = file_make(tree, content, size);
    if (tree->error)
        return;
    tree->totals.files++;
    tree->totals.bytes += size;
    if (tree->watch && tree->watch->made)
        tree->watch->made(tree->watch->context, &tree->totals);
    if (tree_should_stop(tree))
        tree->error = -EINTR;
}

/* --- Layouts --- */

/* A documentation disc: shelves of books; a book has chapters, figures and an index. */
static const char *const subjects[] = {"Audio", "Backup", "Compiler", "Desktop", "Disk", "Graphics",
    "Mail", "Network", "Printing", "Tuning"};
static const struct {
    const char *name, *book; /* of the shelf; of the kind of book on it */
} shelves[] = {{"enduser", "Primer"}, {"admin", "AdminGuide"}, {"developer", "Cookbook"},
    {"reference", "Reference"}};

enum {
    N_SUBJECTS = ELEMENTS(subjects),
    N_SHELVES = ELEMENTS(shelves),
    N_BOOKS = N_SUBJECTS * N_SHELVES,
    INSIGHT_FILES = 2200,
    /* Beside chapters and figures: 3 at the top, the release notes, each shelf's map, and each
     * book's map and indexes. */
    INSIGHT_FIXED = 3 + N_SUBJECTS + N_SHELVES + 5 * N_BOOKS,
    INSIGHT_PAGES = INSIGHT_FILES - INSIGHT_FIXED,
};

/* How many chapters and figures the books before the book-th one have together: books differ in
 * thickness, up to six times. */
static uint64_t pages_before(uint64_t seed, unsigned book)
{
    uint64_t before = 0, all = 0;

    for (unsigned i = 0; i < N_BOOKS; i++) {
        uint64_t thickness = 12 + mix(seed, DOMAIN_BOOK, i) % 60;
        all += thickness;
        if (i < book)
            before += thickness;
    }
    return INSIGHT_PAGES * before / all;
}

static void lay_out_book(struct tree *tree, unsigned subject, unsigned shelf)
{
    unsigned book = shelf * N_SUBJECTS + subject;
    uint64_t pages = pages_before(tree->seed, book + 1) - pages_before(tree->seed, book);
    unsigned chapters = 3 + (unsigned)pages / 5;
    unsigned figures = (unsigned)pages - chapters;

    tree_enter(tree, "%s%s", subjects[subject], shelves[shelf].book);
    tree_file(tree, CONTENT_TEXT, "book.map");
    for (unsigned i = 1; i <= chapters; i++)
        tree_file(tree, CONTENT_TEXT, "ch%02u.txt", i);
    tree_enter(tree, "figures");
    for (unsigned i = 1; i <= figures; i++)
        tree_file(tree, CONTENT_RANDOM, "fig%03u.gif", i);
    tree_leave(tree);
    tree_enter(tree, "index");
    tree_file(tree, CONTENT_TEXT, "words.idx");
    tree_file(tree, CONTENT_TEXT, "titles.idx");
    tree_file(tree, CONTENT_TEXT, "terms.idx");
    tree_file(tree, CONTENT_TEXT, "figures.idx");
    tree_leave(tree);
    tree_leave(tree);
}

static void lay_out_insight(struct tree *tree)
{
    tree_file(tree, CONTENT_TEXT, "contents.idx");
    tree_file(tree, CONTENT_TEXT, "library.map");
    tree_file(tree, CONTENT_TEXT, "welcome.txt");
    tree_enter(tree, "relnotes");
    for (unsigned i = 0; i < N_SUBJECTS; i++)
        tree_file(tree, CONTENT_TEXT, "%s.txt", subjects[i]);
    tree_leave(tree);
    for (unsigned shelf = 0; shelf < N_SHELVES; shelf++) {
        tree_enter(tree, "%s", shelves[shelf].name);
        tree_file(tree, CONTENT_TEXT, "shelf.map");
        tree_enter(tree, "books");
        for (unsigned subject = 0; subject < N_SUBJECTS; subject++)
            lay_out_book(tree, subject, shelf);
        tree_leave(tree);
        tree_leave(tree);
    }
}

static void lay_out_one(struct tree *tree)
{
    tree_file(tree, CONTENT_TEXT, "large.txt");
}

static void lay_out_flat(struct tree *tree)
{
    uint64_t files = tree->workload->files, per_directory = tree->workload->per_directory;

    for (uint64_t i = 0; i < files && !tree->error; i++) {
        if (i % per_directory == 0)
            tree_enter(tree, "dir%06llu", (unsigned long long)(i / per_directory));
        tree_file(tree, CONTENT_TEXT, "file%06llu.txt", (unsigned long long)(i % per_directory));
        if (i % per_directory == per_directory - 1 || i == files - 1)
            tree_leave(tree);
    }
}

/* --- The table --- */

#define INSIGHT_BYTES (76289ULL * 1024)

static const struct workload_shape shapes[] = {
    {"insight", "2,200 files, 76,289 KB: the books of a documentation disc", INSIGHT_FILES,
        INSIGHT_BYTES, lay_out_insight},
    {"one-large", "the same bytes in one file", 1, INSIGHT_BYTES, lay_out_one},
};

static const struct workload_shape flat_shape = {.lay_out = lay_out_flat};

const char *workload_name(size_t i)
{
    return i < ELEMENTS(shapes) ? shapes[i].name : NULL;
}

const char *workload_summary(size_t i)
{
    return i < ELEMENTS(shapes) ? shapes[i].summary : NULL;
}

/* Reads "KEY=NUMBER" up to ',' or the end; *text moves past both. */
static int parse_parameter(const char **text, const char *key, uint64_t most, uint64_t *ret)
{
    size_t length = strlen(key);
    const char *digits = *text + length;
    char *end;

    if (strncmp(*text, key, length) != 0)
        return -ENOENT;
    if (*digits < '0' || *digits > '9')
        return -EINVAL;
    errno = 0;
    unsigned long long number = strtoull(digits, &end, 10);
    if (*end == ',' && end[1] != '\0')
        end++;
    else if (*end != '\0')
        return -EINVAL;
    if (errno == ERANGE || number > most)
        return -ERANGE;
    *text = end;
    *ret = number;
    return 0;
}

static int parse_flat(const char *text, struct workload *ret)
{
    uint64_t files = 0, kb = 4, per_directory = 1000;

    while (*text) {
        int r = parse_parameter(&text, "files=", 100000000, &files);
        if (r == -ENOENT)
            r = parse_parameter(&text, "kb=", 1048576, &kb);
        if (r == -ENOENT)
            r = parse_parameter(&text, "per-directory=", 100000000, &per_directory);
        if (r < 0)
            return r == -ENOENT ? -EINVAL : r;
    }
    if (files == 0 || per_directory == 0)
        return -EINVAL;
    *ret = (struct workload){
        .files = files,
        .bytes = files * kb * 1024,
        .per_directory = per_directory,
        .shape = &flat_shape,
    };
    /* Always in full, so that one tree has one name. */
    (void)snprintf(ret->name, sizeof(ret->name), "files=%llu,kb=%llu,per-directory=%llu",
        (unsigned long long)files, (unsigned long long)kb, (unsigned long long)per_directory);
    return 0;
}

int workload_find(const char *text, struct workload *ret)
{
    for (size_t i = 0; i < ELEMENTS(shapes); i++) {
        if (strcmp(text, shapes[i].name) != 0)
            continue;
        *ret = (struct workload){
            .files = shapes[i].files, .bytes = shapes[i].bytes, .shape = &shapes[i]};
        (void)stpcpy(ret->name, shapes[i].name);
        return 0;
    }
    return strchr(text, '=') ? parse_flat(text, ret) : -ENOENT;
}

int workload_make(const struct workload *workload, uint64_t seed, int parent_fd,
    const struct workload_watch *watch, struct workload_totals *ret_totals, char *ret_name)
{
    _cleanup_free_ struct workspace *space = malloc(sizeof(*space));
    struct tree tree = {
        .workload = workload, .seed = seed, .watch = watch, .space = space, .depth = 1};

    if (!space)
        return -ENOMEM;
    words_fill(&space->words);
    tree.fds[0] = parent_fd;
    for (uint64_t i = 0; i < workload->files; i++)
        tree.raw_total += raw_size(seed, i);
    tree_enter(&tree, "%s", workload->name);
    workload->shape->lay_out(&tree);
    tree_leave(&tree);
    while (tree.depth > 1) /* after an error */
        (void)close(tree.fds[--tree.depth]);
    if (tree.error) {
        if (ret_name)
            (void)stpcpy(ret_name, tree.name);
        return tree.error;
    }
    assert(tree.totals.files == workload->files && tree.totals.bytes == workload->bytes);
    *ret_totals = tree.totals;
    return 0;
}
