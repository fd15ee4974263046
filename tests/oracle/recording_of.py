#!/usr/bin/env python3
"""recording_of.py PERF.DATA OUT.mtr: writes the samples of tests/oracle/lbr_step.c's files as mtrec would record them, with the build
ids of the mapped files, and no images: for tests of the needs of branch records where the files are absent."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/recording"))
import corpus as make  # noqa: E402

MMAP, SAMPLE = 1, 9
MICROSECOND = 1000


def build_id(path):
    """Of an ELF file of 64 bits; b"" where it has none, or is no file."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError:
        return b""
    at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        end = offset + length
        while kind == 4 and offset + 12 < end:
            name, content, sort = struct.unpack_from("<III", data, offset)
            body = offset + 12 + (name + 3) // 4 * 4
            if sort == 3 and data[offset + 12:offset + 15] == b"GNU":
                return data[body:body + content]
            offset = body + (content + 3) // 4 * 4
    return b""


def records(data):
    """The kernel's records, of a file with one attr."""
    _, _, attr_at, _, at, size = struct.unpack_from("<QQQQQQ", data, 8)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield kind, data[at:at + length]
        at += length


def state(found):
    """STATE records of the mappings: made-up inodes distinguish files."""
    out, inodes, pid = b"", {}, 0
    for body in found:
        pid, _, start, length, offset = struct.unpack_from("<iIQQQ", body, 8)
        path = body[40:].split(b"\0")[0].decode()
        new = path not in inodes
        inode = inodes.setdefault(path, 1000 + len(inodes))
        out += make.record(make.R_MAP, struct.pack("<iIIIIQQQQQQ", pid, 5, 2, 8, 1, inode, start, start + length, offset, 0, 0)
                           + make.string(path))
        if new:
            out += make.record(make.R_IMAGE, struct.pack("<IIQQQ", 8, 1, inode, 0, 0) + make.string(path)
                               + make.string(build_id(path)) + make.string(""))
    return make.task(pid, comm="stepped", exe="", cmdline="stepped\0") + out


def main(source, target):
    with open(source, "rb") as f:
        data = f.read()
    attr_at = struct.unpack_from("<Q", data, 24)[0]
    attr = data[attr_at:attr_at + struct.unpack_from("<I", data, attr_at + 4)[0]]
    found = list(records(data))
    writer = make.Writer()
    writer.codec = make.STORED
    writer.chunk(make.HEAD, make.header() + make.infos() + make.clock(0)
                 + make.event(0, 0, "cycles", "cycles", attr, unit="cycles"))
    writer.chunk(make.STATE, state(body for kind, body in found if kind == MMAP))
    samples = [body for kind, body in found if kind == SAMPLE]
    for first in range(0, len(samples), 1000):
        writer.chunk(make.DATA, b"".join(make.kernel(0, body, first + i + 1) for i, body in enumerate(samples[first:first + 1000])))
    with open(target, "wb") as f:
        f.write(make.ended(writer, len(samples)))


if __name__ == "__main__":
    main(*sys.argv[1:])
