#!/usr/bin/env bats
# shoal tar beside GNU tar itself. $SHOAL is the program.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LC_ALL=C TZ=UTC
    unset TAPE TAR_OPTIONS
    umask 022
    mkdir -p start/d/e/deep start/other
    cd start || return
    echo hi >d/f
    echo "longer text" >d/e/g
    : >d/e/deep/none
    ln -s f d/s
    ln d/f d/h
    echo x >d/x.o
    echo y >d/e/y.o
    echo z >other/z
    chmod 640 d/e/g
    chmod 4755 d/x.o
    chmod 1777 d/e/deep
    find . -exec touch -h -d '2003-04-05 06:07:08' {} +
    tar --format=gnu --sort=name -cf a.tar d
    chmod 755 d/e/deep # an existing sticky directory stays so under GNU tar
    touch -d '2003-04-05 06:07:08' d/e/deep
    cd ..
}

# What stands in a directory; times only where they are those of the archive.
facts() {
    (cd "$1" && find . ! -name '*.tar*' -printf '%P|%y|%m|%l|%Ty\n' | sort
        find . -type f ! -name '*.tar*' -print0 | sort -z | xargs -0r cksum)
}

# gnu|ours ARGUMENT…: runs it in a fresh copy of the start, with stdin from $input.
gnu() {
    rm -rf gnu && cp -a start gnu && cd gnu || return
    local status=0
    tar "$@" <"${input:-/dev/null}" >../gnu.out 2>../gnu.err || status=$?
    ((status <= 2)) || status=2 # GNU tar's 64: wrong usage
    # What names alone lose, links lose with them: GNU tar says so a second time.
    sed -i "s/'tar --help' or 'tar --usage'/\`tar --help' or \`tar --usage'/
        / from hard link targets\$/d" ../gnu.err
    cd .. && echo "exit $status" >>gnu.err
}

ours() {
    rm -rf ours && cp -a start ours && cd ours || return
    local status=0
    timeout -k 5 60 "$SHOAL" tar "$@" <"${input:-/dev/null}" >../ours.out 2>../ours.err || status=$?
    sed -i 's/^shoal tar: /tar: /; s/`shoal tar --/`tar --/g' ../ours.err
    cd .. && echo "exit $status" >>ours.err
}

# same ARGUMENT…: both say the same on stdout and on stderr, end with the same status and leave the
# same files.
same() {
    gnu "$@" && ours "$@" || return
    diff gnu.out ours.out && diff gnu.err ours.err && diff <(facts gnu) <(facts ours) || {
        echo "GNU tar (<) and shoal tar (>) differ: $*"
        return 1
    }
}

# same_archive ARCHIVE ARGUMENT…: as `same`, and what was written lists the same.
same_archive() {
    local archive=$1
    shift
    same "$@" || return
    diff <(tar tvf "gnu/$archive") <(tar tvf "ours/$archive") || {
        echo "the archives of GNU tar (<) and shoal tar (>) differ: $*"
        return 1
    }
}

# refused TEXT ARGUMENT…: wrong usage, and TEXT says why.
refused() {
    local text=$1
    shift
    run --separate-stderr "$SHOAL" tar "$@"
    [[ $status -eq 2 && $stderr == "shoal tar: "*"$text"* && -z $output ]] || {
        echo "$*: exit $status: $stderr"
        return 1
    }
}

# ---- listing ----

@test "t: names, and with v mode, owner, size, time and targets" {
    same tf a.tar
    same tvf a.tar
    same tvvf a.tar
    same tvf a.tar --numeric-owner
    same tvf a.tar --full-time
    TZ=Asia/Tokyo same tvf a.tar
    TZ=Asia/Tokyo same tvf a.tar --utc
}

@test "t: columns grow with what they hold, and stay so" {
    (cd start && tar --format=gnu --sort=name --owner=a-long-user-name:1 --group=another-long-name:2 -cf wide.tar d/f d/x.o &&
        tar --format=gnu -rf wide.tar --owner=root:0 --group=root:0 d/e)
    same tvf wide.tar
}

