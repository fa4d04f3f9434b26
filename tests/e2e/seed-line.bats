#!/usr/bin/env bats
# The seed's line as it stands: tar cBpf - insight | ( cd t ; tar xBpf - ), with each of three tars at either end.

load lib.bash

setup() {
    enter
    "$SHOAL" make tree files=200,kb=20,per-directory=20 insight >/dev/null
    mkdir insight/extra
    ln insight/dir*0/f* insight/extra/ 2>/dev/null || true
    ln -s ../nowhere insight/extra/link
}

# line A B [OPTION…]: its two ends, and what rsync is not to look at.
line() {
    rm -rf t
    mkdir t
    run timeout -k 5 120 bash -o pipefail -c "$1 cBpf - insight | ( cd t ; $2 xBpf - )"
    status_is 0
    local said
    # bsdtar records whole seconds.
    said=$(rsync -aH --dry-run --itemize-changes --checksum --delete --modify-window=1 "${@:3}" insight/ t/insight/)
    [[ -z $said ]] || fail "$1 to $2 lost:" "$said"
}

@test "shoal tar at both ends" { line "$SHOAL tar" "$SHOAL tar"; }
@test "shoal tar writes, GNU tar reads" { line "$SHOAL tar" tar; }
@test "GNU tar writes, shoal tar reads" { line tar "$SHOAL tar"; }
@test "GNU tar at both ends" { line tar tar; }

@test "with bsdtar at one end or both" {
    command -v bsdtar >/dev/null || skip "no bsdtar here"
    for pair in "bsdtar bsdtar" "bsdtar tar" "tar bsdtar"; do
        # Directories that come again get other times by their doing.
        # shellcheck disable=SC2086 # two words
        line $pair --omit-dir-times
    done
    line bsdtar "$SHOAL tar"
    line "$SHOAL tar" bsdtar
}
