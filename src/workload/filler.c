#include "workload/filler.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "workload/domains.h"
#include "workload/mix.h"

#define WORD_BYTES 8
#define N_WORDS    4096

/* The same for all seeds; a twelfth of them end a line. */
struct words {
    char text[N_WORDS][WORD_BYTES]; /* each with the space or line end after it */
    uint8_t length[N_WORDS];
};

struct filler {
    struct words words;
    char chunk[FILLER_CHUNK_BYTES + WORD_BYTES]; /* the last word, or number, may stand over */
};

static void words_fill(struct words *words)
{
    static const char consonants[] = "bcdfghklmnprstvw", vowels[] = "aeiouaei";

    for (unsigned i = 0; i < N_WORDS; i++) {
        uint64_t bits = mix(0, DOMAIN_CONTENT, i);
        unsigned letters = 2 + (unsigned)(bits >> 61) % 6;
        for (unsigned k = 0; k < letters; k++, bits >>= 4)
            words->text[i][k] = k % 2 ? vowels[bits & 7] : consonants[bits & 15];
        words->text[i][letters] = bits % 12 == 0 ? '\n' : ' ';
        words->length[i] = (uint8_t)(letters + 1);
    }
}

struct filler *filler_new(void)
{
    struct filler *filler = malloc(sizeof(*filler));

    if (filler)
        words_fill(&filler->words);
    return filler;
}

static void fill_text(struct filler *filler, size_t length, uint64_t state)
{
    const struct words *words = &filler->words;
    char *at = filler->chunk;
    const char *end = at + length;

    while (at < end) {
        uint64_t bits = mix_next(&state);
        for (unsigned k = 0; k < 5 && at < end; k++, bits >>= 12) {
            memcpy(at, words->text[bits % N_WORDS], WORD_BYTES);
            at += words->length[bits % N_WORDS];
        }
    }
}

static void fill_random(struct filler *filler, size_t length, uint64_t state)
{
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t bits = htole64(mix_next(&state));
        memcpy(filler->chunk + i, &bits, sizeof(bits));
    }
}

const char *filler_fill(struct filler *filler, enum content content, size_t length, uint64_t state)
{
    if (content == CONTENT_ZERO)
        memset(filler->chunk, 0, length);
    else if (content == CONTENT_RANDOM)
        fill_random(filler, length, state);
    else
        fill_text(filler, length, state);
    return filler->chunk;
}
