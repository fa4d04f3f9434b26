#!/usr/bin/env bats
# Each system call of a copy fails once, at each of its places: what must hold is in inject-faults.

load lib.bash

setup() {
    enter
    needs_strace
    mkdir -p src/sub/below
    echo one >src/one
    head -c 70000 /dev/urandom >src/data
    : >src/empty
    echo two >src/sub/two
    chown 1234:4321 src/sub/two
    chmod 4711 src/sub/two
    setfattr -n user.kind -v test src/sub/two 2>/dev/null || true
    echo three >src/sub/below/three
    chmod 600 src/sub/below/three
    ln src/one src/sub/again
    ln -s ../one src/sub/link
    mkfifo src/sub/fifo
    chmod 750 src/sub
    find src -depth -exec touch -h -d '2003-04-05 06:07:08.123456789' {} +
    sync -f .
}

READS=read,pread64,readv,preadv,preadv2
WRITES=write,pwrite64,writev,pwritev,pwritev2

faults() { "$E2E/inject-faults" "$@" src out; }

@test "reading: EIO, ESTALE" {
    faults --calls $READS --only from --error EIO --must-report
    faults --calls $READS --only from --error ESTALE --must-report --most 3
}

@test "reading: EINTR is no error" {
    faults --calls $READS --only from --error EINTR --must-succeed
}

@test "writing: EIO, EDQUOT, EFBIG" {
    faults --calls $WRITES --only to --error EIO --must-report
    faults --calls $WRITES --only to --error EFBIG --must-report --most 3
    faults --calls $WRITES --only to --error EDQUOT --stops --most 3
}

@test "writing: ENOSPC stops" {
    faults --calls $WRITES --only to --error ENOSPC --stops
}

@test "writing: EINTR is no error" {
    faults --calls $WRITES --only to --error EINTR --must-succeed
}

@test "copy_file_range: not there, not here, not now, not at all" {
    local error
    for error in ENOSYS EXDEV EOPNOTSUPP EINVAL EINTR EPERM ETXTBSY; do
        faults --calls copy_file_range --error $error --must-succeed --most 3
    done
    faults --calls copy_file_range --error ENOSPC --stops --most 3
    faults --calls copy_file_range --error EIO --most 3
}

@test "copy_file_range answers 0: not the end" {
    faults --calls copy_file_range --answer 0 --must-succeed --most 6
}

@test "cloning: what it answers where it cannot" {
    local error
    # Reads and writes of a terminal are ioctls too; only those on the copy count.
    for error in EOPNOTSUPP EXDEV EINVAL ENOTTY EPERM; do
        faults --calls ioctl --args='-j1 --reflink=auto' --error $error --must-succeed --most 3
    done
}

@test "opening: EACCES, EIO, ESTALE, ELOOP" {
    local error
    faults --calls openat,openat2,open --error EACCES --most 20
    for error in EIO ESTALE ELOOP; do
        faults --calls openat,openat2,open --error $error --most 5
    done
}

@test "opening: EINTR is no error" {
    faults --calls openat,openat2,open --error EINTR --must-succeed --most 20
}

@test "opening: too many open files is told, or got round" {
    faults --calls openat,openat2,open --error EMFILE --most 20
}

@test "opening: ENOSPC stops" {
    faults --calls openat,openat2,open --only to --error ENOSPC --most 8
}

@test "openat2 and other newer calls are not there" {
    local call
    for call in openat2 statx close_range fchmodat2 io_uring_setup unshare renameat2 getrandom memfd_create clone3 \
        fadvise64 fallocate; do
        if ! strace -f -qq -o trace -e "trace=?$call" -e "inject=?$call:error=ENOSYS" "$SHOAL" copy src "out-$call" 2>said; then
            # A C library of today cannot do without statx on every machine; the copy must say why it ends.
            fail "without $call: $(cat said)"
        fi
        same_tree src "out-$call"
    done
}

@test "making directories: EIO, EACCES, ENOSPC" {
    faults --calls mkdirat,mkdir --error EIO --must-report
    faults --calls mkdirat,mkdir --error EACCES --must-report
    faults --calls mkdirat,mkdir --error ENOSPC --stops
}

@test "listing directories: EIO, ESTALE" {
    faults --calls getdents64 --error EIO --must-report
    faults --calls getdents64 --error ESTALE --must-report
}

@test "times: EIO, EPERM" {
    faults --calls utimensat --error EIO
    faults --calls utimensat --error EPERM
    faults --args='-j1 --preserve=timestamps' --calls utimensat --error EPERM --must-report --most 4
}

@test "modes: EIO, EPERM" {
    faults --calls fchmod,fchmodat,fchmodat2,chmod --error EIO
    faults --calls fchmod,fchmodat,fchmodat2,chmod --error EPERM
    faults --args='-j1 --preserve=mode' --calls fchmod,fchmodat,fchmodat2,chmod --error EPERM --must-report --most 4
}

@test "owners: EIO, EPERM" {
    faults --calls fchown,fchownat,lchown,chown --error EIO
    faults --calls fchown,fchownat,lchown,chown --error EPERM
    faults --args='-j1 --preserve=ownership' --calls fchown,fchownat,lchown,chown --error EPERM --must-report --most 4
}

