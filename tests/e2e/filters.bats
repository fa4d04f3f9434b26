#!/usr/bin/env bats
# --exclude, --include and --files-from, checked against rsync's.

load lib.bash

setup() {
    enter
    mkdir -p "$W/src"/{build/obj,src/lib,doc,a/b/c,node_modules/x}
    local name
    for name in main.c main.o build/main.o build/obj/x.o build/keep.me src/lib/util.c src/lib/util.o src/build \
        doc/read.me doc/build.txt a/b/c/deep.txt a/b/file.tmp a/x1 a/x2 a/xy node_modules/x/index.js '.hidden' 'a/b/[odd]'; do
        echo "$name" >"src/$name"
    done
    ln -s main.c src/link.c
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.5' {} +
}

# as_rsync OPTION…: the same entries take part.
as_rsync() {
    rm -rf want dst
    rsync -a "$@" src/ want/ || return
    output=$(copy "$@" -T src dst 2>&1) || { fail "copy $*: exits $?: $output"; return 1; }
    same_tree want dst --no-directory-times || fail "copy $* (>) is not as rsync (<)"
}

@test "a name, a star, a question mark, a class" {
    as_rsync --exclude=main.c
    as_rsync '--exclude=*.o'
    as_rsync '--exclude=x?'
    as_rsync '--exclude=x[0-9]'
    as_rsync '--exclude=x[!0-9]'
    as_rsync '--exclude=.*'
    as_rsync '--exclude=\[odd\]'
}

@test "anchored at the top, or of several levels" {
    as_rsync --exclude=/build
    as_rsync --exclude=build
    as_rsync '--exclude=/*.o'
    as_rsync '--exclude=lib/*.o'
    as_rsync '--exclude=/src/lib/util.c'
    as_rsync --exclude=b/c
}

@test "directories alone" {
    as_rsync --exclude=build/
    as_rsync --exclude=/src/build/
    as_rsync '--exclude=*/'
    as_rsync '--exclude=link.c/'
}

@test "two stars" {
    as_rsync '--exclude=a/**'
    as_rsync '--exclude=/a/**/deep.txt'
    as_rsync '--exclude=**/lib'
    as_rsync '--exclude=node_modules/***'
    as_rsync '--exclude=**.o'
}

@test "the first that matches decides" {
    as_rsync --include=build/main.o '--exclude=*.o'
    as_rsync '--exclude=*.o' --include=build/main.o
    as_rsync '--include=*/' '--include=*.c' '--exclude=*'
    as_rsync --include=/src/ '--include=/src/**' '--exclude=*'
    as_rsync '--exclude=/build/*' --include=keep.me
}

@test "--exclude-from and --include-from: a rule a line, comments and empty lines aside" {
    printf '%s\n' '# comment' '' '*.o' '; another' '/doc/' >rules
    as_rsync --exclude-from=rules
    printf '%s\n' '*/' '*.c' >in
    as_rsync --include-from=in '--exclude=*'
}

@test "an excluded directory is not even opened" {
    needs_nobody
    chmod 777 .
    chmod 000 src/build
    run as_nobody "$SHOAL" copy --exclude=/build -T src dst
    status_is 0
    [[ ! -e dst/build && -e dst/main.c ]]
    chmod 755 src/build
}

@test "--files-from" {
    printf '%s\n' main.c src/lib/util.c doc a/b/c/deep.txt >names
    as_rsync --files-from=names
    printf '%s\n' /main.c ./doc/read.me src//lib/util.o >names
    as_rsync --files-from=names
}

@test "--files-from with --from0, and from stdin" {
    echo odd >$'src/new\nline'
    printf '%s\0' $'new\nline' main.c >names
    as_rsync --from0 --files-from=names
    run copy --files-from=- -T src other <<<main.c
    status_is 0
    [[ $(ls -A other) == main.c ]]
}

@test "--files-from with a name that is not there: named, the rest is copied" {
    printf '%s\n' main.c missing/file >names
    run copy --files-from=names -T src dst
    status_is 1
    names_fault missing
    [[ -e dst/main.c ]]
}

@test "--files-from may not climb out of FROM" {
    echo secret >outside
    printf '%s\n' ../outside main.c >names
    run copy --files-from=names -T src dst
    [[ ! -e outside.copy && ! -e dst/../outside/x ]]
    [[ -z $(find dst -name outside) ]]
    [[ $(cat outside) == secret ]]
}

@test "a file of rules that is not there is wrong usage" {
    run copy --exclude-from=missing -T src dst
    status_is 2
    says missing
    [[ ! -e dst ]]
}

@test "a rule may exclude all" {
    run copy '--exclude=*' -T src dst
    status_is 0
    [[ -z $(ls -A dst 2>/dev/null) ]]
}
