#!/usr/bin/env bats
# A source that changes while it is copied: told, never a hang, never silently wrong. And files that say
# they are empty and are not.

load lib.bash

READS=read,pread64,readv,preadv,preadv2,copy_file_range,sendfile,splice

setup() {
    enter
    mkdir -p "$W/src"
    echo rest >src/rest
    head -c 4M /dev/urandom >src/victim
    touch -d '2003-04-05 06:07:08' src/*
    sync -f .
}

# changed_by SHELL-COMMAND OPTION…: done when the first of victim's content has been read.
changed_by() {
    needs_strace
    run "$E2E/paused" --at "$READS" --path "$W/src/victim" --do "$1" -- \
        "$SHOAL" copy --reflink=never "${@:2}" -T src dst
    [[ $status -ne 97 && $status -ne 98 ]] || fail "$output"
    [[ $(cat dst/rest) == rest ]]
}

@test "a file is truncated while it is read" {
    changed_by 'truncate -s 100000 src/victim' -j1
    status_is 1
    says "'src/victim' changed"
}

@test "the same with several workers, and emptied" {
    changed_by ': >src/victim' -j4
    status_is 1
    says "'src/victim' changed"
}

@test "--json calls it changed" {
    changed_by 'truncate -s 100000 src/victim' -j1 --json
    status_is 1
    /usr/bin/python3 - "$output" <<'PYTHON'
import json, sys
events = [json.loads(line) for line in sys.argv[1].splitlines() if line.startswith('{')]
faults = [e for e in events if e['event'] == 'fault']
assert [(f['class'], f['path']) for f in faults] == [('changed', 'src/victim')], events
assert events[-1]['faults'] == {'content': 0, 'metadata': 0, 'changed': 1}, events
PYTHON
}

@test "a file grows while it is read: told, or copied whole" {
    changed_by 'head -c 3000000 /dev/urandom >>src/victim' -j1
    [[ $status -eq 1 ]] || cmp src/victim dst/victim
    [[ $status -eq 0 ]] || says "'src/victim' changed"
}

@test "a file is written to while it is read: told" {
    # The bytes are past those read already; the time is the only witness.
    changed_by 'printf X | dd of=src/victim bs=1 seek=4000000 conv=notrunc status=none' -j1
    [[ $status -eq 1 ]] || cmp src/victim dst/victim
    [[ $status -eq 0 ]] || says "'src/victim' changed"
}

@test "a file with holes is truncated while it is read" {
    rm src/victim
    truncate -s 8M src/victim
    head -c 2M /dev/urandom | dd of=src/victim bs=1M seek=1 conv=notrunc status=none
    head -c 1M /dev/urandom | dd of=src/victim bs=1M seek=6 conv=notrunc status=none
    sync -f .
    changed_by 'truncate -s 1500000 src/victim' -j1
    status_is 1
    says "'src/victim' changed"
}

# Two of a kind, listed together: when the first of them is opened, both are removed.
removed_by() {
    needs_strace
    run "$E2E/paused" --at open,openat,openat2 --path twin-1 --path twin-2 --do "$1" -- "$SHOAL" copy -j1 -T src dst
    status_is 1
    names_fault src/twin-
    [[ $(cat dst/rest) == rest ]]
}

@test "a file is removed after it was listed: told, the rest is copied" {
    echo a >src/twin-1
    echo a >src/twin-2
    removed_by 'rm src/twin-1 src/twin-2'
    [[ $(find dst -name 'twin-*' | wc -l) -le 1 ]]
}

@test "a directory is removed after it was listed: told, the rest is copied" {
    mkdir src/twin-1 src/twin-2
    removed_by 'rmdir src/twin-1 src/twin-2'
}

@test "a file appears after the listing: no matter" {
    needs_strace
    run "$E2E/paused" --at getdents64 --path "$W/src" --do 'echo late >src/late' -- "$SHOAL" copy -j1 -T src dst
    status_is 0
    [[ $(cat dst/rest) == rest ]]
}

@test "files of /proc that say they are empty" {
    mkdir dst
    run copy /proc/version /proc/filesystems /proc/sys/kernel/ostype dst
    status_is 0
    local name
    for name in /proc/version /proc/filesystems /proc/sys/kernel/ostype; do
        cmp "$name" "dst/${name##*/}"
    done
    run copy --verify -T /proc/version dst/again
    status_is 0
    cmp /proc/version dst/again
    run copy --sparse=always --reflink=auto -T /proc/version dst/sparse
    status_is 0
    cmp /proc/version dst/sparse
}

@test "a file of /proc that comes in odd pieces, verified" {
    [[ -r /proc/kallsyms ]] || skip "no /proc/kallsyms"
    local how
    for how in --verify "--verify -j1" --reflink=auto --sparse=always; do
        rm -f dst
        # shellcheck disable=SC2086
        run copy $how -T /proc/kallsyms dst
        status_is 0
        cmp /proc/kallsyms dst
    done
}

@test "files of /sys that say they are a page and are less" {
    [[ -r /sys/kernel/mm/transparent_hugepage/enabled ]] || skip "no such file"
    run copy /sys/kernel/mm/transparent_hugepage/enabled dst
    status_is 0 1
    cmp /sys/kernel/mm/transparent_hugepage/enabled dst
}

@test "a directory of /proc" {
    run copy -T /proc/sys/fs/inotify dst
    status_is 0
    cmp /proc/sys/fs/inotify/max_user_watches dst/max_user_watches
}
