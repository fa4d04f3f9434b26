#!/usr/bin/env bats
# What a copy says: -v, --json, --progress; and that it says nothing else.

load lib.bash

# summary_of JSON-LINES PYTHON-EXPRESSION: must hold of `events` and the last of them, `s`.
summary_of() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import json, sys
events = [json.loads(line) for line in sys.argv[1].splitlines()]
s = events[-1]
assert all('event' in e for e in events), events
assert s['event'] == 'summary' and sum(e['event'] == 'summary' for e in events) == 1, events
for expression in sys.argv[2:]:
    assert eval(expression), f'{expression}: {events}'
PYTHON
}

@test "a copy that goes well says nothing" {
    make_tree src
    run copy src dst
    status_is 0
    [[ -z $output ]] || fail "said: $output"
}

@test "-v names each thing that is made, once, on stdout" {
    make_tree src
    run --separate-stderr copy -v src dst
    status_is 0
    [[ -z $stderr ]]
    local name
    for name in src/one src/sub/two src/sub/big src/sub/below/nothing src/sub/link src/fifo src/sub/one-again; do
        [[ $(grep -cF "'$name'" <<<"$output") -eq 1 ]] || fail "$name is not named once:" "$output"
    done
}

@test "-v quotes odd names, and keeps a line a line" {
    mkdir src
    echo a >$'src/new\nline'
    run copy -v src dst
    status_is 0
    [[ $(grep -c new <<<"$output") -eq 1 ]]
    says "'src/new'\$'\\n''line'"
}

@test "-v does not name what is kept" {
    mkdir src dst
    echo a >src/kept
    echo b >src/made
    echo c >dst/kept
    run copy -n -v -T src dst
    status_is 0
    says src/made
    says_not src/kept
}

@test "--json: the summary's figures are those of the tree" {
    make_tree src
    run --separate-stderr copy --json src dst
    status_is 0
    [[ -z $stderr ]]
    local bytes
    bytes=$(( $(stat -c %s src/one) + $(stat -c %s src/sub/two) + 300000 ))
    summary_of "$output" "s['files'] == 4" "s['directories'] == 4" "s['symlinks'] == 1" "s['specials'] == 1" \
        "s['hard_links'] == 1" "s['bytes'] == $bytes" "s['kept'] == 0" "s['sockets'] == 0" \
        "s['faults'] == {'content': 0, 'metadata': 0, 'changed': 0}" "s['losses'] == []" \
        "isinstance(s['elapsed_ns'], int) and s['elapsed_ns'] > 0" "s['stopped'] is False"
}

@test "--json: a fault says what, where and why" {
    needs_nobody
    chmod 777 .
    mkdir src
    echo a >src/fine
    echo b >$'src/bad\xff'
    chmod 000 $'src/bad\xff'
    run --separate-stderr as_nobody "$SHOAL" copy --json src dst
    status_is 1
    summary_of "$output" \
        "s['faults'] == {'content': 1, 'metadata': 0, 'changed': 0}" \
        "[e for e in events if e['event'] == 'fault'][0]['errno'] == 'EACCES'" \
        "[e for e in events if e['event'] == 'fault'][0]['class'] == 'content'" \
        "[e for e in events if e['event'] == 'fault'][0]['operation']" \
        "[e for e in events if e['event'] == 'fault'][0]['message']" \
        "bytes.fromhex([e for e in events if e['event'] == 'fault'][0]['path_hex']) == b'src/bad\\xff'"
}

@test "--json: a plain name comes as it is, without path_hex" {
    needs_nobody
    chmod 777 .
    mkdir src
    echo b >$'src/quote" back\\ größe\n'
    chmod 000 src/*
    run --separate-stderr as_nobody "$SHOAL" copy --json src dst
    status_is 1
    summary_of "$output" \
        "[e for e in events if e['event'] == 'fault'][0]['path'] == 'src/quote\" back\\\\ größe\\n'" \
        "'path_hex' not in [e for e in events if e['event'] == 'fault'][0]"
}

@test "--json: sockets and what is kept are counted" {
    "$E2E/make-everything" src socket
    echo a >src/a
    mkdir dst
    echo b >dst/a
    run --separate-stderr copy --json -n -T src dst
    status_is 0
    summary_of "$output" "s['sockets'] == 1" "s['kept'] == 1" "s['files'] == 0" "any(e['event'] == 'note' for e in events)"
}

@test "--json: a loss is named with its count and errno" {
    needs_nobody
    chmod 777 .
    mkdir src
    local k
    for k in 1 2 3; do echo "$k" >"src/$k"; chown 1234:4321 "src/$k"; done
    run --separate-stderr as_nobody "$SHOAL" copy --json src dst
    status_is 0
    summary_of "$output" "any('owner' in l['what'] and l['files'] >= 3 and l['errno'] == 'EPERM' for l in s['losses'])" \
        "s['faults']['metadata'] == 0"
}

@test "--progress=json: every line is JSON, and the last figures are those of the tree" {
    make_tree src
    run --separate-stderr copy --progress=json src dst
    status_is 0
    /usr/bin/python3 - "$output$stderr" <<'PYTHON'
import json, sys
for line in sys.argv[1].splitlines():
    assert isinstance(json.loads(line), dict), line
PYTHON
}

@test "--progress=always, auto and never copy the same; auto says nothing in a pipe" {
    make_tree src
    run copy --progress=always src always
    status_is 0
    same_tree src always
    run copy --progress=auto src auto
    status_is 0
    [[ -z $output ]]
    run copy --progress=never src never
    status_is 0
    [[ -z $output ]]
}

@test "a full standard output is an error" {
    [[ -c /dev/full ]] || skip "no /dev/full"
    make_tree src
    run bash -c '"$SHOAL" copy --json src dst >/dev/full'
    status_is 1
    says "cannot write"
    same_tree src dst
}
