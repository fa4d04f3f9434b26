#include "workload/shape.h"

#include "base/cleanup.h"
#include "workload/shape_tables.h"

#define TABLE(points)                                                                              \
    {                                                                                              \
        points, ELEMENTS(points)                                                                   \
    }
#define LEVELS(levels) levels, ELEMENTS(levels)

const struct shape shape_linux_tree = {LINUX_FILES, LINUX_DIRECTORIES, LINUX_BYTES,
    LEVELS(linux_levels), TABLE(linux_sizes), TABLE(linux_files), TABLE(linux_subdirectories),
    TABLE(equal), &naming_linux};

const struct shape shape_node_modules = {NODE_FILES, NODE_DIRECTORIES, NODE_BYTES,
    LEVELS(node_levels), TABLE(node_sizes), TABLE(node_files), TABLE(some_subdirectories),
    TABLE(equal), &naming_node};

const struct shape shape_imagenet = {IMAGENET_FILES, IMAGENET_DIRECTORIES, IMAGENET_BYTES,
    LEVELS(imagenet_levels), TABLE(imagenet_sizes), TABLE(equal), TABLE(equal), TABLE(equal),
    &naming_imagenet};

const struct shape shape_maildir = {MAILDIR_FILES, MAILDIR_DIRECTORIES, MAILDIR_BYTES,
    LEVELS(maildir_levels), TABLE(maildir_sizes), TABLE(equal), TABLE(equal), TABLE(equal),
    &naming_maildir};

const struct shape shape_desktop = {DESKTOP_FILES, DESKTOP_DIRECTORIES, DESKTOP_BYTES,
    LEVELS(desktop_levels), TABLE(desktop_sizes), TABLE(desktop_files), TABLE(some_subdirectories),
    TABLE(equal), &naming_desktop};
