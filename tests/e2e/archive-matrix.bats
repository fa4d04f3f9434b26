#!/usr/bin/env bats
# Others read what we write with nothing lost, and we read what they write: GNU tar, bsdtar, Python's tarfile, GNU cpio.

load lib.bash

# Every kind of entry that tar has.
setup() {
    enter
    local n
    n=$(printf 'n%.0s' {1..120})
    mkdir -p "src/$n/$n" src/dir
    echo content >src/file
    : >src/empty
    head -c 70000 /dev/urandom >src/dir/large
    ln src/file src/dir/hard
    ln -s ../file src/dir/soft
    ln -s "$n/$n/$n" src/long-link
    echo deep >"src/$n/$n/$n"
    ln "src/$n/$n/$n" src/far-hard
    printf odd >src/dir/$'new\nline'
    mkfifo src/fifo
    mknod src/char c 1 3
    mknod src/block b 7 200
    truncate -s 3M src/holes
    printf x | dd of=src/holes bs=1 seek=1500000 conv=notrunc status=none
    chmod 4750 src/file
    chown 70000:80000 src/empty
    chown -h 5:6 src/dir/soft
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.123456789' {} +
}

with_xattrs() {
    setfattr -n user.name -v value src/file 2>/dev/null || skip "no extended attributes here"
    setfattr -n user.bytes -v 0x00ff0a3d00 src/dir
    setfacl -m u:1000:rw,g:2000:r src/empty
    setfacl -d -m u:1000:rwx src/dir
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.123456789' {} +
}

# needs PROGRAM
needs() { command -v "$1" >/dev/null || skip "no $1 here"; }

# rsync_agrees TO [OPTION…]: nothing of src is lost.
rsync_agrees() {
    local said
    said=$(rsync -aH --numeric-ids --dry-run --itemize-changes --checksum --delete "${@:2}" src/ "$1/" 2>&1)
    [[ -z $said ]] || fail "rsync would change:" "$(head -n 30 <<<"$said")"
}

ours() { # ours FROM TO [OPTION…]
    run copy "${@:3}" "$1" "$2"
    status_is 0
}

@test "pax of ours: read by GNU tar" {
    with_xattrs
    setfattr -n user.a=b%3D%25% -v odd src/dir/large
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.123456789' {} +
    ours src x.tar -T
    mkdir dst
    tar xpf x.tar -C dst --xattrs --xattrs-include='*' --acls --numeric-owner
    rsync_agrees dst -AX --modify-window=-1
    tar df x.tar -C src --numeric-owner
}

@test "pax of ours: read by bsdtar" {
    needs bsdtar
    with_xattrs
    ours src x.tar
    mkdir dst
    bsdtar -xpf x.tar -C dst --numeric-owner
    rsync_agrees dst/src -AX
}

@test "pax of ours: a long name that is no text, read by bsdtar without complaint" {
    needs bsdtar
    local n
    n=$(printf 'n%.0s' {1..150})$'\xff'
    mkdir odd
    echo content >"odd/$n"
    ln -s "$n" odd/link
    ours odd x.tar
    run bsdtar -xf x.tar
    status_is 0
    [ -z "$output" ]
}

@test "pax of ours: read by Python" {
    needs python3
    ours src x.tar -T
    python3 - <<'P'
import os, stat, tarfile
with tarfile.open('x.tar') as tar:
    members = {m.name: m for m in tar.getmembers()}
    assert members, 'nothing in it'
    seen = {}
    for top, dirs, files in os.walk('src'):
        for name in dirs + files:
            path = os.path.join(top, name)
            m, st = members.pop('./' + os.path.relpath(path, 'src')), os.lstat(path)
            assert (m.mode, m.uid, m.gid) == (stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid), path
            assert abs(m.mtime - st.st_mtime) < 1e-5, path
            if m.islnk():
                assert os.path.samefile(path, os.path.join('src', m.linkname)), path
            elif stat.S_ISREG(st.st_mode):
                assert m.isfile() and tar.extractfile(m).read() == open(path, 'rb').read(), path
            elif stat.S_ISLNK(st.st_mode):
                assert m.issym() and m.linkname == os.readlink(path), path
            elif stat.S_ISDIR(st.st_mode):
                assert m.isdir(), path
            elif stat.S_ISFIFO(st.st_mode):
                assert m.isfifo(), path
            else:
                assert m.isdev() and os.makedev(m.devmajor, m.devminor) == st.st_rdev, path
    assert list(members) in ([], ['.']), members
P
}