@test "t: names of members take what is below them; those that are not there are told" {
    same tf a.tar d/e
    same tf a.tar d/e/ d/f
    same tf a.tar ./d
    same tf a.tar nope d/f 'no:pe'
    same tf a.tar d/fx e
    same tf a.tar d/e/deep d/x.o
}

@test "t: patterns of members" {
    same tf a.tar 'd/*.o'
    same tf a.tar --wildcards '*.o'
    same tf a.tar --wildcards 'd/[ef]' 'q*'
    same tf a.tar --wildcards --no-wildcards-match-slash 'd/*.o'
    same tf a.tar --no-anchored g deep
    same tf a.tar --ignore-case D/E
    same tf a.tar --wildcards --ignore-case --no-anchored 'DE*'
    same tf a.tar --no-wildcards 'd/*.o'
}

@test "odd names are escaped as the locale asks for" {
    cd start && mkdir odd && cd odd
    touch "$(printf 'a\nb\tc\\d\001\177\r\a\b\f\v')" "$(printf '\303\251')" "$(printf '\377\376')" 'x:y' "q'r z" 'é ü"'
    cd .. && tar --format=gnu --sort=name -cf odd.tar odd && cd ..
    same tf odd.tar
    LC_ALL=C.UTF-8 same tf odd.tar
    LC_ALL=C.UTF-8 same tvf odd.tar
    same cvf new.tar --sort=name odd
    LC_ALL=C.UTF-8 same cvf new.tar --sort=name odd
    same cf new.tar "no:$(printf 'p\351\n')e"
    LC_ALL=C.UTF-8 same tf odd.tar "$(printf 'n\303\251:\351')"
}

# ---- writing ----

@test "c: names as they are recorded, and the archive that comes of it" {
    same_archive new.tar cvf new.tar --sort=name d other
    same_archive new.tar cf new.tar --sort=name d
    same_archive new.tar cvf new.tar d/e/ ./other --sort=name
    same_archive new.tar cvf new.tar d/f d/f
    same_archive new.tar cvhf new.tar d/s
    same_archive new.tar cvf new.tar --no-recursion d other
    same_archive new.tar cvf new.tar --one-file-system --sort=name d
    same_archive new.tar cvf new.tar --hard-dereference --sort=name d
}

@test "cvv: the long form of what is written" {
    same cvvf new.tar --sort=name d
}

@test "c: the archive itself takes no part" {
    same cvf new.tar --sort=name .
}

@test "C: a place for the names behind it, from the place before" {
    same_archive new.tar cvf new.tar --sort=name -C d f -C e g
    same_archive new.tar cvf new.tar --sort=name -C d e -C .. other
    same_archive new.tar cvf new.tar --sort=name -C "$PWD/start/other" z
    same_archive new.tar cvf new.tar --sort=name d/f --directory=other z
    same cvf new.tar -C nope f
    same cvf new.tar -C d f nope
}

@test "T: names from a file, with -C in it" {
    printf 'd/f\n-C d\ne/g\n\n--directory=..\nother\n' >start/list
    printf 'd/f\0other\0' >start/null
    printf -- '--foo\n' >start/dashes
    printf 'd/e/g\n\\144/f\n' >start/escapes
    : >start/empty
    same_archive new.tar cvf new.tar -T list --sort=name
    same_archive new.tar cvf new.tar --null -T null --sort=name
    same_archive new.tar cvf new.tar -C d f -C .. -T escapes
    same cvf new.tar -T dashes
    same cvf new.tar --verbatim-files-from -T dashes
    same cvf new.tar --no-unquote -T escapes
    same_archive new.tar cvf new.tar -T empty
    same cvf new.tar -T nope
    same cvf new.tar -T null
    input=start/escapes same_archive new.tar cvf new.tar -T -
    same xvf a.tar -T escapes
    same tvf a.tar --files-from=escapes
}

