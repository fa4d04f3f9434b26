#!/usr/bin/env bats
# -x stays on FROM's file system.

load lib.bash

setup() {
    enter
    mkdir -p "$W/src/mounted" "$W/src/sub"
    echo outer >src/outer
    mount -t tmpfs shoal-e2e src/mounted
    echo inner >src/mounted/inner
    mkdir src/mounted/below
    chmod 751 src/mounted
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.5' {} +
}

teardown() {
    cd /
    umount "$W/src/mounted" 2>/dev/null || true
    rm -rf --one-file-system "$W"
}

@test "without -x, what is mounted inside is copied" {
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "with -x, the mount point is there and empty, as with cp" {
    run copy -x src dst
    status_is 0
    cp -ax src want
    same_tree want dst
    [[ -d dst/mounted && -z $(ls -A dst/mounted) ]]
}

@test "--one-file-system is the same" {
    run copy --one-file-system src dst
    status_is 0
    [[ -d dst/mounted && ! -e dst/mounted/inner && -e dst/outer ]]
}

@test "each FROM has its own file system" {
    mkdir dst
    run copy -x src src/mounted dst
    status_is 0
    [[ -e dst/mounted/inner && ! -e dst/src/mounted/inner ]]
}
