#include "entry/filter.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "shoal/shoal.h"

/* A pattern compiled to one number for each thing to match: a byte stands for itself, OP_SET + i
 * for any byte of the rule's i-th set. */
enum {
    OP_ANY = 256,       /* '?' */
    OP_STAR = 257,      /* '*': any bytes but '/' */
    OP_STAR_STAR = 258, /* '**': any bytes */
    OP_SET = 259,
};

struct byte_set {
    uint64_t bits[4];
};

/* What the part of the path that a rule looks at is compared with. */
enum rule_form {
    FORM_EQUAL,  /* the whole of it is `literal` */
    FORM_PREFIX, /* it begins with `literal` */
    FORM_SUFFIX, /* it ends with `literal` */
    FORM_WILD,   /* `ops` */
};

struct rule {
    enum rule_form form;
    bool include;
    bool directories_only;
    bool anywhere;     /* the match may begin at any component, and goes to the path's end */
    bool slash_before; /* the path is matched as "/path", so that a leading "**" + '/' matches at
                          the top */
    bool slash_after;  /* a directory is matched as "path/", so that "dir" + "/" + "***" is dir, too
                        */
    size_t components; /* only so many of the path's last ones are looked at; 0: the whole path */
    char *literal;
    size_t literal_length;
    uint32_t *ops;
    size_t n_ops;
    struct byte_set *sets;
    size_t n_sets;
};

/* A name of the list, or a directory above one (whose name is the beginning of the same bytes). */
struct listed_name {
    size_t offset; /* in name_list.bytes */
    uint32_t hash;
    uint32_t length : 31;
    uint32_t listed : 1;
};

/* A hash set with open addressing. The slots hold a name's index + 1, or 0; they are a power of two
 * and never more than two thirds full. */
struct name_list {
    char *bytes;
    size_t bytes_used, bytes_size;
    struct listed_name *names;
    size_t n_names, names_size;
    uint32_t *slots;
    size_t n_slots;
};

struct shoal_filter {
    struct rule *rules;
    size_t n_rules, rules_size;
    bool restricted; /* to `list` */
    struct name_list list;
};

static void rule_release(struct rule *rule)
{
    free(rule->literal);
    free(rule->ops);
    free(rule->sets);
}

static void clear_rules(struct shoal_filter *filter)
{
    for (size_t i = 0; i < filter->n_rules; i++)
        rule_release(&filter->rules[i]);
    filter->n_rules = 0;
}

int shoal_filter_new(struct shoal_filter **ret)
{
    struct shoal_filter *filter = calloc(1, sizeof(*filter));
    if (!filter)
        return -ENOMEM;
    *ret = filter;
    return 0;
}

void shoal_filter_free(struct shoal_filter *filter)
{
    if (!filter)
        return;
    clear_rules(filter);
    free(filter->rules);
    free(filter->list.bytes);
    free(filter->list.names);
    free(filter->list.slots);
    free(filter);
}

/* Makes room for `more` elements after `used` ones. Grows by half: a long list of names keeps
 * little that it does not use. */
static int reserve(void **array, size_t *size, size_t used, size_t more, size_t element_bytes)
{
    size_t wanted;

    if (__builtin_add_overflow(used, more, &wanted))
        return -ENOMEM;
    if (wanted <= *size)
        return 0;
    if (wanted < *size + *size / 2)
        wanted = *size + *size / 2;
    void *bigger = reallocarray(*array, wanted, element_bytes);
    if (!bigger)
        return -ENOMEM;
    *array = bigger;
    *size = wanted;
    return 0;
}

/* Character classes. */

static void set_add_range(struct byte_set *set, unsigned first, unsigned last)
{
    for (unsigned c = first; c <= last; c++)
        set->bits[c / 64] |= UINT64_C(1) << (c % 64);
}

static bool set_has(const struct byte_set *set, unsigned char c)
{
    return set->bits[c / 64] >> (c % 64) & 1;
}

/* Adds the bytes of a named class, as the C locale has them: what a name is must not depend on
 * whose locale a copy runs in. */
static int set_add_class(struct byte_set *set, const char *name, size_t length)
{
    static const struct {
        const char *name, *ranges;
    } classes[] = {
        {"alnum", "09AZaz"},
        {"alpha", "AZaz"},
        {"blank", "\t\t  "},
        {"cntrl", "\x01\x1f\x7f\x7f"},
        {"digit", "09"},
        {"graph", "!~"},
        {"lower", "az"},
        {"print", " ~"},
        {"punct", "!/:@[`{~"},
        {"space", "\t\r  "},
        {"upper", "AZ"},
        {"xdigit", "09AFaf"},
    };

    for (size_t i = 0; i < ELEMENTS(classes); i++) {
        if (strlen(classes[i].name) != length || memcmp(classes[i].name, name, length) != 0)
            continue;
        for (const char *r = classes[i].ranges; *r; r += 2)
            set_add_range(set, (unsigned char)r[0], (unsigned char)r[1]);
        return 0;
    }
    return -EINVAL;
}

