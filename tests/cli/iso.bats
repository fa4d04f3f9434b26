#!/usr/bin/env bats
# Images of ISO 9660 discs: made by shoal make iso, and by others; read by ours, and by libarchive. $SHOAL is the program,
# $DISC_DUMP prints what is on a disc.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LC_ALL=C.UTF-8 TZ=UTC
}

teardown() {
    [[ -z ${where:-} ]] || rm -rf "$where"
}

needs() { # needs PROGRAM...
    local program
    for program; do
        command -v "$program" >/dev/null || skip "no $program here"
    done
}

# Everything a disc can hold, with times of whole seconds.
make_tree() { # make_tree DIRECTORY
    mkdir -p "$1/a/b/c/d/e/f/g/h/i/j/k" "$1/many" "$1/empty directory"
    echo deep >"$1/a/b/c/d/e/f/g/h/i/j/k/file"
    echo seven >"$1/a/b/c/d/e/f/g/file"
    head -c 100000 /dev/zero | tr '\0' z >"$1/zeds"
    echo long >"$1/$(printf 'n%.0s' {1..255})"
    echo x >"$1/Größe-日本語"
    printf %2048s x >"$1/UPPER.TXT"
    : >"$1/empty"
    : >"$1/empty too"
    echo hard >"$1/hard"
    ln "$1/hard" "$1/many/harder"
    seq 300 | while read -r i; do echo "$i" >"$1/many/file number $i"; done
    ln -s /usr/../lib "$1/link absolute"
    ln -s ../../x/./y "$1/link up"
    ln -s / "$1/link root"
    ln -s . "$1/link dot"
    ln -s .. "$1/link dots"
    ln -s "$(printf 'c%.0s' {1..200})" "$1/link long"
    mkfifo "$1/pipe"
    if [[ $EUID -eq 0 ]]; then
        mknod -m 640 "$1/block" b 8 300
        mknod -m 620 "$1/character" c 511 77
        chown 1000:1001 "$1/zeds"
    fi
    chmod 4711 "$1/zeds"
    chmod 2750 "$1/many"
    find "$1" -depth -exec touch -h -d @1000000000 {} +
    touch -d @123456789 "$1/zeds" "$1/many"
}

# As $DISC_DUMP prints it, without hashes; what devices are, and how many links directories have, is asked apart.
tree_facts() { # tree_facts DIRECTORY
    find "$1" -mindepth 1 -printf '%P|%y|%m|%n|%U|%G|%s|%T@|%l\n' | awk -F'|' -v OFS='|' '
        { $3 = sprintf("%4s", $3); gsub(" ", "0", $3); sub(/0$/, "", $8) }
        $2 == "d" { $4 = "" } $2 != "f" { $7 = 0 } { print }' | sort
}

disc_facts() { # disc_facts OPTION... IMAGE
    "$DISC_DUMP" "$@" | cut -d'|' -f1-9 | awk -F'|' -v OFS='|' '
        $2 == "d" { $4 = "" } $2 == "b" || $2 == "c" { $9 = "" } { print }' | sort
}

# Whether ours and libarchive's reader find the same; what of each line is compared is said by awk.
same_as_libarchive() { # same_as_libarchive AWK-PROGRAM OPTION... IMAGE
    local program=$1
    shift
    "$DISC_DUMP" "$@" | awk -F'|' -v OFS='|' "$program" | sort >ours
    "$DISC_DUMP" --libarchive "$@" | awk -F'|' -v OFS='|' "$program" | sort >theirs
    [ -s ours ]
    diff ours theirs
}

# libarchive takes a device's two numbers for the halves of one, and counts directories' links itself.
all='$2 == "d" { $4 = "" } $2 == "b" || $2 == "c" { $9 = "" } { print }'
# Without Rock Ridge, modes are the reader's to choose.
plain='{ print tolower($1), $2, $7, $8, $10 }'

@test "make iso: what is on the disc is what is in the directory" {
    make_tree tree
    run --separate-stderr "$SHOAL" make iso --label 'A label' tree image
    [ "$status" -eq 0 ]
    [[ $output =~ ^3[0-9]{2}\ files,\ 14\ directories,\ 1[0-9]{2}\ KB$ ]]
    [ -z "$stderr" ]
    diff <(tree_facts tree) <(disc_facts image)
    same_as_libarchive "$all" image
    same_as_libarchive "$plain" --names=joliet image
    [[ $(head -c 32840 image | tail -c 32) == "A_LABEL "* ]]
    [[ $EUID -ne 0 ]] || [[ $("$DISC_DUMP" image | grep '^block') == *'|8,300|' ]]
    [[ $EUID -ne 0 ]] || [[ $("$DISC_DUMP" image | grep '^character') == *'|511,77|' ]]
}

@test "make iso: one tree gives one image, at any time" {
    make_tree tree
    "$SHOAL" make iso tree a
    cat tree/zeds >/dev/null
    sleep 1.1 # the clock shows another second
    TZ=Asia/Tokyo "$SHOAL" make iso tree b
    cmp a b
    touch -d @5 tree
    "$SHOAL" make iso tree c
    run ! cmp -s a c
}

