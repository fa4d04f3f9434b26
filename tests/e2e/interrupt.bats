#!/usr/bin/env bats
# SIGINT and SIGTERM: what is in hand is finished or undone, 130, and --resume goes on.

load lib.bash

setup() {
    enter
    mkdir -p "$W"/src/{a,b,c}
    local k d
    for d in a b c; do
        for k in {1..40}; do
            head -c 60000 /dev/urandom >"src/$d/$k"
            chmod 600 "src/$d/$k"
        done
    done
    chmod 555 src/b
    find src -depth -exec touch -d '2003-04-05 06:07:08.123456789' {} +
}

# interrupted_by SIGNAL OPTION…: a copy so slow that it cannot be done, interrupted when six files are there.
interrupted_by() {
    run "$E2E/interrupted" "$1" dst 6 -- "$SHOAL" copy --reflink=never --bwlimit=1M "${@:2}" -T src dst
    [[ $status -ne 97 ]] || fail "it was done before it could be interrupted"
}

@test "SIGINT: 130, nothing half, no temporary names" {
    interrupted_by INT
    status_is 130
    whole_or_absent src dst
    [[ $(find dst -type f | wc -l) -lt 120 ]]
}

@test "SIGTERM: the same" {
    interrupted_by TERM
    status_is 130
    whole_or_absent src dst
}

@test "with several workers" {
    interrupted_by INT -j8
    status_is 130
    whole_or_absent src dst
}

@test "in the middle of one large file: it is not there" {
    rm -rf src/a src/c
    chmod 755 src/b
    head -c 30M /dev/urandom >src/b/large
    mkdir dst
    # The file itself, under whatever name it has until it is whole, is what is waited for.
    run "$E2E/interrupted" INT dst 1 -- "$SHOAL" copy --reflink=never --bwlimit=1M -T src/b/large dst/large
    [[ $status -ne 97 ]] || skip "an unfinished file has no name at all here"
    status_is 130
    whole_or_absent src/b dst
}

@test "files that stood there stay, whole" {
    mkdir -p dst/a dst/b dst/c
    local k
    for k in {1..40}; do echo old >"dst/a/$k"; echo old >"dst/c/$k"; done
    run "$E2E/interrupted" INT dst 82 -- "$SHOAL" copy --reflink=never --bwlimit=1M -T src dst
    status_is 130
    no_leftovers src dst
    local f
    for f in $(cd dst && find . -type f); do
        cmp -s "src/$f" "dst/$f" || [[ $(cat "dst/$f") == old ]] || fail "neither old nor new: $f"
    done
    [[ $(find dst/a dst/c -type f | wc -l) -eq 80 ]]
}

@test "--resume finishes, and copies nothing twice" {
    interrupted_by INT
    status_is 130
    local there
    there=$(find dst -type f | wc -l)
    find dst -type f -printf '%i %P\n' | sort >before
    run --separate-stderr copy --resume --json -T src dst
    status_is 0
    same_tree src dst
    # Each file that was whole is the one that was there.
    [[ $(find dst -type f -printf '%i %P\n' | sort | comm -12 before - | wc -l) -eq $there ]]
    /usr/bin/python3 -c 'import json, sys
s = json.loads(sys.argv[1].splitlines()[-1])
assert (s["kept"], s["files"]) == (int(sys.argv[2]), 120 - int(sys.argv[2])), s' "$output" "$there"
}

@test "a kill that cannot be caught: --resume still finishes, and no partial file passes for whole" {
    run "$E2E/interrupted" KILL dst 6 -- "$SHOAL" copy --reflink=never --bwlimit=1M -j4 -T src dst
    status_is 137
    run copy --resume -T src dst
    status_is 0
    local f
    while IFS= read -r f; do cmp "src/$f" "dst/$f"; done < <(cd src && find . -type f)
}

@test "--json: the summary comes, and says that it was stopped" {
    interrupted_by INT --json
    status_is 130
    /usr/bin/python3 -c 'import json, sys
s = json.loads([l for l in sys.argv[1].splitlines() if l.startswith("{")][-1])
assert s["event"] == "summary" and s["stopped"] is True, s' "$output"
}

@test "directories that were finished have their times; --resume puts the others right" {
    interrupted_by TERM -j1
    status_is 130
    run copy --resume -T src dst
    status_is 0
    same_tree src dst
    [[ $(stat -c %a dst/b) == 555 ]]
}
