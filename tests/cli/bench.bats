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

# Whether file systems can be mounted here; $1 is the type.
needs_mounts() {
    [ "$EUID" -eq 0 ] || skip "needs root to mount file systems"
    unshare --mount true 2>/dev/null || skip "needs a mount namespace"
    [ "$1" = tmpfs ] || [ -e /dev/loop-control ] || skip "needs loop devices"
    [ "$1" = tmpfs ] || command -v "mkfs.$1" >/dev/null || skip "needs mkfs.$1"
}

# No mount and no loop device of a bench in this test's directory.
nothing_mounted() {
    run ! grep -qF "$BATS_TEST_TMPDIR" /proc/self/mountinfo
    run ! grep -qsF "$BATS_TEST_TMPDIR" /sys/block/loop*/loop/backing_file
}

# said EXPRESSION: in a warning of the series in $output.
said() {
    [ "$(value "any('$1' in w['text'] for w in s[0]['warnings'])")" = True ]
}

@test "the built-in methods are timed, checked, and shown in three forms" {
    run --separate-stderr bench --workload files=1,kb=64,per-directory=1
    echo "$output" "$stderr"
    [ "$status" -eq 0 ]
    # As timex gives them.
    [ "${lines[0]}" = "$small: 50 files, 100 KB, warm, median of 2 runs" ]
    columns=$(sed -n 's/^  \+\(shoal\b.*\|cpio\)$/\1/p' <<<"$output" | xargs)
    [[ $columns == "shoal shoal-tar tar cp rsync bsdtar cpio "* ]] # as many in a line as fit
    for word in real user sys; do
        grep -Eq "^$word( +[0-9]+:[0-9]{2}\.[0-9]{2}){6}$" <<<"$output"
        grep -Eq "^$word( +[0-9]+:[0-9]{2}\.[0-9]{2})$" <<<"$output"
    done
    [ -z "$(grep -E '.{81}' <<<"$output")" ]
    # The published form of table, and small beside large.
    [[ $output == *"Results for "* ]]
    [[ $output == *"Many small files and one large file"* ]]
    run ! grep -q "Not ranked" <<<"$output"
    nothing_left
}

