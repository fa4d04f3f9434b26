#!/usr/bin/env bats
# shoal mount: discs mounted by FUSE. $SHOAL is the program.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    "$SHOAL" --help | grep -q '^  mount ' || skip "built without libfuse3"
    [ -w /dev/fuse ] || skip "no /dev/fuse here"
    command -v fusermount3 >/dev/null || skip "no fusermount3"
    mkdir -p tree/dir/sub at
    echo one >tree/one
    head -c 3000000 /dev/urandom >tree/dir/large
    ln tree/one tree/dir/hard
    ln -s ../one tree/dir/soft
    mkfifo tree/fifo
    for i in {1..300}; do echo "$i" >"tree/dir/sub/some-name-$i"; done
    chmod 640 tree/one
    find tree -depth -exec touch -h -d '2003-04-05 06:07:08' {} +
    "$SHOAL" make efs tree disc.efs >/dev/null
    "$SHOAL" make iso tree disc.iso >/dev/null
}

teardown() {
    ! mountpoint -q "$BATS_TEST_TMPDIR/at" || fusermount3 -u "$BATS_TEST_TMPDIR/at"
}

facts() { (cd "$1" && find . ! -type d -printf '%p %y %m %n %s %T@ %l\n' | sort); }

mounted() { # mounted OPTION...: the mount is there when the call returns
    timeout -s KILL 20 "$SHOAL" mount "$@" at 3>&-
    mountpoint -q at
}

@test "a disc is mounted, read by any program, and unmounted" {
    for disc in disc.efs disc.iso; do
        mounted "$disc"
        diff -r --exclude=fifo tree at
        [ "$(facts tree)" = "$(facts at)" ]
        [ at/one -ef at/dir/hard ]
        [ "$(stat -c %b at/dir/large)" -ge $((3000000 / 512)) ]
        [ "$(stat -f -c %T at)" = fuseblk ] || [ "$(stat -f -c %T at)" = fuse ]
        grep -q "shoal" /proc/mounts
        run touch at/new
        [ "$status" -ne 0 ]
        fusermount3 -u at
        ! mountpoint -q at
    done
}

@test "several readers at once" {
    mounted disc.efs
    for i in 1 2 3 4; do
        (cd at && tar cf - --exclude=fifo .) | md5sum >"sum$i" &
    done
    wait $(jobs -p)
    [ "$(cat sum? | sort -u | wc -l)" -eq 1 ]
}

@test "reading at any place of a file" {
    mounted disc.iso
    python3 - <<'P'
import random
own, mounted = open('tree/dir/large', 'rb').read(), open('at/dir/large', 'rb', buffering=0)
random.seed(1)
for i in range(300):
    at, n = random.randrange(len(own) + 10), random.choice([1, 100, 4096, 200000])
    mounted.seek(at)
    data = b''
    while len(data) < n:
        more = mounted.read(n - len(data))
        if not more:
            break
        data += more
    assert data == own[at:at + n], (at, n)
P
}

@test "in the foreground, until it is told to end" {
    timeout -s KILL 60 "$SHOAL" mount -f disc.efs at 3>&- &
    pid=$!
    until mountpoint -q at; do kill -0 $pid; done
    [ "$(cat at/one)" = one ]
    pkill -TERM -P $pid
    wait $pid
    ! mountpoint -q at
}

@test "at the pace of a drive: all of it comes, in its time" {
    mounted --drive 2X --time-scale 50 disc.efs
    cmp tree/dir/large at/dir/large
    diff -r --exclude=fifo tree at
}

@test "the line of old, run from the mount" {
    mounted --drive 32X --time-scale 200 disc.efs
    mkdir t
    (cd at && tar cBpf - dir) | (cd t && tar xBpf -)
    diff -r --no-dereference tree/dir t/dir
}

@test "what cannot be mounted is said; wrong usage: exit 2" {
    echo "no disc" >x
    run "$SHOAL" mount x at
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot mount 'x': there is no file system that is known on it" ]
    run "$SHOAL" mount nope at
    [ "$output" = "shoal: cannot mount 'nope': No such file or directory" ]
    run "$SHOAL" mount disc.efs nowhere
    [ "$status" -eq 1 ]
    for arguments in "" "disc.efs" "disc.efs at more" "--drive 99X disc.efs at" "--drive 2X,x=1 disc.efs at" \
        "--time-scale 3 disc.efs at" "--names x disc.efs at" "--nonsense disc.efs at"; do
        # shellcheck disable=SC2086 # words are meant
        run "$SHOAL" mount $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status" && false; }
    done
    ! mountpoint -q at
}

@test "--help answers on stdout, and the manual knows each option of it" {
    run --separate-stderr "$SHOAL" mount --help
    [ "$status" -eq 0 ]
    page="$BATS_TEST_DIRNAME/../../man/shoal-mount.1"
    for option in $(grep -oE -- '--[a-z-]+' <<<"$output" | sort -u); do
        grep -qE -- "^\.It Fl (.* )?-${option#--}( |\$)" "$page" || { echo "not in the manual: $option" && false; }
    done
}
