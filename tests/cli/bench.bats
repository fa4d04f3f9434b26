#!/usr/bin/env bats
# shoal bench. $SHOAL is the program. Never asserts how long anything takes.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset XDG_DATA_HOME
    export HOME="$BATS_TEST_TMPDIR/home" LC_ALL=C
    mkdir to
    small=files=50,kb=2,per-directory=10
}

# bench ARGUMENT…: one small workload, two runs, destinations in to/.
bench() {
    "$SHOAL" bench --workload "$small" --runs 2 --to to "$@"
}

# value EXPRESSION: of the JSON in $output, as Python sees it.
value() {
    python3 -c "import json, sys; d = json.loads(sys.stdin.read()); s = d['series']; print(($1))" <<<"$output"
}

nothing_left() {
    [ -z "$(ls -A to)" ]
}

@test "the built-in methods are timed, checked, and shown in three forms" {
    run --separate-stderr bench --workload files=1,kb=64,per-directory=1
    echo "$output" "$stderr"
    [ "$status" -eq 0 ]
    # As timex gives them.
    [ "${lines[0]}" = "$small: 50 files, 100 KB, warm, median of 2 runs" ]
    grep -Eq '^ +shoal +tar +cp$' <<<"$output"
    for word in real user sys; do
        grep -Eq "^$word +([0-9]+:[0-9]{2}\.[0-9]{2} *){3}$" <<<"$output"
    done
    # The published form of table, and small beside large.
    [[ $output == *"Results for "* ]]
    [[ $output == *"Many small files and one large file"* ]]
    run ! grep -q "Not ranked" <<<"$output"
    nothing_left
}

@test "--json: every sample of every method, in blocks" {
    run --separate-stderr bench --json --runs 3 --seed 7 --method shoal --method cp
    [ "$status" -eq 0 ]
    [ "$(value 'd["schema"], d["version"], len(s)')" = "('shoal-results', 2, 1)" ]
    [ "$(value 's[0]["files"], s[0]["bytes"], s[0]["seed"], s[0]["cold"]')" = "(50, 102400, 7, False)" ]
    [ "$(value '[m["name"] for m in s[0]["methods"]]')" = "['shoal', 'cp']" ]
    [ "$(value '[m["verdict"] for m in s[0]["methods"]]')" = "['right', 'right']" ]
    [ "$(value '[[x["block"] for x in m["samples"]] for m in s[0]["methods"]]')" = "[[0, 1, 2], [0, 1, 2]]" ]
    [ "$(value 'all(x["synced_ns"] >= x["real_ns"] > 0 for m in s[0]["methods"] for x in m["samples"])')" = True ]
    [ "$(value 's[0]["methods"][1]["command"]')" = "cp -a {from} {to}" ]
    [[ $(value 's[0]["methods"][0]["version"]') == "shoal "* ]]
    [ "$(value 's[0]["to"]["path"]')" = to ]
}

@test "results are added to the database, one series a workload" {
    n_series() { "$SHOAL" report --export "$@" | grep -c '"id"'; }
    bench --method cp
    [ -s home/.local/share/shoal/results.db ]
    [ "$(n_series)" -eq 1 ]
    bench --method cp --workload files=1,kb=4 --db other.db
    [ "$(n_series --db other.db)" -eq 2 ]
    bench --method cp --no-save
    [ "$(n_series)" -eq 1 ]
    id=$("$SHOAL" report --db other.db --export | sed -n 's/.*"id": "\(.*\)".*/\1/p' | head -n 1)
    run "$SHOAL" report --series "$id" --db other.db
    [ "$status" -eq 0 ]
    [[ $output == *"$small"* ]]
}

@test "what is no database of results is found before anything is measured" {
    echo '{"schema":' >damaged.json
    run bench --method 'm=touch ran; cp -a {from} {to}' --db damaged.json
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot read results in 'damaged.json': this is JSON text, not a database: it can be \
imported into one" ]
    [ ! -e ran ]
    [ "$(cat damaged.json)" = '{"schema":' ]
}

# baseline EXPRESSION: base.json, of five runs, with each real time x of run i as Python's EXPRESSION
# gives it from those of a bench just made.
baseline() {
    [ -e made.json ] || bench --runs 5 --no-save --json --method cp --method tar >made.json 2>/dev/null
    python3 -c '
import json, sys
data = json.load(open("made.json"))
for series in data["series"]:
    series["id"] = "base"
    for method in series["methods"]:
        for i, sample in enumerate(method["samples"]):
            x = sample["real_ns"]
            sample["real_ns"] = int('"$1"')
            sample["synced_ns"] = max(sample["synced_ns"], sample["real_ns"])
json.dump(data, open("base.json", "w"))'
}

