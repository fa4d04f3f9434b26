#include "entry/owner_names.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ordered_set.h"

/* A stream may name any number of owners: beyond these, each is asked for anew. */
#define REMEMBERED_MAX 16384

enum kind {
    USER,
    GROUP,
    KINDS,
};

/* An answer: which of the two was asked for, its set tells. */
struct owner {
    struct owner *next; /* in the list of all */
    bool known;         /* else the system has none */
    uint32_t id;
    char *name;
};

struct owner_names {
    pthread_mutex_t lock;
    void *by_id[KINDS], *by_name[KINDS]; /* sets of struct owner */
    struct owner *all;
    size_t n;
};

static int compare_ids(const void *a, const void *b)
{
    const struct owner *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static int compare_names(const void *a, const void *b)
{
    const struct owner *left = a, *right = b;
    return strcmp(left->name, right->name);
}

struct owner_names *owner_names_new(void)
{
    struct owner_names *names = calloc(1, sizeof(*names));
    if (names)
        (void)pthread_mutex_init(&names->lock, NULL); /* glibc's does not fail */
    return names;
}

void owner_names_free(struct owner_names *names)
{
    if (!names)
        return;
    for (struct owner *owner = names->all, *next; owner; owner = next) {
        next = owner->next;
        for (enum kind kind = 0; kind < KINDS; kind++) {
            if (ordered_set_find(&names->by_id[kind], owner, compare_ids) == owner)
                ordered_set_remove(&names->by_id[kind], owner, compare_ids);
            if (owner->name &&
                ordered_set_find(&names->by_name[kind], owner, compare_names) == owner)
                ordered_set_remove(&names->by_name[kind], owner, compare_names);
        }
        free(owner->name);
        free(owner);
    }
    (void)pthread_mutex_destroy(&names->lock);
    free(names);
}

/* ---- asking the system ---- */

/* Calls getpwnam_r() and its like with as much room as they want. Fills what was not asked by;
 * false: unknown. */
static bool ask(enum kind kind, const char *name, uint32_t id, char **ret_name, uint32_t *ret_id)
{
    struct passwd user, *found_user = NULL;
    struct group group, *found_group = NULL;
    bool found = false;

    for (size_t room = 1024; room <= 1024 * 1024; room *= 4) {
        char *buffer = malloc(room);
        int r = ENOMEM;
        if (buffer && kind == USER)
            r = name ? getpwnam_r(name, &user, buffer, room, &found_user)
                     : getpwuid_r(id, &user, buffer, room, &found_user);
        else if (buffer)
            r = name ? getgrnam_r(name, &group, buffer, room, &found_group)
                     : getgrgid_r(id, &group, buffer, room, &found_group);
        if (r == 0 && (found_user || found_group)) {
            found = true;
            *ret_id = found_user ? found_user->pw_uid : found_group->gr_gid;
            *ret_name =
                name ? NULL : strdup(found_user ? found_user->pw_name : found_group->gr_name);
        }
        free(buffer);
        if (r != ERANGE)
            break;
    }
    return found;
}

static struct owner *remember(
    struct owner_names *names, void **set, ordered_set_compare compare, const struct owner *answer)
{
    struct owner *owner = names->n < REMEMBERED_MAX ? malloc(sizeof(*owner)) : NULL;

    if (!owner)
        return NULL;
    *owner = *answer;
    if (!ordered_set_add(set, owner, compare)) {
        free(owner);
        return NULL;
    }
    owner->next = names->all;
    names->all = owner;
    names->n++;
    return owner;
}

/* ---- both ways ---- */

static const char *find_name(struct owner_names *names, enum kind kind, uint32_t id)
{
    struct owner answer = {.id = id};
    uint32_t same;

    (void)pthread_mutex_lock(&names->lock);
    struct owner *owner = ordered_set_find(&names->by_id[kind], &answer, compare_ids);
    if (!owner) {
        answer.known = ask(kind, NULL, id, &answer.name, &same);
        owner = remember(names, &names->by_id[kind], compare_ids, &answer);
        if (!owner)
            free(answer.name); /* it would have to live as long as we do */
    }
    (void)pthread_mutex_unlock(&names->lock);
    return owner ? owner->name : NULL;
}

static bool find_id(struct owner_names *names, enum kind kind, const char *name, uint32_t *ret)
{
    struct owner answer = {.name = (char *)name};
    char *same = NULL;

    (void)pthread_mutex_lock(&names->lock);
    const struct owner *owner = ordered_set_find(&names->by_name[kind], &answer, compare_names);
    if (owner) {
        answer = *owner;
    } else {
        answer.known = ask(kind, name, 0, &same, &answer.id);
        answer.name = strdup(name);
        if (!answer.name || !remember(names, &names->by_name[kind], compare_names, &answer))
            free(answer.name);
    }
    (void)pthread_mutex_unlock(&names->lock);
    if (answer.known)
        *ret = answer.id;
    return answer.known;
}

const char *owner_names_user(struct owner_names *names, uid_t uid)
{
    return find_name(names, USER, uid);
}

const char *owner_names_group(struct owner_names *names, gid_t gid)
{
    return find_name(names, GROUP, gid);
}

bool owner_names_find_user(struct owner_names *names, const char *user, uid_t *ret)
{
    return find_id(names, USER, user, ret);
}

bool owner_names_find_group(struct owner_names *names, const char *group, gid_t *ret)
{
    return find_id(names, GROUP, group, ret);
}
