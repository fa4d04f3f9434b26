#!/usr/bin/env bats
# shoal list. $SHOAL is the program.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LC_ALL=C.UTF-8 TZ=UTC
    umask 022
    mkdir -p d/e
    echo hi >d/f
    echo "longer text" >d/e/g
    ln -s f d/s
    ln d/f d/h
    find d -exec touch -h -d '2003-04-05 06:07:08.25' {} +
    tar --format=pax --sort=name --owner=root:0 --group=root:0 -cf a.tar d
}

@test "names, one a line, as tar lists them" {
    run --separate-stderr "$SHOAL" list a.tar
    [ "$status" -eq 0 ]
    [ "$output" = "$(tar tf a.tar)" ]
    [ -z "$stderr" ]
    run --separate-stderr bash -c '"$SHOAL" list - <a.tar'
    [ "$output" = "$(tar tf a.tar)" ]
}

@test "the long form is that of tar tv" {
    diff <("$SHOAL" list -l a.tar) <(tar tvf a.tar)
    diff <("$SHOAL" list --long --numeric-owner a.tar) <(tar tvf a.tar --numeric-owner)
    diff <("$SHOAL" list -l --full-time a.tar) <(tar tvf a.tar --full-time)
    diff <(TZ=Asia/Tokyo "$SHOAL" list -l a.tar) <(TZ=Asia/Tokyo tar tvf a.tar)
    diff <(TZ=Asia/Tokyo "$SHOAL" list -l --utc a.tar) <(tar tvf a.tar)
}

@test "odd names: as they are, ended by NUL on demand, quoted on a terminal" {
    local name
    name=$(printf 'a\nb \377\033')
    mkdir odd && : >"odd/$name" && tar -cf odd.tar odd
    diff <("$SHOAL" list odd.tar) <(printf 'odd/\nodd/%s\n' "$name")
    diff <("$SHOAL" list -0 odd.tar) <(printf 'odd/\0odd/%s\0' "$name")
    diff <("$SHOAL" list --null odd.tar) <(printf 'odd/\0odd/%s\0' "$name")
    command -v script >/dev/null || skip "no script(1)"
    run script -qec '"$SHOAL" list odd.tar' /dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"'odd/a'\$'\\nb \\377\\033'"* || $output == *"'odd/a'\$'\\n''b '\$'\\377\\033'"* ]]
}

@test "--json: an object for each entry, and a summary" {
    "$SHOAL" list --json a.tar >out
    python3 - <<'P'
import json
lines = [json.loads(line) for line in open("out")]
assert [e["event"] for e in lines] == ["entry"] * 6 + ["summary"], lines
by_path = {e["path"].rstrip("/"): e for e in lines[:-1]}
assert list(by_path) == ["d", "d/e", "d/e/g", "d/f", "d/h", "d/s"], by_path
g = by_path["d/e/g"]
assert g["type"] == "file" and g["mode"] == "0644" and g["size"] == 12 and g["from"] == "a.tar", g
assert g["user"] == "root" and g["group"] == "root" and g["uid"] == 0 and g["gid"] == 0, g
assert g["mtime"] == 1049522828 and g["mtime_ns"] == 250000000, g
assert "link_target" not in g and "hard_link" not in g, g
assert by_path["d"]["type"] == "directory" and by_path["d"]["mode"] == "0755"
assert by_path["d/s"]["type"] == "symlink" and by_path["d/s"]["link_target"] == "f"
assert by_path["d/h"]["type"] == "hard link" and by_path["d/h"]["hard_link"] == "d/f"
assert lines[-1]["files"] == 2 and lines[-1]["directories"] == 2 and lines[-1]["hard_links"] == 1
P
}

@test "--json: a name that is no text is there in hexadecimal too" {
    local name
    name=$(printf 'x\377')
    : >"$name" && tar -cf odd.tar "$name"
    run "$SHOAL" list --json odd.tar
    [[ ${lines[0]} == *'"path":"x'*'"path_hex":"78ff"'* ]]
}

@test "a part of an archive; but a file of that very name comes first" {
    run "$SHOAL" list a.tar:/d/e
    [ "$status" -eq 0 ]
    [ "$output" = $'d/e/\nd/e/g' ]
    run "$SHOAL" list ./a.tar:/d/e/
    [ "$output" = $'d/e/\nd/e/g' ]
    run "$SHOAL" list a.tar:/
    [ "$output" = "$(tar tf a.tar)" ]
    mkdir 'a.tar:' && tar --force-local -cf 'a.tar:/d' d/f
    run "$SHOAL" list a.tar:/d
    [ "$output" = d/f ]
}

@test "several archives; what cannot be read is named, the rest is listed" {
    echo "no archive at all" >text
    tar -cf b.tar d/f
    run --separate-stderr "$SHOAL" list nope text b.tar nope:/x
    [ "$status" -eq 1 ]
    [ "$output" = d/f ]
    [ "$stderr" = "shoal: cannot examine 'nope': No such file or directory
shoal: cannot list 'text': it is no archive that is known
shoal: cannot examine 'nope:/x': No such file or directory" ]
}

@test "a directory is listed as tar would record it, in the order of names, sockets too" {
    mkdir -p t/b/c
    echo 1 >t/b/c/z
    ln t/b/c/z t/b/y
    ln -s nowhere t/a
    mkfifo t/p
    chmod 0 t/b/c/z # listing opens no file
    python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('t/s')"
    run "$SHOAL" list t
    [ "$output" = $'t/\nt/a\nt/b/\nt/b/c/\nt/b/c/z\nt/b/y\nt/p\nt/s' ]
    rm t/s
    "$SHOAL" copy --sort=name t t.tar
    run "$SHOAL" list -l t/
    [ "$output" = "$("$SHOAL" list -l t.tar)" ]
    run strace -f -e trace=openat,open -o trace "$SHOAL" list t
    [ "$status" -eq 0 ] || skip "strace cannot trace here"
    ! grep -E '"(z|y|p)"' trace
}

@test "a cut archive is a fault, after what could be listed" {
    head -c 100000 /dev/urandom >big && tar -cf - d/f big | head -c 50000 >cut.tar
    run --separate-stderr "$SHOAL" list cut.tar
    [ "$status" -eq 1 ]
    [[ $output == d/f* ]]
    [[ $stderr == "shoal: cannot "*"cut.tar"* ]]
}

@test "a reader that leaves ends it quietly; a full standard output is an error" {
    run bash -c 'set -o pipefail; "$SHOAL" list a.tar | true'
    [ -z "$output" ]
    [ -w /dev/full ] || skip "no /dev/full"
    run bash -c '"$SHOAL" list a.tar >/dev/full'
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot write to standard output: "* ]]
}

@test "wrong usage: exit 2" {
    for arguments in "" "--nonsense a.tar"; do
        # shellcheck disable=SC2086 # words are meant
        run "$SHOAL" list $arguments
        [ "$status" -eq 2 ]
        [[ $output == "shoal list: "* ]]
    done
}

@test "--help answers on stdout, and the manual knows each option of it" {
    run --separate-stderr "$SHOAL" list --help
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == "Usage: shoal list "* ]]
    local page option
    page=$BATS_TEST_DIRNAME/../../man/shoal-list.1
    for option in $(grep -oE -- '--[a-z0-9-]+' <<<"$output" | sort -u); do
        [[ $option != --usage ]] || continue
        grep -qE -- "^\.It Fl (.* )?-${option#--}( |\$)" "$page" || { echo "not in the manual: $option" && false; }
    done
    run "$SHOAL" list --version
    [ "$status" -eq 0 ]
    [[ $output == "shoal "* ]]
}
