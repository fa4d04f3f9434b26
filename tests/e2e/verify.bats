#!/usr/bin/env bats
# --verify, and shoal verify: equal is equal, and each single change is found and named.

load lib.bash

# The changes. Each sets `changed` to the name that must be told, below TO (and FROM).
change() {
    case $1 in
    "a byte of content") changed=sub/big; printf X | dd of=dst/sub/big bs=1 seek=150000 conv=notrunc status=none ;;
    "the last byte") changed=one; printf X | dd of=dst/one bs=1 seek=3 conv=notrunc status=none ;;
    "one byte more") changed=sub/two; printf x >>dst/sub/two ;;
    "one byte less") changed=sub/big; truncate -s -1 dst/sub/big ;;
    "an emptied file") changed=one; : >dst/one ;;
    "mode of a file") changed=one; chmod 641 dst/one ;;
    "setuid") changed=sub/two; chmod u+s dst/sub/two ;;
    "mode of a directory") changed=sub/below; chmod 711 dst/sub/below ;;
    "mode of FROM itself") changed=; chmod 711 dst ;;
    "owner") changed=sub/two; chown 1235 dst/sub/two ;;
    "group") changed=sub/two; chgrp 1235 dst/sub/two ;;
    "owner of a link") changed=sub/link; chown -h 7 dst/sub/link ;;
    "a nanosecond of mtime") changed=one; touch -d '2003-04-05 06:07:08.123456788' dst/one; again=one ;;
    "mtime of a directory") changed=empty; touch -d '2003-04-05 06:07:09.123456789' dst/empty; again=empty ;;
    "mtime of a link") changed=sub/link; touch -h -d '2003-04-05 06:07:07' dst/sub/link; again=sub/link ;;
    "value of an xattr") changed=sub/two; setfattr -n user.kind -v tesT dst/sub/two ;;
    "an xattr more") changed=one; setfattr -n user.more -v x dst/one ;;
    "an xattr less") changed=sub/two; setfattr -x user.kind dst/sub/two ;;
    "an ACL") changed=one; setfacl -m u:4711:r dst/one ;;
    "a default ACL") changed=empty; setfacl -d -m u:4711:rx dst/empty ;;
    "a missing file") changed=sub/two; rm dst/sub/two ;;
    "a missing directory") changed=sub/below; rm -r dst/sub/below ;;
    "an extra file") changed=sub/extra; echo x >dst/sub/extra ;;
    "an extra directory") changed=empty/extra; mkdir dst/empty/extra ;;
    "an extra link") changed=extra; ln -s one dst/extra ;;
    "a file for a link") changed=sub/link; rm dst/sub/link; echo one >dst/sub/link ;;
    "a directory for a file") changed=sub/two; rm dst/sub/two; mkdir dst/sub/two ;;
    "a file for a FIFO") changed=fifo; rm dst/fifo; : >dst/fifo ;;
    "target of a link") changed=sub/link; ln -sfn ../two dst/sub/link ;;
    "a hard link broken") changed=one; cp -a dst/one dst/new; mv dst/new dst/one ;;
    "a device's number") changed=device; rm dst/device; mknod -m 600 dst/device c 1 5 ;;
    *) fail "no such change: $1" ;;
    esac
    # What the change did to other times is no difference of its own.
    [[ -z $changed || -n ${again:-} ]] || [[ ! -e src/$changed && ! -L src/$changed ]] || [[ ! -e dst/$changed && ! -L dst/$changed ]] ||
        touch -h -r "src/$changed" "dst/$changed"
    local above=$changed
    while [[ $above == */* ]]; do above=${above%/*}; touch -r "src/$above" "dst/$above"; done
    [[ -z $changed ]] || touch -r src dst
    again=
}

make_pair() {
    make_tree src
    printf a | dd of=src/sub/big bs=1 seek=150000 conv=notrunc status=none
    mknod -m 600 src/device c 1 3
    ln src/one src/sub/below/third
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.123456789' {} +
    cp -a src pristine
}

# each_found CHANGE…: exit code 3, and stdout has a line naming it and none naming anything else.
each_found() {
    local what changed again failed=0 line
    for what; do
        rm -rf dst
        cp -a pristine dst
        change "$what"
        run --separate-stderr verify src dst
        if [[ $status -ne 3 ]]; then
            fail "$what ($changed): exit code $status, said: $output $stderr" || failed=1
            continue
        fi
        grep -qaF -- "${changed:-dst}" <<<"$output" || fail "$what: '$changed' is not named: $output" || failed=1
        while IFS= read -r line; do
            # Names of one inode may each be named.
            [[ $line == *"$changed"* || -z $changed || $what == *"hard link"* || $changed == one ]] ||
                fail "$what ($changed): another line: $line" || failed=1
        done <<<"$output"
    done
    return $failed
}

@test "an equal copy is equal, and verifying it touches nothing" {
    make_pair
    facts --ctime pristine >before
    run verify src pristine
    status_is 0
    [[ -z $output ]] || fail "said: $output"
    diff before <(facts --ctime pristine)
}

@test "changed content" {
    make_pair
    each_found "a byte of content" "the last byte" "one byte more" "one byte less" "an emptied file"
}

@test "changed mode, owner, times" {
    make_pair
    each_found "mode of a file" "setuid" "mode of a directory" "mode of FROM itself" "owner" "group" "owner of a link" \
        "a nanosecond of mtime" "mtime of a directory" "mtime of a link"
}

@test "changed xattrs and ACLs" {
    make_pair
    [[ -n $(getfattr -n user.kind src/sub/two 2>/dev/null) ]] || skip "$SHOAL_TEST_FS has no user xattrs"
    each_found "value of an xattr" "an xattr more" "an xattr less" "an ACL" "a default ACL"
}

@test "missing and extra" {
    make_pair
    each_found "a missing file" "a missing directory" "an extra file" "an extra directory" "an extra link"
}

@test "changed type, target, hard links, device number" {
    make_pair
    each_found "a file for a link" "a directory for a file" "a file for a FIFO" "target of a link" "a hard link broken" \
        "a device's number"
}

@test "several differences are all named" {
    make_pair
    cp -a pristine dst
    chmod 601 dst/one
    rm dst/sub/two
    echo x >dst/empty/extra
    run verify src dst
    status_is 3
    says one sub/two empty/extra
}

@test "two files, and a file against a directory" {
    make_pair
    run verify src/sub/two pristine/sub/two
    status_is 0
    run verify src/sub/two pristine/one
    status_is 3
    run verify src/one pristine/sub
    status_is 3
}

@test "TO or FROM is missing" {
    make_pair
    run verify src missing
    status_is 3 1
    says missing
    run verify missing pristine
    status_is 1 3
    says missing
    run verify src
    status_is 2
}

@test "what cannot be read is not equal" {
    needs_nobody
    make_pair
    chmod 600 src/sub/big pristine/sub/big
    run as_nobody "$SHOAL" verify src pristine
    [[ $status -eq 1 || $status -eq 3 ]] || fail "exit code $status"
    says sub
}

@test "odd names and deep trees are compared too" {
    "$E2E/make-everything" src names deep
    copy src dst
    run verify src dst
    status_is 0
    echo changed >>$'dst/names/new\nline'
    touch -r $'src/names/new\nline' $'dst/names/new\nline'
    run verify src dst
    status_is 3
    [[ $(grep -c . <<<"$output") -eq 1 ]] || fail "lines: $output"
}

@test "--verify: a good copy" {
    "$E2E/make-everything" src sizes holes links modes
    run copy --verify src dst
    status_is 0
    same_tree src dst
}

@test "--verify: a disk that takes a block and does not keep it" {
    needs_strace
    mkdir src
    head -c 4096 /dev/urandom >src/victim
    local calls='?write,?pwrite64,?writev,?pwritev,?pwritev2,?copy_file_range,?sendfile,?splice'
    # The call answers that all is written, and nothing is.
    run timeout 60 strace -f -qq -o trace -e "trace=$calls,openat" -e "inject=$calls:retval=4096:when=1" \
        -P victim -P "$W/dst/victim" "$SHOAL" copy --reflink=never -j1 --verify src dst
    if ! grep -q INJECTED trace; then
        # It writes under another name first: then the only long write is the one.
        rm -rf dst
        run timeout 60 strace -f -qq -o trace -e "trace=$calls" -e "inject=$calls:retval=4096:when=1" \
            "$SHOAL" copy --reflink=never -j1 --verify src dst
    fi
    grep -q INJECTED trace || skip "no call to write was found"
    [[ $status -eq 1 || $status -eq 3 ]] || fail "exit code $status: $output"
    names_fault victim || says victim
}

@test "--verify with -u, --resume, several workers and a second time" {
    make_tree src
    run copy --verify -j8 src dst
    status_is 0
    run copy --verify --resume -T src dst
    status_is 0
    run copy --verify -T src dst
    status_is 0
    same_tree src dst
}