/* Reads "[:name:]" at *at. 1 and *at behind it if it is one, 0 if the '[' stands for itself. */
static int parse_class(const char **at, struct byte_set *set)
{
    const char *name = *at + 2;
    const char *end = strchr(name, ']');

    if (!end)
        return -EINVAL;
    if (end == name || end[-1] != ':')
        return 0;
    int r = set_add_class(set, name, (size_t)(end - 1 - name));
    if (r < 0)
        return r;
    *at = end + 1;
    return 1;
}

/* Reads the byte at *at, which a backslash may escape. */
static int parse_byte(const char **at, unsigned *ret)
{
    if (**at == '\\')
        (*at)++;
    if (!**at)
        return -EINVAL;
    *ret = (unsigned char)*(*at)++;
    return 0;
}

/* Reads one item between brackets: a byte, a range's "-last" whose first byte came before (*low; 0
 * when no range can start there), or a named class. */
static int parse_set_item(const char **at, struct byte_set *set, unsigned *low)
{
    const char *p = *at;
    unsigned byte;
    bool is_range = p[0] == '-' && *low && p[1] && p[1] != ']';

    if (p[0] == '[' && p[1] == ':') {
        int r = parse_class(at, set);
        if (r > 0)
            *low = 0;
        if (r != 0)
            return r < 0 ? r : 0;
    }
    if (is_range)
        (*at)++;
    int r = parse_byte(at, &byte);
    if (r < 0)
        return r;
    set_add_range(set, is_range ? *low : byte, byte);
    *low = is_range ? 0 : byte;
    return 0;
}

/* Reads from behind a '[' to behind its ']'; a ']' that comes first stands for itself. */
static int parse_set(const char **at, struct byte_set *set)
{
    bool negated = **at == '!' || **at == '^';
    unsigned low = 0;

    *at += negated;
    for (bool first = true; first || **at != ']'; first = false) {
        int r = parse_set_item(at, set, &low);
        if (r < 0)
            return r;
    }
    (*at)++;
    for (size_t i = 0; negated && i < ELEMENTS(set->bits); i++)
        set->bits[i] = ~set->bits[i];
    set->bits['/' / 64] &= ~(UINT64_C(1) << ('/' % 64));
    return 0;
}

/* Patterns. */

static int parse_op(const char **at, struct rule *rule, uint32_t *ret)
{
    unsigned byte;

    switch (**at) {
    case '?':
        (*at)++;
        *ret = OP_ANY;
        return 0;
    case '*':
        *ret = (*at)[1] == '*' ? OP_STAR_STAR : OP_STAR;
        *at += strspn(*at, "*");
        return 0;
    case '[':
        (*at)++;
        *ret = OP_SET + (uint32_t)rule->n_sets;
        return parse_set(at, &rule->sets[rule->n_sets++]);
    default: {
        int r = parse_byte(at, &byte);
        if (r == 0)
            *ret = byte;
        return r;
    }
    }
}

static size_t count_bytes(const char *text, char wanted)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == wanted;
    return n;
}

static int compile_wild(struct rule *rule, const char *pattern)
{
    rule->ops = calloc(strlen(pattern) + 1, sizeof(*rule->ops));
    rule->sets = calloc(count_bytes(pattern, '[') + 1, sizeof(*rule->sets));
    if (!rule->ops || !rule->sets)
        return -ENOMEM;
    while (*pattern) {
        int r = parse_op(&pattern, rule, &rule->ops[rule->n_ops]);
        if (r < 0)
            return r;
        rule->n_ops++;
    }
    return 0;
}

static bool ops_are_bytes(const uint32_t *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ops[i] >= OP_ANY)
            return false;
    return true;
}

/* Sees whether a pattern for a single component is of a form that a comparison decides: *.o,
 * core.*, or no wildcard that is not escaped. */
static int simplify_wild(struct rule *rule)
{
    const uint32_t *bytes = rule->ops;
    size_t n = rule->n_ops;

    if (rule->components != 1 || n == 0)
        return 0;
    rule->form = FORM_EQUAL;
    if (bytes[0] == OP_STAR) {
        rule->form = FORM_SUFFIX;
        bytes++;
        n--;
    } else if (bytes[n - 1] == OP_STAR) {
        rule->form = FORM_PREFIX;
        n--;
    }
    if (!ops_are_bytes(bytes, n)) {
        rule->form = FORM_WILD;
        return 0;
    }
    rule->literal = malloc(n + 1);
    if (!rule->literal)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        rule->literal[i] = (char)bytes[i];
    rule->literal_length = n;
    return 0;
}

