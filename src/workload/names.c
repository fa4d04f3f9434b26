/* Names of files and directories that are made: of a plausible shape, none of them anybody's. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "workload/domains.h"
#include "workload/mix.h"
#include "workload/shape.h"

static const char consonants[] = "bcdfghklmnprstvz", vowels[] = "aeio";

/* A core is three syllables: 2^18 of them. */
#define CORE_LETTERS 6
#define N_CORES      (1ULL << 18)

static char *put_core(char *out, uint64_t number)
{
    for (unsigned i = 0; i < CORE_LETTERS / 2; i++, number >>= 6) {
        *out++ = consonants[number & 15];
        *out++ = vowels[number >> 4 & 3];
    }
    *out = '\0';
    return out;
}

/* A word before the core, or none. It ends in '_' or '-', which no core has: so the cores alone
 * keep names apart. */
static char *put_prefix(char *out, uint64_t bits, char joint)
{
    unsigned letters = (unsigned)(bits & 7);

    if (letters < 3)
        return out;
    bits >>= 3;
    for (unsigned i = 0; i < letters; i++, bits >>= 4)
        *out++ = i % 2 ? vowels[bits & 3] : consonants[bits & 15];
    *out++ = joint;
    return out;
}

/* Siblings have cores one after the other, from one on that their directory chooses; beyond the
 * last core a number tells them apart. */
static char *put_words(const struct name_place *place, uint64_t bits, char joint, char *out)
{
    uint64_t first = mix(place->seed, DOMAIN_NAME, place->directory) % N_CORES;
    uint64_t sibling = mix_shuffle(0, DOMAIN_NAME, N_CORES, (first + place->sibling) % N_CORES);

    out = put_core(put_prefix(out, bits, joint), sibling);
    if (place->sibling >= N_CORES)
        out += sprintf(out, "%llu", (unsigned long long)(place->sibling / N_CORES));
    return out;
}

static const struct name_kind *choose_kind(const struct name_kind *kinds, uint64_t bits)
{
    const struct name_kind *kind = kinds;
    uint64_t all = kind->weight;

    while ((++kind)->suffix)
        all += kind->weight;
    for (bits %= all; bits >= kinds->weight; kinds++)
        bits -= kinds->weight;
    return kinds;
}

static enum content words_file(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    const struct naming *naming = shape->naming;
    uint64_t bits = mix(place->seed, DOMAIN_NAME, place->index);
    size_t n_first = 0;

    while (naming->first[n_first])
        n_first++;
    if (place->sibling < n_first) {
        (void)stpcpy(name, naming->first[place->sibling]);
        return CONTENT_TEXT;
    }
    const struct name_kind *kind = choose_kind(naming->kinds, bits >> 40);
    (void)stpcpy(put_words(place, bits, '_', name), kind->suffix);
    return kind->content;
}

static void words_directory(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    (void)shape;
    (void)put_words(place, mix(place->seed, DOMAIN_NAME, place->index), '-', name);
}

/* Below the packages' own directories many are called after what is built into them. */
static void package_directory(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    uint64_t bits = mix(place->seed, DOMAIN_NAME, place->index);
    static const char *const inner[] = {"dist", "lib", "src", "types"};
    size_t i = bits >> 61;

    if (place->level == 0 || i >= ELEMENTS(inner)) {
        words_directory(shape, place, name);
        return;
    }
    (void)put_words(place, bits, '-', stpcpy(stpcpy(name, inner[i]), "-"));
}

static enum content imagenet_file(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    (void)shape;
    (void)snprintf(name, NAME_ROOM, "n%08llu_%llu.JPEG", (unsigned long long)place->directory,
        (unsigned long long)place->sibling);
    return CONTENT_RANDOM;
}

static void imagenet_directory(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    (void)shape;
    (void)snprintf(name, NAME_ROOM, "n%08llu", (unsigned long long)place->sibling + 1);
}

