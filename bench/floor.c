/* The floor: copies the directories and regular files of FROM to a new directory TO with no more
 * system calls per file than the content, the permission bits and the file times need. It keeps no
 * owners, links, xattrs, holes, devices or directory times, so nothing that keeps them can be
 * quicker by the same means. bench/peers compares Shoal with it; docs/performance.md records what
 * its options taught. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

enum method { METHOD_RW, METHOD_CFR, METHOD_REFLINK, METHOD_SENDFILE };
enum sort { SORT_NONE, SORT_INODE };

/* Calls that the floor does not need, made to learn what each costs. */
enum extra {
    EXTRA_LISTXATTR = 1 << 0,
    EXTRA_FSTAT = 1 << 1,
    EXTRA_FCHOWN = 1 << 2,
    EXTRA_FCHMOD = 1 << 3,
};

struct options {
    const char *from, *to;
    uint64_t jobs;
    uint64_t slice;        /* most files that one job copies */
    uint64_t buffer_bytes; /* for read and write, one per worker */
    uint64_t method_from;  /* files smaller than this are read and written */
    int method, sort;      /* of the enums above */
    unsigned extra;        /* of enum extra */
    int open_flags;        /* O_NOATIME or 0 */
    bool private_fds;
};

/* Some of a directory's files, in the order in which they are to be copied. */
struct file_name {
    ino_t inode;
    size_t offset; /* of the name in slice.names */
};

struct slice {
    struct file_name *files;
    size_t count, capacity;
    char *names;
    size_t names_bytes, names_capacity;
};

/* A directory to list, or (slice not empty) files of it to copy. The path is relative to both FROM
 * and TO, so any worker can open it in its own descriptor table. */
struct job {
    struct job *next;
    struct slice slice;
    char path[];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *top; /* last in, first out: depth first, so few jobs wait */
    size_t unfinished;
    int error; /* the first; all workers stop */
};

struct worker {
    const struct options *opt;
    struct queue *queue;
    pthread_t thread;
    int from_root, to_root;
    uint64_t files, directories, bytes, fallbacks;
    char *buffer;
    char *listing;
};

#define LISTING_BYTES 65536 /* for getdents64 */

static int fail(const char *operation, const char *name, int error)
{
    fprintf(stderr, "floor: cannot %s '%s': %s\n", operation, name, strerror(-error));
    return error;
}

/* ---- jobs ---- */

static struct job *job_new(const char *directory, const char *name)
{
    size_t bytes = strlen(directory) + strlen(name) + 2;
    struct job *job = calloc(1, sizeof(*job) + bytes);
    if (!job)
        return NULL;
    if (*name == '\0')
        strcpy(job->path, directory);
    else if (strcmp(directory, ".") == 0)
        strcpy(job->path, name);
    else
        snprintf(job->path, bytes, "%s/%s", directory, name);
    return job;
}

static void job_free(struct job *job)
{
    free(job->slice.files);
    free(job->slice.names);
    free(job);
}

static void queue_push(struct queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    job->next = queue->top;
    queue->top = job;
    queue->unfinished++;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* Waits for a job; NULL when all are finished or one has failed. */
static struct job *queue_pop(struct queue *queue)
{
    struct job *job = NULL;
    pthread_mutex_lock(&queue->lock);
    while (!queue->top && queue->unfinished > 0 && queue->error == 0)
        pthread_cond_wait(&queue->changed, &queue->lock);
    if (queue->top && queue->error == 0) {
        job = queue->top;
        queue->top = job->next;
    }
    pthread_mutex_unlock(&queue->lock);
    return job;
}

static void queue_finish(struct queue *queue, int error)
{
    pthread_mutex_lock(&queue->lock);
    if (error < 0 && queue->error == 0)
        queue->error = error;
    if (--queue->unfinished == 0 || queue->error < 0)
        pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* ---- content ---- */

static int write_all(int fd, const char *data, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, data, count);
        if (n < 0)
            return -errno;
        data += n;
        count -= (size_t)n;
    }
    return 0;
}

/* Copies `size` bytes, or fewer if the file has shrunk; does not ask for the end of file. */
static int copy_by_buffer(struct worker *w, int from, int to, off_t size)
{
    while (size > 0) {
        size_t want = (uint64_t)size < w->opt->buffer_bytes ? (size_t)size : w->opt->buffer_bytes;
        ssize_t n = read(from, w->buffer, want);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        int r = write_all(to, w->buffer, (size_t)n);
        if (r < 0)
            return r;
        size -= n;
    }
    return 0;
}

/* The same inside the kernel. When the method does not serve these file systems, the first call
 * fails and nothing has been copied. */
