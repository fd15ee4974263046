#!/usr/bin/env python3
"""Repeats the samples of a perf.data file, each time with later times, until the file has the given number of bytes.

    tests/bench/repeat.py IN OUT BYTES

For files in file mode of one event without PERF_SAMPLE_IDENTIFIER, as `perf record -e EVENT --call-graph dwarf` writes them.
"""
import struct
import sys

SAMPLE, FINISHED_ROUND, TIME_AT = 9, 68, 24


def main(path, out_path, want):
    data = open(path, "rb").read()
    attrs_at, begin, size = struct.unpack_from("<Q", data, 24)[0], *struct.unpack_from("<QQ", data, 40)
    kind = struct.unpack_from("<Q", data, attrs_at + 24)[0]
    if kind & 0x10007 != 7:
        sys.exit(f"{path}: samples of another form (0x{kind:x})")
    end, samples, at = begin + size, bytearray(), begin
    times = []
    while at < end:
        what, _, length = struct.unpack_from("<IHH", data, at)
        if what == SAMPLE:
            times.append(len(samples) + TIME_AT)
            samples += data[at:at + length]
        at += length
    values = [struct.unpack_from("<Q", samples, t)[0] for t in times]
    step = max(values) - min(values) + 1
    ended = struct.pack("<IHH", FINISHED_ROUND, 0, 8)
    grown = 0
    with open(out_path, "wb") as out:
        out.write(data[:end])
        while size + grown < want:
            values = [v + step for v in values]
            for t, v in zip(times, values):
                struct.pack_into("<Q", samples, t, v)
            out.write(samples + ended)
            grown += len(samples) + len(ended)
        # a table of features follows the data: (offset, size) each
        count = bin(int.from_bytes(data[72:104], "little")).count("1")
        table = bytearray(data[end:end + 16 * count])
        for i in range(count):
            struct.pack_into("<Q", table, 16 * i, struct.unpack_from("<Q", table, 16 * i)[0] + grown)
        out.write(bytes(table) + data[end + 16 * count:])
        out.seek(48)
        out.write(struct.pack("<Q", size + grown))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
