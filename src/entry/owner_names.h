/* Names of users and groups: asked of the system once each, for any number of threads. */
#ifndef SHOAL_ENTRY_OWNER_NAMES_H
#define SHOAL_ENTRY_OWNER_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

struct owner_names;

/* NULL: no memory. */
struct owner_names *owner_names_new(void);
void owner_names_free(struct owner_names *names);

/* The name of a number: valid as long as `names`. NULL: it has none. */
const char *owner_names_user(struct owner_names *names, uid_t uid);
const char *owner_names_group(struct owner_names *names, gid_t gid);

/* The number of a name. False: the system knows none. */
bool owner_names_find_user(struct owner_names *names, const char *user, uid_t *ret);
bool owner_names_find_group(struct owner_names *names, const char *group, gid_t *ret);

#endif
