#!/usr/bin/env bats
# --reflink: shared where asked for and possible, whole either way.

load lib.bash

can_clone() {
    cp --reflink=always src/big probe 2>/dev/null && rm probe
}

setup() {
    enter
    mkdir -p "$W/src"
    head -c 3M /dev/urandom >src/big
    echo small >src/small
    : >src/empty
    printf x >src/one
    head -c 5000 /dev/urandom >src/odd
    truncate -s 2M src/hole
    sync -f .
    find . -depth -exec touch -d '2003-04-05 06:07:08.5' {} +
}

@test "auto, and without a value, and never: the same tree" {
    local option
    for option in --reflink=auto --reflink=never ""; do
        # shellcheck disable=SC2086
        run copy $option src dst
        status_is 0
        same_tree src dst
        rm -r dst
    done
}

@test "always, where the file system can" {
    can_clone || skip "$SHOAL_TEST_FS cannot clone files"
    run copy --reflink=always src dst
    status_is 0
    same_tree src dst
    # A clone's extents are where the source's are.
    sync -f .
    [[ $(filefrag -v dst/big | awk '/^ +0:/ { print $4 }') == "$(filefrag -v src/big | awk '/^ +0:/ { print $4 }')" ]]
}

@test "--reflink alone means always" {
    can_clone || skip "$SHOAL_TEST_FS cannot clone files"
    run copy --reflink src dst
    status_is 0
    same_tree src dst
}

@test "always, where it cannot: an error for each file, and no empty file is left" {
    ! can_clone || skip "$SHOAL_TEST_FS can clone files"
    run copy --reflink=always src dst
    status_is 1
    names_fault /big
    names_fault /small
    local left
    left=$(find dst -type f ! -name empty)
    [[ -z $left ]] || fail "left: $left"
}

@test "always, across file systems: the same" {
    mount -t tmpfs shoal-e2e "$E2E_BASE/$BATS_TEST_NUMBER" 2>/dev/null ||
        { mkdir "$E2E_BASE/$BATS_TEST_NUMBER"; mount -t tmpfs shoal-e2e "$E2E_BASE/$BATS_TEST_NUMBER"; }
    run copy --reflink=always src "$E2E_BASE/$BATS_TEST_NUMBER/dst"
    local left
    left=$(find "$E2E_BASE/$BATS_TEST_NUMBER" -type f ! -name empty)
    umount "$E2E_BASE/$BATS_TEST_NUMBER"
    status_is 1
    [[ -z $left ]] || fail "left: $left"
}

@test "a clone is a copy: changing one leaves the other" {
    copy --reflink=auto src dst
    echo changed >>dst/big
    printf 'other bytes' | dd of=dst/odd conv=notrunc status=none
    run cmp src/odd dst/odd
    status_is 1
    [[ $(stat -c %s src/big) -eq 3145728 ]]
}
