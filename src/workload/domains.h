/* What is chosen by mix(): each has its own sequence, so that one more choice changes no other. A
 * new one is added at the end. */
#ifndef SHOAL_WORKLOAD_DOMAINS_H
#define SHOAL_WORKLOAD_DOMAINS_H

enum domain {
    DOMAIN_SIZE,
    DOMAIN_CONTENT,
    DOMAIN_TIME,
    DOMAIN_BOOK,
    DOMAIN_FILES,
    DOMAIN_SUBDIRECTORIES,
    DOMAIN_NAME,
    DOMAIN_NAME_LENGTH,
    DOMAIN_KIND,
};

#endif
