#!/usr/bin/env bats
# The independent proof: a tree that holds everything, copied, and compared by others.

load lib.bash

setup() {
    enter
    local without
    without=$("$E2E/make-everything" src) || return
    [[ -z $without ]] || sed "s|^|# |" <<<"$without" >&3
}

# rsync knows of no difference. It cannot walk below PATH_MAX, and copies sockets.
rsync_agrees() {
    local said
    said=$(rsync -aHAX --numeric-ids --dry-run --itemize-changes --checksum --delete --modify-window=-1 \
        --no-inc-recursive --exclude=/deep --exclude=/socket "$1/" "$2/" 2>&1) || { fail "rsync: $said"; return 1; }
    [[ -z $said ]] || fail "rsync would change:" "$(head -n 30 <<<"$said")"
}

tar_agrees() {
    local said
    said=$(tar -C "$1" --xattrs --xattrs-include='*' --acls --format=pax --numeric-owner --exclude=./deep --exclude=./socket -cf - . |
        tar -C "$2" --compare --numeric-owner -f - 2>&1 | grep -v ': Mod time differs' ) || true
    [[ -z $said ]] || fail "tar sees:" "$(head -n 30 <<<"$said")"
}

whole() {
    rsync_agrees src "$1"
    tar_agrees src "$1"
    same_tree src "$1" --skip-kinds socket
}

@test "everything, once" {
    run copy src dst
    status_is 0
    whole dst
    run verify src dst
    # The socket is at FROM alone, and is no difference: a copy cannot have it.
    status_is 0
}

@test "everything, with one worker; with many, verified and made durable" {
    run copy -j1 src dst
    status_is 0
    same_tree src dst --skip-kinds socket
    rm -rf dst
    run copy -j16 --verify --sync src dst
    status_is 0
    same_tree src dst --skip-kinds socket
}

@test "everything, over itself, and --resume over that" {
    run copy src dst
    status_is 0
    run copy -T src dst
    status_is 0
    same_tree src dst --skip-kinds socket
    run copy --resume -T src dst
    status_is 0
    same_tree src dst --skip-kinds socket
}

@test "everything, without cloning, and to another file system" {
    run copy --reflink=never src dst
    status_is 0
    same_tree src dst --skip-kinds socket
    [[ $SHOAL_TEST_FS != tmpfs ]] || return 0
    local other=$E2E_BASE/other
    mkdir -p "$other"
    mount -t tmpfs shoal-e2e "$other"
    run copy src "$other/dst"
    status_is 0
    same_tree src "$other/dst" --skip-kinds socket
    # And from there.
    run copy "$other/dst" back
    status_is 0
    same_tree src back --skip-kinds socket
}

@test "the comparison itself can fail" {
    run copy src dst
    chmod 644 dst/size-1
    chmod 640 dst/size-1
    run rsync_agrees src dst
    status_is 1
    run same_tree src dst --skip-kinds socket
    status_is 1
    run --separate-stderr verify src dst
    status_is 3
    says size-1
    [[ $(grep -c . <<<"$output") -eq 1 ]] || fail "more than one line: $output"
}
