#!/usr/bin/env bats
# Linux's own drivers read from our images what is in the tree, where QEMU and a kernel are there to ask them: see
# kernel-read. $SHOAL is the program.

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p tree/dir/sub
    head -c 500000 /dev/urandom >tree/big
    echo one >tree/one
    ln tree/one tree/dir/hard
    ln -s "$(printf 'l%.0s' {1..150})" tree/dir/soft
    for i in {1..200}; do echo "$i" >"tree/dir/sub/name-$i"; done
    chmod 640 tree/one
    chmod 1777 tree/dir
    find tree -depth -exec touch -h -d '2003-04-05 06:07:08' {} +
}

facts() {
    (cd tree && find . | while read -r name; do
        what=
        if [[ -L $name ]]; then
            what=$(readlink "$name")
        elif [[ -f $name ]]; then
            what=$(sha256sum <"$name")
        fi
        printf '%s|%s|%s\n' "$name" "$(stat -c '%f|%h|%u|%g|%s|%Y' "$name")" "${what%% *}"
    done) | sort
}

# A directory has the size that its file system gives it, and on ISO 9660 as many links.
same_to_the_kernel() { # same_to_the_kernel IMAGE
    local status=0
    "$BATS_TEST_DIRNAME/kernel-read" "$1" >theirs 2>said || status=$?
    [ "$status" -ne 77 ] || skip "$(<said)"
    [ "$status" -eq 0 ] || { cat said && false; }
    diff <(facts | sed -E 's/\|(4[0-9a-f]{3})\|[0-9]+\|([0-9]+\|[0-9]+)\|[0-9]+/|\1||\2|/') \
        <(sed -E 's/\|(4[0-9a-f]{3})\|[0-9]+\|([0-9]+\|[0-9]+)\|[0-9]+/|\1||\2|/' theirs)
}

@test "EFS, files in one piece" {
    "$SHOAL" make efs tree x.efs
    same_to_the_kernel x.efs
}

@test "EFS, without a volume header, and files in more extents than an inode holds" {
    "$SHOAL" make efs --no-header --extent 60 tree x.efs
    same_to_the_kernel x.efs
}

@test "ISO 9660 with Rock Ridge" {
    "$SHOAL" make iso tree x.iso
    same_to_the_kernel x.iso
}