static int copy_by_kernel(int method, int from, int to, off_t size)
{
    if (method == METHOD_REFLINK)
        return ioctl(to, FICLONE, from) < 0 ? -errno : 0;
    while (size > 0) {
        ssize_t n = method == METHOD_CFR ? copy_file_range(from, NULL, to, NULL, (size_t)size, 0)
                                         : sendfile(to, from, NULL, (size_t)size);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        size -= n;
    }
    return 0;
}

static int copy_content(struct worker *w, int from, int to, off_t size)
{
    w->bytes += (uint64_t)size;
    if (w->opt->method == METHOD_RW || (uint64_t)size < w->opt->method_from)
        return copy_by_buffer(w, from, to, size);
    int r = copy_by_kernel(w->opt->method, from, to, size);
    if (r != -EXDEV && r != -EOPNOTSUPP && r != -EINVAL)
        return r;
    w->fallbacks++;
    return copy_by_buffer(w, from, to, size);
}

/* ---- files ---- */

static int set_times(int fd, const struct stat *st)
{
    const struct timespec times[2] = {st->st_atim, st->st_mtim};
    return futimens(fd, times) < 0 ? -errno : 0;
}

static int make_extra_calls(const struct options *opt, int from, int to, const struct stat *st)
{
    struct stat made;
    if ((opt->extra & EXTRA_LISTXATTR) && flistxattr(from, NULL, 0) < 0)
        return -errno;
    if ((opt->extra & EXTRA_FSTAT) && fstat(to, &made) < 0)
        return -errno;
    if ((opt->extra & EXTRA_FCHOWN) && fchown(to, st->st_uid, st->st_gid) < 0)
        return -errno;
    if ((opt->extra & EXTRA_FCHMOD) && fchmod(to, st->st_mode & 07777) < 0)
        return -errno;
    return 0;
}

static int close_written(int *fd)
{
    return close(TAKE_FD(*fd)) < 0 ? -errno : 0;
}

static int fill_file(struct worker *w, int from, int to, const struct stat *st)
{
    int r = copy_content(w, from, to, st->st_size);
    if (r == 0 && w->opt->extra)
        r = make_extra_calls(w->opt, from, to, st);
    return r < 0 ? r : set_times(to, st);
}

static int copy_file(struct worker *w, int from_dir, int to_dir, const char *name)
{
    _cleanup_close_ int from = -1, to = -1;
    struct stat st;

    from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | w->opt->open_flags);
    if (from < 0)
        return fail("open", name, -errno);
    if (fstat(from, &st) < 0)
        return fail("stat", name, -errno);
    to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 07777);
    if (to < 0)
        return fail("create", name, -errno);
    int r = fill_file(w, from, to, &st);
    if (r == 0)
        r = close_written(&to);
    if (r < 0)
        return fail("copy", name, r);
    w->files++;
    return 0;
}

/* ---- slices of a directory ---- */

static int slice_add(struct slice *s, const struct dirent64 *entry)
{
    size_t bytes = strlen(entry->d_name) + 1;
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        void *files = reallocarray(s->files, capacity, sizeof(*s->files));
        if (!files)
            return -ENOMEM;
        s->files = files;
        s->capacity = capacity;
    }
    if (s->names_bytes + bytes > s->names_capacity) {
        size_t capacity = 2 * s->names_capacity + 2048;
        void *names = realloc(s->names, capacity);
        if (!names)
            return -ENOMEM;
        s->names = names;
        s->names_capacity = capacity;
    }
    memcpy(s->names + s->names_bytes, entry->d_name, bytes);
    s->files[s->count++] = (struct file_name){entry->d_ino, s->names_bytes};
    s->names_bytes += bytes;
    return 0;
}

static int by_inode(const void *a, const void *b)
{
    ino_t x = ((const struct file_name *)a)->inode, y = ((const struct file_name *)b)->inode;
    return x < y ? -1 : x > y;
}

