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
    for arguments in "" "tree" "tree insight" "tree nonsense out" "disc insight out" \
        "tree insight out more" "tree files=0 out" "tree files=x out" "tree insight out --seed x" \
        "tree insight out --seed -1" "tree insight out --nonsense" "profile" "profile ." "profile . p more" \
        "profile . p --seed 1" "tree insight,scale=0 out" "tree profile=none out" "tree /usr out"; do
        # shellcheck disable=SC2086 # words are meant
        run "$SHOAL" make $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status" && false; }
        [[ $output == "shoal make: "* ]]
    done
    [ -z "$(ls -A)" ]
}

@test "an unknown workload: those there are get listed" {
    run "$SHOAL" make tree nonsense out
    [[ ${lines[0]} == "shoal make: there is no workload 'nonsense'; there are insight, one-large, linux-tree, node-modules, imagenet, maildir, desktop, files=N, profile=FILE and, with a '/' in it, DIR" ]]
}

@test "what is wrong with a workload is said" {
    expect() { # expect WORKLOAD MESSAGE
        run "$SHOAL" make tree "$1" out
        [ "$status" -eq 2 ]
        [ "${lines[0]}" = "shoal make: $2" ] || { echo "$output" && false; }
    }
    expect linux-tree,scale=x "workload 'linux-tree,scale=x': scale: a number with at most six decimals is expected"
    expect linux-tree,scale=1001 "workload 'linux-tree,scale=1001': scale: from 0.01 to 1000 is possible"
    expect maildir,content=noise "workload 'maildir,content=noise': content: text, random, mixed or zero is expected"
    expect maildir,kb=3 "workload 'maildir,kb=3': 'kb': no such parameter; the form is [,scale=S][,content=C]"
    expect files=0 "workload 'files=0': files: a number from 1 on is needed"
    expect files=2,x=1 \
        "workload 'files=2,x=1': 'x': no such parameter; the form is files=N[,kb=K][,per-directory=D][,content=C]"
    expect profile=none.json "workload 'profile=none.json': No such file or directory"
    expect ./none "'./none': a directory that is there cannot be made; 'make profile' learns it"
    [ -z "$(ls -A)" ]
}

@test "a scaled workload says so in its name" {
    run --separate-stderr "$SHOAL" make tree linux-tree,content=random,scale=0.010 out
    [ "$status" -eq 0 ]
    [ "$output" = "linux-tree,scale=0.01,content=random: 786 files, 52 directories, 12,682 KB" ]
    [ "$(ls out)" = "linux-tree,scale=0.01,content=random" ]
    [ "$(find out -type f | wc -l)" -eq 786 ]
    [ "$(find out -mindepth 1 -type d | wc -l)" -eq 52 ]
    [ "$(find out -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" = 12986825 ]
}

@test "a profile is learned, and a tree made from it" {
    "$SHOAL" make tree node-modules,scale=0.05 out
    run --separate-stderr "$SHOAL" make profile out/node-modules,scale=0.05 p.json
    [ "$status" -eq 0 ]
    [ "$output" = "'p.json': 1,036 files, 123 directories, 21,037 KB" ]
    [ -z "$stderr" ]
    run --separate-stderr "$SHOAL" make tree profile=./p.json again
    [ "$status" -eq 0 ]
    [ "$output" = "profile=p: 1,036 files, 123 directories, 21,037 KB" ]
    [ "$(find again -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" = \
        "$(find out -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" ]
    run --separate-stderr "$SHOAL" make tree profile=p.json,scale=0.5 again
    [ "$output" = "profile=p,scale=0.5: 518 files, 62 directories, 10,518 KB" ]
}

@test "a profile's --json, and no name of what it was learned from" {
    mkdir secret && echo x >secret/payroll
    run --separate-stderr "$SHOAL" make profile --json secret/ p.json
    [ "$status" -eq 0 ]
    [ "$output" = '{"profile": "p.json", "files": 1, "directories": 1, "bytes": 2}' ]
    run ! grep -E 'secret|payroll' p.json
}

@test "a profile that stands there, or cannot be made, is left" {
    touch file
    echo mine >p.json
    run "$SHOAL" make profile . p.json
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot create 'p.json': File exists" ]
    [ "$(cat p.json)" = mine ]
    run "$SHOAL" make profile . no/p.json
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot create 'no/p.json': No such file or directory" ]
    run "$SHOAL" make profile none q.json
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot learn from 'none': No such file or directory" ]
    mkdir empty
    run "$SHOAL" make profile empty q.json
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot learn from 'empty': there is no regular file in it" ]
    [ ! -e q.json ]
}

@test "a damaged profile is refused by its key" {
    echo x >file
    "$SHOAL" make profile . p.json
    sed -i 's/"files": 1,/"files": -1,/' p.json
    run "$SHOAL" make tree profile=p.json out
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = \
        "shoal make: workload 'profile=p.json': files: a whole number from 1 to 100000000 is expected" ]
    [ ! -e out ]
}

@test "--help lists the workloads, --version the version" {
    run --separate-stderr "$SHOAL" make --help
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "Usage: shoal make "* ]]
    for name in insight one-large linux-tree node-modules imagenet maildir desktop 'files=N\[' 'profile=FILE' DIR; do
        grep -q "^  $name" <<<"$output" || { echo "$name" && false; }
    done
    [[ $output == *",scale=S "*",content=C "* ]]
    [ "$(wc -L <<<"$output")" -le 80 ]
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
