#!/usr/bin/env bats
# A copy by someone who is not root: what cannot be kept is said once, and is an error only if asked for.

load lib.bash

setup() {
    enter
    mkdir -p "$W"/src/sub
    needs_nobody
    local k
    for k in 1 2 3; do echo "$k" >"src/sub/$k"; done
    chown -R 1234:4321 src
    chmod 777 .
    find src -depth -exec touch -d '2003-04-05 06:07:08.5' {} +
}

@test "owners that cannot be kept: said once with a count, and no error" {
    run --separate-stderr as_nobody "$SHOAL" copy src dst
    status_is 0
    same_tree src dst --no-owner
    [[ $(grep -c . <<<"$stderr") -eq 1 ]] || fail "said: $stderr"
    [[ $stderr == *owner* && $stderr == *[345]* ]] || fail "said: $stderr"
}

@test "--preserve=ownership makes it an error, and copies all the same" {
    run as_nobody "$SHOAL" copy --preserve=ownership src dst
    status_is 1
    says owner
    same_tree src dst --no-owner
}

@test "--no-preserve=ownership says nothing" {
    run as_nobody "$SHOAL" copy --no-preserve=ownership src dst
    status_is 0
    [[ -z $output ]] || fail "said: $output"
    same_tree src dst --no-owner
}

@test "own files, in full" {
    chown -R 65534:65534 src
    chmod 640 src/sub/1
    chmod 4755 src/sub/2
    setfattr -n user.kind -v test src/sub/1 2>/dev/null || true
    setfacl -m u:4711:r src/sub/3 2>/dev/null || true
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    [[ -z $output ]] || fail "said: $output"
    same_tree src dst
}

@test "setuid and setgid go where the owner could not be kept" {
    chmod 4755 src/sub/1
    chmod 2755 src/sub/2
    chmod 6755 src/sub/3
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    local k
    for k in 1 2 3; do
        [[ $(stat -c %a "dst/sub/$k") == 755 ]] || fail "$k has mode $(stat -c %a "dst/sub/$k")"
    done
}

@test "a group of one's own is kept" {
    chown -R 65534:4321 src
    run setpriv --reuid=65534 --regid=65534 --groups=4321 -- "$SHOAL" copy src dst
    status_is 0
    same_tree src dst
    [[ -z $output ]] || fail "said: $output"
}

@test "another's owner, but a group of one's own: the group is kept" {
    chown -R 1234:4321 src
    run setpriv --reuid=65534 --regid=65534 --groups=4321 -- "$SHOAL" copy src dst
    status_is 0
    [[ $(stat -c %g dst/sub/1) -eq 4321 ]]
}

@test "what cannot be read is named, the rest is copied" {
    chmod 600 src/sub/1
    mkdir src/closed
    echo hidden >src/closed/file
    chmod 700 src/closed
    run as_nobody "$SHOAL" copy src dst
    status_is 1
    names_fault src/sub/1
    names_fault src/closed
    [[ ! -e dst/sub/1 && $(cat dst/sub/2 dst/sub/3) == $'2\n3' ]]
    [[ $(grep -c '^shoal: cannot' <<<"$output") -eq 2 ]] || fail "$output"
}

@test "devices that cannot be made are named, the rest is copied" {
    mknod -m 644 src/device c 1 3
    run as_nobody "$SHOAL" copy src dst
    status_is 1
    names_fault device
    [[ $(cat dst/sub/3) == 3 && ! -e dst/device ]]
}

@test "capabilities that cannot be kept are no error" {
    cp /bin/true src/program
    setcap cap_net_raw+ep src/program || skip "$SHOAL_TEST_FS has no capabilities"
    chown 65534 src/sub src
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    [[ -z $(getcap dst/program) ]]
    cmp src/program dst/program
}

@test "trusted attributes, which it cannot see, are no matter" {
    setfattr -n trusted.kind -v test src/sub/1 || skip "$SHOAL_TEST_FS has no trusted xattrs"
    run as_nobody "$SHOAL" copy --no-preserve=ownership src dst
    status_is 0
    [[ -z $output ]] || fail "said: $output"
}

@test "TO cannot be written to: named, nothing made" {
    chmod 755 .
    run as_nobody "$SHOAL" copy src dst
    status_is 1
    names_fault dst
    says "Permission denied"
    [[ ! -e dst ]]
}

@test "links to files of others that may not be linked to" {
    ln src/sub/1 src/again
    run as_nobody "$SHOAL" copy src dst
    status_is 0
    same_tree src dst --no-owner
}
