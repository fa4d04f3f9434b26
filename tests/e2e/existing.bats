#!/usr/bin/env bats
# What stands already where something is to go: replace, -n, -u, --resume.

load lib.bash

older() { touch -h -d '2001-01-01 00:00:00' "$@"; }
newer() { touch -h -d '2005-01-01 00:00:00' "$@"; }

@test "files, links and FIFOs are replaced, of whatever type" {
    local from to
    mkdir src
    echo new >src/file
    ln -s target src/symlink
    mkfifo src/fifo
    for from in file symlink fifo; do
        for to in file symlink fifo; do
            mkdir dst
            case $to in
            file) echo old >dst/$from ;;
            symlink) ln -s elsewhere dst/$from ;;
            fifo) mkfifo dst/$from ;;
            esac
            run copy -T src dst
            status_is 0
            same_tree src dst
            rm -r dst
        done
    done
    [[ ! -e elsewhere ]]
}

@test "a second copy changes nothing but what it must" {
    make_tree src
    copy src dst
    run copy -T src dst
    status_is 0
    same_tree src dst
}

@test "what is only at TO stays" {
    mkdir src dst
    echo a >src/a
    echo b >dst/b
    run copy -T src dst
    status_is 0
    [[ $(cat dst/a dst/b) == $'a\nb' ]]
}

@test "the other name of a replaced file is untouched" {
    mkdir src dst
    echo new >src/file
    echo old >dst/file
    ln dst/file dst/other
    run copy -T src dst
    status_is 0
    [[ $(cat dst/file) == new && $(cat dst/other) == old ]]
    [[ $(stat -c %h dst/other) -eq 1 ]]
}

@test "a read-only file is replaced" {
    needs_nobody
    mkdir src dst
    echo new >src/file
    echo old >dst/file
    chmod 444 src/file dst/file
    chown -R 65534:65534 src dst
    run as_nobody "$SHOAL" copy -T src dst
    status_is 0
    same_tree src dst
}

@test "a reader of the old file sees the old content, whole" {
    mkdir src dst
    echo new >src/file
    echo old >dst/file
    exec 7<dst/file
    run copy -T src dst
    status_is 0
    [[ $(cat <&7) == old && $(cat dst/file) == new ]]
    exec 7<&-
}

@test "a running program is replaced" {
    mkdir src dst
    echo new >src/program
    cp "$(command -v sleep)" dst/program
    dst/program 1000 &
    local pid=$!
    until [[ $(readlink "/proc/$pid/exe") == "$W/dst/program" ]]; do :; done
    run copy -T src dst
    kill "$pid"
    status_is 0
    [[ $(cat dst/program) == new ]]
    run ! wait "$pid"
}

@test "-n keeps what is there, whatever it is" {
    local option
    for option in -n --no-clobber; do
        rm -rf src dst want
        mkdir -p src/sub dst/sub
        echo new >src/a
        echo new >src/b
        echo new >src/sub/c
        ln -s new src/link
        echo old >dst/a
        echo old >dst/sub/c
        ln -s old dst/link
        older dst/a dst/sub/c
        cp -a dst want
        cp -anT src want
        run copy "$option" -T src dst
        status_is 0
        same_tree want dst
        [[ $(cat dst/a dst/sub/c dst/b) == $'old\nold\nnew' && $(readlink dst/link) == old ]]
    done
}

@test "-u replaces what is older, as cp -u" {
    local option
    for option in -u --update; do
        rm -rf src dst want
        mkdir -p src dst
        echo new >src/older-there
        echo new >src/newer-there
        echo new >src/same-time
        echo new >src/missing
        echo old >dst/older-there
        echo old >dst/newer-there
        echo old >dst/same-time
        touch -d '2003-01-01 00:00:00.5' src/*
        older dst/older-there
        newer dst/newer-there
        touch -r src/same-time dst/same-time
        cp -a dst want
        cp -auT src want
        run copy "$option" -T src dst
        status_is 0
        same_tree want dst
        [[ $(cat dst/older-there dst/newer-there dst/same-time dst/missing) == $'new\nold\nold\nnew' ]]
    done
}

@test "-u sees a nanosecond" {
    mkdir src dst
    echo new >src/a
    echo old >dst/a
    touch -d '2003-01-01 00:00:00.500000001' src/a
    touch -d '2003-01-01 00:00:00.500000000' dst/a
    run copy -u -T src dst
    status_is 0
    [[ $(cat dst/a) == new ]]
}

@test "--resume replaces unless size and mtime are the source's" {
    mkdir src dst
    local name
    for name in same newer older size nanosecond missing; do
        echo new >src/$name
        echo old >dst/$name
    done
    rm dst/missing
    touch -d '2003-01-01 00:00:00.5' src/* dst/*
    echo longer >dst/size
    touch -d '2003-01-01 00:00:00.5' dst/size
    newer dst/newer
    older dst/older
    touch -d '2003-01-01 00:00:00.500000001' dst/nanosecond
    run --separate-stderr copy --resume --json -T src dst
    status_is 0
    [[ $(cat dst/same) == old ]]
    for name in newer older size nanosecond missing; do
        [[ $(cat dst/$name) == new ]] || fail "$name is not replaced"
    done
    /usr/bin/python3 - "$output" <<'PYTHON'
import json, sys
summary = [json.loads(line) for line in sys.argv[1].splitlines()][-1]
assert summary['event'] == 'summary' and summary['kept'] == 1 and summary['files'] == 5, summary
PYTHON
}

@test "--resume over a whole copy copies no file, and puts directories right" {
    make_tree src
    copy src dst
    chmod 700 dst/sub
    touch -d '2010-01-01' dst/sub dst
    local inode
    inode=$(stat -c %i dst/sub/big)
    run copy --resume -T src dst
    status_is 0
    same_tree src dst
    [[ $(stat -c %i dst/sub/big) == "$inode" ]]
}

@test "-n, -u and --resume do not touch what they keep" {
    make_tree src
    copy src dst
    facts --ctime --inode --skip-kinds directory dst >before
    local option
    for option in -n -u --resume; do
        run copy $option -T src dst
        status_is 0
        diff before <(facts --ctime --inode --skip-kinds directory dst)
    done
}

@test "an unreadable source leaves what stood there" {
    needs_nobody
    mkdir src dst
    echo new >src/file
    echo old >dst/file
    chmod 000 src/file
    chown -R 65534:65534 dst
    run as_nobody "$SHOAL" copy -T src dst
    status_is 1
    names_fault src/file
    [[ $(cat dst/file) == old && $(ls dst) == file ]]
}
