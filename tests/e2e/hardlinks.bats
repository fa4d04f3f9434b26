#!/usr/bin/env bats
# Names of one inode stay names of one inode, and only those.

load lib.bash

@test "in one directory, across directories, of symlinks, FIFOs and devices" {
    "$E2E/make-everything" src links
    run copy src dst
    status_is 0
    same_tree src dst
    [[ $(stat -c %h dst/links/one) -eq $(stat -c %h src/links/one) ]]
}

@test "the same with many workers, in directories of many links" {
    mkdir -p src/{a,b,c,d,e,f,g,h}
    local k d
    for k in {1..60}; do
        echo "$k" >"src/a/$k"
        for d in b c d e f g h; do ln "src/a/$k" "src/$d/$k"; done
    done
    run copy -j8 src dst
    status_is 0
    same_tree src dst --no-directory-times
    same_tree src dst
}

@test "across several FROMs of one run" {
    mkdir one two dst
    echo content >one/file
    ln one/file two/same
    ln one/file third
    run copy one two third dst
    status_is 0
    [[ $(stat -c %i dst/one/file) == $(stat -c %i dst/two/same) ]]
    [[ $(stat -c %i dst/one/file) == $(stat -c %i dst/third) ]]
    [[ $(stat -c %h dst/third) -eq 3 ]]
}

@test "names outside FROM do not count" {
    mkdir src
    echo content >src/file
    ln src/file outside
    run copy src dst
    status_is 0
    [[ $(stat -c %h dst/file) -eq 1 ]]
    [[ $(cat dst/file) == content ]]
}

@test "in a directory that may not be written to" {
    mkdir -p src/a src/b
    echo content >src/a/file
    ln src/a/file src/b/file
    chmod 555 src/a src/b
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "links of a setuid program, a read-only file and one with ACL and xattrs" {
    "$E2E/make-everything" src owners xattrs acls
    mkdir src/again
    ln src/owned-4755 src/again/
    ln src/xattr-read-only src/again/
    ln src/acl src/again/
    ln src/capability src/again/
    ln src/xattr-many src/again/
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "a second copy over the first keeps the links" {
    "$E2E/make-everything" src links
    copy src dst
    run copy -T src dst
    status_is 0
    same_tree src dst
}

@test "one of two names is already there, as another file" {
    mkdir src dst
    echo new >src/a
    ln src/a src/b
    echo old >dst/b
    ln dst/b elsewhere
    run copy -T src dst
    status_is 0
    same_tree src dst
    [[ $(cat elsewhere) == old ]]
}

@test "the two names are there already and are one, with --resume, -u and -n" {
    mkdir src
    echo content >src/a
    ln src/a src/b
    local option
    for option in --resume -u -n; do
        rm -rf dst
        cp -a src dst
        run copy "$option" -T src dst
        status_is 0
        same_tree src dst
    done
}

@test "of files that are left out, none is linked to" {
    mkdir src
    echo content >src/a
    ln src/a src/b
    ln src/a src/c
    run copy --exclude=a -T src dst
    status_is 0
    [[ ! -e dst/a && $(stat -c %h dst/b) -eq 2 && $(stat -c %i dst/b) == $(stat -c %i dst/c) ]]
    [[ $(cat dst/c) == content ]]
}

@test "the file the others are links of cannot be read: each name is told or missing, none is empty" {
    needs_nobody
    mkdir src
    chmod 777 .
    echo content >src/a
    ln src/a src/b
    ln src/a src/c
    chmod 600 src/a
    run as_nobody "$SHOAL" copy src dst
    status_is 1
    names_fault src/
    [[ ! -e dst/a && ! -e dst/b && ! -e dst/c ]]
}
