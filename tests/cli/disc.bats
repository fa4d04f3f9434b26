#!/usr/bin/env bats
# Discs as a FROM: copied, listed, compared, in parts, damaged. $SHOAL is the program.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LC_ALL=C.UTF-8
    mkdir -p tree/dir/sub
    echo one >tree/one
    head -c 100000 /dev/urandom >tree/dir/large
    ln tree/one tree/dir/hard
    ln -s ../one tree/dir/soft
    echo deep >tree/dir/sub/deep
    chmod 640 tree/one
    find tree -depth -exec touch -h -d '2003-04-05 06:07:08' {} +
    "$SHOAL" make efs --label demo tree disc.efs >/dev/null
    "$SHOAL" make iso tree disc.iso >/dev/null
}

@test "a disc is copied whole: content, modes, times, links" {
    for disc in disc.efs disc.iso; do
        rm -rf out
        run "$SHOAL" copy "$disc" out
        [ "$status" -eq 0 ]
        [ -z "$output" ]
        diff -r tree out
        [ out/one -ef out/dir/hard ]
        [ "$(readlink out/dir/soft)" = ../one ]
        [ "$(cd tree && find . ! -type d -printf '%p %m %n %T@\n' | sort)" = "$(cd out && find . ! -type d -printf '%p %m %n %T@\n' | sort)" ]
        run "$SHOAL" verify "$disc" out
        [ "$status" -eq 0 ]
    done
}

@test "a part of a disc goes by cp's rule; what is not in it is named" {
    mkdir into
    "$SHOAL" copy disc.efs:/dir into
    diff -r --no-dereference tree/dir into/dir
    "$SHOAL" copy disc.iso:/dir/sub/deep new
    cmp new tree/dir/sub/deep
    run "$SHOAL" copy disc.efs:/dir/nope new2
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot read 'disc.efs:/dir/nope': No such file or directory" ]
    [ ! -e new2 ]
}

@test "a disc is listed, and made into an archive" {
    for disc in disc.efs disc.iso; do
        run "$SHOAL" list "$disc:/dir"
        [ "$output" = $'dir/\ndir/hard\ndir/large\ndir/soft\ndir/sub/\ndir/sub/deep' ]
        "$SHOAL" copy -T "$disc" out.tar
        mkdir -p out && tar xf out.tar -C out
        diff -r tree out
        rm -r out
    done
}

@test "what differs from a disc is found" {
    "$SHOAL" copy disc.efs out
    echo changed >out/dir/sub/deep
    rm out/one
    : >out/more
    run "$SHOAL" verify disc.efs out
    [ "$status" -eq 3 ]
    [[ $output == *"'out/one': missing"* && $output == *"'out/more': not in the source"* ]]
    [[ $output == *"'out/dir/sub/deep': content differs"* ]]
}

@test "a disc by its name, or by being asked for; and a file that only has such a name" {
    cp disc.efs plain
    run "$SHOAL" copy plain as-file
    cmp plain as-file
    run "$SHOAL" copy --from-format=disc plain as-disc
    [ "$status" -eq 0 ]
    diff -r tree as-disc
    "$SHOAL" copy --from-format=file disc.efs still-file
    cmp disc.efs still-file
    echo "no disc" >x.img
    "$SHOAL" copy x.img y.img
    cmp x.img y.img
    run "$SHOAL" copy --from-format=disc x.img z
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot understand the archive 'x.img': "* ]]
    [ ! -e z ]
}

@test "which names of an ISO 9660 disc are used" {
    "$SHOAL" copy --disc-names=plain disc.iso plain
    [ -e plain/one ] && [ ! -L plain/dir/soft ]
    "$SHOAL" copy --disc-names=joliet disc.iso joliet
    [ -e joliet/dir/sub/deep ]
    run "$SHOAL" copy --disc-names=joliet disc.efs out
    [ "$status" -eq 0 ]
}

@test "raw sectors and CUE sheets" {
    python3 - <<'P'
data = open('disc.efs', 'rb').read()
with open('disc.bin', 'wb') as f:
    for i in range(0, len(data), 2048):
        f.write(b'\0' + b'\xff' * 10 + b'\0' + bytes(3) + b'\1' + data[i:i + 2048].ljust(2048, b'\0') + bytes(288))
open('disc.cue', 'w').write('FILE "disc.bin" BINARY\n  TRACK 01 MODE1/2352\n    INDEX 01 00:00:00\n')
P
    "$SHOAL" copy disc.bin out
    diff -r tree out
    "$SHOAL" copy disc.cue out2
    diff -r tree out2
    run "$SHOAL" copy --from-format=2048 disc.bin out3
    [ "$status" -eq 1 ]
}

@test "a damaged disc: what can be read is copied, what cannot is named with its sector" {
    size=$(stat -c %s disc.iso)
    # The large file comes last in its directory; the disc ends in the midst of it.
    at=$(grep -abo "$(head -c 8 tree/dir/sub/deep)" disc.iso | tail -n 1 | cut -d: -f1)
    [ -n "$at" ] && [ "$at" -lt "$size" ]
    python3 - <<'P'
data = open('disc.efs', 'rb').read()
large = open('tree/dir/large', 'rb').read()
at = data.index(large[:512])
# An extent that begins with the file's first block is made one beyond the volume.
import struct
base = 64 * 512
block = (at - base) // 512
where = data.index(struct.pack('>I', block))
open('bad.efs', 'wb').write(data[:where] + struct.pack('>I', 0xfffff0) + data[where + 4:])
P
    run --separate-stderr "$SHOAL" copy bad.efs out
    [ "$status" -eq 1 ]
    [[ $stderr =~ ^"shoal: cannot open 'bad.efs:/dir/large': extent past the end of the volume, sector "[0-9]+$ ||
        $stderr =~ ^"shoal: cannot read 'bad.efs:/dir/large': extent past the end of the volume, sector "[0-9]+$ ]]
    [ ! -e out/dir/large ]
    rm tree/dir/large
    diff -r tree out
    run --separate-stderr "$SHOAL" copy --json bad.efs out3
    [[ $output == *'"damage":"extent past the end of the volume"'* && $output == *'"sector":'* ]]
}

@test "at the pace of a drive" {
    "$SHOAL" copy --drive 2X --time-scale 100 disc.efs out
    diff -r tree out
    run "$SHOAL" copy --drive 99X disc.efs out2
    [ "$status" -eq 2 ]
    [[ $output == "shoal copy: --drive=99X: "* ]]
    run "$SHOAL" copy --time-scale 5 disc.efs out2
    [ "$status" -eq 2 ]
}

@test "make efs: one tree gives one image, at any time; what cannot be is said" {
    "$SHOAL" make efs --label demo tree again.efs >/dev/null
    cmp disc.efs again.efs
    run "$SHOAL" make efs tree again.efs
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot create 'again.efs': File exists" ]
    run "$SHOAL" make efs --label toolong tree x.efs
    [ "$status" -eq 2 ]
    truncate -s 3G tree/huge
    run "$SHOAL" make efs tree x.efs
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot add 'tree/huge': File too large" ]
    [ ! -e x.efs ]
    rm tree/huge
    run "$SHOAL" make efs --json --no-header tree x.efs
    [[ $output == '{"files": 4, "directories": 3, "bytes": '* ]]
}
