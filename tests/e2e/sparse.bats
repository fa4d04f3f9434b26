#!/usr/bin/env bats
# Holes stay holes, at their places; --sparse makes or fills them.

load lib.bash

# maps_agree FROM TO: TO has no data, but for a margin, where FROM has a hole; and takes no more space.
maps_agree() {
    /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import os, sys
sys.path.insert(0, os.environ['E2E'])
from treefacts import data_map
MARGIN = 65536
bad = 0
for base, _, files in os.walk(sys.argv[1]):
    for name in files:
        source = os.path.join(base, name)
        copy = os.path.join(sys.argv[2], os.path.relpath(source, sys.argv[1]))
        with open(source, 'rb') as a, open(copy, 'rb') as b:
            want, got = data_map(a.fileno()), data_map(b.fileno())
        if os.stat(source).st_blocks * 512 >= os.stat(source).st_size:
            continue # allocated throughout: what was never written may be written as zeros
        for start, end in got:
            # All of it must lie within the source's data, widened by the margin.
            at = start
            for s, e in want:
                if s - MARGIN <= at < e + MARGIN:
                    at = max(at, e + MARGIN)
            if at < end:
                bad += 1
                print(f'{name}: data {start}-{end} where the source has a hole; source {want}, copy {got}')
        if os.stat(copy).st_blocks > os.stat(source).st_blocks + 2 * MARGIN // 512 * (len(want) + 1):
            bad += 1
            print(f'{name}: {os.stat(copy).st_blocks} blocks, {os.stat(source).st_blocks} in the source')
sys.exit(bad > 0)
PYTHON
}

# No file below DIR has a hole.
no_holes() {
    /usr/bin/python3 - "$1" <<'PYTHON'
import os, sys
bad = 0
for base, _, files in os.walk(sys.argv[1]):
    for name in files:
        with open(os.path.join(base, name), 'rb') as f:
            os.fsync(f.fileno())
            info = os.fstat(f.fileno())
            if info.st_size and os.lseek(f.fileno(), 0, os.SEEK_HOLE) != info.st_size:
                bad += 1
                print(f'{name}: a hole at {os.lseek(f.fileno(), 0, os.SEEK_HOLE)} of {info.st_size}')
            if info.st_blocks * 512 < info.st_size // 4096 * 4096:
                bad += 1
                print(f'{name}: {info.st_size} bytes in {info.st_blocks} blocks')
sys.exit(bad > 0)
PYTHON
}

# As the disk holds them: what was just written may have no map yet.
settle() { sync -f .; }

@test "holes at the start, in the middle, at the end, all over" {
    "$E2E/make-everything" src holes
    settle
    run copy src dst
    status_is 0
    same_tree src dst
    settle
    maps_agree src dst
}

@test "the same when the copy may not be a reflink" {
    "$E2E/make-everything" src holes
    settle
    run copy --reflink=never src dst
    status_is 0
    same_tree src dst
    settle
    maps_agree src dst
}

@test "the same with many workers on one file" {
    "$E2E/make-everything" src holes
    settle
    run copy -j8 --reflink=never src dst
    status_is 0
    same_tree src dst
    settle
    maps_agree src dst
}

@test "zeros that were written stay written" {
    mkdir src
    head -c 1M /dev/zero >src/zeros
    settle
    run copy src dst
    status_is 0
    same_tree src dst
    settle
    no_holes dst
}

@test "--sparse=never writes all holes out" {
    "$E2E/make-everything" src holes
    rm -f src/holes-70M src/allocated-beyond-end src/unwritten
    settle
    run copy --sparse=never src dst
    status_is 0
    same_tree src dst --no-directory-times
    settle
    no_holes dst
}

@test "--sparse=always makes holes of zeros" {
    mkdir src
    head -c 4M /dev/zero >src/zeros
    { head -c 1M /dev/urandom; head -c 2M /dev/zero; head -c 1M /dev/urandom; } >src/middle
    { head -c 1M /dev/urandom; head -c 2M /dev/zero; } >src/end
    { head -c 2M /dev/zero; echo x; } >src/start
    head -c 5000 /dev/zero >src/small
    settle
    run copy --sparse=always --reflink=never src dst
    status_is 0
    same_tree src dst
    settle
    [[ $(stat -c %b dst/zeros) -lt 256 ]]
    [[ $(stat -c %b dst/start) -lt 256 ]]
    [[ $(stat -c %b dst/middle) -lt 4400 ]]
    [[ $(stat -c %b dst/end) -lt 2400 ]]
}

@test "--sparse=always without --reflink=never does so too" {
    mkdir src
    head -c 4M /dev/zero >src/zeros
    settle
    run copy --sparse=always src dst
    status_is 0
    settle
    [[ $(stat -c %b dst/zeros) -lt 256 ]]
}

@test "a file of a terabyte that is all hole" {
    mkdir src
    truncate -s 1T src/huge || skip "$SHOAL_TEST_FS does not hold a file of this size"
    run copy src dst
    status_is 0
    [[ $(stat -c %s dst/huge) -eq 1099511627776 ]]
    settle
    [[ $(stat -c %b dst/huge) -lt 256 ]]
}

@test "replacing a full file by one of holes frees its space" {
    mkdir src dst
    truncate -s 4M src/file
    head -c 4M /dev/urandom >dst/file
    run copy -T src dst
    status_is 0
    same_tree src dst
    settle
    maps_agree src dst
}
