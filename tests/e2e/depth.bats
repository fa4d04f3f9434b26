#!/usr/bin/env bats
# Trees deeper than PATH_MAX, and deeper than there are descriptors.

load lib.bash

# chain DIR LEVELS NAME: directories in each other, a file in each hundredth and in the last.
chain() {
    mkdir "$1"
    /usr/bin/python3 - "$@" <<'PYTHON'
import os, sys
top, levels, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
here = os.open(top, os.O_RDONLY)
for level in range(levels):
    os.mkdir(name, dir_fd=here)
    below = os.open(name, os.O_RDONLY, dir_fd=here)
    os.close(here)
    here = below
    if level % 100 == 99 or level == levels - 1:
        f = os.open('file', os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=here)
        os.write(f, b'%d\n' % level)
        os.utime(f, ns=(level, level))
PYTHON
}

@test "sixty levels of long names, with every type at the bottom" {
    "$E2E/make-everything" src deep
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "the same over itself, --resume and verify" {
    "$E2E/make-everything" src deep
    copy src dst
    run copy -T src dst
    status_is 0
    run copy --resume -T src dst
    status_is 0
    same_tree src dst
    run verify src dst
    status_is 0
}

@test "three thousand levels" {
    chain src 3000 d
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "a thousand levels with a hundred descriptors" {
    chain src 1000 d
    run bash -c 'ulimit -n 100; exec timeout 60 "$SHOAL" copy src dst'
    status_is 0
    same_tree src dst
}

@test "the same with one worker" {
    chain src 500 directory
    run bash -c 'ulimit -n 64; exec timeout 60 "$SHOAL" copy -j1 src dst'
    status_is 0
    same_tree src dst
}

@test "an error beyond PATH_MAX names the file" {
    needs_nobody
    chmod 777 .
    chain src 60 "$(printf 'd%.0s' {1..200})"
    run --separate-stderr as_nobody "$SHOAL" copy src dst
    status_is 1
    grep -aE "^shoal: cannot .*dddd/file': " <<<"$stderr"
}
