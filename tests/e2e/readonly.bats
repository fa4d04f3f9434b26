#!/usr/bin/env bats
# Directories and files that may not be written to, as root and as anyone.

load lib.bash

@test "read-only directories with contents" {
    "$E2E/make-everything" src readonly
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "the same for an unprivileged owner" {
    needs_nobody
    chmod 777 .
    "$E2E/make-everything" src readonly
    rm -rf src/read-only/0000 src/read-only/111
    chown -R 65534:65534 src
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    same_tree src dst
}

@test "the same over itself, for an unprivileged owner: 0444 files and 0555 directories are replaced" {
    needs_nobody
    chmod 777 .
    "$E2E/make-everything" src readonly
    rm -rf src/read-only/0000 src/read-only/111
    chown -R 65534:65534 src
    as_nobody "$SHOAL" copy src dst
    run as_nobody "$SHOAL" copy -T src dst
    status_is 0
    same_tree src dst
    run as_nobody "$SHOAL" copy --resume -T src dst
    status_is 0
    same_tree src dst
}

@test "hard links into read-only directories, for an unprivileged owner" {
    needs_nobody
    chmod 777 .
    mkdir -p src/a src/b
    echo content >src/a/file
    ln src/a/file src/b/file
    chmod 500 src/a src/b
    chown -R 65534:65534 src
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    same_tree src dst
}

@test "a read-only file with xattrs, for an unprivileged owner" {
    needs_nobody
    chmod 777 .
    mkdir src
    echo content >src/file
    setfattr -n user.kind -v test src/file || skip "$SHOAL_TEST_FS has no user xattrs"
    chmod 400 src/file
    chown -R 65534:65534 src
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    same_tree src dst
}

@test "a directory of mode 0000 that its owner may not list is named, the rest is copied" {
    needs_nobody
    chmod 777 .
    mkdir -p src/closed src/open
    echo a >src/closed/a
    echo b >src/open/b
    chmod 000 src/closed
    chown -R 65534:65534 src
    run as_nobody "$SHOAL" copy src dst
    status_is 1
    names_fault src/closed
    [[ $(cat dst/open/b) == b ]]
    [[ ! -e dst/closed/a ]]
}
