#!/usr/bin/env bats
# However many workers, however slow, however durable: the same copy.

load lib.bash

@test "any number of workers makes the same copy" {
    "$E2E/make-everything" src flat sizes links names holes
    local jobs
    for jobs in -j1 -j7; do
        run copy $jobs src dst
        status_is 0
        same_tree src dst
        rm -rf dst
    done
    rm -r src/flat src/holes-70M
    for jobs in --jobs=2 "--jobs=64"; do
        run copy $jobs src dst
        status_is 0
        same_tree src dst
        rm -rf dst
    done
}

@test "a large file of data in pieces" {
    mkdir src
    head -c 40M /dev/urandom >src/large
    head -c 8388609 /dev/urandom >src/odd
    local how
    for how in "-j1" "-j8" "-j8 --reflink=never" "-j8 --sparse=always"; do
        # shellcheck disable=SC2086
        run copy $how src dst
        status_is 0
        same_tree src dst
        rm -rf dst
    done
}

@test "many small directories" {
    local k
    for k in {1..400}; do mkdir -p "src/$((k % 20))/$k"; echo "$k" >"src/$((k % 20))/$k/file"; done
    run copy -j8 src dst
    status_is 0
    same_tree src dst
}

@test "--bwlimit copies all the same" {
    make_tree src
    local rate
    for rate in 100M 64m 1G 10000000 5000k; do
        run copy "--bwlimit=$rate" src dst
        status_is 0
        same_tree src dst
        rm -rf dst
    done
}

@test "--sync asks the system to make it durable before it ends" {
    make_tree src
    needs_strace
    run timeout 60 strace -f -qq -o trace -e trace=syncfs,fsync,fdatasync,sync "$SHOAL" copy --sync src dst
    status_is 0
    same_tree src dst
    grep -qE 'sync(fs)?\(.*= 0' trace || fail "no call of syncfs or fsync"
}

@test "--sync: that it could not be made durable is an error" {
    make_tree src
    needs_strace
    run timeout 60 strace -f -qq -o /dev/null -e trace=syncfs,fsync,fdatasync \
        -e inject=syncfs,fsync,fdatasync:error=EIO "$SHOAL" copy --sync src dst
    status_is 1
    says "shoal: cannot" "Input/output error"
}

@test "few descriptors are enough" {
    "$E2E/make-everything" src sizes links names owners
    run bash -c 'ulimit -n 40; exec timeout 60 "$SHOAL" copy -j8 src dst'
    status_is 0
    same_tree src dst
}

@test "closed standard streams do not end up in the copy" {
    make_tree src
    run bash -c '"$SHOAL" copy src dst <&- >&- 2>&-'
    status_is 0
    same_tree src dst
}
