#!/usr/bin/env bats
# No file of the copy is for a moment readable, or runnable with another's rights, by more than the
# source; and the order in which metadata is set keeps all of it.

load lib.bash

# '?': a call that this machine's kernel or strace may not know.
CALLS='?open,openat,?openat2,?creat,?mkdir,mkdirat,mknodat,?chmod,fchmod,fchmodat,?fchmodat2,?chown,fchown,fchownat'
CALLS+=',fsetxattr,lsetxattr,setxattr,?rename,?renameat,renameat2,linkat,utimensat'

setup() {
    enter
    mkdir -p "$W"/src/private
    needs_strace
    echo secret >src/secret
    chmod 600 src/secret
    echo group >src/group
    chown 1234:4321 src/group
    chmod 640 src/group
    echo program >src/program
    chown 1234:4321 src/program
    chmod 4755 src/program
    echo secret >src/private/inside
    chmod 600 src/private/inside
    chmod 700 src/private
    umask 0
}

traced() {
    timeout 60 strace -f -y -qq -s 4096 -o trace -e "trace=$CALLS" \
        "$SHOAL" copy -j1 "$@"
}

# Every mode a file or directory of TO is created with.
created_modes() {
    /usr/bin/python3 - trace "$W/dst" <<'PYTHON'
import re, sys
for line in open(sys.argv[1], errors='replace'):
    if sys.argv[2] not in line and '"dst' not in line:
        continue
    call = re.search(r'\b(open|openat|openat2|creat|mkdirat|mkdir)\((.*)\) = (\d+)', line)
    if not call or ('open' in call[1] and not re.search('O_CREAT|O_TMPFILE', line)):
        continue
    name = re.search(r'"((?:[^"\\]|\\.)*)"', call[2])[1]
    made = re.search(r'= \d+<(.*?)>', line)
    mode = re.search(r'mode=(0[0-7]*)', call[2]) or re.search(r', (0[0-7]*)$', call[2])
    print(made[1] if made else name, mode[1])
PYTHON
}

@test "a file of mode 0600 is created so that nobody else can open it" {
    run traced -T src dst
    status_is 0
    local what mode
    created_modes >modes
    [[ -s modes ]] || fail "no call that creates was found"
    while read -r what mode; do
        case $what in
        *secret* | *inside*) (( (mode & 077) == 0 )) || fail "$what is created with mode $mode" ;;
        esac
    done <modes
}

@test "a file of a group is not created for all, nor for a group that is not its own" {
    run traced -T src dst
    status_is 0
    local what mode
    created_modes >modes
    while read -r what mode; do
        [[ $what != *group* ]] || (( (mode & 077) == 0 )) || fail "$what is created with mode $mode"
    done <modes
}

@test "a setuid program is not created setuid, and gets its owner first" {
    run traced -T src dst
    status_is 0
    local what mode
    created_modes >modes
    while read -r what mode; do
        (( (mode & 06000) == 0 )) || fail "$what is created with mode $mode"
    done <modes
    [[ $(stat -c %a:%u dst/program) == 4755:1234 ]]
    local owned moded
    owned=$(grep -nE 'chown.*1234' trace | grep program | head -n 1 | cut -d: -f1)
    moded=$(grep -nE 'chmod.*0?4755' trace | grep program | head -n 1 | cut -d: -f1)
    [[ -n $owned && -n $moded ]] || fail "no chown or no chmod of program"
    [[ $owned -lt $moded ]] || fail "the mode is set before the owner"
}

@test "a private directory is not created for all" {
    run traced -T src dst
    status_is 0
    local what mode
    created_modes >modes
    while read -r what mode; do
        case $what in
        */inside*) ;;
        *private) (( (mode & 077) == 0 )) || fail "$what is created with mode $mode" ;;
        esac
    done <modes
}

@test "the same when it replaces a file that all could read" {
    mkdir dst
    echo old >dst/secret
    chmod 666 dst/secret
    run traced -T src dst
    status_is 0
    [[ $(stat -c %a dst/secret) == 600 ]]
    local what mode
    created_modes >modes
    # Of whatever name it has until it takes its own: nothing is created that the group of all can read
    # and that is not for all in the source.
    while read -r what mode; do
        case $what in
        *program* | *dst) ;;
        *) (( (mode & 007) == 0 )) || fail "$what is created with mode $mode" ;;
        esac
    done <modes
}

@test "a FIFO and a device are not created for all" {
    mkfifo -m 600 src/fifo
    mknod -m 600 src/device c 1 3
    run traced -T src dst
    status_is 0
    local line mode
    while IFS= read -r line; do
        mode=$(grep -oE 'S_IF(IFO|CHR)\|0[0-7]*' <<<"$line" | cut -d'|' -f2)
        (( (mode & 077) == 0 )) || fail "$line"
    done < <(grep mknodat trace)
}

@test "owner, mode, attributes, times: in this order" {
    setfattr -n user.kind -v test src/program || skip "$SHOAL_TEST_FS has no user xattrs"
    setcap cap_net_raw+ep src/program || skip "$SHOAL_TEST_FS has no capabilities"
    run traced -T src dst
    status_is 0
    [[ -n $(getcap dst/program) ]]
    local last=0 pattern at
    for pattern in 'chown.*1234' 'setxattr.*security.capability' 'utimensat'; do
        at=$(grep -nE "$pattern" trace | grep program | tail -n 1 | cut -d: -f1)
        [[ -n $at ]] || fail "no $pattern of program"
        [[ $at -gt $last ]] || fail "$pattern comes too early"
        last=$at
    done
}

@test "a file with an ACL is not open to its mask's group before the ACL is there" {
    setfacl -m u:4711:rw src/secret || skip "$SHOAL_TEST_FS has no ACLs"
    # Its group bits now show the mask, rw; its own group has no right.
    run traced -T src dst
    status_is 0
    same_tree src dst
    local what mode
    created_modes >modes
    while read -r what mode; do
        [[ $what != *secret* ]] || (( (mode & 077) == 0 )) || fail "$what is created with mode $mode"
    done <modes
    if grep -qE 'chmod.*066[0-7]' <(grep secret trace); then
        local moded acl
        moded=$(grep -nE 'chmod.*066[0-7]' trace | grep secret | head -n 1 | cut -d: -f1)
        acl=$(grep -n 'posix_acl_access' trace | grep secret | head -n 1 | cut -d: -f1)
        [[ -n $acl && $acl -lt $moded ]] || fail "its group could read it before the ACL was set"
    fi
}
