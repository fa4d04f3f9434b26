#!/usr/bin/env bats
# FROM in TO, TO in FROM, FROM is TO: an answer, and nothing lost.

load lib.bash

setup() {
    enter
    make_tree src
    facts src >before
}

untouched() { diff before <(facts src) || fail "FROM was changed"; }

@test "FROM is TO" {
    local from to
    ln -s src link
    for from in src src/ src/. ./src "$W/src" link/; do
        for to in src src/ ../$BATS_TEST_NUMBER/src link/.; do
            run copy -T "$from" "$to"
            [[ $status -eq 1 || $status -eq 2 ]] || fail "copy -T $from $to: exits $status, said: $output"
            says itself
            untouched
        done
    done
}

@test "a file is itself" {
    echo content >file
    ln -s file link
    local to
    for to in file ./file "$W/file" "$W/../$BATS_TEST_NUMBER/file"; do
        run copy file "$to"
        status_is 1 2
        [[ $(cat file) == content && ! -L file ]]
    done
    run copy file .
    status_is 1 2
    [[ $(cat file) == content ]]
    # Through a link it may refuse, or replace the link; the file stays.
    run copy file link
    [[ $(cat file) == content && ! -L file && $(cat link) == content ]]
    [[ -z $(find . -maxdepth 1 -newer before ! -name . ! -name file ! -name link) ]]
}

@test "a file onto its other name" {
    echo content >file
    ln file other
    run copy file other
    status_is 0 1
    [[ $(cat file) == content && $(cat other) == content ]]
    [[ $(find . -maxdepth 1 -type f | wc -l) -eq 3 ]]
}

@test "a link to the file onto the file, followed" {
    echo content >file
    ln -s file link
    run copy -L link file
    [[ $(cat file) == content && ! -L file ]]
    run copy link file
    [[ -L file || $(cat file) == content ]]
}

@test "TO in FROM, new: refused, no endless tree" {
    local to
    for to in src/new src/sub/below/new src/empty/new; do
        run copy src "$to"
        status_is 1 2
        says itself
        [[ ! -e $to/new && ! -e $to/src && ! -e $to/sub/below/new && ! -e $to/empty/new ]] || fail "$to holds itself"
        rm -rf "$to"
    done
    facts --no-directory-times src | diff <(sed -E '/kind=directory/s/ mtime=[^ ]*//' before) -
}

@test "TO in FROM, an existing directory: the same" {
    local to
    for to in "src src" "src src/sub" "-t src/empty src" "-T src src/sub"; do
        # shellcheck disable=SC2086
        run copy $to
        status_is 1 2
        [[ -z $(find src -mindepth 6) ]] || fail "copy $to: $(find src -mindepth 6)"
    done
}

@test "TO in FROM by a symbolic link: the same" {
    ln -s src/sub out
    run copy src out
    status_is 1 2
    [[ ! -e src/sub/src/sub/src ]]
    run copy src out/new
    status_is 1 2
    [[ ! -e src/sub/new/sub/new ]]
}

@test "TO in FROM by a bind mount: the same, or a copy that ends" {
    mkdir bound
    mount --bind src/sub bound
    run copy src bound/new
    local code=$status
    umount bound
    [[ $code -ne 124 ]]
    [[ ! -e src/sub/new/sub/new/sub ]]
}

@test "other FROMs of the same run are copied" {
    echo other >other
    run copy src other src/sub
    status_is 1
    says itself
    [[ $(cat src/sub/other) == other ]]
}

@test "FROM in TO: merged upwards, as cp does" {
    cp -a src want
    cp -aT want/sub want
    run copy -T src/sub src
    status_is 0
    same_tree want src --old-times 1500000000000000000
}

@test "FROM in TO, where it would land on itself" {
    run copy src/sub src
    status_is 1 2
    untouched
    run copy src/one src
    status_is 1 2
    untouched
}

@test "FROM is a name of which TO begins: no confusion" {
    run copy src src-new
    status_is 0
    same_tree src src-new
    run copy src src-new/src
    status_is 0
    same_tree src src-new/src
}