@test "exclude: patterns match after any slash and take what is below" {
    local pattern
    for pattern in d/e e e/ ./d/e d/e/ /e '*' 'd/*' '*.o' 'd/*.o' d/e/g '[ef]' '\e' 'e/*' 'd/e/deep/' deep; do
        same_archive new.tar cvf new.tar --sort=name --exclude="$pattern" d ./other
        same tf a.tar --exclude="$pattern"
    done
    same cvf new.tar --sort=name --anchored --exclude=e --exclude=d/x.o d
    same cvf new.tar --sort=name --no-wildcards --exclude='*' --exclude=e d
    same cvf new.tar --sort=name --no-wildcards-match-slash --exclude='d/*.o' d
    same cvf new.tar --sort=name --ignore-case --exclude=E d
    same cvf new.tar --sort=name --exclude=d/e -- d
    same xvf a.tar --exclude=e
    same xvf a.tar d/e --exclude='*.o'
}

@test "exclude: a name that is given with a leading slash or .. is matched as given" {
    local here=$PWD/start
    same cvf new.tar --sort=name --exclude="$here/d/e" "$here/d"
    same cvf new.tar --sort=name --exclude=../start/d/e -C d ../../start/d
    same cvf new.tar --sort=name --exclude="$here/d/*.o" "$here/d/"
}

@test "X: patterns from a file; version control and backups" {
    printf 'e  \n#f\n\n*.o\n' >start/patterns
    mkdir start/d/.git && touch start/d/.git/x start/d/.gitignore start/d/old~ start/d/.#lock
    same cvf new.tar --sort=name -X patterns d
    input=start/patterns same cvf new.tar --sort=name -X - d
    same cvf new.tar -X nope d
    same cvf new.tar --sort=name --exclude-vcs d
    same cvf new.tar --sort=name --exclude-backups d
}

@test "owner, group, mtime: one for all" {
    local how
    for how in 0 1234 root daemon no-such:77 no-such :9 12:13; do
        same_archive new.tar cf new.tar --owner="$how" --group="$how" d/f
        same_archive new.tar cf new.tar --numeric-owner --owner="$how" --group="$how" d/f
    done
    for how in @5 @5.25 @-1.5 2020-01-31 '2020-02-29 12:00:01' '2020-01-01 12:00' 2020-01-01T12:00:00Z \
        '2020-01-01 12:00:00Z' '2020-01-01 12:00:00 +0200' '2020-01-01 12:00:00.5-03:30' ./d/e /; do
        TZ=Asia/Tokyo same_archive new.tar cf new.tar --mtime="$how" d/f
    done
    refused "Invalid owner" cf new.tar --owner=root:x d
    refused "--mtime=soon" cf new.tar --mtime=soon d
    refused "--mtime=2021-02-29" cf new.tar --mtime=2021-02-29 d
    refused "No such file" cf new.tar --mtime=./nope d
}

@test "format: pax unless another is asked for; each keeps what it can" {
    cd start
    touch -d '2003-04-05 06:07:08.123456789' d/f
    "$SHOAL" tar cf pax.tar d/f
    [[ $(tar tvf pax.tar --full-time) == *06:07:08.123456789* ]]
    local format
    for format in gnu oldgnu ustar; do
        "$SHOAL" tar cf "$format.tar" --format="$format" d/f
        [[ $(tar tvf "$format.tar" --full-time) == *"06:07:08 "* ]]
        "$SHOAL" tar -c -H "$format" -f again.tar d/f
        cmp "$format.tar" again.tar
    done
    [ "$(dd if=gnu.tar bs=1 skip=257 count=8 status=none | od -An -c | tr -d ' ')" = 'ustar\0' ]
    "$SHOAL" tar cf posix.tar --posix d/f
    cmp posix.tar pax.tar
    refused "v7: this format is read, not written" cf new.tar --format=v7 d
    refused "v7: " cof new.tar d
    refused "nope: Invalid archive format" cf new.tar --format=nope d
    refused "pax format" cf new.tar --format=gnu --xattrs d
}

