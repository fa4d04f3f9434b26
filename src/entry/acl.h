/* POSIX ACLs: between the form in which the kernel gives and takes them as extended attributes, and
 * the text in which archives carry them. */
#ifndef SHOAL_ENTRY_ACL_H
#define SHOAL_ENTRY_ACL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct owner_names;

/* Appends the text of an ACL ("user::rw-,user:alice:r--:1000,group::r--,mask::r--,other::---"),
 * entries parted by commas, a name followed by its number as star and libarchive write it; numbers
 * alone where `names` is NULL or does not know one. No NUL is added. 0, -EINVAL: `xattr` is no such
 * attribute; or -ENOMEM. */
int acl_to_text(const void *xattr, size_t length, struct owner_names *names, struct bytes *out);

/* Appends the attribute's value for a text as written by GNU tar, star or libarchive: entries
 * parted by commas or newlines, long or short tags ("user", "u"), names or numbers, a trailing
 * number where a name is unknown here. With `names` NULL, names are not looked up: an entry with a
 * name and no number is refused. 0, -EINVAL: not understood; or -ENOMEM; then nothing was added. */
int acl_from_text(const char *text, size_t length, struct owner_names *names, struct bytes *out);

#endif
