#!/usr/bin/env bats
# A copy writes nowhere but below TO, and reads nowhere but below FROM, whatever is planted there and when.

load lib.bash

setup() {
    umask 022
    W=$FS_ROOT/$BATS_TEST_NUMBER
    mkdir -p "$W"/src/sub "$W"/outside/sub "$W"/dst
    cd "$W" || return
    echo secret >outside/secret
    echo secret >outside/file
    echo new >src/file
    echo new >src/sub/file
    find outside -exec touch -d 2001-02-03 {} +
    facts --ctime outside >outside.before
    sync -f .
}

outside_untouched() {
    diff outside.before <(facts --ctime outside) || fail "written outside of TO"
}

@test "a symbolic link to a directory where a directory must go" {
    ln -s ../outside dst/sub
    run copy -T src dst
    status_is 1
    names_fault sub
    outside_untouched
    [[ $(cat dst/file) == new ]]
}

@test "a symbolic link to a file where a file must go is replaced" {
    ln -s ../outside/file dst/file
    run copy -T src dst
    status_is 0
    outside_untouched
    [[ ! -L dst/file && $(cat dst/file) == new ]]
}

@test "the same for links, FIFOs, and with -u, -n, --resume, --sparse=always, --reflink=never" {
    ln -s x src/link
    mkfifo src/fifo
    local option
    for option in "" -u -n --resume --sparse=always --reflink=never --verify; do
        rm -rf dst
        mkdir dst
        ln -s ../outside/file dst/file
        ln -s ../outside/file dst/link
        ln -s ../outside/file dst/fifo
        # shellcheck disable=SC2086
        run copy $option -T src dst
        outside_untouched
    done
}

@test "a dangling link where a file must go makes no file elsewhere" {
    ln -s ../outside/made dst/file
    run copy -T src dst
    outside_untouched
    [[ ! -e outside/made ]]
}

@test "FROM's own links are not followed on the way: a directory of FROM is a link in TO by an earlier FROM" {
    mkdir -p one two/sub all
    ln -s ../outside one/sub
    echo escaped >two/sub/file
    run copy one/sub two/sub all
    outside_untouched
    run copy one/. two/. all
    status_is 1
    outside_untouched
}

@test "TO's directory becomes a link while the copy is at it" {
    needs_strace
    rm -rf dst
    # Right after the directory is made, someone moves it away and puts a link there.
    run "$E2E/paused" --at mkdir,mkdirat --when 2 --do 'test -d dst/sub && mv dst/sub moved && ln -s ../outside dst/sub || true' -- \
        "$SHOAL" copy -j1 -T src dst
    [[ $status -ne 98 && $status -ne 97 ]] || fail "$output"
    outside_untouched
}

@test "TO itself becomes a link while the copy is at it" {
    needs_strace
    rm -rf dst
    run "$E2E/paused" --at mkdir,mkdirat --when 1 --do 'test -d dst && mv dst moved && ln -s outside dst || true' -- \
        "$SHOAL" copy -j1 -T src dst
    [[ $status -ne 98 && $status -ne 97 ]] || fail "$output"
    outside_untouched
}

@test "FROM's directory becomes a link while the copy is at it" {
    needs_strace
    rm -rf dst
    run "$E2E/paused" --at getdents64 --path "$W/src" --when 1 --do 'mv src/sub moved && ln -s ../outside src/sub' -- \
        "$SHOAL" copy -j1 -T src dst
    [[ $status -eq 0 || $status -eq 1 ]] || fail "$status: $output"
    [[ ! -e dst/sub/secret || -L dst/sub ]] || fail "what lies outside of FROM was copied"
    [[ $status -eq 0 ]] || names_fault sub
    [[ $(cat dst/file) == new ]]
}

@test "FROM's file becomes a link while the copy is at it" {
    needs_strace
    rm -rf dst
    run "$E2E/paused" --at getdents64 --path "$W/src/sub" --when 1 --do 'ln -sf ../../outside/secret src/sub/file' -- \
        "$SHOAL" copy -j1 -T src dst
    [[ $status -eq 0 || $status -eq 1 ]] || fail "$status: $output"
    [[ ! -f dst/sub/file || -L dst/sub/file || $(cat dst/sub/file) != secret ]] || fail "what lies outside of FROM was copied"
    [[ $(cat dst/file) == new ]]
}

@test "FROM's file becomes a FIFO while the copy is at it: no hang" {
    needs_strace
    rm -rf dst
    run "$E2E/paused" --at getdents64 --path "$W/src/sub" --when 1 --do 'rm src/sub/file; mkfifo src/sub/file' -- \
        "$SHOAL" copy -j1 -T src dst
    [[ $status -eq 0 || $status -eq 1 ]] || fail "$status: $output"
    [[ $(cat dst/file) == new ]]
}

@test "a file planted at TO while the copy is at it is not written into" {
    needs_strace
    rm -rf dst
    # Before the file is made, someone puts a link to elsewhere under its name.
    run "$E2E/paused" --at mkdir,mkdirat --when 2 --do 'test -d dst/sub && ln -s ../../outside/file dst/sub/file || true' -- \
        "$SHOAL" copy -j1 -T src dst
    [[ $status -eq 0 || $status -eq 1 ]] || fail "$status: $output"
    outside_untouched
}