/* Decides which part of a path the rule looks at. As in rsync it is the pattern's text that counts:
 * a slash or two stars make it a pattern for paths even where they are escaped or between brackets.
 */
static void set_scope(struct rule *rule, const char *pattern)
{
    bool wild = strpbrk(pattern, "*?[");
    const char *star_star = strstr(pattern, "**");
    size_t length = strlen(pattern);

    rule->form = wild ? FORM_WILD : FORM_EQUAL;
    if (star_star) {
        rule->slash_before = star_star == pattern;
        rule->slash_after = length >= 3 && strcmp(pattern + length - 3, "***") == 0;
        rule->anywhere = !rule->slash_before && pattern[0] != '/';
    } else if (pattern[0] != '/') {
        rule->components = count_bytes(pattern, '/') + 1;
    }
}

/* `pattern` is without the slash at its end that means "directories only". */
static int compile_rule(struct rule *rule, const char *pattern)
{
    set_scope(rule, pattern);
    pattern += pattern[0] == '/';
    if (rule->form == FORM_EQUAL) {
        rule->literal = strdup(pattern);
        rule->literal_length = strlen(pattern);
        return rule->literal ? 0 : -ENOMEM;
    }
    int r = compile_wild(rule, pattern);
    return r < 0 ? r : simplify_wild(rule);
}

static int append_rule(struct shoal_filter *filter, const char *pattern, bool include)
{
    struct rule rule = {.include = include};
    size_t length = strlen(pattern);

    _cleanup_free_ char *copy = strdup(pattern);
    if (!copy)
        return -ENOMEM;
    if (length > 1 && copy[length - 1] == '/') {
        rule.directories_only = true;
        copy[length - 1] = '\0';
    }
    int r = compile_rule(&rule, copy);
    if (r == 0)
        r = reserve((void **)&filter->rules, &filter->rules_size, filter->n_rules, 1, sizeof(rule));
    if (r < 0) {
        rule_release(&rule);
        return r;
    }
    filter->rules[filter->n_rules++] = rule;
    return 0;
}

/* "+ " and "- " before a pattern say what it does, whatever the caller says, and "!" alone drops
 * the rules so far: the lists of patterns that people keep for rsync have such lines. */
int shoal_filter_add(struct shoal_filter *filter, const char *pattern, bool include)
{
    if (strcmp(pattern, "!") == 0) {
        clear_rules(filter);
        return 0;
    }
    if (!*pattern)
        return 0; /* matches nothing */
    if ((pattern[0] == '+' || pattern[0] == '-') && pattern[1] == ' ') {
        include = pattern[0] == '+';
        pattern += 2;
    }
    return *pattern ? append_rule(filter, pattern, include) : -EINVAL;
}

/* Matching. */

/* A path with the slashes around it that a rule wants to see. */
struct subject {
    const char *bytes;
    size_t length;
    size_t before; /* 1: a slash precedes the bytes */
    size_t total;  /* length with the slashes */
};

static unsigned char subject_at(const struct subject *s, size_t i)
{
    size_t k = i - s->before; /* wraps to beyond the length for the slash before */
    return k < s->length ? (unsigned char)s->bytes[k] : '/';
}

static bool op_accepts(const struct rule *rule, uint32_t op, unsigned char c)
{
    if (op < OP_ANY)
        return c == op;
    return op == OP_ANY ? c != '/' : set_has(&rule->sets[op - OP_SET], c);
}

/* Where a match stands, and where it goes on when what it tried fails. Only the last of each kind
 * of star needs to be remembered: whatever an earlier one could reach by taking more bytes, the
 * last one reaches too, because it was reached at the first place possible ('*' crosses no slash,
 * so that place is always in the same component). */
struct attempt {
    size_t op, at;
    size_t star_op, star_at;           /* star_op 0: none since the last '**' */
    size_t first_star_at;              /* where the first '*' since then was reached */
    size_t star_star_op, star_star_at; /* star_star_op 0: none */
};

/* Takes a '*' or '**' at the attempt's op, if there is one. */
static bool attempt_star(const struct rule *rule, struct attempt *a)
{
    uint32_t op = a->op < rule->n_ops ? rule->ops[a->op] : 0;

    if (op == OP_STAR) {
        if (!a->star_op)
            a->first_star_at = a->at;
        a->star_op = ++a->op;
        a->star_at = a->at;
    } else if (op == OP_STAR_STAR) {
        a->star_star_op = ++a->op;
        a->star_star_at = a->at;
        a->star_op = 0;
    } else {
        return false;
    }
    return true;
}

