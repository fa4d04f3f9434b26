#include "cli/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "results/results.h"

static int complain(const char *what, const char *path, const char *why, int r)
{
    _cleanup_free_ char *quoted = quote_name(path);

    cli_error("cannot %s %s: %s", what, quoted ? quoted : path, why ? why : strerror(-r));
    return EXIT_SOME_FAILED;
}

static int read_json(const char *file, struct results **ret, char **ret_why)
{
    if (strcmp(file, "-") == 0)
        return results_read_json(STDIN_FILENO, ret, ret_why);
    _cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : results_read_json(fd, ret, ret_why);
}

int exchange_import(const char *file, const char *database)
{
    _cleanup_free_ char *why = NULL, *why_not_added = NULL;
    struct results *results = NULL;
    struct imported imported;

    int r = read_json(file, &results, &why);
    if (r < 0)
        return complain("import", strcmp(file, "-") == 0 ? "standard input" : file, why, r);
    r = results_import(database, results, &imported, &why_not_added);
    results_free(results);
    if (r == 0 || imported.n_added > 0)
        (void)printf("%zu series added, %zu skipped (already there)\n", imported.n_added,
            imported.n_skipped);
    return r < 0 ? complain("import into", database, why_not_added, r) : EXIT_OK;
}

/* The text, on standard output or in the file. */
static int write_json(const char *file, const struct results *results, char **ret_why)
{
    _cleanup_free_ char *text = NULL;

    if (file && strcmp(file, "-") != 0)
        return results_write_json(file, results, ret_why);
    int r = results_to_json(results, &text);
    if (r == 0)
        (void)puts(text); /* cli_finish() asks the stream */
    return r;
}

int exchange_export(const char *file, const struct series *const *series, size_t n_series)
{
    _cleanup_free_ struct series *chosen = calloc(n_series + 1, sizeof(*chosen));
    _cleanup_free_ char *why = NULL;
    int r = chosen ? 0 : -ENOMEM;

    for (size_t i = 0; i < n_series && r == 0; i++)
        chosen[i] = *series[i]; /* what it holds stays the caller's */
    if (r == 0)
        r = write_json(file, &(struct results){chosen, n_series}, &why);
    return r < 0 ? complain("export to", file ? file : "-", why, r) : EXIT_OK;
}
