#!/usr/bin/env bats
# Every type of file, and its mode, owner and times.

load lib.bash

everything() { "$E2E/make-everything" src "$@"; }

@test "contents of every size" {
    everything sizes
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "permission bits, setuid, setgid and sticky of files and directories" {
    everything modes
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "owners and groups that exist nowhere, also of setuid programs" {
    everything owners
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "times in nanoseconds, before 1970 and after 2038, directories' too" {
    everything times
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "access times as they were before the copy read the files" {
    mkdir src
    echo a >src/a
    touch -a -d '2001-02-03 04:05:06.7' src/a
    touch -m -d '2002-02-03 04:05:06.7' src/a
    local before
    before=$(stat -c %x src/a)
    run copy src dst
    status_is 0
    [[ $(stat -c %x dst/a) == "$before" ]]
}

@test "symbolic links of all kinds, with their own time and owner" {
    everything symlinks
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "FIFOs and devices, with mode, owner and device number" {
    everything specials
    run copy src dst
    status_is 0
    says_not cannot
    same_tree src dst
}

@test "a FIFO, a device, a symbolic link each as FROM itself" {
    everything specials symlinks
    mkdir dst
    run copy src/fifo src/char src/symlink-loop-a src/symlink-dangling dst
    status_is 0
    [[ -p dst/fifo && -c dst/char && -L dst/symlink-loop-a && -L dst/symlink-dangling ]]
    [[ $(stat -c %F-%a-%u-%g-%t-%T-%Y dst/char dst/fifo) == "$(stat -c %F-%a-%u-%g-%t-%T-%Y src/char src/fifo)" ]]
}

@test "a socket is left out with a note, and is no error" {
    everything socket sizes
    run copy src dst
    status_is 0
    [[ ! -e dst/socket ]]
    says socket
    same_tree src dst --skip-kinds socket
}

@test "empty directories" {
    everything empty
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "a flat directory of thousands of files" {
    everything flat
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "an empty FROM" {
    mkdir src
    chmod 751 src
    touch -d 2001-02-03 src
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "the umask has no say" {
    everything modes owners acls
    local mask
    for mask in 000 077 777; do
        umask "$mask"
        run copy src "dst$mask"
        umask 022
        status_is 0
        same_tree src "dst$mask"
    done
}

@test "a single file keeps everything" {
    "$E2E/make-everything" src xattrs owners
    mkdir dst
    run copy src/capability src/owned-4755 src/xattr dst
    status_is 0
    mkdir want
    cp -a src/capability src/owned-4755 src/xattr want
    same_tree want dst --no-directory-times
}
