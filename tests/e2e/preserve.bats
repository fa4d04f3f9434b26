#!/usr/bin/env bats
# --preserve and --no-preserve, checked against cp -a with the same.

load lib.bash

setup() {
    enter
    "$E2E/make-everything" src links acls
    mkdir src/d
    local k
    for k in 400 600 640 644 755 700; do
        echo "$k" >"src/d/$k"
        chmod "$k" "src/d/$k"
        chown 1234:4321 "src/d/$k"
        setfattr -n user.kind -v "$k" "src/d/$k" 2>/dev/null || true
        chmod "$k" "src/d/$k"
    done
    mkdir -m 750 src/d/sub
    chown 1234:4321 src/d/sub
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.5' {} +
}

as_cp() {
    rm -rf want dst
    local want=0
    cp -a "$@" src want || want=$?
    run copy "$@" src dst
    status_is "$want"
    same_tree want dst --old-times 1500000000000000000
}

@test "--no-preserve=timestamps" {
    as_cp --no-preserve=timestamps
    [[ $(stat -c %Y dst/d/644) -gt 1500000000 ]]
}

@test "--no-preserve=mode" {
    as_cp --no-preserve=mode
}

@test "--no-preserve=ownership" {
    as_cp --no-preserve=ownership
}

@test "--no-preserve=links" {
    as_cp --no-preserve=links
    [[ $(stat -c %h dst/links/one) -eq 1 ]]
}

@test "--no-preserve=xattr" {
    run copy --no-preserve=xattr src dst
    status_is 0
    [[ -z $(getfattr -d -m '^user\.' --absolute-names dst/d/644) ]]
    # ACLs are part of the mode.
    cp -a --no-preserve=xattr src want
    same_tree want dst
}

@test "several at once, and --no-preserve=all" {
    as_cp --no-preserve=mode,ownership,timestamps
    as_cp --no-preserve=ownership --no-preserve=timestamps
    run copy --no-preserve=all src all
    status_is 0
    [[ $(cat all/d/644) == 644 && $(stat -c %u all/d/644) -eq 0 ]]
    [[ $(stat -c %Y all/d/644) -gt 1500000000 && $(stat -c %h all/links/one) -eq 1 ]]
}

@test "--preserve with each of its words, and the last word holds" {
    local list
    for list in mode ownership timestamps links xattr all mode,timestamps; do
        run copy --preserve=$list src dst
        status_is 0
        same_tree src dst
        rm -rf dst
    done
    run copy --no-preserve=timestamps --preserve=timestamps src dst
    status_is 0
    same_tree src dst
}

@test "--no-preserve=mode under another umask" {
    umask 027
    as_cp --no-preserve=mode
}

@test "--no-preserve=timestamps with -u and --resume" {
    copy src dst
    run copy --no-preserve=timestamps --resume -T src dst
    status_is 0
}