gated() {
    run --separate-stderr bench --runs 5 --no-save --method cp --method tar "$@"
    echo "$stderr"
    gate=$(grep '^shoal: gate: ' <<<"$stderr")
}

@test "--baseline: what is much slower than it was fails" {
    baseline 'x / 1000'
    gated --baseline base.json --max-slowdown 10%
    [ "$status" -eq 1 ]
    [ "$(wc -l <<<"$gate")" -eq 3 ]
    line="^shoal: gate: $small, warm, to [a-z0-9]+, cp: [0-9.]+ times as long as in series 'base' \\([0-9.]+-[0-9.]+\\): \
slower than the 10% that are allowed$"
    grep -Eq "$line" <<<"$gate"
    grep -qx "shoal: gate: 2 of 2 compared are slower" <<<"$gate"
    [[ $output == *"Results for "* ]] # the tables are there in any case
}

@test "--baseline: what is not slower passes" {
    baseline 'x * 1000'
    gated --baseline base.json
    [ "$status" -eq 0 ]
    [ "$(grep -c ': within the 10% that are allowed$' <<<"$gate")" -eq 2 ]
    [ "$(wc -l <<<"$gate")" -eq 2 ]
}

@test "--baseline: what varies too much passes, and says so" {
    baseline '(x / 1000, x / 1000, x, x * 1000, x * 1000)[i]'
    gated --baseline base.json --max-slowdown 2.5%
    [ "$status" -eq 0 ]
    [ "$(grep -c ': passes, but the runs vary too much to tell it from 2.5%$' <<<"$gate")" -eq 2 ]
}

@test "--baseline: a gate that compares nothing fails" {
    baseline x
    gated --baseline base.json --workload files=1,kb=4
    [ "$status" -eq 0 ] || [ "$status" -eq 1 ] # one of two workloads is compared, whatever comes of it
    [ "$(grep -c 'not compared: the baseline has no series of this workload, cache and destination$' <<<"$gate")" -eq 2 ]
    run --separate-stderr "$SHOAL" bench --workload files=1,kb=4 --to to --no-save --method cp --baseline base.json
    [ "$status" -eq 1 ]
    [[ $stderr == *"shoal: gate: nothing could be compared with the baseline"* ]]
}

@test "--baseline: a database, or the ID of a series in the user's own" {
    baseline 'x * 1000'
    "$SHOAL" report --import base.json
    gated --baseline base
    [ "$status" -eq 0 ]
    [ "$(grep -c "as in series 'base' .*: within the 10%" <<<"$gate")" -eq 2 ]
    gated --baseline home/.local/share/shoal/results.db
    [ "$status" -eq 0 ]
    [ "$(grep -c "as in series 'base' .*: within the 10%" <<<"$gate")" -eq 2 ]
}

@test "--baseline: what cannot be read is found before anything is measured" {
    run bench --method 'm=touch ran; cp -a {from} {to}' --runs 5 --no-save --baseline nowhere
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot use baseline 'nowhere': there is no such file, and no such series; \
'shoal report --list' lists them" ]
    echo '{' >damaged.json
    run bench --method 'm=touch ran; cp -a {from} {to}' --runs 5 --no-save --baseline damaged.json
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot use baseline 'damaged.json': line "* ]]
    echo '{"schema": "shoal-results", "version": 2, "series": []}' >empty.json
    run bench --method 'm=touch ran; cp -a {from} {to}' --runs 5 --no-save --baseline empty.json
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot use baseline 'empty.json': there are no series in it" ]
    [ ! -e ran ]
}

@test "a method that copies wrongly is said to, and not ranked" {
    run --separate-stderr bench --method cp \
        --method 'wrong=cp -a {from} {to} && echo more >>{to}/{name}/dir000002/file000001.txt'
    echo "$output" "$stderr"
    [ "$status" -eq 3 ]
    [[ $stderr == *"shoal: method wrong copies $small wrongly: "*"dir000002/file000001.txt"* ]]
    grep -Eq '^ +cp$' <<<"$output" # its times are not shown
    grep -q 'Not ranked: wrong' <<<"$output"
    nothing_left
}

@test "a copy that lacks a file is wrong, and one with a file too many" {
    run --separate-stderr bench --json --method 'less=cp -a {from} {to} && rm {to}/{name}/dir000000/file000003.txt' \
        --method 'more=cp -a {from} {to} && touch {to}/{name}/dir000000/more' --method 'none=: {from} {to}'
    [ "$status" -eq 3 ]
    [ "$(value '[m["verdict"] for m in s[0]["methods"]]')" = "['wrong', 'wrong', 'wrong']" ]
}

