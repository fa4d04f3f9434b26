# shellcheck shell=bash
# What the end-to-end tests share. Each file of tests runs once per file system:
#   SHOAL          the program under test (default: build/src/shoal)
#   SHOAL_TEST_FS  ext4, xfs, btrfs or tmpfs (default): made anew for the file, mounted at $FS_ROOT
# Every test starts in its own empty directory of that file system.

bats_require_minimum_version 1.5.0

E2E=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${SHOAL:=$E2E/../../build/src/shoal}" "${SHOAL_TEST_FS:=tmpfs}"
[[ $SHOAL == /* ]] || SHOAL=$PWD/$SHOAL
export SHOAL SHOAL_TEST_FS E2E
PATH=$PATH:/usr/sbin:/sbin
# Under a debugger's hold (strace) a leak checker cannot work.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export LC_ALL=C TZ=UTC

# ---- file systems -----------------------------------------------------------------------------------

# make_fs DIR MIB [MOUNT-OPTION…]: a fresh file system of the tested kind, mounted at DIR.
make_fs() {
    local dir=$1 mib=$2 image=$E2E_BASE/image.$RANDOM$RANDOM options
    options=$(IFS=,; echo "${*:3}")
    mkdir -p "$dir"
    if [[ $SHOAL_TEST_FS == tmpfs ]]; then
        mount -t tmpfs -o "size=${mib}m,mode=755${options:+,$options}" shoal-e2e "$dir"
        return
    fi
    command -v "mkfs.$SHOAL_TEST_FS" >/dev/null || { echo "no mkfs.$SHOAL_TEST_FS here"; return 1; }
    [[ $SHOAL_TEST_FS == xfs && $mib -lt 300 ]] && mib=300     # the least it takes
    [[ $SHOAL_TEST_FS == btrfs && $mib -lt 128 ]] && mib=128
    truncate -s "${mib}M" "$image"
    case $SHOAL_TEST_FS in
    ext4) mkfs.ext4 -q -I 256 -N 65536 "$image" ;;
    xfs) mkfs.xfs -q "$image" ;;
    btrfs) # A small one runs full as others do only if data and metadata share their space.
        # shellcheck disable=SC2046
        mkfs.btrfs -q $( ((mib > 256)) && echo -m single || echo --mixed) "$image" >/dev/null 2>&1 ;;
    *) echo "SHOAL_TEST_FS=$SHOAL_TEST_FS: ext4, xfs, btrfs or tmpfs"; return 1 ;;
    esac
    mount -t "$SHOAL_TEST_FS" -o "loop${options:+,$options}" "$image" "$dir" || { rm -f "$image"; return 1; }
    rm -f "$image" # the mount holds it: nothing is left behind, whatever happens
}

setup_file() {
    # A skip is for a test to make: see enter().
    if [[ $EUID -ne 0 ]]; then
        export E2E_SKIP="needs root to mount a file system"
        return
    fi
    [[ -x $SHOAL ]] || { echo "no program at $SHOAL"; return 1; }
    E2E_BASE=$(mktemp -d "${TMPDIR:-/tmp}/shoal-e2e.XXXXXX")
    FS_ROOT=$E2E_BASE/fs
    export E2E_BASE FS_ROOT
    chmod 755 "$E2E_BASE"
    local said
    said=$(make_fs "$FS_ROOT" 500 2>&1) || export E2E_SKIP="no $SHOAL_TEST_FS to test on: $said"
}

teardown_file() {
    [[ -n ${E2E_BASE:-} ]] || return 0
    cd /
    local at
    while read -r at; do
        umount "$at" 2>/dev/null || umount -l "$at" || true
    done < <(awk -v base="$E2E_BASE/" 'index($5, base) == 1 { print $5 }' /proc/self/mountinfo | tac)
    rm -rf --one-file-system "$E2E_BASE"
}

# Every setup begins with it: a directory of the test's own.
enter() {
    [[ -z ${E2E_SKIP:-} ]] || skip "$E2E_SKIP"
    umask 022
    W=$FS_ROOT/$BATS_TEST_NUMBER
    mkdir "$W" && cd "$W"
}

setup() { enter; }

teardown() {
    cd /
    [[ -z ${W:-} ]] || rm -rf --one-file-system "$W" 2>/dev/null || true
}

# ---- running ----------------------------------------------------------------------------------------

# copy ARGUMENT…: shoal copy, never longer than a hang would be. Use with `run`.
copy() { timeout -k 5 60 "$SHOAL" copy "$@"; }
verify() { timeout -k 5 60 "$SHOAL" verify "$@"; }

# as_nobody COMMAND…: as a user with no right but everyone's.
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

# The program, where nobody can run it; else the test is skipped.
needs_nobody() {
    as_nobody test -x "$SHOAL" || skip "an unprivileged user cannot run $SHOAL"
}

needs_strace() {
    strace -f -o /dev/null true 2>/dev/null || skip "strace does not work here"
}

# ---- saying what must be true -----------------------------------------------------------------------

fail() {
    printf '%s\n' "$@" >&2
    return 1
}

# status_is CODE [CODE…]: of the last `run`.
status_is() {
    local code
    for code; do [[ $status -eq $code ]] && return; done
    fail "exit status $status, not $*; said:" "$output"
}

# says TEXT…: each stands in the output of the last `run`, as it is.
says() {
    local text
    for text; do [[ $output == *"$text"* ]] || { fail "not said: $text" "but:" "$output"; return 1; }; done
}

says_not() {
    local text
    for text; do [[ $output != *"$text"* ]] || { fail "said: $text" "$output"; return 1; }; done
}

# names_fault NAME: an error line of the agreed form names it.
names_fault() {
    grep -aE "^shoal: cannot .* '.*': .+" <<<"$output" | grep -aqF -- "$1" ||
        fail "no line \"shoal: cannot … '…$1…': …\"; said:" "$output"
}

facts() { "$E2E/treefacts.py" "$@"; }

# same_tree FROM TO [OPTION-OF-TREEFACTS…]
same_tree() {
    local different
    facts "${@:3}" "$1" >"$E2E_BASE/facts.1" && facts "${@:3}" "$2" >"$E2E_BASE/facts.2" || return
    different=$(diff "$E2E_BASE/facts.1" "$E2E_BASE/facts.2" | cut -c1-600 | head -30) || true
    [[ -z $different ]] || fail "$1 (<) and $2 (>) differ:" "$different"
}

# no_leftovers FROM TO: TO holds no name that FROM does not.
no_leftovers() {
    local extra
    extra=$(comm -13 <(cd "$1" && find . | sort) <(cd "$2" && find . | sort))
    [[ -z $extra ]] || fail "left over in $2:" "$extra"
}

# whole_or_absent FROM TO: no regular file in TO has other content than FROM's of that name.
whole_or_absent() {
    no_leftovers "$1" "$2" || return
    local bad
    bad=$(cd "$2" && find . -type f -print0 | while IFS= read -r -d '' f; do
        cmp -s -- "$f" "$OLDPWD/$1/$f" || printf '%s\n' "$f"
    done)
    [[ -z $bad ]] || fail "half-written under its own name:" "$bad"
}

# make_tree DIR: a small tree with a bit of everything, quick to make.
make_tree() {
    mkdir -p "$1/sub/below" "$1/empty"
    echo one >"$1/one"
    echo two >"$1/sub/two"
    head -c 300000 /dev/urandom >"$1/sub/big"
    : >"$1/sub/below/nothing"
    ln "$1/one" "$1/sub/one-again"
    ln -s ../one "$1/sub/link"
    mkfifo "$1/fifo"
    chmod 640 "$1/one"
    chown 1234:4321 "$1/sub/two"
    setfattr -n user.kind -v test "$1/sub/two" 2>/dev/null || true
    chmod 750 "$1/sub"
    find "$1" -depth -exec touch -h -d '2003-04-05 06:07:08.123456789' {} +
}
