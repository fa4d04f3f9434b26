#!/usr/bin/env bats
# Names are bytes.

load lib.bash

@test "newlines, tabs, quotes, dashes, invalid UTF-8, 255 bytes and the rest" {
    "$E2E/make-everything" src names
    run copy src dst
    status_is 0
    same_tree src dst
}

@test "such names as FROM and TO" {
    local name
    mkdir src dst
    for name in $'new\nline' $'\xff\xfe' '*' '-dash' 'back\slash' ' '; do
        echo "$name" >"src/$name"
        run copy -- "src/$name" "dst/$name"
        status_is 0
        cmp -- "src/$name" "dst/$name"
    done
    cd src
    run copy -- -dash ../dst/other
    status_is 0
    [[ -f ../dst/other ]]
}

@test "an error line stays one line, and shows the name so that a shell reads it back" {
    needs_nobody
    chmod 777 .
    mkdir src
    local name=$'bad\nname \xff \'quoted\' \x1b[31m'
    echo secret >"src/$name"
    chmod 000 "src/$name"
    run --separate-stderr as_nobody "$SHOAL" copy src dst
    status_is 1
    local line
    line=$(grep -a '^shoal: cannot' <<<"$stderr")
    [[ $(wc -l <<<"$line") -eq 1 ]] || fail "lines: $stderr"
    [[ $line != *$'\x1b'* ]]
    # From the first quote on to the last, the name is a shell word.
    local word=${line#*\'}
    word="'${word%: *}"
    local back
    eval "back=$word"
    [[ $back == "src/$name" ]] || fail "'$word' reads back as '$back'"
}

@test "what is excluded by an odd name" {
    mkdir src
    echo a >"src/a b"
    echo b >$'src/new\nline'
    echo c >'src/[x]'
    run copy '--exclude=a b' $'--exclude=new\nline' '--exclude=\[x\]' -T src dst
    status_is 0
    [[ -z $(ls -A dst) ]] || fail "not excluded: $(ls -A dst)"
}
