#include "disc/cue.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define FRAMES_PER_SECOND 75

/* What was read so far. */
struct sheet {
    char *file;            /* the last FILE */
    unsigned sector_bytes; /* of the track at hand; 0: it is no data */
    bool found;            /* the data track has begun */
    bool ended;
    struct cue_track track;
    unsigned line;
    char **why;
};

static int refuse(const struct sheet *sheet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int refuse(const struct sheet *sheet, const char *format, ...)
{
    _cleanup_free_ char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    free(*sheet->why);
    if (!text || asprintf(sheet->why, "line %u of the sheet: %s", sheet->line, text) < 0)
        *sheet->why = NULL;
    return -EILSEQ;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Whether a line has this word first; then *at moves behind it. */
static bool take_word(const char **at, const char *word)
{
    size_t length = strlen(word);

    if (strncasecmp(*at, word, length) != 0 || !strchr(" \t", (*at)[length]) || !(*at)[length])
        return false;
    *at = skip_blanks(*at + length);
    return true;
}

/* The name, in quotes or up to the last word, which is the file's kind. */
static int take_file(struct sheet *sheet, const char *at)
{
    const char *end = *at == '"' ? strchr(at + 1, '"') : strrchr(at, ' ');

    if (*at == '"')
        at++;
    if (!end || end == at)
        return refuse(sheet, "FILE \"NAME\" BINARY is expected");
    free(sheet->file);
    sheet->file = strndup(at, (size_t)(end - at));
    return sheet->file ? 0 : -ENOMEM;
}

static int take_track(struct sheet *sheet, const char *at)
{
    static const struct {
        const char *mode;
        unsigned sector_bytes;
    } modes[] = {
        {"MODE1/2048", 2048}, {"MODE1/2352", 2352}, {"MODE2/2048", 2048}, {"MODE2/2352", 2352}};
    const char *mode = skip_blanks(at + strspn(at, "0123456789"));

    sheet->sector_bytes = 0;
    for (size_t i = 0; i < ELEMENTS(modes); i++)
        if (strcasecmp(mode, modes[i].mode) == 0)
            sheet->sector_bytes = modes[i].sector_bytes;
    if (sheet->sector_bytes == 0 && strncasecmp(mode, "MODE", 4) == 0 && !sheet->found)
        return refuse(sheet, "the mode '%s' is not one of 2,048 bytes of data a sector", mode);
    return 0;
}

/* "01 mm:ss:ff" */
static int take_index(struct sheet *sheet, const char *at)
{
    unsigned number, minutes, seconds, frames;
    int n = 0;

    if (sscanf(at, "%2u %4u:%2u:%2u%n", &number, &minutes, &seconds, &frames, &n) != 4 ||
        at[n] != '\0' || seconds > 59 || frames >= FRAMES_PER_SECOND)
        return refuse(sheet, "INDEX NN MM:SS:FF is expected");
    uint64_t sector = ((uint64_t)minutes * 60 + seconds) * FRAMES_PER_SECOND + frames;
    bool same_file = sheet->found && sheet->file && strcmp(sheet->file, sheet->track.file) == 0;
    if (sheet->found && !sheet->ended) {
        sheet->track.end = same_file ? sector : 0;
        sheet->ended = true;
    }
    if (sheet->found || sheet->sector_bytes == 0 || number != 1)
        return 0;
    if (!sheet->file)
        return refuse(sheet, "there is no FILE before it");
    if (strchr(sheet->file, '/') || strcmp(sheet->file, "..") == 0)
        return refuse(sheet, "the FILE is to lie beside the sheet, without directories");
    sheet->track.file = strdup(sheet->file);
    if (!sheet->track.file)
        return -ENOMEM;
    sheet->track.sector_bytes = sheet->sector_bytes;
    sheet->track.first = sector;
    sheet->found = true;
    return 0;
}

static int take_line(struct sheet *sheet, char *line)
{
    size_t length = strlen(line);

    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    const char *at = skip_blanks(line);
    if (take_word(&at, "FILE"))
        return take_file(sheet, at);
    if (take_word(&at, "TRACK"))
        return take_track(sheet, at);
    return take_word(&at, "INDEX") ? take_index(sheet, at) : 0;
}

bool cue_looks_like(const char *text)
{
    for (const char *at = text; *at && at < text + 2048; at++)
        if (!isprint((unsigned char)*at) && !isspace((unsigned char)*at) &&
            (unsigned char)*at < 0x80)
            return false;
    return strcasestr(text, "FILE ") && strcasestr(text, "TRACK ");
}

int cue_parse(const char *text, struct cue_track *ret, char **ret_why)
{
    _cleanup_free_ char *copy = strdup(text);
    struct sheet sheet = {.why = ret_why};
    char *rest = copy;
    int r = copy ? 0 : -ENOMEM;

    while (r == 0 && rest) {
        sheet.line++;
        r = take_line(&sheet, strsep(&rest, "\n"));
    }
    free(sheet.file);
    if (r == 0 && !sheet.found)
        r = refuse(&sheet, "there is no track of data in it");
    if (r < 0)
        free(sheet.track.file);
    *ret = r == 0 ? sheet.track : (struct cue_track){0};
    return r;
}

void cue_track_clear(struct cue_track *track)
{
    free(track->file);
    *track = (struct cue_track){0};
}
