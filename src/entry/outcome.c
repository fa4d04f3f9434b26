#include "entry/outcome.h"

#include <shoal/shoal.h>

static const struct {
    const char *name;
    unsigned keep;
} aspects[ASPECTS] = {
    [ASPECT_MODE] = {"mode", SHOAL_KEEP_MODE},
    [ASPECT_OWNER] = {"owner", SHOAL_KEEP_OWNER},
    [ASPECT_SETID] = {"set-ID bits", SHOAL_KEEP_MODE},
    [ASPECT_TIMES] = {"times", SHOAL_KEEP_TIMES},
    [ASPECT_ACL] = {"access control list", SHOAL_KEEP_MODE},
    [ASPECT_CAPABILITY] = {"capabilities", SHOAL_KEEP_XATTR},
    [ASPECT_XATTR_USER] = {"xattrs user.*", SHOAL_KEEP_XATTR},
    [ASPECT_XATTR_TRUSTED] = {"xattrs trusted.*", SHOAL_KEEP_XATTR},
    [ASPECT_XATTR_SECURITY] = {"xattrs security.*", SHOAL_KEEP_XATTR},
    [ASPECT_XATTR_SYSTEM] = {"xattrs system.*", SHOAL_KEEP_XATTR},
    [ASPECT_HARD_LINK] = {"hard link", SHOAL_KEEP_LINKS},
    [ASPECT_MISSING] = {"missing", 0},
    [ASPECT_SURPLUS] = {"only at the target", 0},
    [ASPECT_TYPE] = {"type", 0},
    [ASPECT_SIZE] = {"size", 0},
    [ASPECT_CONTENT] = {"content", 0},
    [ASPECT_LINK_TARGET] = {"link target", 0},
    [ASPECT_DEVICE] = {"device number", 0},
};

const char *aspect_name(enum aspect aspect)
{
    return aspects[aspect].name;
}

unsigned aspect_keep_bit(enum aspect aspect)
{
    return aspects[aspect].keep;
}