@test "extended attributes: EIO, ENOSPC, ENOTSUP, ERANGE" {
    local error
    for error in EIO ENOSPC ENOTSUP EPERM; do
        faults --calls fsetxattr,lsetxattr,setxattr --error $error --most 3
    done
    for error in EIO ENOTSUP EPERM; do
        faults --calls flistxattr,llistxattr,listxattr,fgetxattr,lgetxattr,getxattr --error $error --most 8
    done
    faults --args='-j1 --preserve=xattr' --calls fsetxattr,lsetxattr,setxattr --error EPERM --must-report --most 4
}

@test "closing what was written: EIO, ENOSPC are errors" {
    # A descriptor of the copy that was written through; its directories do not count.
    faults --calls close --only to --error EIO
    faults --calls close --only to --error ENOSPC
    closing_told EIO
}

# closing_told ERRNO: of each file that is made.
closing_told() {
    local name
    for name in one data sub/two sub/below/three; do
        rm -rf closed
        # The descriptor's path is the file's, whatever its number.
        run timeout 60 strace -f -y -qq -o trace -e trace=close -e "inject=close:error=$1" -P "$W/closed/$name" \
            "$SHOAL" copy -j1 -T src closed
        grep -q INJECTED trace || continue
        status_is 1
        names_fault "${name##*/}"
        whole_or_absent src closed
    done
}

@test "closing: EINTR is no error" {
    faults --calls close --error EINTR --must-succeed
}

@test "hard links: EIO, EMLINK, EXDEV, EPERM" {
    faults --calls linkat,link --error EIO
    faults --calls linkat,link --error EMLINK
    faults --calls linkat,link --error EPERM
}

@test "symbolic links, FIFOs: EIO, ENOSPC, EPERM" {
    faults --calls symlinkat,symlink,mknodat,mknod --error EIO --must-report
    faults --calls symlinkat,symlink,mknodat,mknod --error EPERM --must-report
    faults --calls symlinkat,symlink,mknodat,mknod --error ENOSPC --stops
    faults --calls readlinkat,readlink --error EIO --must-report
}

@test "stat: EIO, ESTALE, EACCES" {
    faults --calls newfstatat,fstat,statx,stat,lstat --error EIO --most 20
    faults --calls newfstatat,fstat,statx,stat,lstat --error ESTALE --most 5
}

@test "seeking, truncating, allocating: EIO, EINVAL, EOPNOTSUPP" {
    head -c 1M /dev/zero | dd of=src/data bs=1M seek=2 conv=notrunc status=none
    sync -f .
    faults --calls lseek,ftruncate --error EIO
    faults --calls lseek --error EINVAL
    faults --calls fallocate,posix_fadvise,fadvise64 --error EOPNOTSUPP --must-succeed
    faults --calls ftruncate --only to --error EIO --must-report
}

@test "replacing: a failing rename leaves the old file and no temporary name" {
    local call
    copy src dst
    echo changed >dst/sub/two
    echo changed >dst/data
    run timeout 60 strace -f -qq -o trace -e 'trace=?rename,?renameat,renameat2' \
        -e 'inject=?rename,?renameat,renameat2:error=EIO' "$SHOAL" copy -T src dst
    grep -q INJECTED trace || skip "it does not rename"
    status_is 1
    names_fault data
    says "Input/output error"
    no_leftovers src dst
    [[ $(cat dst/sub/two) == changed && $(cat dst/data) == changed ]]
}

@test "replacing: a failing write leaves the old file and no temporary name" {
    copy src dst
    local f call
    for f in one data sub/two sub/below/three; do echo old >dst/$f; done
    for call in write pwrite64 copy_file_range; do
        run timeout 60 strace -f -y -qq -o trace -e trace=$call -e inject=$call:error=EIO \
            "$SHOAL" copy --reflink=never -T src dst
        no_leftovers src dst
        for f in one data sub/two sub/below/three; do
            [[ $(head -c 3 dst/$f) == old ]] || cmp "src/$f" "dst/$f"
        done
    done
}

@test "one worker of several meets an error: the rest is copied" {
    faults --args=-j4 --calls $WRITES --only to --error EIO --most 6
    faults --args=-j4 --calls openat --error EACCES --most 8
}

# Reads and writes that do a part of what was asked are no errors. A library put before libc's makes them so.
@test "short reads and writes are gone on with" {
    local cc=${CC:-cc}
    command -v "$cc" >/dev/null || skip "no C compiler"
    "$cc" -shared -fPIC -O1 -o "$E2E_BASE/short-io.so" "$E2E/short-io.c" -ldl
    head -c 300000 /dev/urandom >src/data
    truncate -s 3M src/data
    head -c 100000 /dev/urandom >>src/data
    local how
    for how in "" --reflink=never --sparse=always --sparse=never --verify -j4; do
        rm -rf out
        # shellcheck disable=SC2086
        run env LD_PRELOAD="$E2E_BASE/short-io.so" SHORT_IO_LOG="$W/log" timeout 60 "$SHOAL" copy $how src out
        status_is 0
        same_tree src out
    done
    [[ -s log ]] || skip "none of the calls went through the C library"
}
