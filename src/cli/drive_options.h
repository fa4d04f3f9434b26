/* What the options about emulated drives share. Wrong usage ends the program with
 * argp_err_exit_status. */
#ifndef SHOAL_CLI_DRIVE_OPTIONS_H
#define SHOAL_CLI_DRIVE_OPTIONS_H

#include <argp.h>
#include <stddef.h>

#include "drive/profile.h"

/* A drive; *ret may be NULL to check only. */
void drive_parse(const char *text, struct drive_profile *ret, struct argp_state *state);

double drive_parse_time_scale(const char *text, struct argp_state *state);

#define DRIVE_LIST_MAX 32

struct drive_list {
    char *all[DRIVE_LIST_MAX];
    size_t n;
};

/* Adds drives that stand parted by commas, as the fields of each do: a new one begins with its
 * speed. A drive that is there already is wrong usage. */
void drive_list_add(struct drive_list *list, const char *text, struct argp_state *state);

void drive_list_clear(struct drive_list *list);

#endif