@test "b: the archive ends at a whole record" {
    cd start
    "$SHOAL" tar cf new.tar d/f
    [ "$(stat -c %s new.tar)" -eq 10240 ]
    "$SHOAL" tar cbf 1 new.tar --format=gnu d/f
    [ "$(stat -c %s new.tar)" -eq 2048 ]
    "$SHOAL" tar -c --blocking-factor=100 -f new.tar d/f
    [ "$(stat -c %s new.tar)" -eq 51200 ]
    "$SHOAL" tar cf new.tar --record-size=1K --format=gnu d/f
    [ "$(stat -c %s new.tar)" -eq 2048 ]
    cd ..
    same cf new.tar -b x d
    same cf new.tar -b 0 d
    refused "multiple of 512" cf new.tar --record-size=1000 d
}

@test "compression: by flag, by name, by program; reading finds out by itself" {
    cd start
    local flag magic
    while read -r flag magic; do
        "$SHOAL" tar -c "$flag" -f new d
        [ "$(head -c "$((${#magic} / 2))" new | od -An -tx1 | tr -d ' \n')" = "$magic" ] || { echo "$flag" && false; }
        [ "$("$SHOAL" tar tf new | sort)" = "$(tar tf a.tar | sort)" ]
        [ "$("$SHOAL" tar xzOf new d/e/g)" = "longer text" ]
    done <<<'-z 1f8b
--gzip 1f8b
-j 425a68
-J fd377a58
--zstd 28b52ffd
--lz4 04224d18
-Igzip 1f8b
-Izstd 28b52ffd'
    local name
    while read -r name magic; do
        "$SHOAL" tar -caf "$name" d
        [ "$(head -c "$((${#magic} / 2))" "$name" | od -An -tx1 | tr -d ' \n')" = "$magic" ] || { echo "$name" && false; }
    done <<<'x.tar.gz 1f8b
x.tgz 1f8b
x.tar.bz2 425a68
x.tbz2 425a68
x.tar.xz fd377a58
x.txz fd377a58
x.tar.zst 28b52ffd
x.tar.lz4 04224d18'
    for name in x.tar x x.gz/x; do
        mkdir -p x.gz
        "$SHOAL" tar -caf "$name" d
        [ "$(dd if="$name" bs=1 skip=257 count=5 status=none)" = ustar ]
    done
    "$SHOAL" tar -c -I 'zstd -19 -T0' -f new d
    [ "$(head -c 4 new | od -An -tx1 | tr -d ' \n')" = 28b52ffd ]
    cd ..
    same cvzf new.tar -j d
    refused "read, not written" cf new.tar.lzma -a d
    refused "read, not written" cf new.tar --lzip d
    refused "-I frob" cf new.tar -I frob d
}

@test "a leading slash or .. is left out of names, and that is said once" {
    same_archive new.tar cvf new.tar --sort=name "$PWD/start/d/e" "$PWD/start/other"
    same_archive new.tar cvf new.tar -C d ../d/e/g ../../start/d/x.o
    same_archive new.tar cvPf new.tar "$PWD/start/d/e/g"
    tar cPf start/absolute.tar "$PWD/start/other"
    same tf absolute.tar
    same tPf absolute.tar
    same xvf absolute.tar
}

@test "xattrs: kept only when asked for" {
    cd start
    setfattr -n user.kind -v test d/f 2>/dev/null || skip "no extended attributes here"
    "$SHOAL" tar cf without.tar d/f
    "$SHOAL" tar cf with.tar --xattrs d/f
    run ! grep -q SCHILY.xattr without.tar
    grep -q SCHILY.xattr.user.kind with.tar
    mkdir x y z
    "$SHOAL" tar xf with.tar -C x
    "$SHOAL" tar xf with.tar --xattrs-include='*' -C y
    tar xf with.tar --xattrs -C z
    [ "$(getfattr x/d/f)" = "" ]
    [ "$(getfattr --only-values -n user.kind y/d/f)" = test ]
    [ "$(getfattr --only-values -n user.kind z/d/f)" = test ]
}

@test "ACLs: kept only when asked for" {
    cd start
    setfacl -m u:1234:r d/f 2>/dev/null || skip "no ACLs here"
    "$SHOAL" tar cf without.tar d/f
    "$SHOAL" tar cf with.tar --acls d/f
    run ! grep -q SCHILY.acl without.tar
    grep -q SCHILY.acl.access with.tar
    mkdir x y
    "$SHOAL" tar xpf with.tar -C x
    "$SHOAL" tar xpf with.tar --acls -C y
    [ "$(getfacl -sp x/d/f)" = "" ]
    [[ $(getfacl -p y/d/f) == *user:1234:r--* ]]
}

# ---- extracting ----

@test "x: all of it, and parts" {
    tar -C start -cf start/b.tar other
    same xf a.tar
    same xvf a.tar -C other
    same xvvf a.tar -C other
    same xvf a.tar -C other d/e d/x.o
    same xvf a.tar -C other nope d/f
    same xvf a.tar -C nope
    same xvf b.tar -C d other -C e
    same xf a.tar -C other d/x.o -C ../d d/e/g # told in the order of directories
    same xmvf a.tar -C other
    gzip -k start/a.tar
    same xvzf a.tar.gz -C other
    same xpf a.tar -C other
    same xf a.tar -C other --no-same-permissions
}

@test "x: -C between names cannot be had from a pipe, and is refused" {
    cd start
    run bash -c 'cat a.tar | "$SHOAL" tar xf - -C other d/x.o -C ../d d/e/g'
    [ "$status" -eq 2 ]
    [[ $output == *"-C between names"* ]]
    [ ! -e other/d ]
}

@test "strip-components and one-top-level" {
    same xvf a.tar -C other --strip-components=1 --exclude=h
    same xvf a.tar -C other --strip-components=2
    same xvf a.tar -C other --strip-components=9
    same tf a.tar --strip-components=1
    same xvf a.tar --one-top-level --exclude=h
    same xvf a.tar --one-top-level=d
    same xvf a.tar --one-top-level=q/z
    same xvf a.tar --one-top-level=q --strip-components=1 d/e
    # Links between members put below the top hold, where GNU tar's do not: so h takes no part.
    same xvf a.tar --one-top-level -C other --exclude=h
    gzip -k start/a.tar && mv start/a.tar.gz start/b.tar.gz && cp start/b.tar.gz start/c.tgz
    same xvf b.tar.gz --one-top-level --exclude=h
    same xvf c.tgz --one-top-level --exclude=h
    input=start/a.tar same xf - --one-top-level
    input=start/a.tar same xf - --one-top-level=t --exclude=h
    ours xf a.tar --one-top-level=t
    [ ours/t/d/f -ef ours/t/d/h ]
    same xf a.tar -C other --strip-components=x
}

@test "O: content to standard output, in the archive's order" {
    same xOf a.tar d/e d/x.o
    same xOvf a.tar d/e/g
    same xvf a.tar -O --exclude=e
    run bash -c '"$SHOAL" tar xOf start/a.tar >/dev/full'
    [ "$status" -eq 2 ]
}

@test "files that stand there: replaced, an error, left alone, kept if newer" {
    echo new >start/d/x.o && touch -d 2020-01-01 start/d/x.o
    echo old >start/d/f && touch -d 1999-01-01 start/d/f # d/h as well
    rm start/d/e/g
    same xf a.tar
    local how
    for how in -U --overwrite --unlink-first; do
        ours -x "$how" -f a.tar
        [ "$(cat ours/d/x.o)" = x ]
        grep -q '^exit 0$' ours.err
    done
    same xkvf a.tar d/e/g d/f d/x.o
    same xf a.tar --skip-old-files d/e/g d/f d/x.o
    same x --keep-old-files -f a.tar d/x.o
    ours x --keep-newer-files -f a.tar
    [ "$(cat ours/d/x.o)" = new ]
    [ "$(cat ours/d/f)" = hi ]
    [ "$(cat ours/d/e/g)" = "longer text" ]
}

@test "an unprivileged user: the umask applies unless -p, owners are not kept" {
    [ "$EUID" -eq 0 ] || skip "needs root to become somebody else"
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }
    nobody test -x "$SHOAL" || skip "an unprivileged user cannot run $SHOAL"
    nobody test -r start/a.tar || skip "an unprivileged user cannot come here"
    local how
    for how in xf xpf; do
        rm -rf one two && mkdir one two && chown 65534 one two
        # Set-ID bits are not given to a file whose owner is not kept.
        (umask 027 && nobody tar "$how" start/a.tar -C one && chmod u-s one/d/x.o)
        (umask 027 && nobody "$SHOAL" tar "$how" start/a.tar -C two 2>two.err)
        diff <(cd one && find . -printf '%P %m %u %g\n' | sort) <(cd two && find . -printf '%P %m %u %g\n' | sort)
        [[ $how == xf ]] || grep -q '^shoal tar: set-ID bits not kept for 1 file' two.err
    done
}

# ---- the command line ----

@test "the line of old: letters without a dash, through a pipe" {
    cd start && mkdir copy
    "$SHOAL" tar cBpf - d | (cd copy && "$SHOAL" tar xBpf -)
    diff <(facts d) <(facts copy/d)
    "$SHOAL" tar cf - d | tar tf - >/dev/null
}

@test "letters take their arguments in their order; options are bundled, abbreviated, permuted" {
    same cvbf 4 new.tar --sort=name d
    same cvfb new.tar 4 --sort=name d
    same -cvfnew.tar --sort=name d
    same -cvf new.tar --sort=name d
    same -v d -c --sort name -f new.tar other
    same --create --verbose --fil=new.tar --sor=name d
    same cvf new.tar -- d/f -x
    same cvf new.tar d/f --add-file=-x
    same --extract --verbose --file a.tar d/f
    same --get -vfa.tar
    same tfv a.tar
    (cd start && TAPE=a.tar "$SHOAL" tar t >../tape && tar tf a.tar | diff - ../tape)
}

@test "v goes to stderr where the archive goes to stdout" {
    cd start
    run --separate-stderr bash -c '"$SHOAL" tar cvf - d/f d/e/g | tar tf -'
    [ "$output" = $'d/f\nd/e/g' ]
    [ "$stderr" = $'d/f\nd/e/g' ]
}

@test "no archive goes to a terminal or comes from one" {
    command -v script >/dev/null || skip "no script(1)"
    run script -qec '"$SHOAL" tar c start' /dev/null
    [[ $output == *"Refusing to write archive contents to terminal (missing -f option?)"* ]]
    [ "$status" -eq 2 ]
    run script -qec '"$SHOAL" tar x' /dev/null
    [[ $output == *"Refusing to read archive contents from terminal (missing -f option?)"* ]]
    [ "$status" -eq 2 ]
}

@test "what cannot be done is told in GNU tar's words" {
    head -c 500 /dev/zero | tr '\0' x >start/junk
    head -c 100000 /dev/urandom >start/big && tar -C start -cf - big | head -c 50000 >start/cut.tar
    same cf new.tar nope d/f
    same cf new.tar nope
    same cf /nope/new.tar d
    same xf nope.tar
    same tf junk
    same xf junk
    ours tf cut.tar
    grep -q '^tar: Unexpected EOF in archive$' ours.err
    grep -q '^exit 2$' ours.err
    run "$SHOAL" tar xf start/d
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "shoal tar: start/d: Cannot read: Is a directory" ]]
    run bash -c '"$SHOAL" tar cf - start/d >/dev/full'
    [ "$status" -eq 2 ]
    run bash -c '"$SHOAL" tar tf start/a.tar >/dev/full'
    [ "$status" -eq 2 ]
}

@test "unreadable files are named, the rest is done" {
    [ "$EUID" -ne 0 ] || skip "root reads everything"
    chmod 000 start/d/x.o
    cd start
    local gnu=0 ours=0
    tar cvf ../gnu.tar --sort=name d >../gnu.out 2>../gnu.err || gnu=$?
    "$SHOAL" tar cvf ../ours.tar --sort=name d >../ours.out 2>../ours.err || ours=$?
    sed -i 's/^shoal tar: /tar: /' ../ours.err
    diff ../gnu.err ../ours.err
    [ "$gnu" -eq 2 ] && [ "$ours" -eq 2 ]
    diff <(tar tf ../gnu.tar) <(tar tf ../ours.tar)
}

@test "wrong usage: exit 2, and nothing is touched" {
    same cf new.tar
    same xf
    same -xf
    same xbf
    same cf new.tar --foo d
    same cf new.tar -H nope d
    refused "You must specify one of"
    refused "You must specify one of" f a.tar
    refused "You may not specify more than one" tcf new.tar d
    refused "more than one archive" cf new.tar -f other.tar d
    refused "--sort=inode" cf new.tar --sort=inode d
    refused "--sort=size" cf new.tar --sort=size d
    refused "--xattrs-include=user.a" xf new.tar --xattrs-include=user.a
    refused "--warning=all" cf new.tar --warning=all d
    [ ! -e new.tar ]
}

@test "options that are not had are named, with what is done instead" {
    local option
    for option in -r -u -A -W -M -G -w -l -R --delete --diff --remove-files --recursive-unlink --selinux \
        --no-overwrite-dir --show-transformed-names --exclude-caches --ignore-failed-read --checkpoint; do
        refused "${option#-}" "$option" -f new.tar d
    done
    refused "-d (--diff): " df new.tar
    refused "--transform: names are kept" cf new.tar --transform=s/a/b/ d
    refused "-V (--label): " cVf label new.tar d
    refused "-g (--listed-incremental): " cgf snapshot new.tar d
    [ ! -e new.tar ]
}

@test "totals: the bytes of content" {
    cd start
    run --separate-stderr "$SHOAL" tar cf new.tar --totals d/f d/e/g
    [ "$status" -eq 0 ]
    [ "$stderr" = "Total bytes written: 15" ]
    run --separate-stderr "$SHOAL" tar xf new.tar --totals -C other
    [ "$stderr" = "Total bytes read: 15" ]
}

@test "ignore-zeros: archives one behind the other" {
    (cd start && tar cf b.tar other && cat a.tar b.tar >both.tar)
    same tf both.tar
    same tif both.tar
    same xivf both.tar
}

@test "what is accepted because it is so anyhow" {
    same_archive new.tar cvSf new.tar --sort=name --no-selinux --no-seek --force-local d
    same xvBf a.tar --delay-directory-restore --no-xattrs --no-acls --overwrite-dir
    same tnf a.tar
    same xsf a.tar
}

@test "--help answers on stdout, and the manual knows each option of it" {
    run --separate-stderr "$SHOAL" tar --help
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == "Usage: shoal tar "* ]]
    local page option
    page=$BATS_TEST_DIRNAME/../../man/shoal-tar.1
    for option in $(grep -oE -- '--[a-z0-9-]+' <<<"$output" | sort -u); do
        grep -qE -- "^\.It Fl (.* )?-${option#--}( |\$)" "$page" || { echo "not in the manual: $option" && false; }
    done
    run "$SHOAL" tar --version
    [ "$status" -eq 0 ]
    [[ $output == "shoal "* ]]
}
