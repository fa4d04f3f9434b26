#!/usr/bin/env bats
# shoal make. $SHOAL is the program.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LC_ALL=C
}

# All that a tree is: names, types, modes, times, content.
facts() {
    (cd "$1" && find . -printf '%P %y %m %T@\n' | sort && find . -type f -print0 | sort -z | xargs -0r cksum)
}

@test "insight: the files and bytes of the published test" {
    run --separate-stderr "$SHOAL" make tree insight out
    [ "$status" -eq 0 ]
    [ "$output" = "insight: 2,200 files, 130 directories, 76,289 KB" ]
    [ -z "$stderr" ]
    [ "$(find out/insight -type f | wc -l)" -eq 2200 ]
    [ "$(find out/insight -type f -printf '%s\n' | awk '{ n += $1 } END { print n / 1024 }')" = 76289 ]
    [ "$(ls out)" = insight ]
}

@test "one seed gives one tree, whatever the umask; another gives another" {
    "$SHOAL" make tree files=40,kb=2,per-directory=10 a --seed 3
    (umask 077 && "$SHOAL" make tree files=40,kb=2,per-directory=10 b --seed=3)
    "$SHOAL" make tree files=40,kb=2,per-directory=10 c --seed 4
    [ "$(facts a/*)" = "$(facts b/*)" ]
    [ "$(facts a/*)" != "$(facts c/*)" ]
}

@test "--json says what was made" {
    run --separate-stderr "$SHOAL" make tree --json kb=2,files=25,per-directory=10 out --seed 9
    [ "$status" -eq 0 ]
    [ "$output" = '{"workload": "files=25,kb=2,per-directory=10", "seed": 9, "files": 25, "directories": 4, "bytes": 51200}' ]
    [ -d "out/files=25,kb=2,per-directory=10" ]
}

@test "a tree that stands there is left alone" {
    "$SHOAL" make tree files=5 out
    before=$(facts out)
    run "$SHOAL" make tree files=5 out --seed 2
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot create 'out/files=5,kb=4,per-directory=1000': File exists" ]
    [ "$(facts out)" = "$before" ]
}

@test "a directory that cannot be made is named" {
    run "$SHOAL" make tree insight no/where
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot create directory 'no/where': No such file or directory" ]
    touch file
    run "$SHOAL" make tree insight file
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot open directory 'file': Not a directory" ]
}

@test "a full disk leaves nothing half made" {
    [ "$(id -u)" -eq 0 ] || skip "mounting a small file system needs root"
    mkdir small
    mount -t tmpfs -o size=1m none small || skip "no tmpfs can be mounted here"
    run "$SHOAL" make tree insight small
    left=$(ls -A small)
    umount small
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot create 'small/"*"': No space left on device" ]]
    [ -z "$left" ]
}

@test "interrupted: what was made is taken back, exit 130" {
    env --default-signal=INT "$SHOAL" make tree files=1000000,kb=64 out 3>&- &
    pid=$!
    until [ -n "$(ls out 2>/dev/null)" ]; do
        kill -0 "$pid"
    done
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ]
    [ ! -e out ]
}

@test "wrong usage: exit 2, and nothing is touched" {
    for arguments in "" "tree" "tree insight" "tree nonsense out" "iso insight out" \
        "tree insight out more" "tree files=0 out" "tree files=x out" "tree insight out --seed x" \
        "tree insight out --seed -1" "tree insight out --nonsense"; do
        # shellcheck disable=SC2086 # words are meant
        run "$SHOAL" make $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status" && false; }
        [[ $output == "shoal make: "* ]]
    done
    [ -z "$(ls -A)" ]
}

@test "an unknown workload: those there are get listed" {
    run "$SHOAL" make tree nonsense out
    [[ ${lines[0]} == "shoal make: there is no workload 'nonsense'; there are insight, one-large, and files="* ]]
}

@test "--help lists the workloads, --version the version" {
    run --separate-stderr "$SHOAL" make --help
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "Usage: shoal make "* ]]
    [[ $output == *"  insight "*"  one-large "*"  files=N"* ]]
    [ -z "$stderr" ]
    run "$SHOAL" make --version
    [ "$status" -eq 0 ]
    [[ $output == "shoal "* ]]
}

@test "a full standard output is an error" {
    [ -w /dev/full ] || skip "no /dev/full"
    run bash -c '"$SHOAL" make tree files=3 out >/dev/full'
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot write to standard output: "* ]]
}
