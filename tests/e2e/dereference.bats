#!/usr/bin/env bats
# -L, -P and -H, checked against cp.

load lib.bash

setup() {
    enter
    mkdir -p "$W/src/dir/inner" "$W/outside/sub"
    echo file >src/file
    echo inner >src/dir/inner/deep
    echo outside >outside/file
    echo below >outside/sub/below
    chmod 640 outside/file
    chmod 751 outside/sub
    ln -s file src/to-file
    ln -s dir src/to-dir
    ln -s ../outside/file src/to-outside-file
    ln -s ../outside/sub src/to-outside-directory
    ln -s src top
    ln -s src/file top-file
    find . -depth -exec touch -h -d '2003-04-05 06:07:08.5' {} +
}

# as_cp ARGUMENT…: both into the same new name, each in a directory of its own.
as_cp() {
    local want=0 got=0 said
    rm -rf want got
    mkdir want got
    said=$(cp -a "$@" want/to 2>&1) || want=$?
    output=$(copy "$@" got/to 2>&1) || got=$?
    (( (want == 0) == (got == 0) )) || { fail "copy $*: exits $got; cp $want" "$output" "$said"; return 1; }
    same_tree want got --old-times 1500000000000000000 || fail "copy $* is not as cp" "$output"
}

@test "-P copies links as links" {
    as_cp -P src
    as_cp -P top
    as_cp -P top-file
    as_cp --no-dereference src
    [[ -L got/to/to-file ]]
}

@test "-L follows every link" {
    as_cp -L src
    as_cp -L top
    as_cp -L top-file
    as_cp --dereference src
    [[ ! -L got/to/to-file && -d got/to/to-outside-directory && -f got/to/to-outside-directory/below ]]
}

@test "-H follows those named as FROM" {
    as_cp -H src
    as_cp -H top
    as_cp -H top-file
    [[ -f got/to && ! -L got/to ]]
}

@test "the last of them holds" {
    as_cp -L -P src
    as_cp -P -L src
    as_cp -L -H top
    as_cp -P -H top
}

@test "-L with a dangling link: named, the rest is copied" {
    ln -s nowhere src/dangling
    as_cp -L src
    names_fault src/dangling
    [[ -f got/to/file ]]
}

@test "-L with a link to itself: named, the rest is copied" {
    ln -s loop src/loop
    as_cp -L src
    names_fault src/loop
    [[ -f got/to/file ]]
}

@test "-L with a link to a directory above ends, and says so" {
    ln -s .. src/dir/up
    rm src/to-dir
    run copy -L src dst
    status_is 1
    names_fault src/dir/up
    [[ -f dst/file && -f dst/dir/inner/deep && ! -e dst/dir/up/dir/up/dir/up ]]
}

@test "-L of a link to a FIFO makes a FIFO and does not wait on it" {
    mkfifo outside/fifo
    ln -s ../outside/fifo src/to-fifo
    run copy -L src dst
    status_is 0
    [[ -p dst/to-fifo ]]
}

@test "without any of them, FROM that is a link is copied as a link" {
    run copy top dst
    status_is 0
    [[ -L dst && $(readlink dst) == src ]]
}
