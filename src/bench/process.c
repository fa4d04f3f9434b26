#include "bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* What the kernel counts a process's blocks in, whatever the device's are. */
#define RUSAGE_BLOCK_BYTES 512

extern char **environ;

void bench_stop_request(struct bench_stop *stop)
{
    int before = __atomic_fetch_add(&stop->requested, 1, __ATOMIC_SEQ_CST);
    pid_t group = __atomic_load_n(&stop->group, __ATOMIC_SEQ_CST);

    shoal_stop_request(&stop->copy);
    if (group > 0)
        (void)kill(-group, before == 0 ? SIGTERM : SIGKILL); /* it may just have ended */
}

bool bench_stop_is_requested(const struct bench_stop *stop)
{
    return __atomic_load_n(&stop->requested, __ATOMIC_SEQ_CST) > 0;
}

bool bench_stop_is_urgent(const struct bench_stop *stop)
{
    return __atomic_load_n(&stop->requested, __ATOMIC_SEQ_CST) > 1;
}

static int spawn_actions(
    posix_spawn_file_actions_t *actions, enum process_output output, int kept_fd)
{
    int kept = output == PROCESS_KEEP_ERRORS ? STDERR_FILENO : STDOUT_FILENO;
    int dropped = output == PROCESS_KEEP_ERRORS ? STDOUT_FILENO : STDERR_FILENO;

    int r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(actions, dropped, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(actions, kept_fd, kept);
    return -r;
}

/* A group of its own, so that all of it can be ended and the terminal's Ctrl-C reaches only us. */
static int spawn_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, defaults;

    (void)sigemptyset(&none);
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGINT);
    (void)sigaddset(&defaults, SIGTERM);
    (void)sigaddset(&defaults, SIGPIPE);
    int r = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (r == 0)
        r = posix_spawnattr_setpgroup(attributes, 0);
    if (r == 0)
        r = posix_spawnattr_setsigmask(attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(attributes, &defaults);
    return -r;
}

static int spawn_shell(const char *command, enum process_output output, int kept_fd, pid_t *ret)
{
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    int r = -posix_spawn_file_actions_init(&actions);
    if (r < 0)
        return r;
    r = -posix_spawnattr_init(&attributes);
    if (r == 0) {
        r = spawn_actions(&actions, output, kept_fd);
        if (r == 0)
            r = spawn_attributes(&attributes);
        if (r == 0)
            r = -posix_spawn(ret, "/bin/sh", &actions, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* Waits until the process has ended, but leaves it to be reaped, so that its number stays its own.
 */
static int wait_for_end(pid_t pid, int timeout_ms)
{
    siginfo_t info;

    if (timeout_ms >= 0) {
        _cleanup_close_ int fd = pidfd_open(pid, 0);
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        /* A signal starts the time anew, no more; kernels before 5.3 wait without a limit. */
        while (fd >= 0) {
            int n = poll(&poll_fd, 1, timeout_ms);
            if (n == 0)
                return -ETIMEDOUT;
            if (n > 0 || errno != EINTR)
                break;
        }
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

static uint64_t timeval_ns(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * NS_PER_SECOND + (uint64_t)t->tv_usec * 1000;
}

/* Reaps the process, whose usage has in it that of all its descendants that were waited for. */
static int reap(pid_t pid, struct process *process)
{
    struct rusage usage;
    int status;

    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return -errno;
    process->user_ns = timeval_ns(&usage.ru_utime);
    process->sys_ns = timeval_ns(&usage.ru_stime);
    process->max_rss_kb = (uint64_t)usage.ru_maxrss;
    process->minor_faults = (uint64_t)usage.ru_minflt;
    process->major_faults = (uint64_t)usage.ru_majflt;
    process->read_bytes = (uint64_t)usage.ru_inblock * RUSAGE_BLOCK_BYTES;
    process->written_bytes = (uint64_t)usage.ru_oublock * RUSAGE_BLOCK_BYTES;
    process->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

/* The first line that was written, at most 200 bytes of it. */
static char *first_line(int fd)
{
    char line[201];
    ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return strdup(line);
}

/* From the start to the reaping. The group is known to bench_stop_request() exactly as long as its
 * number cannot be another's. */
static int run_and_reap(const char *command, enum process_output output, int kept_fd,
    int timeout_ms, struct bench_stop *stop, struct process *process)
{
    uint64_t start_ns = clock_now_ns();
    pid_t pid = 0;
    int r = spawn_shell(command, output, kept_fd, &pid);

    if (r < 0)
        return r;
    __atomic_store_n(&stop->group, pid, __ATOMIC_SEQ_CST);
    if (bench_stop_is_requested(stop)) /* asked before the group was known */
        (void)kill(-pid, SIGTERM);
    int waited = wait_for_end(pid, timeout_ms);
    process->real_ns = clock_now_ns() - start_ns;
    __atomic_store_n(&stop->group, 0, __ATOMIC_SEQ_CST);
    (void)kill(-pid, SIGKILL); /* whatever it left behind; most often there is nothing */
    r = reap(pid, process);
    return waited < 0 ? waited : r;
}

int process_run(const char *command, enum process_output output, int timeout_ms,
    struct bench_stop *stop, struct process *ret)
{
    struct process process = {0};

    if (bench_stop_is_requested(stop))
        return -EINTR;
    _cleanup_close_ int kept_fd = memfd_create("shoal-bench", MFD_CLOEXEC);
    if (kept_fd < 0)
        return -errno;
    int r = run_and_reap(command, output, kept_fd, timeout_ms, stop, &process);
    if (r < 0)
        return r;
    if (bench_stop_is_requested(stop))
        return -EINTR;
    process.said = first_line(kept_fd);
    if (!process.said)
        return -ENOMEM;
    *ret = process;
    return 0;
}