@test "gnu of ours: read by GNU tar and bsdtar" {
    find src -depth -exec touch -h -d '2003-04-05 06:07:08' {} + # it has whole seconds
    ours src x.tar --format=gnu
    mkdir dst
    tar xpf x.tar -C dst --numeric-owner
    rsync_agrees dst/src --modify-window=-1
    [ "$(du -k dst/src/holes | cut -f1)" -lt 1000 ]
    needs bsdtar
    mkdir again
    bsdtar -xpf x.tar -C again --numeric-owner
    rsync_agrees again/src --modify-window=-1
}

@test "ustar of ours holds what it can, and names the rest" {
    run copy -T --format=ustar src x.tar
    status_is 1
    names_fault src/long-link
    mkdir dst
    tar xpf x.tar -C dst --numeric-owner
    cmp src/dir/large dst/dir/large
    cmp src/holes dst/holes
}

@test "cpio of ours: read by GNU cpio and bsdtar" {
    needs cpio
    ours src x.cpio
    mkdir dst
    (cd dst && cpio -idm --quiet <../x.cpio)
    # cpio leaves links' and directories' own times as they come.
    rsync_agrees dst/src --omit-dir-times --omit-link-times --no-specials --no-devices --exclude=fifo --exclude=char --exclude=block
    needs bsdtar
    mkdir again
    bsdtar -xpf x.cpio -C again --numeric-owner
    rsync_agrees again/src --omit-link-times
    rm -rf dst
    ours x.cpio dst --devices
    rsync_agrees dst/src
}

@test "each format of GNU tar, read by us" {
    for format in gnu oldgnu pax; do
        tar cf x.tar --format=$format -S -C src .
        rm -rf dst
        ours x.tar dst --devices
        rsync_agrees dst
        [ "$(du -k dst/holes | cut -f1)" -lt 1000 ]
        rm -rf dst
        # shellcheck disable=SC2016
        run bash -o pipefail -c 'cat x.tar | timeout -k 5 60 "$SHOAL" copy --devices - dst'
        status_is 0
        rsync_agrees dst
    done
    for version in 0.0 0.1 1.0; do
        tar cf x.tar --format=pax -S --sparse-version=$version -C src .
        rm -rf dst
        ours x.tar dst --devices
        rsync_agrees dst --modify-window=-1
        [ "$(du -k dst/holes | cut -f1)" -lt 1000 ]
    done
    for format in ustar v7; do
        tar cf x.tar --format=$format -C src dir/large holes empty
        rm -rf dst
        ours x.tar dst
        cmp src/dir/large dst/dir/large
        cmp src/holes dst/holes
    done
}

@test "attributes and ACLs of GNU tar and bsdtar, read by us" {
    with_xattrs
    tar cf x.tar --format=pax --xattrs --acls -C src .
    ours x.tar dst --devices
    rsync_agrees dst -AX --modify-window=-1
    needs bsdtar
    bsdtar -cf y.tar --format pax -C src .
    ours y.tar again --devices
    rsync_agrees again -AX --modify-window=-1
}

