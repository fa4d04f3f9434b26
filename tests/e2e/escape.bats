#!/usr/bin/env bats
# A copy writes nowhere but below TO, and reads nowhere but below FROM, whatever is planted there and when.

load lib.bash

setup() {
    enter
    mkdir -p "$W"/src/sub "$W"/outside/sub "$W"/dst
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

# Two of a kind, listed together: when the first of them is opened, both are replaced. The one that was not
# opened yet is then no longer what the listing said.
replaced_by() {
    needs_strace
    rm -rf dst
    run "$E2E/paused" --at open,openat,openat2 --path twin-1 --path twin-2 --do "$1" -- "$SHOAL" copy -j1 -T src dst
    [[ $status -eq 0 || $status -eq 1 ]] || fail "$status: $output"
    [[ $status -eq 0 ]] || names_fault twin-
    [[ $(cat dst/file dst/sub/file) == $'new\nnew' ]]
    # No secret is there, but by a link that is a link.
    local found
    found=$(find dst -type f -exec grep -l secret {} +) || true
    [[ -z $found && -z $(find dst -name secret) ]] || fail "what lies outside of FROM was copied: $found"
}

@test "FROM's directory becomes a link while the copy is at it" {
    mkdir src/twin-1 src/twin-2
    echo a >src/twin-1/a
    echo a >src/twin-2/a
    replaced_by 'mv src/twin-1 moved-1; mv src/twin-2 moved-2; ln -s ../outside src/twin-1; ln -s ../outside src/twin-2'
}

@test "FROM's file becomes a link while the copy is at it" {
    echo a >src/sub/twin-1
    echo a >src/sub/twin-2
    replaced_by 'for t in 1 2; do ln -sf ../../outside/secret src/sub/twin-$t; done'
}

@test "FROM's file becomes a FIFO while the copy is at it: no hang" {
    echo a >src/sub/twin-1
    echo a >src/sub/twin-2
    replaced_by 'for t in 1 2; do rm src/sub/twin-$t; mkfifo src/sub/twin-$t; done'
}

@test "FROM's file becomes a directory, its directory a file, while the copy is at it" {
    echo a >src/sub/twin-1
    echo a >src/sub/twin-2
    replaced_by 'for t in 1 2; do rm src/sub/twin-$t; mkdir src/sub/twin-$t; done'
    rm -r src/sub/twin-*
    mkdir src/twin-1 src/twin-2
    replaced_by 'for t in 1 2; do rmdir src/twin-$t; echo a >src/twin-$t; done'
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
