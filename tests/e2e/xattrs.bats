#!/usr/bin/env bats
# Extended attributes, POSIX ACLs and capabilities; and the order that keeps them.

load lib.bash

@test "user.*, trusted.*, long, empty, many, on every type of file" {
    "$E2E/make-everything" src xattrs
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "access and default ACLs" {
    "$E2E/make-everything" src acls
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "capabilities of a program owned by another survive the change of owner" {
    "$E2E/make-everything" src xattrs
    [[ -n $(getcap src/capability) ]] || skip "$SHOAL_TEST_FS has no capabilities"
    run copy src dst
    status_is 0
    [[ $(getcap dst/capability | cut -d' ' -f2) == "$(getcap src/capability | cut -d' ' -f2)" ]]
    [[ $(stat -c %u:%g dst/capability) == 4242424:3131313 ]]
}

@test "setuid and setgid of others' programs survive the change of owner" {
    "$E2E/make-everything" src owners
    run copy src dst
    status_is 0
    [[ $(stat -c %a:%u:%g dst/owned-4755) == 4755:4242424:3131313 ]]
    [[ $(stat -c %a:%u:%g dst/owned-2755) == 2755:4242424:3131313 ]]
    [[ $(stat -c %a:%u:%g dst/owned-6711) == 6711:4242424:3131313 ]]
}

@test "what the file replaced had is gone: xattrs, ACL, capability, setuid" {
    mkdir src dst
    echo new >src/file
    echo old >dst/file
    chmod 4755 dst/file
    setfattr -n user.old -v x dst/file 2>/dev/null || true
    setfacl -m u:4711:rwx dst/file 2>/dev/null || true
    setcap cap_net_raw+ep dst/file 2>/dev/null || true
    run copy -T src dst
    status_is 0
    same_tree src dst
}

@test "a directory merged into loses its own ACL for the source's" {
    mkdir src dst
    setfacl -d -m u:4711:rwx dst || skip "$SHOAL_TEST_FS has no ACLs"
    setfacl -m u:4711:rwx dst
    echo a >src/a
    mkdir src/sub
    chmod 750 src
    run copy -T src dst
    status_is 0
    mkdir want
    setfacl -d -m u:4711:rwx want
    setfacl -m u:4711:rwx want
    cp -aT src want
    same_tree want dst
}

@test "nothing is inherited from a default ACL at the destination" {
    mkdir src src/sub into
    echo a >src/a
    chmod 640 src/a
    echo b >src/sub/b
    chmod 600 src/sub/b
    ln -s a src/link
    mkfifo src/fifo
    setfacl -d -m u:4711:rwx,g:4712:rwx,o::rwx into || skip "$SHOAL_TEST_FS has no ACLs"
    run copy src into
    status_is 0
    same_tree src into/src
}

@test "nothing is inherited from a setgid directory at the destination" {
    mkdir src src/sub into
    echo a >src/a
    echo b >src/sub/b
    chown 0:4321 into
    chmod 2777 into
    run copy src into
    status_is 0
    same_tree src into/src
}

@test "a setgid directory's files keep their own groups, and below it directories without setgid" {
    "$E2E/make-everything" src owners
    run copy src dst
    status_is 0
    same_tree src/setgid-directory dst/setgid-directory
}

@test "an attribute that the destination does not take is said once, with a count" {
    local other=$W/other
    [[ $SHOAL_TEST_FS != tmpfs ]] || skip "the source must hold more than the destination"
    mkdir -p src "$other"
    mount -t ramfs shoal-e2e "$other"
    local k
    for k in 1 2 3; do
        echo "$k" >"src/$k"
        setfattr -n user.kind -v test "src/$k"
    done
    run --separate-stderr copy src "$other/dst"
    local said=$stderr
    same_tree src "$other/dst" --no-xattrs || { umount "$other"; return 1; }
    umount "$other"
    status_is 0
    [[ $(grep -c . <<<"$said") -eq 1 && $said == *3* ]] || fail "said: $said"
}

@test "--preserve=xattr makes that an error" {
    local other=$W/other
    [[ $SHOAL_TEST_FS != tmpfs ]] || skip "the source must hold more than the destination"
    mkdir -p src "$other"
    mount -t ramfs shoal-e2e "$other"
    echo 1 >src/1
    setfattr -n user.kind -v test src/1
    run copy --preserve=xattr src "$other/dst"
    local content
    content=$(cat "$other/dst/1")
    umount "$other"
    status_is 1
    [[ $content == 1 ]]
}

@test "the names under which XFS shows ACLs a second time are not attributes to copy" {
    [[ $SHOAL_TEST_FS == xfs ]] || skip "only XFS has them"
    local other=$W/other
    echo a >a
    setfacl -m u:4711:rw a
    getfattr -n trusted.SGI_ACL_FILE a >/dev/null 2>&1 || skip "this kernel does not show them"
    mkdir "$other"
    mount -t tmpfs shoal-e2e "$other"
    run copy a "$other/a"
    local names
    names=$(getfattr -m - --absolute-names "$other/a")
    umount "$other"
    status_is 0
    [[ $names == *posix_acl_access* && $names != *SGI_ACL* ]] || fail "$names"
    run copy --no-preserve=mode a b
    status_is 0
    [[ $(getfattr -m - b) != *ACL* ]] || fail "the ACL came along: $(getfattr -m - b)"
}