@test "a copy without times is right, with a warning" {
    run --separate-stderr bench --json --method 'r=cp -r {from} {to}'
    [ "$status" -eq 0 ]
    [ "$(value 's[0]["methods"][0]["verdict"]')" = right ]
    [[ $stderr == *"shoal: warning: method r on $small does not keep all metadata: "* ]]
}

@test "a method that fails is not run again, and the rest goes on" {
    run --separate-stderr bench --json --method 'f=echo no luck {from} {to} >&2; exit 7' --method cp
    [ "$status" -eq 1 ]
    [ "$(value 's[0]["methods"][0]["verdict"], len(s[0]["methods"][0]["samples"])')" = "('failed', 0)" ]
    [[ $(value 's[0]["methods"][0]["why"]') == "exit status 7: no luck "* ]]
    [ "$(value 's[0]["methods"][1]["verdict"], len(s[0]["methods"][1]["samples"])')" = "('right', 2)" ]
    [[ $stderr == *"shoal: method f failed on $small: exit status 7: no luck "* ]]
}

@test "a method that fails in a recorded run keeps that sample" {
    run --separate-stderr bench --json \
        --method 'f=[ -e second ] && exit 3; touch second; cp -a {from} {to}'
    [ "$status" -eq 1 ]
    [ "$(value '[(x["block"], x["exit_status"]) for x in s[0]["methods"][0]["samples"]]')" = "[(0, 3)]" ]
}

@test "a killed method has the status a shell gives" {
    run --separate-stderr bench --json --method 'f=kill -9 $$ # {from} {to}'
    [ "$status" -eq 1 ]
    [ "$(value 's[0]["methods"][0]["why"]')" = "exit status 137" ]
}

@test "a missing program is skipped, and said once" {
    run --separate-stderr bench --workload files=1,kb=64 --json --method cp --method 'x=no-such-program {from} {to}' \
        --method 'y=LC_ALL=C no-such-program {from} {to}' --method 'z=( no-such-program {from} {to} )'
    [ "$status" -eq 0 ]
    [ "$(value '[m["verdict"] for m in s[1]["methods"]]')" = "['right', 'missing', 'missing', 'missing']" ]
    [ "$(grep -c 'shoal: method x is skipped: there is no program no-such-program' <<<"$stderr")" -eq 1 ]
    [ "$(grep -c 'is skipped' <<<"$stderr")" -eq 3 ]
}

@test "if every program is missing nothing was measured: exit 1" {
    run bench --method 'x=no-such-program {from} {to}'
    [ "$status" -eq 1 ]
}

@test "a copy right in {to} is found there" {
    run --separate-stderr bench --json --method 'T=cp -aT {from} {to}' --method 'p=cp -a {parent}/{name}/. {to}'
    [ "$status" -eq 0 ]
    [ "$(value '[m["verdict"] for m in s[0]["methods"]]')" = "['right', 'right']" ]
}

@test "any name of a directory reaches the shell whole" {
    mkdir "it's \$HOME \"a\" {to} ;&" ; cd "it's \$HOME \"a\" {to} ;&"
    mkdir to
    run --separate-stderr bench --json --from . --method cp --method tar --method shoal
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(value '[m["verdict"] for m in s[0]["methods"]]')" = "['right', 'right', 'right']" ]
}

@test "sources are made in --from, and both are removed" {
    mkdir from
    run bench --from from --method 'm=ls {parent}/.. {to} >>seen; cp -a {from} {to}'
    [ "$status" -eq 0 ]
    [[ $(cat seen) == *shoal-bench-* ]]
    [ -z "$(ls -A from)" ]
    nothing_left
}

@test "every run finds a new, empty destination, and nothing is deleted until the end" {
    run bench --runs 3 --method 'm=ls -A {to} >>seen; ls {to}/.. | wc -l >>count; cp -a {from} {to}'
    [ "$status" -eq 0 ]
    [ ! -s seen ]
    [ "$(tr '\n' ' ' <count)" = "2 3 4 5 " ] # the source, and a destination more each time
}

@test "methods run in blocks, in an order that the seed decides" {
    order() { bench --no-save --runs 6 --seed "$1" --method 'a=echo a >>log; cp -a {from} {to}' \
        --method 'b=echo b >>log; cp -a {from} {to}' >/dev/null 2>&1; tr -d '\n' <log; rm log; }
    first=$(order 1)
    [ "$first" = "$(order 1)" ]
    [ "$first" != "$(order 2)" ]
    for at in 2 4 6 8 10 12; do # two unrecorded ones come first
        [[ ${first:at:2} == ab || ${first:at:2} == ba ]]
    done
    [ "${#first}" -eq 14 ]
}

