#!/usr/bin/python3
"""Prints the facts of a tree, one entry a line, so that two trees can be compared with diff.

Works from directory descriptors alone: no name is too long, no byte too odd, and no symbolic link is
followed. Imported as a module by the other helpers of these tests.
"""
import argparse
import errno
import hashlib
import os
import resource
import stat
import sys

KINDS = {
    stat.S_IFREG: 'file', stat.S_IFDIR: 'directory', stat.S_IFLNK: 'symlink', stat.S_IFIFO: 'fifo',
    stat.S_IFCHR: 'char', stat.S_IFBLK: 'block', stat.S_IFSOCK: 'socket',
}
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def hashed(name, directory):
    """The size read and a hash of the content: what a reader gets, whatever st_size says."""
    digest, size = hashlib.blake2b(digest_size=12), 0
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    try:
        while block := os.read(descriptor, 1 << 20):
            digest.update(block)
            size += len(block)
    finally:
        os.close(descriptor)
    return f'{size}:{digest.hexdigest()}'


def data_map(descriptor):
    """[(start, end)] of the data in an open file, holes left out."""
    size, at, found = os.fstat(descriptor).st_size, 0, []
    while at < size:
        try:
            start = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                break
            raise
        at = os.lseek(descriptor, start, os.SEEK_HOLE)
        found.append((start, at))
    return found


def attributes(name, directory):
    """{name: value} of the extended attributes, of a symbolic link's own too."""
    path = b'/proc/self/fd/%d/%s' % (directory, name)
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):
            return {}
        raise
    # XFS shows root its ACLs a second time, under names of its own.
    return {n: os.getxattr(path, n, follow_symlinks=False) for n in names if not n.startswith('trusted.SGI_ACL_')}


def moment(ns, options):
    if options.old_times and ns > options.old_times:
        return 'recent'
    return str(ns)


def entry_facts(name, directory, info, options):
    kind = KINDS[stat.S_IFMT(info.st_mode)]
    facts = {'kind': kind}
    if options.mode and kind != 'symlink':
        facts['mode'] = '%04o' % stat.S_IMODE(info.st_mode)
    if options.owner:
        facts['owner'] = f'{info.st_uid}:{info.st_gid}'
    if options.times and not (kind == 'directory' and not options.directory_times):
        facts['mtime'] = moment(info.st_mtime_ns, options)
    if options.atime:
        facts['atime'] = str(info.st_atime_ns)
    if options.ctime:
        facts['ctime'] = str(info.st_ctime_ns)
    if options.inode:
        facts['inode'] = str(info.st_ino)
    if kind == 'file':
        facts['size'] = str(info.st_size)
        if options.content:
            facts['content'] = hashed(name, directory)
    elif kind == 'symlink':
        facts['target'] = repr(os.readlink(name, dir_fd=directory))
    elif kind in ('char', 'block'):
        facts['device'] = f'{os.major(info.st_rdev)},{os.minor(info.st_rdev)}'
    if options.xattrs:
        for key, value in sorted(attributes(name, directory).items()):
            facts[f'xattr.{key}'] = value.hex() if len(value) <= 64 else (
                f'{len(value)}:' + hashlib.blake2b(value, digest_size=12).hexdigest())
    return facts


def walk(root, options):
    """Yields (path, stat, facts) of the root (b'.') and all below it, sorted within each directory."""
    top = os.open(root, DIRECTORY)
    stack = [(top, b'.', iter([(b'.', os.fstat(top))]))]
    while stack:
        directory, prefix, entries = stack[-1]
        for name, info in entries:
            path = name if prefix == b'.' else prefix + b'/' + name
            if path not in options.skip:
                yield path, info, entry_facts(name, directory, info, options)
                if stat.S_ISDIR(info.st_mode):
                    child = os.open(name, DIRECTORY, dir_fd=directory)
                    inside = sorted(os.fsencode(n) for n in os.listdir(child))
                    stack.append((child, path, iter([
                        (n, os.stat(n, dir_fd=child, follow_symlinks=False)) for n in inside])))
                    break
        else:
            os.close(directory)
            stack.pop()


def collect(root, options):
    """{path: facts} of a tree; names of one inode carry 'links', the first of those names."""
    found, groups = {}, {}
    for path, info, facts in walk(root, options):
        if path in options.skip or facts['kind'] in options.skip_kinds:
            continue
        found[path] = facts
        if options.links and not stat.S_ISDIR(info.st_mode):
            groups.setdefault((info.st_dev, info.st_ino), []).append(path)
    for names in groups.values():
        if len(names) > 1:
            for path in names:
                found[path]['links'] = f'{len(names)}:{names[0]!r}'
    return found


def parser():
    p = argparse.ArgumentParser(description=__doc__)
    for what in ('content', 'mode', 'owner', 'times', 'directory-times', 'links', 'xattrs'):
        p.add_argument(f'--no-{what}', dest=what.replace('-', '_'), action='store_false')
    for what in ('atime', 'ctime', 'inode'):
        p.add_argument(f'--{what}', action='store_true')
    p.add_argument('--old-times', type=int, default=0, metavar='NS',
                   help='print a modification time after this one as "recent"')
    p.add_argument('--skip', action='append', type=os.fsencode, default=[], metavar='PATH',
                   help='leave this entry, and what is below it, out')
    p.add_argument('--skip-kinds', action='append', default=[], metavar='KIND')
    return p


def defaults(*arguments):
    return parser().parse_args(arguments)


def many_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main():
    p = parser()
    p.add_argument('root')
    options = p.parse_args()
    many_descriptors()
    for path, facts in collect(options.root, options).items():
        print(repr(path)[1:], *(f'{k}={v}' for k, v in facts.items()))


if __name__ == '__main__':
    sys.exit(main())
