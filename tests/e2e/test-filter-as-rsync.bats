#!/usr/bin/env bats
# shellcheck disable=SC1003 # a pattern may end in a backslash
# The same rules let the same entries take part as with rsync, over names that are hard to match.
# SHOAL: the program under test (default: build/src/shoal). Needs no root, and no file system of its own.

bats_require_minimum_version 1.5.0

setup_file() {
    local here=$BATS_TEST_DIRNAME
    : "${SHOAL:=$here/../../build/src/shoal}"
    [[ $SHOAL == /* ]] || SHOAL=$PWD/$SHOAL
    export SHOAL LC_ALL=C
    command -v rsync >/dev/null || skip "no rsync here"
    [[ -x $SHOAL ]] || { echo "no program at $SHOAL"; return 1; }
    cd "$BATS_FILE_TMPDIR" || return
    make_tree from
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
}

# make_tree DIR: names with wildcards, brackets, backslashes, blanks and bytes that are no text.
make_tree() {
    local directory name
    local -a directories=(. a a/b a/b/c b b/a 'd*r' '[ab]' 'x y' $'new\nline' 'back\slash' .hidden a/.hidden dir dir/dir
        dir/sub/deep $'\xff\xfe' $'b/\xc3\xa9\xe9')
    local -a names=(f a.o .o b.o.c core core.1 'star*' '?' '[x]' ']' '!' '^' '- minus' '+ plus' '#hash' 'back\' '\*' 'A'
        'Z9' '_' $'tab\t' $'\n' $'\x7f' $'\xe9' $'\xc3\xa9' 'a-c' '-' '~' 'f~')
    for directory in "${directories[@]}"; do
        mkdir -p "$1/$directory"
        for name in "${names[@]}"; do
            [[ -e $1/$directory/$name ]] || : >"$1/$directory/$name"
        done
    done
    ln -s a "$1/link"
    ln -s nowhere "$1/dir/link"
    mkfifo "$1/fifo"
    mkdir "$1/b/core.d" "$1/a/b/dir" "$1/a/b/x.o"
    : >"$1/a/b/dir/f"
    : >"$1/a/b/x.o/f"
}

entries() { find "$1" -mindepth 1 -printf '%y %P -> %l\0' | sort -z; }

# same OPTION…: rsync and shoal copy make the same tree. Prints what differs.
same() {
    rm -rf by-rsync by-shoal
    rsync -a "$@" from/ by-rsync/ || return
    "$SHOAL" copy -T "$@" from by-shoal || { echo "shoal copy $*: exits $?"; return 1; }
    entries by-rsync >rsync.entries
    entries by-shoal >shoal.entries
    cmp -s rsync.entries shoal.entries && return
    printf 'with %q ' "$@"
    printf '\nby rsync (<) and by shoal (>):\n'
    diff <(tr '\n\0' '?\n' <rsync.entries) <(tr '\n\0' '?\n' <shoal.entries) | head -20
    return 1
}

@test "names" {
    same --exclude=f
    same --exclude=dir
    same --exclude=link
    same '--exclude=x y'
    same '--exclude=back\slash'
    same '--exclude=back\'
    same $'--exclude=\n'
    same $'--exclude=new\nline'
    same $'--exclude=\xe9'
    same '--exclude=]' '--exclude=!' '--exclude=^'
    same --exclude=
}

@test "wildcards in names" {
    same '--exclude=*'
    same '--exclude=*.o'
    same '--exclude=core*'
    same '--exclude=.*'
    same '--exclude=?'
    same '--exclude=??'
    same '--exclude=*a*'
    same '--exclude=*.?'
    same '--exclude=*~'
    same $'--exclude=*\n*'
}

@test "backslashes" {
    same '--exclude=\*'
    same '--exclude=\**'
    same '--exclude=star\*'
    same '--exclude=\\\*'
    same '--exclude=\?'
    same '--exclude=\[x\]' '--exclude=\[ab]'
    same '--exclude=back\\*'
    same '--exclude=back\*'
    same '--exclude=a\/[f]'
}

@test "character classes" {
    same '--exclude=[a-f]'
    same '--exclude=[!a-f]'
    same '--exclude=[^a-f]*'
    same '--exclude=[]^]'
    same '--exclude=[!]]'
    same '--exclude=[a-]' '--exclude=[[]x[]]'
    same '--exclude=[\]\^]'
    same '--exclude=[[:upper:]][[:digit:]]'
    same '--exclude=[[:punct:]]'
    same '--exclude=*[[:space:]]*'
    same '--exclude=[[:cntrl:]]' '--exclude=[[:alpha:]]'
    same $'--exclude=[\x80-\xff]*'
    same '--exclude=a[/]f' '--exclude=a[!x]f'
    same '--exclude=[z-a]'
}

@test "anchored, and with several components" {
    same --exclude=/f
    same --exclude=/a
    same '--exclude=/*'
    same '--exclude=/*/f'
    same --exclude=a/f
    same --exclude=b/a/f
    same '--exclude=a/*'
    same '--exclude=*/b/*.o'
    same '--exclude=dir/?*/f'
    same --exclude=/dir/dir
}

@test "directories alone" {
    same --exclude=a/
    same '--exclude=core*/'
    same '--exclude=*.o/'
    same --exclude=/dir/
    same --exclude=link/
    same '--exclude=*/'
    same --exclude=/
    same --exclude=a//
}

@test "two stars" {
    same '--exclude=**'
    same '--exclude=**.o'
    same '--exclude=a**'
    same '--exclude=**/dir'
    same '--exclude=**/a/**'
    same '--exclude=a/**'
    same '--exclude=/a/**/f'
    same '--exclude=dir/**/f'
    same '--exclude=**b**c**'
    same '--exclude=[**]'
    same '--exclude=/**/[[:alpha:]]'
}

@test "three stars" {
    same '--exclude=dir/***'
    same '--exclude=/dir/***'
    same '--exclude=a/b/***'
    same '--include=/a/***' '--exclude=*'
    same '--include=/a/' '--include=/a/b/***' '--exclude=*'
    same '--exclude=***'
}

@test "the first rule that matches decides" {
    same --include=a.o '--exclude=*.o'
    same '--exclude=*.o' --include=a.o
    same '--include=*/' '--include=*.o' '--exclude=*'
    same '--include=a/***' '--include=/b/' '--exclude=/*' '--exclude=core*'
    same '--exclude=/a/b' '--include=/a/b/c/***' '--exclude=/a/*'
    same '--include=dir/**/f' --include=dir '--exclude=dir/**'
}

@test "prefixes, and the list emptied" {
    same '--exclude=- minus'
    same '--exclude=+ plus' '--exclude=* plus'
    same '--include=- f'
    same '--exclude=[-] minus' '--exclude=[+] plus'
    same '--exclude=*' '--exclude=!' --exclude=f
}

@test "files of rules" {
    printf '%s\n' '# comment' '' '; another' '+ a.o' '*.o' '- core' '/dir/***' '[#]*' >rules
    same --exclude-from=rules
    printf '%s\n' '*/' '*.o' '- *' >rules
    same --include-from=rules
    printf '%s\0' 'f' $'new\nline' $'\n' '/a/b' >rules
    same --from0 --exclude-from=rules
}

@test "lists of names" {
    printf '%s\n' f a/f ./a//b/c/f '/dir/dir' 'back\slash/star*' 'back\slash/?' '[ab]/[x]' link >names
    same --files-from=names
    same --files-from=names '--exclude=star\*' --exclude=link
    printf '%s\0' $'new\nline/\n' $'\xff\xfe/\xe9' >names
    same --from0 --files-from=names
    : >names
    same --files-from=names
}

@test "a malformed pattern is wrong usage, and touches nothing" {
    local pattern
    for pattern in 'a[b' '[]' '[[:nonsense:]]' '*\'; do
        run "$SHOAL" copy -T "--exclude=$pattern" from refused
        [[ $status -eq 2 ]]
        [[ ! -e refused ]]
    done
}