@test "--json: every sample of every method, in blocks" {
    run --separate-stderr bench --json --runs 3 --seed 7 --method shoal --method cp
    [ "$status" -eq 0 ]
    [ "$(value 'd["schema"], d["version"], len(s)')" = "('shoal-results', 4, 1)" ]
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

@test "every sample has its memory, faults and bytes" {
    run --separate-stderr bench --json --method shoal --method cp
    [ "$status" -eq 0 ]
    for field in max_rss_kb minor_faults; do
        [ "$(value "all(x['$field'] > 0 for m in s[0]['methods'] for x in m['samples'])")" = True ]
    done
    for field in major_faults read_bytes written_bytes; do
        [ "$(value "all(x['$field'] >= 0 for m in s[0]['methods'] for x in m['samples'])")" = True ]
    done
}

@test "--verbose prints them in columns" {
    run --separate-stderr bench --verbose --method shoal --method cp
    [ "$status" -eq 0 ]
    grep -Eq '^ {9} +shoal +cp$' <<<"$output"
    for label in real user sys "on device"; do
        grep -Eq "^$label +([0-9]+:[0-9]{2}\.[0-9]{2} *){2}$" <<<"$output"
    done
    for label in "peak KB" faults major "read KB" "write KB"; do
        grep -Eq "^$label +([0-9,]+ *){2}$" <<<"$output"
    done
}

@test "--min-time goes on with whole blocks until each method has run for so long" {
    run --separate-stderr bench --json --runs 2 --min-time 0.1 --method 'a=cp -a {from} {to}' --method 'b=cp -a {from} {to}'
    [ "$status" -eq 0 ]
    [ "$(value 'len(s[0]["methods"][0]["samples"]) == len(s[0]["methods"][1]["samples"]) >= 2')" = True ]
    [ "$(value 'all(sum(x["real_ns"] for x in m["samples"]) >= 1e8 for m in s[0]["methods"])')" = True ]
    # Without the last block one of them lacked time.
    [ "$(value 'len(s[0]["methods"][0]["samples"]) == 2 or
        any(sum(x["real_ns"] for x in m["samples"][:-1]) < 1e8 for m in s[0]["methods"])')" = True ]
}

@test "--min-time 0 and a method that fails ask for no more" {
    run --separate-stderr bench --json --runs 2 --min-time 0 --method cp
    [ "$(value 'len(s[0]["methods"][0]["samples"])')" = 2 ]
    run --separate-stderr bench --json --runs 2 --min-time 1000 --method 'f=exit 3; : {from} {to}'
    [ "$status" -eq 1 ]
}

@test "built-in methods that are not there are skipped" {
    mkdir bin
    for program in sh cp tar; do
        ln -s "$(command -v "$program")" bin
    done
    run --separate-stderr env PATH="$PWD/bin" "$SHOAL" bench --workload "$small" --runs 2 --to to --json
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(value '[m["name"] for m in s[0]["methods"] if m["verdict"] == "missing"]')" = "['rsync', 'bsdtar', 'cpio']" ]
    [ "$(value '[m["name"] for m in s[0]["methods"] if m["verdict"] == "right"]')" = "['shoal', 'shoal-tar', 'tar', 'cp']" ]
    for program in rsync bsdtar cpio; do
        grep -qx "shoal: method $program is skipped: there is no program $program" <<<"$stderr"
    done
}

@test "shoal-tar is this very program at both ends, and every version is known" {
    for program in rsync bsdtar cpio; do
        command -v "$program" >/dev/null || skip "needs $program"
    done
    run --separate-stderr bench --json
    [ "$(value '{m["name"]: m["command"] for m in s[0]["methods"]}["shoal-tar"]')" = \
        "'$SHOAL' tar cBpf - -C {parent} {name} | ( cd {to} ; '$SHOAL' tar xBpf - )" ]
    [ "$(value 'all(m["version"] for m in s[0]["methods"])')" = True ]
}

@test "a directory of one's own is copied, and left as it is" {
    mkdir -p mine/deep
    echo content >mine/deep/file
    touch -d 2001-01-01 mine/deep mine
    before=$(stat -c '%n %i %y' mine mine/deep mine/deep/file)
    run --separate-stderr "$SHOAL" bench --workload ./mine --runs 1 --to to --no-save --json --method cp \
        --method 'm=echo {from} >>names; cp -a {parent}/{name} {to}'
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(value 's[0]["workload"], s[0]["files"], s[0]["bytes"]')" = "('mine', 1, 8)" ]
    [ "$(value '[m["verdict"] for m in s[0]["methods"]]')" = "['right', 'right']" ]
    [ "$(sort -u names)" = "$PWD/mine" ]
    [ "$before" = "$(stat -c '%n %i %y' mine mine/deep mine/deep/file)" ]
    nothing_left
}

@test "a directory that the copies would be in is refused" {
    run --separate-stderr "$SHOAL" bench --workload ./. --to to --no-save --method 'm=touch ran; cp -a {from} {to}'
    [ "$status" -eq 1 ]
    [ "$stderr" = "shoal: cannot copy '$PWD': Invalid argument; to is within it; give another --to" ]
    [ ! -e ran ]
    nothing_left
}

# --- On file systems made for it ---

@test "--scratch: a series on each new file system, and nothing is left" {
    for type in ext4 xfs btrfs tmpfs; do
        needs_mounts "$type"
    done
    run --separate-stderr bench --json --scratch ext4 --scratch xfs --scratch btrfs --scratch tmpfs,size=64M \
        --method shoal --method 'm=ls -A {to}/../source >>sources; cp -a {from} {to}'
    echo "$output" "$stderr"
    [ "$status" -eq 0 ]
    [ "$(value '[x["to"]["type"] for x in s]')" = "['ext4', 'xfs', 'btrfs', 'tmpfs']" ]
    [ "$(value 'all(x["from"]["type"] == x["to"]["type"] for x in s)')" = True ]
    [ "$(value '[m["verdict"] for x in s for m in x["methods"]] == 8 * ["right"]')" = True ]
    [ "$(value 's[3]["to"]["scratch_kb"], all(x["to"]["scratch_kb"] >= 1 << 20 for x in s[:3])')" = "(65536, True)" ]
    [ "$(value 's[0]["to"]["has_journal"], "noinit_itable" in s[0]["to"]["options"]')" = "(True, True)" ]
    [ "$(value 'all(x["to"]["device"].startswith("loop") and x["to"]["scheduler"] for x in s[:3])')" = True ]
    [ "$(value 's[3]["to"]["device"]')" = "" ]
    # What is copied to a device is counted.
    [ "$(value 'all(y["written_bytes"] >= 102400 for x in s[:1] for m in x["methods"] for y in m["samples"])')" = True ]
    [ "$(sort -u sources)" = "$small" ]
    nothing_left
    nothing_mounted
}

@test "--scratch: others do not see it, and the source stays outside with --from" {
    needs_mounts tmpfs
    mkdir from
    run --separate-stderr bench --json --scratch tmpfs --from from \
        --method "m=nsenter --mount=/proc/$$/ns/mnt ls -A $PWD/to/shoal-bench-* >>seen; ls {parent} >>sources; cp -a {from} {to}"
    echo "$output" "$stderr"
    [ "$status" -eq 0 ]
    [ ! -s seen ]
    [ "$(value 's[0]["to"]["type"], s[0]["to"]["scratch_kb"] > 0, s[0]["from"]["path"], s[0]["from"]["scratch_kb"]')" = \
        "('tmpfs', True, 'from', 0)" ]
    [ "$(sort -u sources)" = "$small" ]
    [ -z "$(ls -A from)" ]
    nothing_left
    nothing_mounted
}

@test "--scratch: interrupted, and killed" {
    needs_mounts ext4
    for signal in INT KILL; do
        rm -f started
        env --default-signal=INT "$SHOAL" bench --workload "$small" --to to --no-save --scratch ext4 \
            --method 'm=echo $$ >started.new; mv started.new started; sleep 1000; : {from} {to}' 3>&- &
        pid=$!
        until [ -s started ]; do
            kill -0 "$pid"
        done
        grep -qF "$BATS_TEST_TMPDIR" /sys/block/loop*/loop/backing_file
        [ -z "$(find to -type f)" ] # the image has no name
        kill -"$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        if [ "$signal" = INT ]; then
            [ "$status" -eq 130 ]
            nothing_left
        else
            # What it ran goes on, and holds the mount.
            kill -KILL -- "-$(cat started)"
            while grep -qsF "$BATS_TEST_TMPDIR" /sys/block/loop*/loop/backing_file; do
                sleep 0.05
            done
            rmdir to/* # an empty directory is all
        fi
        nothing_mounted
    done
}

@test "--scratch: what is wrong is told, and nothing is left" {
    needs_mounts xfs
    run bench --no-save --method cp --scratch xfs,size=2M
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot make a file system on '/dev/loop"*"': "*"; mkfs.xfs: "* ]]
    run bench --no-save --method cp --scratch xfs --runs 10000 --workload files=1000000,kb=1024
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot make a file system in 'to': No space left on device; "*" MB are needed, "* ]]
    run bench --no-save --method cp --scratch tmpfs --runs 10000 --workload files=1000000,kb=1024
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot make a file system in memory: No space left on device; "*" MB are needed, "* ]]
    run bench --no-save --runs 100 --method cp --scratch tmpfs,size=1M
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot measure in 'to': No space left on device; "* ]]
    nothing_left
    nothing_mounted
}

@test "--scratch: a maker that is not there is named" {
    needs_mounts tmpfs
    [ -e /dev/loop-control ] || skip "needs loop devices"
    mkdir bin
    ln -s "$(command -v sh)" "$(command -v cp)" bin
    for program in /sbin/mkfs.btrfs /usr/sbin/mkfs.btrfs; do
        [ ! -e "$program" ] || hide+=" $program"
    done
    # Where it is installed it is covered for this run by a file that is not executable.
    run unshare --mount sh -c 'for f in $1; do mount --bind /dev/null "$f"; done; shift; export PATH="$1"; shift; exec "$@"' \
        sh "${hide:-}" "$PWD/bin" "$SHOAL" bench --workload "$small" --to to --no-save --method cp --scratch btrfs
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot make a file system on '/dev/loop"* ]]
    nothing_left
    nothing_mounted
}

@test "--scratch needs root" {
    if [ "$EUID" -eq 0 ]; then
        command -v setpriv >/dev/null || skip "needs setpriv to be someone else"
        chmod 755 "$BATS_TEST_TMPDIR"
        cp "$SHOAL" ./shoal
        chmod 777 to
        as=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)
    else
        cp "$SHOAL" ./shoal
        as=()
    fi
    run "${as[@]}" ./shoal bench --workload "$small" --no-save --to to --method cp --scratch tmpfs
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot mount file systems of its own: Operation not permitted; --scratch needs root" ]
    nothing_left
}

# --- Warnings ---

@test "few runs are warned of" {
    run --separate-stderr bench --method cp --runs 1
    [[ $stderr == *"shoal: warning: the figures are of 1 run; fewer than 5 say little"* ]]
    run --separate-stderr bench --method cp --runs 5
    [[ $stderr != *"say little"* ]]
}

@test "warnings are stored with the series, and each is printed once" {
    run --separate-stderr bench --method cp --runs 1 --workload files=1,kb=1 --json
    [ "$(value '[sum("1 run;" in w["text"] for w in x["warnings"]) for x in s]')" = "[1, 1]" ]
    [ "$(grep -c "warning: the figures are of 1 run" <<<"$stderr")" -eq 1 ]
}

@test "runs that differ widely are warned of, and others' work" {
    # Every second run waits; the runs of one that works all the while are not its own.
    while :; do :; done 3>&- &
    busy=$!
    run --separate-stderr bench --json --runs 4 \
        --method 'm=n=$(cat n 2>/dev/null); echo x$n >n; case $n in xx|xxxx) sleep 0.3;; esac; cp -a {from} {to}'
    kill "$busy"
    echo "$output"
    [ "$status" -eq 0 ]
    said "the runs of m on $small to $(value 's[0]["to"]["type"]') spread too widely to rank: half of them are "
    said "of the processors during the runs of $small"
}

@test "a destination in memory is warned of, and one that is nearly full" {
    needs_mounts tmpfs
    run --separate-stderr bench --json --scratch tmpfs,size=1M --runs 2 --method cp
    echo "$output"
    [ "$status" -eq 0 ]
    said "the scratch file system in \\'to\\' is in memory (tmpfs): nothing is written to a disk"
    said "MB free for copies of "
    run --separate-stderr bench --json --scratch tmpfs,size=64M --runs 2 --method cp
    [[ $stderr != *"MB free for copies of "* ]]
}

@test "copies that share the source's blocks are warned of beside ones that do not" {
    needs_mounts xfs
    run --separate-stderr bench --json --scratch xfs --method 'clone=cp -a --reflink=always {from} {to}' \
        --method 'copy=cp -a --reflink=never {from} {to}'
    [ "$status" -eq 0 ]
    said "clone to xfs wrote less than half of what $small holds: "
    [[ $stderr != *"copy to xfs wrote less than half"* ]]
}

@test "an image in memory is warned of" {
    needs_mounts ext4
    [ "$(stat -f -c %T /dev/shm)" = tmpfs ] || skip "needs /dev/shm in memory"
    at=$(mktemp -d /dev/shm/shoal-test-XXXXXX)
    run --separate-stderr "$SHOAL" bench --workload "$small" --runs 1 --to "$at" --no-save --json --scratch ext4 --method cp
    rmdir "$at"
    [ "$status" -eq 0 ]
    said "is in memory: nothing is written to a disk"
}

@test "--cold from memory is warned of" {
    needs_mounts tmpfs
    [ -w /proc/sys/vm/drop_caches ] || skip "needs to empty the page cache"
    run --separate-stderr bench --json --cold --scratch tmpfs --method cp
    said "the source is in memory (tmpfs), where nothing is ever cold"
}

@test "--min-time without room for more is warned of" {
    needs_mounts tmpfs
    run --separate-stderr bench --json --scratch tmpfs,size=2M --runs 1 --min-time 1000 --method cp
    echo "$output"
    [ "$status" -eq 0 ]
    said "the runs of $small to tmpfs ended before --min-time was measured: there was no room for more"
    [ "$(value 'len(s[0]["methods"][0]["samples"]) > 1')" = True ]
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
        "--db x --no-save" "--scratch ext5" "--scratch ext4,size=0" \
        "--scratch ext4,size=1K" "--scratch ext4,siz=1G" "--scratch ext4," "--min-time x" "--min-time -1" \
        "--min-time 1s" "--nonsense" "argument"; do
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
    [[ $output == *"  insight "*"Methods:"* ]]
    for method in shoal shoal-tar tar cp rsync bsdtar cpio; do
        grep -Eq "^  $method +.*\{(from|name)\}" <<<"$output"
    done
    [ -z "$stderr" ]
}

@test "the manual knows each option and each method of --help" {
    run --separate-stderr "$SHOAL" bench --help
    page=$BATS_TEST_DIRNAME/../../man/shoal-bench.1
    for option in $(grep -oE -- '^ .{0,5} --[a-z0-9-]+' <<<"$output" | grep -oE -- '--.*' | sort -u); do
        [[ $option != --usage ]] || continue
        grep -qE -- "^\.It Fl (.* )?-${option#--}( |\$)" "$page" || { echo "not in the manual: $option" && false; }
    done
    sed -n '/^Methods:/,/^{to} is/p' <<<"$output" | sed '1d;$d' | sed -e ':a' -e 'N;$!ba' -e 's/|\n  */| /g' >methods
    [ "$(wc -l <methods)" -eq 7 ]
    while read -r name command; do
        grep -qxF ".It Cm $name" "$page" || { echo "not in the manual: $name" && false; }
        grep -qF ".Li $command" "$page" || { echo "not in the manual: $command" && false; }
    done <methods
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

# --- Drives ---

needs_fuse() {
    "$SHOAL" --help | grep -q '^  mount ' || skip "built without libfuse3"
    [ -w /dev/fuse ] || skip "no /dev/fuse here"
    command -v fusermount3 >/dev/null || skip "no fusermount3"
}

@test "--drive: off a disc in each drive, mounted or by its image, at any pace" {
    needs_fuse
    run --separate-stderr bench --json --drive 2X,24X-cav,access=90ms,buffer=256K --time-scale 1000 \
        --method shoal --method tar --method "own='$SHOAL' copy --drive={drive} --time-scale={time-scale} {image} {to}"
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(value '[(x["drive"], x["time_scale"], x["cold"], x["from"]["type"]) for x in s]')" = \
        "[('2X', 1000.0, True, 'efs'), ('24X-cav,access=90ms,buffer=256K', 1000.0, True, 'efs')]" ]
    [ "$(value '[[m["verdict"] for m in x["methods"]] for x in s]')" = \
        "[['right', 'right', 'right'], ['right', 'right', 'right']]" ]
    # shoal reads the image itself.
    [[ $(value 's[0]["methods"][0]["command"]') == *" copy --drive={drive} --time-scale={time-scale} {image} {to}" ]]
    # No run is free: a drive takes its time to turn, which is over a second in its world.
    [ "$(value 'all(y["real_ns"] > 1000000 for m in s[0]["methods"] for y in m["samples"])')" = True ]
    nothing_left
    run ! grep -qF "$BATS_TEST_TMPDIR" /proc/self/mountinfo
}

@test "--drive: a directory that is there, and the published form of table" {
    needs_fuse
    mkdir -p "my tree/sub" && echo one >"my tree/one" && echo two >"my tree/sub/two" && ln -s one "my tree/soft"
    run --separate-stderr "$SHOAL" bench --workload "./my tree" --runs 1 --to to --drive 2X,32X --time-scale 1000 \
        --no-save --method 'mine=cp -a {from} {to}/{name}'
    echo "$output" "$stderr"
    [ "$status" -eq 0 ]
    [[ $output == *"CDROM     Time     Data"*"  2X "*" 32X "* ]]
    [[ $output == *", 2X, 1000 times as fast, median of 1 run"* ]]
    [ -z "$(grep -E '.{81}' <<<"$output")" ]
    nothing_left
}

@test "--drive: an interrupt in the middle of a run leaves no mount" {
    needs_fuse
    "$SHOAL" bench --workload "$small" --runs 2 --to to --drive 1X --method tar --no-save 2>err >out &
    pid=$!
    until grep -qF "$BATS_TEST_TMPDIR" /proc/self/mountinfo; do
        kill -0 $pid
        sleep 0.05
    done
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 130 ]
    nothing_left
    run ! grep -qF "$BATS_TEST_TMPDIR" /proc/self/mountinfo
}

@test "--drive: what it refuses" {
    for arguments in "--drive 2Y" "--drive 2X --warm" "--drive 2X --cold" "--drive 2X,2X" "--time-scale 3" \
        "--drive 2X --time-scale 0" "--method a=x{image}{to}"; do
        # shellcheck disable=SC2086
        run bench $arguments
        echo "$arguments: $output"
        [ "$status" -eq 2 ]
        nothing_left
    done
}