/* A second, what came within it, the host, and the flags: as maildir has it. */
static enum content maildir_file(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    static const char *const flags[] = {"", "S", "RS", "FS"};
    uint64_t bits = mix(place->seed, DOMAIN_NAME, place->index);

    (void)shape;
    (void)snprintf(name, NAME_ROOM, "%llu.M%06uP%u.mail:2,%s",
        836179200ULL + 300 * (unsigned long long)place->sibling, (unsigned)(bits % 1000000),
        (unsigned)(bits >> 32) % 30000 + 100, flags[bits >> 62]);
    return CONTENT_TEXT;
}

/* Letters up to the length, and the sibling's number. */
static void name_by_length(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    uint64_t part = mix_shuffle(place->seed, DOMAIN_NAME_LENGTH, place->n, place->index);
    uint32_t share = (uint32_t)((2 * part + 1) * QUANTILE_ONE / (2 * place->n));
    uint64_t length = quantiles_at(&shape->name_lengths, share);
    uint64_t bits = mix(place->seed, DOMAIN_NAME, place->index);
    char number[24];
    size_t digits = (size_t)sprintf(number, "%llu", (unsigned long long)place->sibling);

    assert(length < NAME_ROOM);
    for (; length > digits; length--) {
        *name++ = length % 2 ? vowels[bits >> 60 & 3] : consonants[bits >> 60];
        bits = mix_finish(bits);
    }
    (void)stpcpy(name, number);
}

static enum content learned_file(
    const struct shape *shape, const struct name_place *place, char name[static NAME_ROOM])
{
    name_by_length(shape, place, name);
    return CONTENT_MIXED;
}

static const char *const linux_first[] = {"Makefile", "Kconfig", NULL};
static const struct name_kind linux_kinds[] = {
    {".c", 430, CONTENT_TEXT},
    {".h", 315, CONTENT_TEXT},
    {".rst", 44, CONTENT_TEXT},
    {".yaml", 40, CONTENT_TEXT},
    {".dts", 35, CONTENT_TEXT},
    {".txt", 28, CONTENT_TEXT},
    {".dtsi", 26, CONTENT_TEXT},
    {".S", 18, CONTENT_TEXT},
    {".sh", 10, CONTENT_TEXT},
    {".json", 8, CONTENT_TEXT},
    {0},
};

static const char *const node_first[] = {"package.json", "README.md", "LICENSE", "index.js", NULL};
static const struct name_kind node_kinds[] = {
    {".js", 50, CONTENT_TEXT},
    {".d.ts", 20, CONTENT_TEXT},
    {".js.map", 15, CONTENT_TEXT},
    {".mjs", 8, CONTENT_TEXT},
    {".json", 4, CONTENT_TEXT},
    {".md", 3, CONTENT_TEXT},
    {0},
};

static const char *const none_first[] = {NULL};
static const struct name_kind desktop_kinds[] = {
    {".txt", 12, CONTENT_TEXT},
    {".html", 12, CONTENT_TEXT},
    {".h", 10, CONTENT_TEXT},
    {".cpp", 6, CONTENT_TEXT},
    {".log", 5, CONTENT_TEXT},
    {".xml", 5, CONTENT_TEXT},
    {".jpg", 14, CONTENT_RANDOM},
    {".gif", 12, CONTENT_RANDOM},
    {".zip", 10, CONTENT_RANDOM},
    {".mp3", 8, CONTENT_RANDOM},
    {".pdf", 6, CONTENT_RANDOM},
    {0},
};

const struct naming naming_linux = {"text", words_file, words_directory, linux_first, linux_kinds};
const struct naming naming_node = {"text", words_file, package_directory, node_first, node_kinds};
const struct naming naming_imagenet = {"random", imagenet_file, imagenet_directory, NULL, NULL};
const struct naming naming_maildir = {"text", maildir_file, words_directory, NULL, NULL};
const struct naming naming_desktop = {
    "text and random", words_file, words_directory, none_first, desktop_kinds};
const struct naming naming_by_length = {
    "text and random", learned_file, name_by_length, NULL, NULL};