/* Goes back to the last star that can take one byte more. When a '*' was stopped by a slash, the
 * '**' before it skips at once to where the first '*' comes into the next component: this bounds
 * the time by path times pattern, for any pattern. */
static bool attempt_again(const struct subject *s, struct attempt *a)
{
    if (a->star_op && subject_at(s, a->star_at) != '/') {
        a->at = ++a->star_at;
        a->op = a->star_op;
        return true;
    }
    if (!a->star_star_op)
        return false;
    if (a->star_op) {
        size_t slash = a->first_star_at;
        while (subject_at(s, slash) != '/')
            slash++;
        a->star_star_at += slash + 1 - a->first_star_at;
        a->star_op = 0;
    } else {
        a->star_star_at++;
    }
    a->at = a->star_star_at;
    a->op = a->star_star_op;
    return true;
}

enum outcome {
    MATCH,
    NO_MATCH,
    NO_MATCH_LATER, /* the path was too short, so it is for every later start too */
};

static enum outcome match_ops(const struct rule *rule, const struct subject *s, size_t start)
{
    struct attempt a = {.at = start};

    for (;;) {
        if (attempt_star(rule, &a)) {
            if (a.op == rule->n_ops && a.star_star_op == a.op)
                return MATCH;
            continue;
        }
        if (a.at == s->total)
            return a.op == rule->n_ops ? MATCH : NO_MATCH_LATER;
        if (a.op < rule->n_ops && op_accepts(rule, rule->ops[a.op], subject_at(s, a.at))) {
            a.op++;
            a.at++;
            continue;
        }
        if (!attempt_again(s, &a))
            return NO_MATCH;
    }
}

static bool match_wild(const struct rule *rule, const char *path, size_t length, bool is_directory)
{
    struct subject s = {.bytes = path, .length = length, .before = rule->slash_before};
    s.total = s.before + length + (rule->slash_after && is_directory);

    enum outcome outcome = match_ops(rule, &s, 0);
    for (size_t i = 0; rule->anywhere && outcome == NO_MATCH && i < s.total; i++)
        if (subject_at(&s, i) == '/')
            outcome = match_ops(rule, &s, i + 1);
    return outcome == MATCH;
}

/* Where the path's last `components` components begin; NULL if it has fewer. */
static const char *last_components(const char *path, size_t length, size_t components)
{
    const char *p = path + length;

    while ((p = memrchr(path, '/', (size_t)(p - path))))
        if (--components == 0)
            return p + 1;
    return components == 1 ? path : NULL;
}

static bool rule_matches(
    const struct rule *rule, const char *part, size_t length, bool is_directory)
{
    size_t n = rule->literal_length;

    switch (rule->form) {
    case FORM_EQUAL:
        return length == n && memcmp(part, rule->literal, n) == 0;
    case FORM_PREFIX:
        return length >= n && memcmp(part, rule->literal, n) == 0;
    case FORM_SUFFIX:
        return length >= n && memcmp(part + length - n, rule->literal, n) == 0;
    case FORM_WILD:
        break;
    }
    return match_wild(rule, part, length, is_directory);
}

static bool rules_admit(
    const struct shoal_filter *filter, const char *path, size_t length, bool is_directory)
{
    const char *end = path + length;
    const char *name = last_components(path, length, 1);

    for (size_t i = 0; i < filter->n_rules; i++) {
        const struct rule *rule = &filter->rules[i];
        const char *part = path;
        if (rule->directories_only && !is_directory)
            continue;
        if (rule->components > 0)
            part = rule->components == 1 ? name : last_components(path, length, rule->components);
        if (part && rule_matches(rule, part, (size_t)(end - part), is_directory))
            return rule->include;
    }
    return true;
}

/* Lists of names. */

static uint32_t name_hash(const char *name, size_t length)
{
    return (uint32_t)XXH3_64bits(name, length);
}

/* The slot of a name, or the empty one where it is to go. */
static size_t name_slot(
    const struct name_list *list, const char *name, size_t length, uint32_t hash)
{
    size_t slot = hash & (list->n_slots - 1);

    for (; list->slots[slot]; slot = (slot + 1) & (list->n_slots - 1)) {
        const struct listed_name *n = &list->names[list->slots[slot] - 1];
        if (n->hash == hash && n->length == length &&
            memcmp(list->bytes + n->offset, name, length) == 0)
            break;
    }
    return slot;
}

