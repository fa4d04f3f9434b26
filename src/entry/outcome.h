/* How an operation on one entry went: the first failure with its operation, what of the metadata
 * could not be kept, and, where two trees are compared, what differs. */
#ifndef SHOAL_ENTRY_OUTCOME_H
#define SHOAL_ENTRY_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

/* What can be lost of the metadata, or differ. */
enum aspect {
    ASPECT_MODE,
    ASPECT_OWNER,
    ASPECT_SETID, /* set-user-ID or set-group-ID, dropped because the owner could not be kept */
    ASPECT_TIMES,
    ASPECT_ACL,
    ASPECT_CAPABILITY,
    ASPECT_XATTR_USER,
    ASPECT_XATTR_TRUSTED,
    ASPECT_XATTR_SECURITY,
    ASPECT_XATTR_SYSTEM,
    ASPECT_HARD_LINK,
    /* from here on only where two trees are compared */
    ASPECT_MISSING,
    ASPECT_SURPLUS,
    ASPECT_TYPE,
    ASPECT_SIZE,
    ASPECT_CONTENT,
    ASPECT_LINK_TARGET,
    ASPECT_DEVICE,
    ASPECTS,
};

/* What is wrong with a disc, and where. */
struct damage {
    const char *what; /* NULL: nothing is known */
    uint64_t sector;  /* from the start of the disc */
};

struct outcome {
    const char *operation; /* a phrase for "cannot …", NULL if nothing failed */
    int error;             /* negative errno of the first failure */
    bool at_target;        /* it happened at the sink, not at the source */
    uint32_t aspects;      /* bits (1 << ASPECT_…): lost, or different */
    int aspect_error;      /* negative errno of the first loss, 0 if there was none */
    struct damage damage;  /* of the medium, that the failure comes from */
};

static inline void outcome_clear(struct outcome *outcome)
{
    *outcome = (struct outcome){0};
}

/* Keeps the first failure of the source; returns `error` for the caller to return. */
static inline int outcome_fail(struct outcome *outcome, const char *operation, int error)
{
    if (!outcome->operation) {
        outcome->operation = operation;
        outcome->error = error;
    }
    return error;
}

/* The same for a failure of the sink. */
static inline int outcome_fail_target(struct outcome *outcome, const char *operation, int error)
{
    if (!outcome->operation)
        outcome->at_target = true;
    return outcome_fail(outcome, operation, error);
}

/* Notes that an aspect was lost (error: negative errno) or differs (error 0). */
static inline void outcome_note(struct outcome *outcome, enum aspect aspect, int error)
{
    outcome->aspects |= 1U << aspect;
    if (outcome->aspect_error == 0)
        outcome->aspect_error = error;
}

static inline bool outcome_has(const struct outcome *outcome, enum aspect aspect)
{
    return outcome->aspects & (1U << aspect);
}

/* "owner", "xattr user.*", "content", …: for people. */
const char *aspect_name(enum aspect aspect);

/* The SHOAL_KEEP_* bit under which a loss of the aspect falls; 0 if under none. */
unsigned aspect_keep_bit(enum aspect aspect);

#endif
