#!/usr/bin/env bats
# A tree that holds everything, through an archive and back; and what of an archive is taken, and where it goes.

load lib.bash

# through COMMAND…: same as `run`, but never longer than a hang would be.
through() { run timeout -k 5 120 "$@"; }

everything() {
    "$E2E/make-everything" src >/dev/null
}

rsync_agrees() {
    local said
    said=$(rsync -aHAX --numeric-ids --dry-run --itemize-changes --checksum --delete --modify-window=-1 \
        --no-inc-recursive --exclude=/deep --exclude=/socket "$1/" "$2/" 2>&1) || { fail "rsync: $said"; return 1; }
    [[ -z $said ]] || fail "rsync would change:" "$(head -n 30 <<<"$said")"
}

@test "everything, through a file" {
    everything
    run copy -T src x.tar
    status_is 0
    run copy --devices x.tar dst
    status_is 0
    rsync_agrees src dst
    same_tree src dst --skip-kinds socket
}

@test "everything, through a pipe" {
    everything
    # shellcheck disable=SC2016 # for the inner shell
    through bash -o pipefail -c '"$SHOAL" copy -T src - | "$SHOAL" copy --devices - dst'
    status_is 0
    rsync_agrees src dst
    same_tree src dst --skip-kinds socket
}

@test "everything, with one worker and with many" {
    everything
    for jobs in 1 7; do
        run copy --jobs "$jobs" -T src "x$jobs.tar"
        status_is 0
        run copy --jobs "$jobs" --devices "x$jobs.tar" "dst$jobs"
        status_is 0
        same_tree src "dst$jobs" --skip-kinds socket
    done
}

@test "everything, converted on the way" {
    everything
    run copy -T src x.tar.zst
    status_is 0
    run copy x.tar.zst y.tar
    status_is 0
    run copy --devices y.tar dst
    status_is 0
    same_tree src dst --skip-kinds socket
}

@test "each compression, by name and through a pipe" {
    make_tree src
    for ending in gz xz bz2 zst lz4; do
        run copy src "x.tar.$ending"
        status_is 0
        # That it is what its name says, its own tool knows.
        case $ending in
        gz) gzip -t x.tar.gz ;;
        xz) xz -t x.tar.xz ;;
        bz2) bzip2 -t x.tar.bz2 ;;
        zst) zstd -qt x.tar.zst ;;
        lz4) lz4 -qt x.tar.lz4 ;;
        esac
        run copy "x.tar.$ending" "dst.$ending"
        status_is 0
        same_tree src "dst.$ending/src"
        # shellcheck disable=SC2016
        through bash -o pipefail -c 'cat "$1" | "$SHOAL" copy - "$2"' _ "x.tar.$ending" "piped.$ending"
        status_is 0
        same_tree src "piped.$ending/src"
    done
}

@test "two runs give the same bytes" {
    make_tree src
    cp -a src again
    local how=(--sort=name --mtime=@1000000000 --owner=me:7 --group=us:8 --numeric-owner)
    for ending in tar tar.gz tar.zst; do
        run copy "${how[@]}" -T src "a.$ending"
        status_is 0
        # Later, with other inodes and other workers.
        run copy "${how[@]}" --jobs 5 -T again "b.$ending"
        status_is 0
        cmp "a.$ending" "b.$ending"
    done
}

@test "names go by cp's rule: FROM's own name, or with -T the top" {
    make_tree src
    run copy src one.tar
    status_is 0
    [ "$(tar tf one.tar | LC_ALL=C sort | head -n 1)" = src/ ]
    run copy -T src top.tar
    status_is 0
    [ "$(tar tf top.tar | LC_ALL=C sort | head -n 1)" = ./ ]
    run copy src/sub src/one two.tar
    status_is 0
    tar tf two.tar | grep -qx sub/two
    tar tf two.tar | grep -qx one
}

@test "a part of an archive is taken by cp's rule" {
    make_tree src
    rm src/sub/one-again # whose content is elsewhere
    run copy src x.tar
    run copy x.tar:/src/sub new
    status_is 0
    same_tree src/sub new
    mkdir into
    run copy x.tar:/src/sub into
    status_is 0
    same_tree src/sub into/sub
    run copy x.tar:/src/sub/two file
    status_is 0
    [ "$(cat file)" = two ]
    run copy x.tar:/src/sub/two into
    status_is 0
    [ "$(cat into/two)" = two ]
}

@test "leading components are stripped, filters apply to what is left" {
    make_tree src
    run copy src x.tar
    run copy --strip-components=1 x.tar dst
    status_is 0
    same_tree src/sub dst/sub
    run copy --exclude=/src/sub x.tar without
    status_is 0
    [ -e without/src/one ]
    [ ! -e without/src/sub ]
}