static int reserve_slots(struct name_list *list, size_t more)
{
    size_t n_slots = list->n_slots ? list->n_slots : 64;

    while (n_slots / 3 * 2 < list->n_names + more)
        n_slots *= 2;
    if (n_slots == list->n_slots)
        return 0;
    uint32_t *slots = calloc(n_slots, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < list->n_names; i++) {
        size_t slot = list->names[i].hash & (n_slots - 1);
        while (slots[slot])
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    free(list->slots);
    list->slots = slots;
    list->n_slots = n_slots;
    return 0;
}

static int reserve_names(struct name_list *list, size_t more)
{
    if (list->n_names + more > INT32_MAX)
        return -ENOMEM;
    int r = reserve(
        (void **)&list->names, &list->names_size, list->n_names, more, sizeof(*list->names));
    return r < 0 ? r : reserve_slots(list, more);
}

/* Writes "./a//b/" as "a/b"; `out` has room for the name as it is. */
static int normalise_name(const char *name, char *out, size_t *ret_length, size_t *ret_components)
{
    size_t length = 0, components = 0;

    while (*(name += strspn(name, "/"))) {
        size_t n = strcspn(name, "/");
        if (n == 2 && name[0] == '.' && name[1] == '.')
            return -EINVAL;
        if (n != 1 || name[0] != '.') {
            if (components++ > 0)
                out[length++] = '/';
            memcpy(out + length, name, n);
            length += n;
        }
        name += n;
    }
    *ret_length = length;
    *ret_components = components;
    return 0;
}

/* Enters the first `length` bytes behind those in use. Returns whether they were not known before.
 */
static bool enter_name(struct name_list *list, size_t length, bool listed)
{
    const char *name = list->bytes + list->bytes_used;
    uint32_t hash = name_hash(name, length);
    size_t slot = name_slot(list, name, length, hash);

    if (list->slots[slot]) {
        list->names[list->slots[slot] - 1].listed |= listed;
        return false;
    }
    list->names[list->n_names++] = (struct listed_name){
        .offset = list->bytes_used,
        .hash = hash,
        .length = (uint32_t)length & INT32_MAX,
        .listed = listed,
    };
    list->slots[slot] = (uint32_t)list->n_names;
    return true;
}

/* Enters the name of `length` bytes behind those in use, and the directories above it: they share
 * its bytes. Where one is known, so are those above. */
static void enter_name_and_parents(struct name_list *list, size_t length)
{
    const char *name = list->bytes + list->bytes_used;
    const char *slash = name + length;

    if (!enter_name(list, length, true))
        return;
    while ((slash = memrchr(name, '/', (size_t)(slash - name))))
        if (!enter_name(list, (size_t)(slash - name), false))
            break;
    list->bytes_used += length;
}

int shoal_filter_add_name(struct shoal_filter *filter, const char *name)
{
    struct name_list *list = &filter->list;
    size_t room = strlen(name), length, components;

    if (room > INT32_MAX)
        return -EINVAL;
    int r = reserve((void **)&list->bytes, &list->bytes_size, list->bytes_used, room + 1, 1);
    if (r < 0)
        return r;
    r = normalise_name(name, list->bytes + list->bytes_used, &length, &components);
    if (r == 0 && components > 0)
        r = reserve_names(list, components);
    if (r < 0)
        return r;
    if (components > 0)
        enter_name_and_parents(list, length);
    filter->restricted = true;
    return 0;
}

/* A directory above a listed name takes part only as a directory: a file that stands there instead
 * was not asked for. */
static bool list_admits(
    const struct name_list *list, const char *path, size_t length, bool is_directory)
{
    if (list->n_names == 0 || length > INT32_MAX)
        return false;
    size_t slot = name_slot(list, path, length, name_hash(path, length));
    return list->slots[slot] && (is_directory || list->names[list->slots[slot] - 1].listed);
}

bool filter_admits(
    const struct shoal_filter *filter, const char *path, size_t length, bool is_directory)
{
    if (length == 0 || (length == 1 && path[0] == '.'))
        return true;
    if (filter->restricted && !list_admits(&filter->list, path, length, is_directory))
        return false;
    return rules_admit(filter, path, length, is_directory);
}

bool filter_next_name(
    const struct shoal_filter *filter, size_t *cursor, const char **ret_name, size_t *ret_length)
{
    const struct name_list *list = &filter->list;

    while (*cursor < list->n_names) {
        const struct listed_name *name = &list->names[(*cursor)++];
        if (!name->listed)
            continue;
        *ret_name = list->bytes + name->offset;
        *ret_length = name->length;
        return true;
    }
    return false;
}
