#!/usr/bin/env bats
# Where things go: cp's rule for FROM and TO, checked against cp -a itself.

load lib.bash

# The tree that each case starts from: files and directories, full and empty, and links to them.
make_world() {
    mkdir -p "$1"/{d/sub,e/sub,empty,other/d,deep/er}
    (
        cd "$1" || exit
        echo d-one >d/one
        echo d-two >d/sub/two
        echo e-one >e/one
        echo e-three >e/sub/three
        echo f >f
        echo g >g
        echo other-f >other/f
        echo other-d-one >other/d/four
        echo x >deep/er/x
        ln -s d to-d
        ln -s f to-f
        ln -s e to-e
        ln -s nowhere dangling
        ln -s loop loop
        chmod 750 d d/sub
        chmod 705 e
        find . -depth -exec touch -h -d 2002-03-04T05:06:07.5 {} +
    )
}

OLD=1500000000000000000

# as_cp ARGUMENT…: both, each in a world of its own, end alike and leave the same.
as_cp() {
    rm -rf want got
    [[ -d pristine ]] || make_world pristine
    cp -a pristine want
    cp -a pristine got
    local want=0 got=0 said
    said=$(cd want && cp -a "$@" 2>&1) || want=$?
    output=$(cd got && copy "$@" 2>&1) || got=$?
    [[ $got -ne 124 ]] || { fail "copy $*: hangs"; return 1; }
    if (( (want == 0) != (got == 0) )); then
        fail "copy $*: exits $got; cp exits $want" "copy said: $output" "cp said: $said"
        return 1
    fi
    # A name that cp writes over, a copy replaces: that shows in its directory's time, and may.
    same_tree want got --no-directory-times --old-times $OLD || fail "copy $* (>) is not as cp (<). copy said: $output" "cp said: $said"
}

# The last of each case's failures must not hide the others.
all_as_cp() {
    local failed=0
    while read -r line; do
        [[ -n $line ]] || continue
        # shellcheck disable=SC2086
        as_cp $line || failed=1
    done
    return $failed
}

@test "a new name" {
    all_as_cp <<'CASES'
d new
d/ new
d new/
d/ new/
d/. new
f new
f new/
to-d new
to-d/ new
to-f new
d deep/new
f deep/er/new
d nowhere/new
f nowhere/new
dangling new
loop new
d/sub/.. new
./d ./new
d//sub///two new
CASES
}

@test "into an existing directory" {
    all_as_cp <<'CASES'
d empty
d/ empty
d/. empty
d/ empty/
f empty
f empty/
f empty/new
to-d empty
to-d/ empty
to-d/. empty
to-f empty
dangling empty
loop empty
d/sub/.. empty
d/sub/../. empty
../got/../want/d empty
. empty/../../elsewhere
d other
f other
d to-e
f to-e
d to-e/
d/. to-e/.
d/. e
d e
e d
deep/er/x empty
deep/er empty
deep/./er/. empty
CASES
}

@test "several into a directory" {
    all_as_cp <<'CASES'
d e empty
f g empty
d f to-d empty
d/ e/ empty
d/. e/. empty
d f other
f g new
f g h
d e f
missing f empty
f missing empty
f g e/one
d f nowhere/at/all
CASES
}

@test "-t and --target-directory" {
    all_as_cp <<'CASES'
-t empty d
-t empty d f e
-t empty/ d/.
--target-directory=empty f g
-t to-e d
-t new d
-t f g
-t dangling f
-t empty
CASES
}

@test "-T and --no-target-directory" {
    all_as_cp <<'CASES'
-T d new
-T d e
-T d/ e/
-T d empty
-T d to-e/.
-T f new
-T f g
-T f empty
-T d f
-T to-d new
-T to-d/ e
-T d new/
--no-target-directory d e
-T d e f
-T missing new
CASES
}

@test "what is in the way: a file for a directory, a directory for a file" {
    all_as_cp <<'CASES'
f d/sub/..
d f
f other/f
f e/sub
-T d/sub e/one
-T e/one d/sub
-T f d
CASES
    make_world w
    mkdir w/d/one-in-the-way w/src
    mkdir w/src/clash
    echo inside >w/src/clash/inside
    echo rest >w/src/rest
    mkdir w/dst
    echo file >w/dst/clash
    run copy -T w/src w/dst
    status_is 1
    names_fault clash
    [[ $(cat w/dst/clash) == file && $(cat w/dst/rest) == rest ]]
    rm -r w/src/clash w/dst/clash
    echo file >w/src/clash
    mkdir w/dst/clash
    run copy -T w/src w/dst
    status_is 1
    names_fault clash
    [[ -d w/dst/clash && $(cat w/dst/rest) == rest ]]
}

@test "the same name twice" {
    all_as_cp <<'CASES'
f other/f empty
d other/d empty
d d empty
f f empty
CASES
}

@test "what stood there before the run, if only just, is not this run's: it is replaced" {
    local k
    mkdir d
    echo new >f
    for k in {1..20}; do
        rm -rf to
        mkdir to
        echo old >to/f
        run copy d f to
        status_is 0
        [[ $(cat to/f) == new ]]
    done
}

@test "overlays: of several FROM/. the last holds" {
    mkdir a b
    echo a >a/f
    echo b >b/f
    echo rest >a/g
    local k
    for k in {1..20}; do
        mkdir to
        run copy a/. b/. to
        status_is 0
        [[ $(cat to/f to/g) == $'b\nrest' ]]
        rm -r to
    done
}

@test "what does not exist" {
    all_as_cp <<'CASES'
missing new
missing empty
missing/ new
f/ new
f/. new
d/missing empty
CASES
}

@test "dangling and looping symbolic links at TO: never written through" {
    local to
    for to in dangling loop; do
        rm -rf w
        make_world w
        cd w
        run copy f "$to"
        [[ ! -e nowhere ]] || fail "written through $to"
        [[ $status -ne 0 || $(cat "$to") == f ]] || fail "exits 0, but $to is not the copy"
        rm -rf "$to"
        ln -s "$([[ $to == loop ]] && echo loop || echo nowhere)" "$to"
        run copy d "$to"
        status_is 1
        names_fault "$to"
        [[ ! -e nowhere && -L $to ]]
        run copy -T d "$to"
        status_is 1
        [[ ! -e nowhere && -L $to ]]
        run copy d f "$to"
        status_is 1 2
        [[ ! -e nowhere && -L $to ]]
        cd ..
    done
}

@test "wrong usage touches nothing and exits with 2" {
    make_world w
    cd w
    facts --ctime . >../before
    local arguments
    for arguments in "" "f" "-T f g new" "-t empty -T f" "--no-such-option f new" "--sparse=perhaps f new" "-j x f new" \
        "--preserve=nothing f new" "-n -u f g" "--bwlimit=fast f new" "--jobs=-1 f new"; do
        # shellcheck disable=SC2086
        run copy $arguments
        [[ $status -eq 2 ]] || [[ $arguments == "-n -u f g" ]] || fail "copy $arguments: exits $status, said: $output"
        [[ -n $output ]] || [[ $status -eq 0 ]] || fail "copy $arguments: says nothing"
        [[ $arguments == "-n -u f g" ]] || diff <(facts --ctime .) ../before
    done
}