@test "make iso: an image that xorriso finds nothing wrong with" {
    needs xorriso
    make_tree tree
    "$SHOAL" make iso tree image
    xorriso -indev image -osirrox on -extract / out >log 2>&1
    run ! grep -E 'FAILURE|SORRY|WARNING' log
    [ ! -e out/rr_moved ] || rmdir out/rr_moved
    # It restores neither times of links nor hard links, and devices only if asked.
    facts() { tree_facts "$1" | awk -F'|' -v OFS='|' '$2 ~ /[bc]/ { next } $2 == "l" { $8 = "" } { $4 = ""; print }'; }
    diff <(facts tree) <(facts out)
    diff -r --no-dereference tree/many out/many
}

@test "make iso: --json, sockets, and what cannot be" {
    mkdir tree
    echo x >tree/x
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("tree/socket")'
    run --separate-stderr "$SHOAL" make iso --json tree image
    [ "$status" -eq 0 ]
    [ "$output" = '{"files": 1, "directories": 1, "bytes": 2, "sockets": 1}' ]
    [ "$stderr" = "shoal: 1 socket left out" ]
    run --separate-stderr "$SHOAL" make iso tree image
    [ "$status" -eq 1 ]
    [ "$stderr" = "shoal: cannot create 'image': File exists" ]
    run --separate-stderr "$SHOAL" make iso nowhere other
    [ "$status" -eq 1 ]
    [ "$stderr" = "shoal: cannot open directory 'nowhere': No such file or directory" ]
    [ ! -e other ]
    run "$SHOAL" make iso tree
    [ "$status" -eq 2 ]
    run "$SHOAL" make iso --label "$(printf 'l%.0s' {1..33})" tree other
    [ "$status" -eq 2 ]
    [ ! -e other ]
}

@test "make iso: an image in its own directory is not on the disc" {
    mkdir tree
    echo x >tree/x
    run "$SHOAL" make iso tree tree/image
    [ "$output" = "1 file, 1 directory, 0 KB" ]
    [ "$("$DISC_DUMP" tree/image | cut -d'|' -f1)" = x ]
}

@test "make iso: a disk that is full leaves no image" {
    mkdir tree
    head -c 3000000 /dev/zero >tree/file
    run --separate-stderr bash -c 'ulimit -f 1500; trap "" XFSZ; exec "$0" make iso tree image' "$SHOAL"
    [ "$status" -eq 1 ]
    [[ $stderr == "shoal: cannot add 'tree/file': "*": File too large" ]]
    [ ! -e image ]
}

@test "images by xorriso" {
    needs xorriso
    make_tree tree
    ln -s "$(printf 'component/%.0s' {1..90})end" 'tree/link longer'
    touch -h -d @1000000000 'tree/link longer'
    touch -d @1000000000 tree
    xorriso -as mkisofs -quiet -R --hardlinks -J -joliet-long -o image tree
    xorriso -as mkisofs -quiet -o plain tree
    diff <(tree_facts tree) <(disc_facts image)
    # libarchive forgets a "/" where such a link goes on in another entry.
    same_as_libarchive '$1 == "link longer" { next }'" $all" image
    same_as_libarchive "$plain" --names=joliet image
    same_as_libarchive "$plain" --names=plain image
}

@test "images by genisoimage" {
    needs genisoimage
    make_tree tree
    genisoimage -quiet -R -J -joliet-long -cache-inodes -o image tree
    diff <(tree_facts tree) <(disc_facts image)
    same_as_libarchive "$all" image
    # libarchive stumbles over the order of this Joliet, which cuts long names.
    files() { "$DISC_DUMP" "$@" | awk -F'|' -v OFS='|' '$2 == "f" && !/^(nnn|block|character|link |pipe)/ { print $1, $7, $10 }'; }
    diff <(files image) <(files --names=joliet image)
    genisoimage -quiet -D -U -o plain tree 2>/dev/null
    same_as_libarchive "$plain" plain
    genisoimage -quiet -D -J -joliet-long -o joliet tree 2>/dev/null
    diff <(files image) <(files joliet)
}

@test "files that zisofs compressed" {
    needs genisoimage mkzftree
    make_tree tree
    rm -f tree/block tree/character tree/pipe # which mkzftree does not take
    mkdir compressed
    mkzftree tree compressed/tree
    genisoimage -quiet -R -z -cache-inodes -o image compressed/tree
    [ "$(stat -c %s compressed/tree/zeds)" -lt 10000 ]
    [[ $("$DISC_DUMP" image | grep '^zeds') == *'|100000|'* ]]
    same_as_libarchive "$all" image
}

@test "a file of more than 4 GiB" {
    needs xorriso
    [[ $(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) -gt 12000000 &&
        $(df --output=avail /dev/shm | tail -n 1) -gt 6000000 ]] ||
        skip "no 6 GB of /dev/shm to spare"
    where=$(mktemp -d /dev/shm/shoal-iso.XXXXXX)
    mkdir "$where/tree"
    truncate -s 4400000000 "$where/tree/large"
    printf end >>"$where/tree/large"
    printf piece | dd of="$where/tree/large" bs=1 seek=4294967290 conv=notrunc status=none
    xorriso -as mkisofs -quiet -iso-level 3 -R -o "$where/image" "$where/tree"
    [[ $("$DISC_DUMP" "$where/image") == 'large|f|'*'|4400000003|'* ]]
    "$DISC_DUMP" "$where/image" >ours
    "$DISC_DUMP" --libarchive "$where/image" >theirs
    diff ours theirs
}
