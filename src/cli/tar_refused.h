/* The options of GNU tar's that shoal tar does not have, each with what it does instead. */
#ifndef SHOAL_CLI_TAR_REFUSED_H
#define SHOAL_CLI_TAR_REFUSED_H

#include <argp.h>

/* A child parser that ends the program at any of them. Its keys are letters, and numbers from
 * TAR_REFUSED_KEYS on. */
#define TAR_REFUSED_KEYS 0x10000
extern const struct argp tar_refused_argp;

#endif
