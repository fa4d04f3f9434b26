#!/usr/bin/env bats
# A full disk, and a used-up quota: said, stopped, nothing half.

load lib.bash

setup() {
    enter
    mkdir -p "$W"/src/{a,b}
    local k
    for k in {1..150}; do
        head -c 100000 /dev/urandom >"src/a/$k"
        head -c 3000 /dev/urandom >"src/b/$k"
    done
    TINY=$E2E_BASE/tiny.$BATS_TEST_NUMBER
}

teardown() {
    cd /
    while umount "$TINY" 2>/dev/null; do :; done
    rm -rf --one-file-system "$W"
}

# fill MIB: leaves about so much free at $TINY.
fill() {
    local free
    mkdir -p "$TINY/here"
    chmod 777 "$TINY/here"
    sync -f "$TINY"
    free=$(df --output=avail -BM "$TINY" | tail -n 1 | tr -dc 0-9)
    (( free <= $1 )) || fallocate -l $((free - $1))M "$TINY/filler"
    # What is left may be more than was promised: take it in smaller bites.
    local k
    for k in {1..200}; do
        free=$(df --output=avail -BM "$TINY" | tail -n 1 | tr -dc 0-9)
        (( free > $1 )) || break
        fallocate -l 1M "$TINY/filler.$k" || break
    done
}

tiny() {
    make_fs "$TINY" 128 >/dev/null 2>&1 || skip "no second $SHOAL_TEST_FS"
    fill 4
}

# stopped_full REASON: the last `run` was a copy to $TINY/here/dst.
stopped_full() {
    status_is 1
    says "shoal: cannot" "$1"
    if [[ -d $TINY/here/dst ]]; then
        whole_or_absent src "$TINY/here/dst"
        [[ $(find "$TINY/here/dst" -type f | wc -l) -lt 300 ]]
    fi
}

@test "ENOSPC: exit code 1, named, nothing half-written" {
    tiny
    run copy src "$TINY/here/dst"
    stopped_full "No space left on device"
}

@test "it stops: one full disk is not an error for each of hundreds of files" {
    tiny
    run copy -j4 src "$TINY/here/dst"
    stopped_full "No space left on device"
    [[ $(grep -c 'No space left' <<<"$output") -le 8 ]] || fail "said again and again:" "$output"
}

@test "--json says stopped, and how far it came" {
    tiny
    run --separate-stderr copy --json src "$TINY/here/dst"
    status_is 1
    whole_or_absent src "$TINY/here/dst"
    /usr/bin/python3 -c 'import json, sys
events = [json.loads(l) for l in sys.argv[1].splitlines()]
s = events[-1]
assert s["event"] == "summary" and s["stopped"] is True and s["faults"]["content"] >= 1, s
assert s["files"] == int(sys.argv[2]), (s, sys.argv[2])
assert any(e["event"] == "fault" and e["errno"] == "ENOSPC" and e["path"] for e in events), events' \
        "$output" "$(find "$TINY/here/dst" -type f | wc -l)"
}

@test "one large file, in pieces" {
    tiny
    head -c 30M /dev/urandom >src/large
    rm -r src/a src/b
    local how
    for how in -j1 -j8 --sparse=always; do
        run copy $how src "$TINY/here/dst"
        stopped_full "No space left on device"
        [[ ! -e $TINY/here/dst/large ]]
        rm -rf "$TINY/here/dst"
    done
}

@test "what is to be replaced stays" {
    tiny
    mkdir -p "$TINY/here/dst/a"
    head -c 30M /dev/urandom >src/large
    rm -r src/a src/b
    echo old >"$TINY/here/dst/large"
    run copy -T src "$TINY/here/dst"
    status_is 1
    [[ $(cat "$TINY/here/dst/large") == old ]]
    [[ $(find "$TINY/here/dst" -type f | wc -l) -eq 1 ]]
}

@test "with space made, --resume finishes" {
    tiny
    run copy src "$TINY/here/dst"
    status_is 1
    rm "$TINY"/filler*
    sync -f "$TINY"
    run copy --resume -T src "$TINY/here/dst"
    status_is 0
    same_tree src "$TINY/here/dst"
}

@test "--verify and --sync on a full disk" {
    tiny
    run copy --verify --sync src "$TINY/here/dst"
    stopped_full "No space left on device"
}

@test "no inode left" {
    [[ $SHOAL_TEST_FS == tmpfs ]] || skip "only tmpfs runs out of inodes so simply"
    mkdir "$TINY"
    mount -t tmpfs -o nr_inodes=60,size=100m shoal-e2e "$TINY"
    mkdir "$TINY/here"
    run copy src "$TINY/here/dst"
    stopped_full "No space left on device"
}

@test "EDQUOT: exit code 1, named, nothing half-written" {
    needs_nobody
    case $SHOAL_TEST_FS in
    tmpfs)
        mkdir "$TINY"
        mount -t tmpfs -o size=100m,usrquota,usrquota_block_hardlimit=3M shoal-e2e "$TINY" 2>/dev/null ||
            skip "this kernel's tmpfs has no quotas"
        ;;
    xfs)
        make_fs "$TINY" 300 uquota >/dev/null 2>&1 || skip "no quotas on xfs here"
        xfs_quota -x -c 'limit bhard=3m 65534' "$TINY" || skip "no xfs_quota"
        ;;
    btrfs)
        make_fs "$TINY" 128 >/dev/null 2>&1 || skip "no second btrfs"
        btrfs quota enable "$TINY" 2>/dev/null || skip "no quotas on btrfs here"
        btrfs subvolume create "$TINY/here" >/dev/null
        btrfs qgroup limit 3M "$TINY/here" || skip "no quotas on btrfs here"
        ;;
    *) skip "no quota tool for $SHOAL_TEST_FS" ;;
    esac
    mkdir -p "$TINY/here"
    chmod 777 "$TINY/here"
    run as_nobody "$SHOAL" copy src "$TINY/here/dst"
    stopped_full "quota exceeded"
}