@test "--cold empties the page cache, or says that it needs root" {
    if [ "$(id -u)" -eq 0 ] && [ -w /proc/sys/vm/drop_caches ]; then
        run --separate-stderr bench --json --cold --method 'm=echo >>log; cp -a {from} {to}'
        [ "$status" -eq 0 ]
        [ "$(value 's[0]["cold"]')" = True ]
        [ "$(wc -l <log)" -eq 2 ] # no unrecorded run
    else
        run bench --cold --method 'm=echo >>log; cp -a {from} {to}'
        [ "$status" -eq 1 ]
        [[ $output == "shoal: cannot drop the page cache: "*"; --cold needs root" ]]
        [ ! -e log ]
    fi
}

@test "few runs are warned of" {
    run --separate-stderr bench --method cp --runs 1
    [[ $stderr == *"shoal: warning: the figures are of 1 run; fewer than 5 say little"* ]]
}

@test "too little room is found before anything is copied" {
    run bench --no-save --runs 10000 --workload files=1000000,kb=1024 --method cp
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot measure in 'to': No space left on device; "*" MB are needed, "* ]]
    nothing_left
}

@test "interrupted: the method is ended, all is removed, exit 130" {
    for signal in INT TERM; do
        rm -f started
        env --default-signal=INT,TERM "$SHOAL" bench --workload "$small" --to to --db r.db \
            --method 'm=echo $$ >started.new; mv started.new started; sleep 1000; : {from} {to}' 3>&- &
        pid=$!
        until [ -s started ]; do
            kill -0 "$pid"
        done
        kill -"$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" -eq 130 ]
        run ! kill -0 "$(cat started)"
        nothing_left
        [ ! -e r.db ]
    done
}

@test "interrupted: what ignores it is killed by the second signal" {
    env --default-signal=INT "$SHOAL" bench --workload "$small" --to to --no-save \
        --method "m=trap '' TERM; echo >started; while :; do sleep 0.05; done; : {from} {to}" 3>&- &
    pid=$!
    until [ -e started ]; do
        kill -0 "$pid"
    done
    kill -INT "$pid"
    # The signal may be taken at any time, and two of a kind may be taken as one.
    while kill -INT "$pid" 2>/dev/null; do
        sleep 0.05
    done
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ]
}

@test "a method's own background processes end with it" {
    run bench --method 'm=cp -a {from} {to}; sleep 1000 & echo $! >>pids'
    [ "$status" -eq 0 ]
    while read -r pid; do
        if kill -0 "$pid" 2>/dev/null; then # dead, and not yet reaped by whoever inherits it
            grep -q '^State:.Z' "/proc/$pid/status"
        fi
    done <pids
}

@test "wrong usage: exit 2, and nothing is touched" {
    for arguments in "--runs 0" "--runs x" "--runs 1.5" "--seed -1" "--workload nonsense" "--method nonsense" \
        "--method a/b=cp{from}{to}" "--method a=cp{from}" "--method a=cp{to}" "--method =cp{from}{to}" \
        "--method cp --method cp" "--workload insight --workload insight" "--warm --cold" \
        "--max-slowdown 10%" "--baseline x --max-slowdown 10" "--baseline x --max-slowdown -1%" \
        "--baseline x --max-slowdown x%" "--baseline x --runs 4" \
        "--db x --no-save" "--nonsense" "argument"; do
        # shellcheck disable=SC2086 # words are meant
        run bench $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status" && false; }
        [[ $output == "shoal bench: "* ]]
    done
    nothing_left
    [ ! -e home ]
}

@test "a destination that is not there is named" {
    run "$SHOAL" bench --workload "$small" --no-save --to nowhere
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot make a directory in 'nowhere': No such file or directory" ]
}

@test "--help lists workloads and methods" {
    run --separate-stderr "$SHOAL" bench --help
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "Usage: shoal bench "* ]]
    [[ $output == *"  insight "*"Methods:"*"  tar "*"tar cBpf - "* ]]
    [ -z "$stderr" ]
}

@test "where mounts cannot be seen, the file system is known by its magic number" {
    [ "$EUID" -eq 0 ] || skip "needs root to hide /proc"
    unshare --mount true 2>/dev/null || skip "needs a mount namespace"
    ! grep -aq __asan_init "$SHOAL" || skip "LeakSanitizer cannot work without /proc, nor be told not to"
    run --separate-stderr unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
        "$SHOAL" bench --workload "$small" --runs 1 --to to --no-save --json --method 'mine=cp -a {from} {to}'
    echo "$output" "$stderr"
    [ "$status" -eq 0 ]
    [ -n "$(value 's[0]["to"]["type"]')" ]
    [ "$(value 's[0]["to"]["options"]')" = "" ]
}