@test "Python's tarfile, read by us" {
    needs python3
    for format in PAX GNU USTAR; do
        (cd src && python3 -c "
import os, tarfile
with tarfile.open('../x.tar', 'w', format=tarfile.${format}_FORMAT) as tar:
    for name in (['dir', 'file', 'empty', 'fifo'] if '$format' == 'USTAR' else os.listdir('.')):
        tar.add(name)
")
        rm -rf dst
        ours x.tar dst --devices
        cmp src/dir/large dst/dir/large
        cmp src/file dst/file
        [ dst/file -ef dst/dir/hard ]
        [ $format = USTAR ] || rsync_agrees dst --omit-dir-times --modify-window=1
    done
}

@test "cpio of GNU cpio in each format, hard links with the content last, read by us" {
    needs cpio
    rm src/dir/$'new\nline'
    local highest
    highest=$(find src -printf '%i\n' | sort -n | tail -n 1)
    for format in newc crc odc bin; do
        # cpio cuts inode numbers off that these have no room for: files then seem to be links of each other.
        [[ $format == odc && $highest -ge 262144 ]] && continue
        [[ $format == bin && $highest -ge 65536 ]] && continue
        [ $format != bin ] || rm -rf src/char src/block src/fifo
        # `bin` has no room for these.
        [ $format != bin ] || chown 0:0 src/empty
        (cd src && find . | cpio -o -H $format --quiet >../x.cpio) 2>/dev/null
        rm -rf dst
        ours x.cpio dst --devices
        [ dst/file -ef dst/dir/hard ]
        cmp src/file dst/file
        cmp src/far-hard dst/far-hard
        cmp src/dir/large dst/dir/large
    done
}

@test "zip and 7z, names beyond ASCII among them, read by us" {
    needs bsdtar
    mkdir z
    cp src/dir/large z/$'gr\xc3\xbc\xc3\x9fe'
    mkdir z/d
    echo two >z/d/two
    chmod 640 z/d/two
    for ending in zip 7z; do
        LC_ALL=C.UTF-8 bsdtar -a -cf x.$ending z
        rm -rf dst
        ours x.$ending dst
        diff -r z dst/z
        [ $ending = 7z ] || [ "$(stat -c %a dst/z/d/two)" = 640 ]
    done
    # A zip can be read from a pipe, a 7z cannot.
    rm -rf dst
    # shellcheck disable=SC2016
    run bash -o pipefail -c 'cat x.zip | timeout -k 5 60 "$SHOAL" copy - dst'
    status_is 0
    diff -r z dst/z
}

@test "a sparse file in ranges of any length is converted whole" {
    needs python3
    python3 - <<'P'
def octal(n, size): return (b'%0*o' % (size - 1, n)) + b'\0'
def block(name, kind, size):
    b = bytearray(512)
    b[0:len(name)] = name
    b[100:108], b[108:116], b[116:124] = octal(0o644, 8), octal(0, 8), octal(0, 8)
    b[124:136], b[136:148], b[148:156] = octal(size, 12), octal(7, 12), b' ' * 8
    b[156:157] = kind
    b[257:265] = b'ustar\x0000'
    b[148:156] = b'%06o\0 ' % sum(b)
    return bytes(b)
def padded(data): return data + bytes(-len(data) % 512)
def record(key, value):
    n = len(key) + len(value) + 3
    total = n + len(str(n))
    total = n + len(str(total))
    return b'%d %s=%s\n' % (total, key, value)
size, ranges = 9000, [(100, 50), (1000, 300), (1500, 36), (4096, 512), (8191, 3), (8999, 1)]
whole, data = bytearray(size), b''
for start, length in ranges:
    piece = bytes((start + i) % 255 + 1 for i in range(length))
    whole[start:start + length] = piece
    data += piece
maps = padded(b'%d\n' % len(ranges) + b''.join(b'%d\n%d\n' % r for r in ranges))
pax = record(b'GNU.sparse.major', b'1') + record(b'GNU.sparse.minor', b'0') \
    + record(b'GNU.sparse.name', b'odd') + record(b'GNU.sparse.realsize', b'%d' % size)
open('expected', 'wb').write(whole)
open('x.tar', 'wb').write(block(b'pax', b'x', len(pax)) + padded(pax) + block(b'odd', b'0', len(maps + data))
                          + padded(maps + data) + bytes(1024))
P
    ours x.tar direct -T
    cmp direct/odd expected
    for format in pax gnu ustar; do
        ours x.tar y.tar --format=$format
        rm -rf dst again
        mkdir dst
        tar xf y.tar -C dst
        cmp dst/odd expected
        ours y.tar again -T
        cmp again/odd expected
    done
}

@test "a zip whose sizes come after the content is converted whole" {
    needs python3
    python3 - <<'P' | cat >x.zip
import sys, zipfile
class Pipe: # which cannot seek
    def __init__(self, out): self.out = out
    def write(self, data): return self.out.write(data)
    def flush(self): self.out.flush()
with zipfile.ZipFile(Pipe(sys.stdout.buffer), 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('large', open('src/dir/large', 'rb').read())
    z.writestr('none', b'')
    z.writestr('last', b'the end')
P
    # shellcheck disable=SC2016
    run bash -o pipefail -c 'cat x.zip | timeout -k 5 60 "$SHOAL" copy - y.tar'
    status_is 0
    mkdir dst
    tar xf y.tar -C dst
    cmp dst/large src/dir/large
    [[ $(<dst/last) == "the end" && -e dst/none ]]
    # shellcheck disable=SC2016
    run bash -o pipefail -c 'cat x.zip | timeout -k 5 60 "$SHOAL" tar xOf - >out'
    status_is 0
    cmp out <(cat src/dir/large && printf 'the end')
    head -c 40000 x.zip >cut.zip
    # shellcheck disable=SC2016
    run bash -o pipefail -c 'cat cut.zip | timeout -k 5 60 "$SHOAL" copy - z.tar'
    status_is 1
}

@test "one archive after another" {
    tar cf a.tar -C src file
    tar cf b.tar -C src dir/large
    cat a.tar b.tar >x.tar
    run copy x.tar dst
    status_is 0
    [ ! -e dst/dir ]
    run copy --ignore-zeros x.tar all
    status_is 0
    cmp src/dir/large all/dir/large
    cmp src/file all/file
    mkdir both
    run timeout -k 5 60 "$SHOAL" tar xif x.tar -C both
    status_is 0
    cmp src/dir/large both/dir/large
    cmp src/file both/file
}
