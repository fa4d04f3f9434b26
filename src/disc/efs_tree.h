/* The tree that an EFS image is made of, in memory: all but content. */
#ifndef SHOAL_DISC_EFS_TREE_H
#define SHOAL_DISC_EFS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "disc/make.h"

/* A file of any type, whatever its names. */
struct efs_node {
    struct stat st;
    struct efs_node *parent; /* of a directory; of a file, that of its first name */
    char *name;              /* the first one */
    char *target;            /* of a symbolic link */
    uint32_t number;         /* of its inode */
    uint32_t links;          /* names in the tree; of a directory with its own and its children's */
    struct efs_name *names;  /* of a directory, in the order of their bytes */
    size_t n_names;
    struct efs_node *next; /* in the order of inodes' numbers */

    /* Where its content lies: the maker's. */
    struct efs_piece *pieces;
    size_t n_pieces;
    struct efs_piece *runs; /* blocks full of extents */
    size_t n_runs;
};

struct efs_name {
    char *name;
    struct efs_node *node;
};

struct efs_tree {
    struct efs_node *first, *last; /* the top is the first */
    size_t n;
    void *linked; /* files with several names, by their inode */
};

/* Reads the tree of a directory; free it also where this fails. `left_out` is the image itself.
 * 0 or a negative errno, with *ret_path (free it) set to what could not be read, if that is known.
 */
int efs_tree_read(int directory_fd, const struct stat *left_out, const struct make_watch *watch,
    struct efs_tree *ret, struct make_totals *totals, char **ret_path);
void efs_tree_free(struct efs_tree *tree);

/* The path of a node below the top; free it. NULL: no memory. */
char *efs_node_path(const struct efs_node *node);

/* Opens a regular file of the tree; -ESTALE if it is another one by now. */
int efs_node_open(int directory_fd, const struct efs_node *node);

#endif
