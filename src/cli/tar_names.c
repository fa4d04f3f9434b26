#include "cli/tar_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/tar_messages.h"

/* ---- text ---- */

/* Takes the text over, which may be NULL for want of memory. */
static const char *own(struct tar_names *names, char *text)
{
    char **texts = reallocarray(names->texts, names->n_texts + 1, sizeof(*names->texts));

    if (!texts || !text) {
        free(text);
        names->texts = texts ? texts : names->texts;
        return NULL;
    }
    names->texts = texts;
    return texts[names->n_texts++] = text;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* The byte that the escape behind a backslash stands for, and its length; 0: it is none. */
static size_t read_escape(const char *s, char *ret)
{
    static const char letters[] = "abfnrtv\\?";
    static const char bytes[] = "\a\b\f\n\r\t\v\\\177";
    const char *at = *s ? strchr(letters, *s) : NULL;
    size_t n = 0;
    unsigned value = 0;

    if (at) {
        *ret = bytes[at - letters];
        return 1;
    }
    for (; n < 3 && is_octal(s[n]); n++)
        value = value * 8 + (unsigned)(s[n] - '0');
    *ret = (char)value;
    return n;
}

static void unquote(char *text)
{
    char *out = text;
    char byte;

    for (const char *s = text; *s;) {
        size_t n = *s == '\\' ? read_escape(s + 1, &byte) : 0;
        *out++ = n > 0 ? byte : *s;
        s += 1 + n;
    }
    *out = '\0';
}

/* ---- names ---- */

static int add(struct tar_names *names, const char *text, unsigned how, bool quoted)
{
    struct tar_name *all = reallocarray(names->names, names->n + 1, sizeof(*names->names));
    char *copy = strdup(text);

    if (copy && quoted)
        unquote(copy);
    names->names = all ? all : names->names;
    const char *kept = own(names, copy);
    if (!all || !kept)
        return -ENOMEM;
    all[names->n++] = (struct tar_name){kept, names->directory, how};
    return 0;
}

int tar_names_add(struct tar_names *names, const char *text, unsigned how)
{
    return add(names, text, how, names->quoted);
}

int tar_names_change_directory(struct tar_names *names, const char *directory)
{
    char *path;

    if (*directory == '/' || !names->directory)
        path = strdup(directory);
    else if (asprintf(&path, "%s/%s", names->directory, directory) < 0)
        path = NULL;
    const char *kept = own(names, path);
    if (!kept)
        return -ENOMEM;
    names->directory = kept;
    return 0;
}

/* ---- lists ---- */

/* The argument of an option in a list: NULL if the line is not that option. */
static const char *option_argument(const char *line, const char *option, const char *separators)
{
    size_t length = strlen(option);

    if (strncmp(line, option, length) != 0 || !line[length])
        return NULL;
    line += length;
    if (!*separators) {
        line += strspn(line, " \t");
        return *line ? line : NULL;
    }
    return strchr(separators, *line) ? line + 1 : NULL;
}

/* A line that is an option: 0, 1 if it is none that is known, or -ENOMEM. */
static int read_option(struct tar_names *names, const char *line, unsigned how)
{
    const char *directory = option_argument(line, "-C", "");
    const char *name = option_argument(line, "--add-file", "= ");

    if (!directory)
        directory = option_argument(line, "--directory", "= ");
    if (directory)
        return tar_names_change_directory(names, directory);
    return name ? tar_names_add(names, name, how) : 1;
}

/* One name or option of a list. 0, -ENOMEM, or -ECANCELED after the reason was said. */
static int read_line(struct tar_names *names, const char *line, const struct tar_list_form *form,
    const char *path, size_t number)
{
    bool verbatim = form->null || form->verbatim;

    if (!*line)
        return 0;
    if (verbatim || *line != '-')
        return add(names, line, form->how, names->quoted && !verbatim);
    int r = read_option(names, line, form->how);
    if (r <= 0)
        return r;
    tar_error("%s:%zu: unrecognized option", path, number);
    tar_error("Exiting with failure status due to previous errors");
    return -ECANCELED;
}

/* A NUL in a line shows that all names of the list end in one. */
static int read_lines(
    struct tar_names *names, FILE *file, const char *path, const struct tar_list_form *form)
{
    _cleanup_free_ char *line = NULL;
    size_t room = 0, number = 0;
    int delimiter = form->null ? '\0' : '\n', r = 0;
    ssize_t length;

    while (r == 0 && (length = getdelim(&line, &room, delimiter, file)) > 0) {
        const char *end = line + length;
        number++;
        if (line[length - 1] == delimiter)
            line[length - 1] = '\0';
        if (delimiter == '\n' && memchr(line, '\0', (size_t)length - 1)) {
            tar_error_name(path, "file name read contains nul character", 0);
            delimiter = '\0';
        }
        for (const char *name = line; r == 0 && name < end; name += strlen(name) + 1)
            r = read_line(names, name, form, path, number);
    }
    return r;
}

int tar_names_read(struct tar_names *names, const char *path, const struct tar_list_form *form)
{
    bool is_stdin = strcmp(path, "-") == 0;
    _cleanup_fclose_ FILE *opened = is_stdin ? NULL : fopen(path, "re");
    FILE *file = is_stdin ? stdin : opened;

    if (!file) {
        tar_error_name(path, "Cannot stat", errno);
        tar_error_fatal();
        return -ECANCELED;
    }
    int r = read_lines(names, file, path, form);
    if (r == 0 && ferror(file)) {
        tar_error_name(path, "Cannot read", errno);
        return -ECANCELED;
    }
    return r;
}

void tar_names_free(struct tar_names *names)
{
    for (size_t i = 0; i < names->n_texts; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->names);
    *names = (struct tar_names){0};
}
