#include "cli/tar_messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/tar_list.h"

void tar_error(const char *format, ...)
{
    va_list arguments;

    (void)fflush(stdout); /* where both go to one place, in order; cli_finish() sees a failure */
    va_start(arguments, format);
    cli_say("shoal tar: ", format, arguments);
    va_end(arguments);
}

void tar_error_name(const char *name, const char *what, int error)
{
    _cleanup_free_ char *quoted = tar_quote_colon(name);
    const char *shown = quoted ? quoted : name;

    if (error == 0)
        tar_error("%s: %s", shown, what);
    else
        tar_error("%s: %s: %s", shown, what, strerror(error));
}

void tar_error_fatal(void)
{
    tar_error("Error is not recoverable: exiting now");
}

/* ---- what is left out of names ---- */

size_t tar_prefix_length(const char *name)
{
    const char *start = name, *at = name;

    while (*at) {
        const char *component = at + strspn(at, "/");
        size_t length = strcspn(component, "/");
        if (length == 2 && component[0] == '.' && component[1] == '.')
            start = component + 2;
        at = component + length;
    }
    return (size_t)(start - name) + strspn(start, "/");
}

/* Whether a prefix is told of for the first time. Without memory it always is. */
static bool is_new_prefix(struct tar_messages *messages, const char *name, size_t length)
{
    for (size_t i = 0; i < messages->n_prefixes; i++)
        if (strlen(messages->prefixes[i]) == length &&
            strncmp(messages->prefixes[i], name, length) == 0)
            return false;
    char **prefixes =
        reallocarray(messages->prefixes, messages->n_prefixes + 1, sizeof(*messages->prefixes));
    if (!prefixes)
        return true;
    messages->prefixes = prefixes;
    prefixes[messages->n_prefixes] = strndup(name, length);
    messages->n_prefixes += prefixes[messages->n_prefixes] != NULL;
    return true;
}

static void tell_prefix(struct tar_messages *messages, const char *name)
{
    size_t length = tar_prefix_length(name);

    if (length > 0 && !messages->keeps_prefixes && is_new_prefix(messages, name, length))
        tar_error("Removing leading `%.*s' from member names", (int)length, name);
}

/* ---- events ---- */

/* The library's words and GNU tar's. */
static const struct {
    const char *operation, *phrase;
} phrases[] = {
    {"examine", "Cannot stat"},
    {"open", "Cannot open"},
    {"open directory", "Cannot open"},
    {"enter directory", "Cannot open"},
    {"list directory", "Cannot read"},
    {"read", "Cannot read"},
    {"read symbolic link", "Cannot readlink"},
    {"create", "Cannot open"},
    {"create directory", "Cannot mkdir"},
    {"create symbolic link", "Cannot create symlink"},
    {"create hard link", "Cannot hard link"},
    {"create special file", "Cannot mknod"},
    {"write", "Cannot write"},
    {"rename", "Cannot rename"},
    {"mode", "Cannot change mode"},
    {"owner", "Cannot change ownership"},
    {"times", "Cannot utime"},
};

static void tell_fault(
    const struct tar_messages *messages, const struct shoal_event *event, const char *name)
{
    _cleanup_free_ char *phrase = NULL;

    if (strcmp(event->operation, "read (the archive ends too early)") == 0) {
        tar_error("Unexpected EOF in archive");
        return;
    }
    if (!*name && messages->archive)
        name = messages->archive;
    for (size_t i = 0; i < ELEMENTS(phrases); i++) {
        if (strcmp(event->operation, phrases[i].operation) != 0)
            continue;
        tar_error_name(name, phrases[i].phrase, event->error);
        return;
    }
    bool metadata = event->fault == SHOAL_FAULT_METADATA;
    if (asprintf(&phrase, "Cannot %s%s", metadata ? "keep " : "", event->operation) < 0)
        phrase = NULL;
    tar_error_name(name, phrase ? phrase : event->operation, event->error);
}

static void tell_note(struct tar_messages *messages, const struct shoal_event *event)
{
    if (strncmp(event->operation, "leading ", strlen("leading ")) == 0)
        tell_prefix(messages, event->path);
    else if (strcmp(event->operation, "socket skipped") == 0)
        tar_error_name(event->path, "socket ignored", 0);
    else if (strcmp(event->operation, "is the archive itself: left out") == 0)
        tar_error_name(event->path, "file is the archive; not dumped", 0);
    else
        tar_error_name(event->path, event->operation, 0);
}

/* A name as the archive has it. */
static const char *name_in_archive(const struct tar_messages *messages, const char *path)
{
    size_t length = messages->to ? strlen(messages->to) : 0;

    if (length == 0 || strncmp(path, messages->to, length) != 0 || path[length] != '/')
        return path;
    path += length;
    path += strspn(path, "/");
    return *path ? path : ".";
}

void tar_messages_event(struct tar_messages *messages, const struct shoal_event *event)
{
    const char *name = name_in_archive(messages, event->path);

    if (event->type == SHOAL_EVENT_NOTE)
        tell_note(messages, event);
    else if (event->type != SHOAL_EVENT_FAULT)
        return;
    else if (event->fault != SHOAL_FAULT_CHANGED)
        tell_fault(messages, event, name);
    else if (!messages->skips_changed)
        tar_error_name(name, "file changed as we read it", 0);
}

void tar_messages_free(struct tar_messages *messages)
{
    for (size_t i = 0; i < messages->n_prefixes; i++)
        free(messages->prefixes[i]);
    free(messages->prefixes);
}
