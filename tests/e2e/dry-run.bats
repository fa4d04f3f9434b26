#!/usr/bin/env bats
# --dry-run looks at everything and touches nothing.

load lib.bash

# All that a stat shows, but the access times of directories and links, which looking at them may change.
everything() { facts --ctime --inode --atime --skip-kinds directory --skip-kinds symlink --no-content "$1"; facts --ctime --inode --no-content "$1"; }

@test "nothing is made" {
    make_tree src
    everything . >"$E2E_BASE/before"
    run copy --dry-run src dst
    status_is 0
    everything . | diff "$E2E_BASE/before" -
    [[ ! -e dst ]]
}

@test "nothing is replaced, merged into, or put right" {
    make_tree src
    mkdir -p dst/sub
    echo old >dst/one
    echo old >dst/sub/two
    local option
    for option in "" -u --resume -n -j4 --sparse=always --reflink=always; do
        everything . >"$E2E_BASE/before"
        # shellcheck disable=SC2086
        run copy --dry-run $option -T src dst
        status_is 0
        everything . | diff "$E2E_BASE/before" -
    done
}

@test "with -v, it names what would be copied" {
    make_tree src
    run copy --dry-run -v src dst
    status_is 0
    says one sub/two sub/big link fifo
    [[ ! -e dst ]]
}

@test "with -u and -n, only what would be copied is named" {
    mkdir src dst
    echo a >src/is-there
    echo b >src/is-missing
    echo c >dst/is-there
    run copy --dry-run -v -n -T src dst
    status_is 0
    says is-missing
    says_not is-there
}

@test "what it cannot read is an error as in a copy" {
    needs_nobody
    chmod 777 .
    mkdir -p src/closed
    chmod 700 src/closed
    echo a >src/a
    run as_nobody "$SHOAL" copy --dry-run src dst
    status_is 1
    names_fault src/closed
    [[ ! -e dst ]]
}

@test "a directory where a file must go is an error as in a copy" {
    mkdir -p src dst/clash
    echo a >src/clash
    run copy --dry-run -T src dst
    status_is 1
    names_fault clash
    [[ -d dst/clash ]]
}
