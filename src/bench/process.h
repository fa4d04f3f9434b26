/* Runs a shell command line to its end and says what it cost, all its processes together; and the
 * one way to end whatever the bench is doing. */
#ifndef SHOAL_BENCH_PROCESS_H
#define SHOAL_BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <shoal/shoal.h>

/* Make it zero. */
struct bench_stop {
    int requested;          /* how often bench_stop_request() was called */
    pid_t group;            /* the process group that runs now, 0: none */
    struct shoal_stop copy; /* the library's own */
};

/* Ends what runs: at the first call SIGTERM, from the second on SIGKILL goes to its processes. May
 * be called from a signal handler and from any thread. */
void bench_stop_request(struct bench_stop *stop);

bool bench_stop_is_requested(const struct bench_stop *stop);

/* Whether it is asked for again: even the removal of what was made is to be left undone. */
bool bench_stop_is_urgent(const struct bench_stop *stop);

struct process {
    uint64_t real_ns; /* from before its start until it was found to have ended */
    uint64_t user_ns, sys_ns;
    uint64_t max_rss_kb; /* the largest of its processes */
    uint64_t minor_faults, major_faults;
    uint64_t read_bytes, written_bytes; /* from devices; into the cache, to go to devices */
    int exit_status; /* 128 + the signal's number if one ended it, as a shell says */
    char *said;      /* the first line of what it printed; free it */
};

enum process_output {
    PROCESS_KEEP_ERRORS,  /* `said` is from standard error; standard output is dropped */
    PROCESS_KEEP_PRINTED, /* `said` is from standard output */
};

/* Runs `sh -c COMMAND` in a process group of its own, with standard input from /dev/null. What of
 * the group is still there when the shell has ended is killed. timeout_ms < 0: no limit; else it is
 * killed after that long, with -ETIMEDOUT. -EINTR: stopped. A command that fails is a success of
 * this call. */
int process_run(const char *command, enum process_output output, int timeout_ms,
    struct bench_stop *stop, struct process *ret);

#endif
