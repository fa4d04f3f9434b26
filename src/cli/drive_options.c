#include "cli/drive_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"

#define TIME_SCALE_MAX 1000000

void drive_parse(const char *text, struct drive_profile *ret, struct argp_state *state)
{
    _cleanup_free_ char *why = NULL;
    struct drive_profile profile;

    if (drive_profile_parse(text, &profile, &why) < 0)
        argp_error(state, "--drive=%s: %s", text, why ? why : "it cannot be read");
    if (ret)
        *ret = profile;
}

double drive_parse_time_scale(const char *text, struct argp_state *state)
{
    char *end;
    double scale = strtod(text, &end);

    if (end == text || *end || !(scale >= 0.001 && scale <= TIME_SCALE_MAX))
        argp_error(
            state, "--time-scale=%s: a number from 0.001 to %d is expected", text, TIME_SCALE_MAX);
    return scale;
}

/* Whether a drive begins here: a number and an X. */
static bool is_drive(const char *text)
{
    size_t digits = strspn(text, "0123456789.");

    return digits > 0 && toupper((unsigned char)text[digits]) == 'X';
}

/* Where the first drive ends. */
static size_t drive_length(const char *text)
{
    size_t length = strcspn(text, ",");

    while (text[length] && !is_drive(text + length + 1))
        length += 1 + strcspn(text + length + 1, ",");
    return length;
}

void drive_list_add(struct drive_list *list, const char *text, struct argp_state *state)
{
    for (;;) {
        size_t length = drive_length(text);
        if (list->n == DRIVE_LIST_MAX)
            argp_error(state, "--drive: up to %d drives are expected", DRIVE_LIST_MAX);
        char *drive = strndup(text, length);
        if (!drive)
            argp_failure(state, EXIT_SOME_FAILED, ENOMEM, "cannot read the options");
        drive_parse(drive, NULL, state);
        for (size_t i = 0; i < list->n; i++)
            if (strcmp(list->all[i], drive) == 0)
                argp_error(state, "--drive: %s is given twice", drive);
        list->all[list->n++] = drive;
        if (!text[length])
            return;
        text += length + 1;
    }
}

void drive_list_clear(struct drive_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->all[i]);
    *list = (struct drive_list){0};
}
