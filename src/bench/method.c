#include "bench/method.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench/process.h"
#include "bench/shell.h"

#define VERSION_TIMEOUT_MS 3000

#define OWN_WORD           "shoal"

/* In a command, OWN_WORD where a command stands becomes this program's path. */
static const struct {
    const char *name, *program, *command;
    const char *disc_command; /* that takes the image itself; NULL: it is mounted */
} builtins[] = {
    {"shoal", OWN_WORD, "shoal copy {from} {to}",
        "shoal copy --drive={drive} --time-scale={time-scale} {image} {to}"},
    {"shoal-tar", OWN_WORD, "shoal tar cBpf - -C {parent} {name} | ( cd {to} ; shoal tar xBpf - )",
        NULL},
    {"tar", "tar", "tar cBpf - -C {parent} {name} | ( cd {to} ; tar xBpf - )", NULL},
    {"cp", "cp", "cp -a {from} {to}", NULL},
    {"rsync", "rsync", "rsync -aHW {from} {to}", NULL},
    {"bsdtar", "bsdtar", "bsdtar cpf - -C {parent} {name} | bsdtar xpf - -C {to}", NULL},
    {"cpio", "cpio", "cd {parent} && find {name} -depth -print0 | cpio -p0dm {to}", NULL},
};

const char *method_name(size_t i)
{
    return i < ELEMENTS(builtins) ? builtins[i].name : NULL;
}

const char *method_command(size_t i)
{
    return i < ELEMENTS(builtins) ? builtins[i].command : NULL;
}

/* What stands for what in a command. */
struct word {
    const char *key, *value;
};

/* Puts the values in; `longest` is the longest of them. */
static char *expand(const char *command, const struct word *words, size_t n_words, size_t longest)
{
    /* Every byte of the command may at worst begin a place. */
    char *line = malloc(strlen(command) * SHELL_QUOTED_MAX(longest) + 1);
    char *out = line;

    if (!line)
        return NULL;
    for (const char *at = command; *at;) {
        size_t i = 0;
        while (i < n_words && strncmp(at, words[i].key, strlen(words[i].key)) != 0)
            i++;
        if (i < n_words) {
            out = shell_put_quoted(out, words[i].value);
            at += strlen(words[i].key);
        } else {
            *out++ = *at++;
        }
    }
    *out = '\0';
    return line;
}

bool method_reads_image(const struct method *method)
{
    return method->disc_command != NULL;
}

bool method_needs_image(const struct method *method)
{
    return method->disc_command && strcmp(method->disc_command, method->command) == 0;
}

char *method_expand(const struct method *method, const struct method_source *source, const char *to)
{
    const bool is_disc = source->image && method->disc_command;
    char from[PATH_MAX], scale[32];
    const struct word words[] = {{"{from}", from}, {"{parent}", source->parent},
        {"{name}", source->name}, {"{to}", to}, {"{image}", source->image},
        {"{drive}", source->drive}, {"{time-scale}", scale}, {"{machine}", source->machine}};
    const size_t n_of_trees = 4, n_of_discs = 7;
    size_t longest = sizeof(scale);

    if (snprintf(from, sizeof(from), "%s/%s", source->parent, source->name) >= (int)sizeof(from))
        return NULL; /* both were made by their path: this cannot be */
    (void)snprintf(scale, sizeof(scale), "%.15g", source->time_scale);
    for (size_t i = 0; i < ELEMENTS(words); i++)
        if (words[i].value && strlen(words[i].value) > longest)
            longest = strlen(words[i].value);
    return expand(is_disc ? method->disc_command : method->command, words,
        source->machine ? ELEMENTS(words)
        : source->image ? n_of_discs
                        : n_of_trees,
        longest);
}

/* The first word that is no assignment, if it is plain: without quotes, expansions or parentheses.
 * *ret is NULL otherwise. */
static int first_word(const char *command, char **ret)
{
    *ret = NULL;
    for (;;) {
        command += strspn(command, " \t\n");
        size_t length = strcspn(command, " \t\n;|&<>");
        if (length == 0 || memchr(command, '{', length) ||
            strcspn(command, "'\"\\$`()*?[#~!") < length)
            return 0;
        if (memchr(command, '=', length)) {
            command += length;
            continue;
        }
        *ret = strndup(command, length);
        return *ret ? 0 : -ENOMEM;
    }
}

