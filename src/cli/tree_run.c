#include "cli/tree_run.h"

#include <errno.h>
#include <fcntl.h>
#include <shoal/shoal.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/cli.h"

/* Told by a signal. */
static struct shoal_stop stop;

static void on_signal(int signal_number)
{
    bool is_second = __atomic_load_n(&stop.requested, __ATOMIC_RELAXED);

    shoal_stop_request(&stop);
    if (is_second) /* of another kind: its default action is set again, and comes on return */
        (void)raise(signal_number);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {
        .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
    struct sigaction before;

    /* None of the calls can fail: the signals are valid. What the caller of the program had ignored
     * stays so (nohup). */
    for (size_t i = 0; i < ELEMENTS(signals); i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* writing to a closed pipe is an error like others */
}

/* Else a file of the copy could be opened as standard output, and be written to by a message. What
 * goes to a descriptor that was closed fails as before. */
static void occupy_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (opened > STDERR_FILENO)
            (void)close(opened); /* cannot be: the lowest free one is taken */
    }
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* fewer will do, only slower */
}

void tree_run_prepare(struct shoal_options *options)
{
    occupy_standard_descriptors();
    raise_descriptor_limit();
    catch_signals();
    options->stop = &stop;
}

bool tree_run_is_interrupted(void)
{
    return __atomic_load_n(&stop.requested, __ATOMIC_RELAXED);
}

int tree_run_exit_code(const char *verb, const char *to, int r, const struct shoal_summary *summary)
{
    if (r < 0) {
        _cleanup_free_ char *name = quote_name(to);
        cli_error("cannot %s %s: %s", verb, name ? name : to, strerror(-r));
        return r == -EINVAL ? EXIT_USAGE : EXIT_SOME_FAILED;
    }
    if (summary->stopped && tree_run_is_interrupted())
        return EXIT_INTERRUPTED;
    for (size_t i = 0; i < SHOAL_FAULT_KINDS; i++)
        if (summary->faults[i] > 0)
            return EXIT_SOME_FAILED;
    return summary->differences > 0 ? EXIT_DIFFERENT : EXIT_OK;
}
