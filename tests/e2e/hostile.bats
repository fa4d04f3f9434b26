#!/usr/bin/env bats
# Archives that try to do harm: each is refused by name, or comes to nothing. Nothing lands outside the destination.

load lib.bash

setup() {
    enter
    mkdir archives outside
    chmod 777 . outside
    echo victim >outside/victim
    chmod 666 outside/victim
    "$E2E/make-hostile" archives "$W/outside" >expected
    facts outside >outside.facts
}

outside_is_untouched() {
    facts outside | diff outside.facts - || fail "$1 reached what is outside"
    [[ $(cd "$W" && LC_ALL=C ls -A | tr '\n' ' ') == "archives expected jail outside outside.facts said " ]] ||
        fail "$1 left something beside its destination:" "$(ls -A)"
}

# judge NAME EXPECTED STATUS: what came of an archive.
judge() {
    [[ $3 -eq 0 || $3 -eq 1 || $3 -eq 2 ]] || { fail "$1: exit status $3" "$(head -c 2000 said)"; return 1; }
    case $2 in
    refused)
        [[ $3 -ne 0 ]] || { fail "$1 was not refused"; return 1; }
        grep -aq evil said || { fail "$1: no member is named" "$(head -c 2000 said)"; return 1; } ;;
    damaged) [[ $3 -ne 0 ]] || { fail "$1 was taken as sound"; return 1; } ;;
    harmless) [[ $3 -eq 0 ]] || { fail "$1: exit status $3" "$(head -c 2000 said)"; return 1; } ;;
    esac
    outside_is_untouched "$1"
}

# unpack_all COMMAND…: for each archive, with its path as $1, in a jail of its own.
unpack_all() {
    local name expected status
    while read -r name expected; do
        rm -rf jail
        mkdir jail
        chmod 777 jail
        ln -s ../outside jail/outside # what "../outside" means from jail/dst
        status=0
        (cd jail && mkdir dst && chmod 777 dst && timeout -s KILL 60 "$@" "../archives/$name" >../said 2>&1 </dev/null) || status=$?
        judge "$name" "$expected" "$status" || return
    done <expected
}

@test "as files" {
    # shellcheck disable=SC2016 # for the inner shell
    unpack_all sh -c '"$SHOAL" copy "$1" dst' _
}

@test "through a pipe" {
    # shellcheck disable=SC2016
    unpack_all sh -c 'cat "$1" | "$SHOAL" copy - dst' _
}

@test "by a user without rights" {
    needs_nobody
    # shellcheck disable=SC2016
    sed -i '/^setuid/d' expected
    # shellcheck disable=SC2016
    unpack_all setpriv --reuid=65534 --regid=65534 --clear-groups -- sh -c '"$SHOAL" copy "$1" dst' _
}

@test "a set-user-ID program of root's, unpacked by another, is not set-user-ID" {
    needs_nobody
    mkdir dst
    chmod 777 dst
    run as_nobody "$SHOAL" copy archives/setuid.tar dst
    [ "$(stat -c '%a %u' dst/suid)" = "755 65534" ]
}

@test "by shoal tar" {
    sed -i -e '/^device/d' -e '/^block-device/d' expected # as root, tar makes them
    # shellcheck disable=SC2016
    unpack_all sh -c '"$SHOAL" tar xf "$1" -C dst' _
}

@test "listed" {
    local name expected
    mkdir jail
    while read -r name expected; do
        local status=0
        timeout -s KILL 60 "$SHOAL" list -l "archives/$name" >said 2>&1 </dev/null || status=$?
        [[ $status -eq 0 || $status -eq 1 ]] || fail "$name: exit status $status" "$(head -c 2000 said)"
    done <expected
    outside_is_untouched "listing"
}

@test "a million entries in a few kilobytes end, in bounded memory" {
    command -v zstd >/dev/null || skip "no zstd here"
    python3 - <<'P' | zstd -q >bomb.tar.zst
import sys, tarfile
block = tarfile.TarInfo('d')
block.type = tarfile.DIRTYPE
sys.stdout.buffer.write(block.tobuf(tarfile.USTAR_FORMAT) * 1000000 + b'\0' * 1024)
P
    [ "$(stat -c %s bomb.tar.zst)" -lt 100000 ]
    # In kilobytes of address space: what the sanitizers need cannot be limited.
    if ! grep -aq __asan_init "$SHOAL" && ! grep -aq __tsan_init "$SHOAL"; then
        run timeout -s KILL 120 sh -c 'ulimit -v 1000000; command time -f "%M" -o rss "$SHOAL" copy bomb.tar.zst dst'
        status_is 0
        [ "$(cat rss)" -lt 131072 ]
    else
        run timeout -s KILL 300 "$SHOAL" copy bomb.tar.zst dst
        status_is 0
    fi
    [ "$(find dst | wc -l)" -eq 2 ]
}