static bool name_is_valid(const char *name, size_t length)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._";

    return length > 0 && length <= 32 && strspn(name, allowed) == length;
}

static bool command_is_valid(const char *command)
{
    return strstr(command, "{to}") &&
           (strstr(command, "{from}") || strstr(command, "{name}") || strstr(command, "{image}"));
}

/* Whether OWN_WORD stands at `at` as a command: first, or after what begins one. */
static bool is_own_command(const char *command, const char *at)
{
    const char *before = at;

    if (strncmp(at, OWN_WORD " ", sizeof(OWN_WORD)) != 0)
        return false;
    while (before > command && before[-1] == ' ')
        before--;
    return before == command || strchr("|;&(", before[-1]);
}

static char *put_own_path(const char *command, const char *own)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    for (const char *at = command; *at;) {
        if (is_own_command(command, at)) {
            (void)fputs(own, out);
            at += strlen(OWN_WORD);
        } else {
            (void)fputc(*at++, out);
        }
    }
    if (ferror(out) | fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static int builtin_fill(struct method *method, size_t i)
{
    const char *disc_command = builtins[i].disc_command;

    if (strcmp(builtins[i].program, OWN_WORD) == 0) {
        int r = shell_own_program(&method->program);
        if (r < 0)
            return r;
        method->command = put_own_path(builtins[i].command, method->program);
        if (disc_command)
            method->disc_command = put_own_path(disc_command, method->program);
        if (disc_command && !method->disc_command)
            return -ENOMEM;
    } else {
        method->program = strdup(builtins[i].program);
        method->command = strdup(builtins[i].command);
    }
    return method->program && method->command ? 0 : -ENOMEM;
}

static int custom_fill(struct method *method, const char *command)
{
    method->command = strdup(command);
    if (strstr(command, "{image}"))
        method->disc_command = strdup(command);
    if (!method->command || (strstr(command, "{image}") && !method->disc_command))
        return -ENOMEM;
    return first_word(command, &method->program);
}

int method_parse(const char *text, struct method *ret)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    struct method method = {0};
    size_t i = 0;

    while (!equals && i < ELEMENTS(builtins) && strcmp(text, builtins[i].name) != 0)
        i++;
    if (i == ELEMENTS(builtins))
        return -ENOENT;
    if (equals && (!name_is_valid(text, length) || !command_is_valid(equals + 1)))
        return -EINVAL;
    method.name = strndup(text, length);
    method.version = strdup("");
    int r = method.name && method.version ? 0 : -ENOMEM;
    if (r >= 0)
        r = equals ? custom_fill(&method, equals + 1) : builtin_fill(&method, i);
    if (r < 0)
        method_clear(&method);
    else
        *ret = method;
    return r;
}

void method_clear(struct method *method)
{
    free(method->name);
    free(method->command);
    free(method->disc_command);
    free(method->program);
    free(method->version);
    *method = (struct method){0};
}

/* Runs "BEFORE PROGRAM AFTER"; *ret_said is what it printed first, NULL if it failed. */
static int ask(const char *before, const char *program, const char *after, struct bench_stop *stop,
    char **ret_said)
{
    _cleanup_free_ char *line = NULL;
    struct process process = {0};

    *ret_said = NULL;
    if (asprintf(&line, "%s %s %s", before, program, after) < 0) {
        line = NULL;
        return -ENOMEM;
    }
    int r = process_run(line, PROCESS_KEEP_PRINTED, VERSION_TIMEOUT_MS, stop, &process);
    if (r == -ETIMEDOUT)
        return 0;
    if (r < 0)
        return r;
    if (process.exit_status == 0)
        *ret_said = process.said;
    else
        free(process.said);
    return 0;
}

int method_probe(struct method *method, struct bench_stop *stop)
{
    _cleanup_free_ char *where = NULL;
    char *version = NULL;

    if (!method->program)
        return 0;
    int r = ask("command -v", method->program, "", stop, &where);
    if (r < 0)
        return r;
    method->is_missing = !where;
    /* A user's script, given by its path, may do anything when it is run; so it is not. */
    if (!where || where[0] != '/' || method->program[0] == '/' || method->program[0] == '.')
        return 0;
    r = ask("", method->program, "--version 2>&1", stop, &version);
    if (r < 0 || !version)
        return r;
    free(method->version);
    method->version = version;
    return 0;
}