@test "a file that is named like an archive can be copied as a file" {
    echo plain >x.tar
    mkdir dst
    run copy --from-format=file x.tar dst
    status_is 0
    cmp x.tar dst/x.tar
    mkdir tree
    run copy --to-format=tree tree y.tar
    status_is 0
    [ -d y.tar ]
}

@test "more content than there are buffers for, whatever the size of its members" {
    for size in 1000 60000 65536 70000 131072 140000; do
        mkdir "src.$size"
        for ((i = 0; i < 8000000 / size && i < 600; i++)); do head -c "$size" /dev/zero >"src.$size/$i"; done
        tar cf x.tar "src.$size"
        gzip -1 <x.tar >x.tar.gz
        for archive in x.tar x.tar.gz; do
            for jobs in 1 3; do
                # shellcheck disable=SC2016
                through bash -o pipefail -c 'cat "$1" | "$SHOAL" copy --jobs "$2" --bwlimit=200M - dst' _ $archive $jobs
                status_is 0
                diff -rq "src.$size" "dst/src.$size"
                run copy --jobs $jobs $archive again
                status_is 0
                diff -rq "src.$size" "again/src.$size"
                rm -rf dst again
            done
        done
        rm -rf "src.$size"
    done
}

@test "what is no archive is said, and nothing is made" {
    head -c 100000 /dev/urandom >x.tar
    run copy x.tar dst
    status_is 1
    names_fault x.tar
    [ ! -e dst ]
    : >y.tar
    run copy y.tar dst
    status_is 1
    names_fault y.tar
    [ ! -e dst ]
    run copy nowhere.tar dst
    status_is 1
    names_fault nowhere.tar
}

@test "an archive is complete or not there, and the old one stands until then" {
    make_tree src
    echo old >x.tar
    chmod -R a+rX src
    chmod 0 src/sub/two
    needs_nobody
    chmod 777 .
    run as_nobody "$SHOAL" copy -T src x.tar
    status_is 1
    names_fault src/sub/two
    # All the others are in it.
    tar tf x.tar | grep -qx ./sub/big
    make_fs small 20
    echo old >small/x.tar
    cat /dev/zero >small/fill 2>/dev/null || true
    run copy -T src small/x.tar
    status_is 1
    [ "$(cat small/x.tar)" = old ]
    [ "$(ls -A small | grep -v lost+found | tr '\n' ' ')" = "fill x.tar " ]
}

@test "an archive on standard output goes alone" {
    make_tree src
    run copy -v src -
    status_is 2
    run copy --json src -
    status_is 2
    [[ $output != *src/one* ]]
}

@test "what is for trees alone is refused of an archive that is written, and nothing is made" {
    make_tree src
    for option in --verify --dry-run --reflink=always; do
        run copy $option src x.tar
        status_is 1
        names_fault x.tar
        [ ! -e x.tar ]
    done
}

@test "the archive itself is left out of itself" {
    make_tree src
    run copy -T src src/x.tar
    status_is 0
    ! tar tf src/x.tar | grep -q x.tar
}

@test "a directory that cannot be written to by its owner is unpacked into" {
    needs_nobody
    mkdir -p src/closed/below
    echo in >src/closed/below/file
    chmod 555 src/closed src/closed/below
    touch -d '2001-01-01' src/closed/below src/closed
    run copy -T src x.tar
    # Names of one directory far apart: it is finished, and entered again.
    tar cf y.tar --no-recursion --format=pax -C src ./closed ./closed/below
    tar rf y.tar --format=pax -C src ./closed/below/file
    chmod 777 .
    for archive in x.tar y.tar; do
        rm -rf dst
        run as_nobody "$SHOAL" copy "$archive" dst
        status_is 0
        [ "$(stat -c '%a %Y' dst/closed/below)" = "555 $(date -d 2001-01-01 +%s)" ]
        [ "$(cat dst/closed/below/file)" = in ]
    done
}

@test "--verify reads an unpacked tree back, --sync and --dry-run do as they do for trees" {
    make_tree src
    run copy src x.tar
    run copy --verify --sync x.tar dst
    status_is 0
    same_tree src dst/src
    run copy --dry-run -v x.tar none
    status_is 0
    [ ! -e none ]
}

@test "existing files are replaced, kept or told by age, as from a tree" {
    make_tree src
    run copy -T src x.tar
    mkdir dst
    echo mine >dst/one
    run copy -n x.tar dst
    status_is 0
    [ "$(cat dst/one)" = mine ]
    run copy -u x.tar dst
    status_is 0
    [ "$(cat dst/one)" = mine ]
    run copy x.tar dst
    status_is 0
    same_tree src dst
}