static int copy_slice(struct worker *w, struct job *job, int from_dir, int to_dir)
{
    struct slice *s = &job->slice;
    if (w->opt->sort == SORT_INODE)
        qsort(s->files, s->count, sizeof(*s->files), by_inode);
    for (size_t i = 0; i < s->count; i++) {
        int r = copy_file(w, from_dir, to_dir, s->names + s->files[i].offset);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A slice that another worker has listed. */
static int copy_foreign_slice(struct worker *w, struct job *job)
{
    _cleanup_close_ int from = openat(w->from_root, job->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int to = openat(w->to_root, job->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (from < 0 || to < 0)
        return fail("open", job->path, -errno);
    return copy_slice(w, job, from, to);
}

/* ---- directories ---- */

static int take_entry(struct worker *w, struct job *job, const struct dirent64 *entry)
{
    if (entry->d_type == DT_REG) {
        if (job->slice.count == w->opt->slice) {
            struct job *full = job_new(job->path, "");
            if (!full)
                return -ENOMEM;
            full->slice = job->slice;
            job->slice = (struct slice){0};
            queue_push(w->queue, full);
        }
        return slice_add(&job->slice, entry);
    }
    if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
        strcmp(entry->d_name, "..") == 0)
        return 0;
    struct job *child = job_new(job->path, entry->d_name);
    if (!child)
        return -ENOMEM;
    queue_push(w->queue, child);
    return 0;
}

static int list_directory(struct worker *w, struct job *job, int directory)
{
    for (;;) {
        ssize_t n = getdents64(directory, w->listing, LISTING_BYTES);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        const struct dirent64 *entry;
        for (ssize_t at = 0; at < n; at += entry->d_reclen) {
            entry = (const struct dirent64 *)(w->listing + at);
            int r = take_entry(w, job, entry);
            if (r < 0)
                return r;
        }
    }
}

static int copy_directory(struct worker *w, struct job *job)
{
    _cleanup_close_ int from = -1, to = -1;
    struct stat st;

    from = openat(w->from_root, job->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0 || fstat(from, &st) < 0)
        return fail("open", job->path, -errno);
    /* The root is there already. The owner must be able to make what the directory will hold. */
    if (strcmp(job->path, ".") != 0 && mkdirat(w->to_root, job->path, st.st_mode | 0700) < 0)
        return fail("make", job->path, -errno);
    to = openat(w->to_root, job->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return fail("open copy of", job->path, -errno);
    w->directories++;
    int r = list_directory(w, job, from);
    if (r < 0)
        return fail("list", job->path, r);
    return copy_slice(w, job, from, to);
}

/* ---- workers ---- */

static int worker_prepare(struct worker *w)
{
    if (w->opt->private_fds && unshare(CLONE_FILES) < 0)
        return fail("unshare", "the descriptor table", -errno);
    w->buffer = malloc(w->opt->buffer_bytes);
    w->listing = malloc(LISTING_BYTES);
    return w->buffer && w->listing ? 0 : -ENOMEM;
}

static void *worker_run(void *arg)
{
    struct worker *w = arg;
    struct job *job;
    int ready = worker_prepare(w);
    while ((job = queue_pop(w->queue))) {
        int r = ready;
        if (r == 0 && job->slice.count > 0)
            r = copy_foreign_slice(w, job);
        else if (r == 0)
            r = copy_directory(w, job);
        job_free(job);
        queue_finish(w->queue, r);
    }
    free(w->buffer);
    free(w->listing);
    return NULL;
}

/* Runs the workers, the caller's thread as the first: with one job there is no second thread. */
static int run_workers(const struct options *opt, struct queue *queue, struct worker *workers)
{
    int r = 0;
    size_t started = 1;
    for (; started < opt->jobs && r == 0; started++)
        r = -pthread_create(&workers[started].thread, NULL, worker_run, &workers[started]);
    if (r < 0)
        return r; /* the process ends, and the threads with it */
    worker_run(&workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return queue->error;
}

static int copy_tree(const struct options *opt, struct worker *workers)
{
    struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

    int from = open(opt->from, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (from < 0)
        return fail("open", opt->from, -errno);
    if (mkdir(opt->to, 0755) < 0)
        return fail("make", opt->to, -errno);
    int to = open(opt->to, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return fail("open", opt->to, -errno);
    struct job *root = job_new(".", ".");
    if (!root)
        return -ENOMEM;
    queue_push(&queue, root);
    for (size_t i = 0; i < opt->jobs; i++)
        workers[i] = (struct worker){.opt = opt, .queue = &queue, .from_root = from, .to_root = to};
    return run_workers(opt, &queue, workers);
}

/* ---- the command line ---- */

enum { KEY_FSTAT = 256, KEY_FCHOWN, KEY_FCHMOD, KEY_LISTXATTR, KEY_NOATIME, KEY_METHOD_FROM };

static const struct argp_option arguments[] = {
    {"jobs", 'j', "N", 0, "workers (default: one a processor)", 0},
    {"private-fds", 'p', NULL, 0, "each worker has its own descriptor table", 0},
    {"sort", 's', "none|inode", 0, "order of a slice's files", 0},
    {"slice", 'l', "N", 0, "most files that one job copies (default 256)", 0},
    {"method", 'm', "rw|cfr|reflink|sendfile", 0, "how content is copied", 0},
    {"method-from", KEY_METHOD_FROM, "SIZE", 0, "read and write files smaller than this", 0},
    {"buffer", 'b', "SIZE", 0, "for read and write (default 128K)", 0},
    {"noatime", KEY_NOATIME, NULL, 0, "open sources with O_NOATIME", 0},
    {"listxattr", KEY_LISTXATTR, NULL, 0, "also flistxattr each source", 0},
    {"fstat-dest", KEY_FSTAT, NULL, 0, "also fstat each copy", 0},
    {"fchown", KEY_FCHOWN, NULL, 0, "also fchown each copy", 0},
    {"fchmod", KEY_FCHMOD, NULL, 0, "also fchmod each copy", 0},
    {0},
};

static void parse_number(struct argp_state *state, const char *text, uint64_t *ret)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == text || end[shift > 0] != '\0')
        argp_error(state, "'%s' is not a number or a size", text);
    *ret = n << shift;
}

static void parse_choice(
    struct argp_state *state, const char *text, const char *const *choices, int *ret)
{
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *ret = i;
            return;
        }
    }
    argp_error(state, "'%s' is not one of the choices", text);
}

static error_t parse_path(struct argp_state *state, char *text)
{
    struct options *opt = state->input;
    if (state->arg_num > 1)
        argp_usage(state);
    *(state->arg_num == 0 ? &opt->from : &opt->to) = text;
    return 0;
}

static error_t parse_argument(int key, char *text, struct argp_state *state)
{
    static const char *const methods[] = {"rw", "cfr", "reflink", "sendfile", NULL};
    static const char *const sorts[] = {"none", "inode", NULL};
    struct options *opt = state->input;
    switch (key) {
    case 'j':
        parse_number(state, text, &opt->jobs);
        break;
    case 'l':
        parse_number(state, text, &opt->slice);
        break;
    case 'b':
        parse_number(state, text, &opt->buffer_bytes);
        break;
    case KEY_METHOD_FROM:
        parse_number(state, text, &opt->method_from);
        break;
    case 'm':
        parse_choice(state, text, methods, &opt->method);
        break;
    case 's':
        parse_choice(state, text, sorts, &opt->sort);
        break;
    case 'p':
        opt->private_fds = true;
        break;
    case KEY_NOATIME:
        opt->open_flags = O_NOATIME;
        break;
    case KEY_LISTXATTR:
        opt->extra |= EXTRA_LISTXATTR;
        break;
    case KEY_FSTAT:
        opt->extra |= EXTRA_FSTAT;
        break;
    case KEY_FCHOWN:
        opt->extra |= EXTRA_FCHOWN;
        break;
    case KEY_FCHMOD:
        opt->extra |= EXTRA_FCHMOD;
        break;
    case ARGP_KEY_ARG:
        return parse_path(state, text);
    case ARGP_KEY_END:
        if (!opt->to || opt->jobs < 1 || opt->buffer_bytes < 1 || opt->slice < 1)
            argp_usage(state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static void print_result(const struct options *opt, const struct worker *workers, double real)
{
    struct worker sum = {0};
    struct rusage usage;
    for (size_t i = 0; i < opt->jobs; i++) {
        sum.files += workers[i].files;
        sum.directories += workers[i].directories;
        sum.bytes += workers[i].bytes;
        sum.fallbacks += workers[i].fallbacks;
    }
    (void)getrusage(RUSAGE_SELF, &usage); /* cannot fail for the caller itself */
    printf("real %.6f user %.6f sys %.6f files %ju directories %ju kb %ju fallbacks %ju\n", real,
        seconds(&usage.ru_utime), seconds(&usage.ru_stime), (uintmax_t)sum.files,
        (uintmax_t)sum.directories, (uintmax_t)(sum.bytes / 1024), (uintmax_t)sum.fallbacks);
}

int main(int argc, char **argv)
{
    const struct argp argp = {arguments, parse_argument, "FROM TO",
        "Copies a tree with the fewest system calls, as the mark to be reached.", NULL, NULL, NULL};
    struct options opt = {
        .jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
        .buffer_bytes = 128 * 1024,
        .slice = 256,
    };
    struct timespec start, end;

    argp_parse(&argp, argc, argv, 0, NULL, &opt);
    _cleanup_free_ struct worker *workers = calloc(opt.jobs, sizeof(*workers));
    if (!workers)
        return EXIT_FAILURE;
    (void)umask(0); /* so that a mode is right when the file is made */
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (copy_tree(&opt, workers) < 0)
        return EXIT_FAILURE;
    clock_gettime(CLOCK_MONOTONIC, &end);
    print_result(&opt, workers,
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    return EXIT_SUCCESS;
}
