#!/usr/bin/env python3
"""Writes small perf.data files of each mode, age and kind of damage, and compares what the reader says with their content.

    tests/golden/make_perfdata.py             tests the reader on all of them (TAP)
    tests/golden/make_perfdata.py DIR         writes them as DIR/NAME.data
"""
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfdata"))
from perfdata_tool import BUILD, Tap, build, dump  # noqa: E402

MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES = 1, 2, 3, 4, 7, 9, 10, 13
(HEADER_ATTR, EVENT_TYPE, TRACING_DATA, BUILD_ID, FINISHED_ROUND) = range(64, 69)
AUXTRACE, EVENT_UPDATE, FEATURE, COMPRESSED, COMPRESSED2 = 71, 78, 80, 81, 83
(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH, REGS, STACK) = (1 << i for i in range(14))
IDENTIFIER = 1 << 16
SAMPLE_ID_ALL, FREQ = 1 << 18, 1 << 10
US = 1000


# Bytes --------------------------------------------------------------------------------------------

def pad(data, to=8):
    return data + bytes(-len(data) % to)


def record(kind, body=b"", misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def attr(kind=1, config=0, sample_type=IP | TID | TIME | PERIOD, size=112, flags=SAMPLE_ID_ALL | FREQ, period=4000, branch=0,
         regs=0, stack=0):
    fields = struct.pack("<IIQQQQQIIQQQQI", kind, size, config, period, sample_type, 0, flags, 0, 0, 0, 0, branch, regs, stack)
    return pad(fields, 8).ljust(size, b"\0")[:size]


def trailer(sample_type, time, id=0, pid=7):
    """The end of every record that is not a sample, with sample_id_all."""
    out = b""
    for bit, field in ((TID, struct.pack("<II", pid, pid)), (TIME, struct.pack("<Q", time)), (ID, struct.pack("<Q", id)),
                       (STREAM_ID, struct.pack("<Q", id)), (CPU, struct.pack("<II", 1, 0)), (IDENTIFIER, struct.pack("<Q", id))):
        out += field if sample_type & bit else b""
    return out


def sample(time, sample_type=IP | TID | TIME | PERIOD, id=0, ip=0x401000, rest=b""):
    out = b""
    for bit, field in ((IDENTIFIER, id), (IP, ip), (TID, 7 | 7 << 32), (TIME, time), (ADDR, 0xadd), (ID, id), (STREAM_ID, id),
                       (CPU, 1), (PERIOD, 5)):
        out += struct.pack("<Q", field) if sample_type & bit else b""
    return record(SAMPLE, out + rest, 2)


def comm(name, time, sample_type=IP | TID | TIME | PERIOD, id=0, all=True):
    return record(COMM, struct.pack("<II", 7, 7) + pad(name.encode() + b"\0") +
                  (trailer(sample_type, time, id) if all else b""))


def mmap(path, time, sample_type=IP | TID | TIME | PERIOD, id=0):
    return record(MMAP, struct.pack("<IIQQQ", 7, 7, 0x400000, 0x2000, 0) + pad(path.encode() + b"\0") +
                  trailer(sample_type, time, id), 2)


ROUND = record(FINISHED_ROUND)


def string(text):
    data = pad(text.encode() + b"\0", 64)
    return struct.pack("<I", len(data)) + data


def build_id(path, id, misc=2, pid=True):
    return record(BUILD_ID, (struct.pack("<i", -1) if pid else b"") + id.ljust(24, b"\0") + pad(path.encode() + b"\0", 64), misc)


def trace(system, name, id):
    """The body of TRACING_DATA: a trace.dat header with one format."""
    text = f"name: {name}\nID: {id}\nformat:\n\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n".encode()
    sized = struct.pack("<Q", 4) + b"page"
    return (b"\x17\x08\x44tracing" + b"0.6\0" + b"\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + sized +
            b"header_event\0" + sized + struct.pack("<I", 1) + sized + struct.pack("<I", 1) + system.encode() + b"\0" +
            struct.pack("<I", 1) + struct.pack("<Q", len(text)) + text)


def zstd_frame(data, block=512):
    """A zstd frame of raw blocks, which can be made without a library."""
    out = struct.pack("<IB", 0xFD2FB528, 0) + b"\x50"
    pieces = [data[i:i + block] for i in range(0, len(data), block)]
    for i, piece in enumerate(pieces):
        out += struct.pack("<I", len(piece) << 3 | (i == len(pieces) - 1))[:3] + piece
    return out


def compressed(data, kind=COMPRESSED):
    return record(kind, data) if kind == COMPRESSED else record(kind, struct.pack("<Q", len(data)) + pad(data))


def file(data, attrs=None, ids=(), features=None, magic=b"PERFILE2", data_size=None, entry_size=None, types=b""):
    """A file: header, ids, attrs, data, features as {bit: bytes}."""
    attrs = attrs or [attr()]
    features = features or {}
    at = 104
    places, body = [], b""
    for i, _ in enumerate(attrs):
        mine = b"".join(struct.pack("<Q", n) for n in (ids[i] if i < len(ids) else []))
        places.append((at + len(body), len(mine)))
        body += mine
    attrs_at = at + len(body)
    for a, place in zip(attrs, places):
        body += a + struct.pack("<QQ", *place)
    types_at = at + len(body)
    body += types
    data_at = at + len(body)
    bits = bytearray(32)
    for bit in features:
        bits[bit // 8] |= 1 << bit % 8
    table, after = b"", b""
    after_at = data_at + len(data) + 16 * len(features)
    for bit in sorted(features):
        table += struct.pack("<QQ", after_at + len(after), len(features[bit]))
        after += features[bit]
    header = magic + struct.pack("<QQQQQQQQ", 104, entry_size or len(attrs[0]) + 16, attrs_at, types_at - attrs_at, data_at,
                                 len(data) if data_size is None else data_size, types_at, len(types)) + bytes(bits)
    return header + body + data + table + after


def pipe(*records):
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records)


def header_attr(bytes, ids=()):
    return record(HEADER_ATTR, bytes + b"".join(struct.pack("<Q", n) for n in ids))


def feature(bit, data):
    return record(FEATURE, struct.pack("<Q", bit) + data)


# The files, each with what must be found ----------------------------------------------------------

CASES = {}


def case(**want):
    """Registers one function for each file: it returns the bytes; want is what the reader must say."""
    def add(function):
        CASES[function.__name__] = (function, want)
        return function
    return add


PLAIN = comm("prog", 0) + mmap("/bin/prog", 0) + b"".join(sample(t * US) for t in (1, 2, 3))


@case(times=[1, 2, 3], names=["cpu-clock:HG"])
def a_file_without_features():
    return file(PLAIN)


@case(times=[1, 2, 3], names=["typed"], info={"host": "there", "kernel": "6.1", "tool": "perf 6.1.0", "arch": "x86_64",
                                             "cpus": "8", "command": "perf record -e 'a b'", "memory": "123 KiB"},
      images={"/bin/prog": "aabb" + "00" * 18, "/lib/short": "11" * 8}, first=1, last=3)
def a_file_with_features():
    event = struct.pack("<II", 1, 112) + attr() + struct.pack("<I", 0) + string("typed")
    ids = build_id("/bin/prog", b"\xaa\xbb") + build_id("/lib/short", b"\x11" * 20 + b"\x08", 2 | 1 << 15)
    return file(PLAIN, features={
        2: ids, 3: string("there"), 4: string("6.1"), 5: string("6.1.0"), 6: string("x86_64"), 7: struct.pack("<II", 16, 8),
        10: struct.pack("<Q", 123), 11: struct.pack("<I", 4) + string("perf") + string("record") + string("-e") + string("a b"),
        12: event, 21: struct.pack("<QQ", 1 * US, 3 * US), 31: b"skipped", 77: b"of a later perf", 255: b"\xff" * 9})


@case(times=[1, 2, 3], images={"[kernel.kallsyms]": "cc" + "00" * 19})
def build_ids_of_a_perf_that_left_out_the_pid():
    return file(PLAIN, features={2: build_id("[kernel.kallsyms]", b"\xcc", 1, pid=False)})


KERNEL = pad(b"[kernel.kallsyms]_text\0")


@case(times=[1, 2, 3], images={"[kernel.kallsyms]": "cc" + "00" * 19},
      info={"kernel-build-id": "cc" + "00" * 19, "kernel-symbol": "_text ffffffff81000000"})
def where_the_kernel_was_loaded():
    place = struct.pack("<iIQQQ", -1, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000)
    return file(record(MMAP, place + KERNEL, 1) + PLAIN, features={2: build_id("[kernel.kallsyms]", b"\xcc", 1)})


@case(times=[1, 2, 3], images={"[kernel.kallsyms]": "dd" * 20},
      info={"kernel-build-id": "dd" * 20, "kernel-symbol": "_text ffffffff81000000"})
def build_ids_with_the_mappings():
    place = struct.pack("<iIQQQ", -1, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000)
    reported = struct.pack("<B3x", 20) + b"\xdd" * 20 + struct.pack("<II", 0, 0)
    return file(record(MMAP2, place + reported + KERNEL, 1 | 1 << 14) + PLAIN)


@case(times=[1, 2, 3])
def the_magic_of_before_3_4():
    return file(PLAIN, magic=b"PERFFILE")


for attr_size in (64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 200):
    def attr_of_some_size(size=attr_size):
        return file(PLAIN, [attr(size=size)])
    attr_of_some_size.__name__ = f"an_attr_of_{attr_size}_bytes"
    case(times=[1, 2, 3])(attr_of_some_size)


@case(times=[1, 2, 3], refused=None)
def an_attr_whose_size_is_0():
    return file(PLAIN, [struct.pack("<II", 1, 0) + attr(size=64)[8:]])


WIDE = IDENTIFIER | IP | TID | TIME | CPU
NARROW = IDENTIFIER | IP | TIME


@case(times=[1, 2, 3, 4], events=[0, 1, 1, 0], names=["cpu-clock:HG", "page-faults:HG"])
def events_of_different_fields_by_identifier():
    return file(comm("prog", 0, WIDE, 11) + sample(1 * US, WIDE, 11) + sample(2 * US, NARROW, 22) + sample(3 * US, NARROW, 23) +
                sample(4 * US, WIDE, 12), [attr(0 + 1, 0, WIDE), attr(1, 2, NARROW)], [[11, 12], [22, 23]])


@case(times=[1, 2], events=[1, 0])
def events_by_id():
    kind = IP | TID | TIME | ID
    return file(sample(1 * US, kind, 22) + sample(2 * US, kind, 11), [attr(sample_type=kind), attr(1, 2, kind)], [[11], [22]])


@case(times=[1, 2], events=[1, 0])
def events_by_stream_id():
    kind = IP | TID | TIME | STREAM_ID
    return file(sample(1 * US, kind, 22) + sample(2 * US, kind, 11), [attr(sample_type=kind), attr(1, 2, kind)], [[11], [22]])


@case(times=[1, 2], events=[1, 0])
def events_by_ids_at_different_places():
    a, b = IP | TID | TIME | ID, IP | TIME | ID | PERIOD
    return file(sample(1 * US, b, 22) + sample(2 * US, a, 11), [attr(sample_type=a), attr(1, 2, b)], [[11], [22]])


@case(times=[2], events=[0], unknown_event=1)
def a_sample_of_an_unknown_id_is_of_no_event():
    kind = IP | TID | TIME | ID
    return file(sample(1 * US, kind, 99) + sample(2 * US, kind, 11), [attr(sample_type=kind), attr(1, 2, kind)], [[11], [22]])


@case(times=[1, 2], order="CSS")
def records_without_a_trailer_come_at_once():
    flags = FREQ
    return file(sample(1 * US) + comm("prog", 0, all=False) + sample(2 * US) + ROUND, [attr(flags=flags)])


@case(times=[1, 2, 3, 4, 5, 6], disordered=0)
def rounds_are_merged():
    return file(sample(1 * US) + sample(4 * US) + sample(2 * US) + ROUND + sample(5 * US) + sample(3 * US) + ROUND +
                sample(6 * US) + ROUND)


@case(times=list(range(1, 20001)), disordered=0)
def rings_without_rounds_are_merged():
    """Like a file of a perf version without rounds: one ring after the other."""
    return file(b"".join(sample(t * US) for t in range(1, 20001, 2)) + b"".join(sample(t * US) for t in range(2, 20001, 2)))


@case(samples=60000, memory=1 << 20, some_disorder=True)
def short_memory_costs_order_not_records():
    return file(b"".join(sample((i % 20000 * 3 + i // 20000 + 1) * US) for i in range(60000)))


@case(times=[1, 2, 3], names=["named"], info={"host": "there"}, images={"/bin/prog": "aabb" + "00" * 18}, first=1, last=3)
def a_pipe():
    kind = IP | TID | TIME | ID
    return pipe(header_attr(attr(sample_type=kind), [11]), feature(3, string("there")),
                record(EVENT_UPDATE, struct.pack("<QQ", 2, 11) + pad(b"named\0")), comm("prog", 0, kind, 11),
                sample(1 * US, kind, 11), sample(3 * US, kind, 11), sample(2 * US, kind, 11), ROUND,
                build_id("/bin/prog", b"\xaa\xbb"))


@case(times=[1], info={"host": "odd"})
def features_in_a_pipe_need_not_be_aligned():
    anomaly = struct.pack("<I", 5) + b"odd\0\0"
    return pipe(header_attr(attr()), feature(3, anomaly), comm("prog", 0), sample(1 * US))


@case(times=[1], names=["sched:switch"], format=True)
def a_tracepoint_in_a_pipe():
    body = pad(trace("sched", "switch", 321))
    return pipe(header_attr(attr(2, 321)), record(TRACING_DATA, struct.pack("<II", len(body), 0)), body, sample(1 * US))


@case(times=[1], names=["sched:switch"], format=True)
def a_tracepoint_in_a_file():
    return file(sample(1 * US), [attr(2, 321)], features={1: trace("sched", "switch", 321)})


@case(times=[1], names=["old:one"])
def a_tracepoint_of_before_3_10():
    return file(sample(1 * US), [attr(2, 5)], types=struct.pack("<Q", 5) + b"old:one".ljust(64, b"\0"))


@case(times=[1, 2, 3])
def compressed_records():
    return file(compressed(zstd_frame(PLAIN)) + ROUND)


@case(times=[1, 2, 3])
def compressed_records_with_their_size():
    return file(compressed(zstd_frame(PLAIN), COMPRESSED2) + ROUND)


@case(times=[1, 2, 3])
def a_record_that_begins_in_one_compressed_record_and_ends_in_the_next():
    packed = zstd_frame(PLAIN)
    return file(b"".join(compressed(packed[i:i + 13], COMPRESSED2) for i in range(0, len(packed), 13)))


@case(times=[1, 2, 3])
def compressed_records_in_a_pipe():
    packed = zstd_frame(PLAIN)
    return pipe(header_attr(attr()), compressed(packed[:50]), compressed(packed[50:]), ROUND)


@case(samples=30000, disordered=0)
def much_in_few_compressed_records():
    packed = zstd_frame(b"".join(sample(t * US) for t in range(1, 30001)), 100000)
    return file(b"".join(compressed(packed[i:i + 60000], COMPRESSED2) for i in range(0, len(packed), 60000)))


@case(times=[9], damaged=1)
def broken_compression_costs_what_is_in_it():
    return file(compressed(b"no zstd at all..") + sample(9 * US))


@case(times=[1, 2], unknown=1)
def unknown_records_are_passed_over():
    return file(sample(1 * US) + record(99, bytes(24)) + record(30, bytes(24) + trailer(IP | TID | TIME | PERIOD, 1 * US)) +
                sample(2 * US))


@case(times=[1, 2])
def auxtrace_has_data_after_it():
    aux = record(AUXTRACE, struct.pack("<QQQQ", 1000, 0, 0, 0) + bytes(8))
    return file(sample(1 * US) + aux + b"\xff" * 1000 + sample(2 * US))


@case(times=[1], branches="1:2:1,3:4:2")
def branch_stacks():
    kind = IP | TID | TIME | BRANCH
    return file(sample(1 * US, kind, rest=struct.pack("<Q6Q", 2, 1, 2, 1, 3, 4, 2)), [attr(sample_type=kind, branch=8)])


@case(times=[1], branches="1:2:1")
def branch_stacks_with_their_index():
    kind = IP | TID | TIME | BRANCH
    return file(sample(1 * US, kind, rest=struct.pack("<QQ3Q", 1, 77, 1, 2, 1)),
                [attr(sample_type=kind, branch=8 | 1 << 17)])


@case(times=[1], dump="40/64")
def a_stack_dump():
    kind = IP | TID | TIME | REGS | STACK
    return file(sample(1 * US, kind, rest=struct.pack("<QQQ", 2, 0x10, 0x20) + struct.pack("<Q", 64) + bytes(64) +
                       struct.pack("<Q", 40)), [attr(sample_type=kind, regs=0x180, stack=64)])


@case(times=[1], said=["lost             5", "format           perf.data", "kernel           4.9"])
def what_was_lost_is_reported_twice_and_counts_once():
    kind = IP | TID | TIME | PERIOD
    lost = record(LOST, struct.pack("<QQ", 0, 5) + trailer(kind, 1 * US))
    return file(sample(1 * US) + lost + record(LOST_SAMPLES, struct.pack("<Q", 5) + trailer(kind, 0)),
                features={4: string("4.9")})


# Damage and refusals ------------------------------------------------------------------------------

@case(times=[1, 2, 3], cut_short=1)
def a_recording_that_was_killed_has_no_size():
    return file(PLAIN, data_size=0)


@case(times=[1, 2], cut_short=1)
def a_file_that_was_cut_off():
    return file(PLAIN)[:-9]


@case(times=[1], damaged=1)
def a_record_of_no_size_ends_the_records():
    return file(sample(1 * US) + struct.pack("<IHH", 9, 0, 4) + sample(2 * US))


@case(times=[1, 2, 3])
def features_that_lie():
    return file(PLAIN, features={2: struct.pack("<IHH", 67, 0, 9) + b"\0", 3: struct.pack("<I", 1 << 31) + b"x",
                                 11: struct.pack("<I", 0xffffffff) + string("perf"), 12: struct.pack("<II", 1 << 31, 0),
                                 16: struct.pack("<I", 5), 17: b"", 21: b"1234567"})


@case(refused="big-endian machine: not supported")
def big_endian():
    return b"2ELIFREP" + struct.pack(">Q", 104) + bytes(200)


@case(refused="big-endian machine: not supported")
def big_endian_of_before_3_4():
    return b"PERFFILE" + struct.pack(">Q", 104) + bytes(200)


@case(refused="cut short")
def a_header_cut_short():
    return file(PLAIN)[:60]


@case(refused="attributes of 8 bytes")
def attributes_too_small():
    return file(PLAIN, entry_size=8)


@case(refused="without a single event")
def a_pipe_without_an_attr():
    return pipe(sample(1 * US))


# Tests --------------------------------------------------------------------------------------------

def lines_of(lines, kind):
    return [line for line in lines if line[""] == kind]


def found(want, lines, end):
    """Returns what the reader says, in the words of `want`."""
    records = lines_of(lines, "KERNEL")
    samples = [r for r in records if r["type"] == SAMPLE and "NOEVENT" not in r]
    events = lines_of(lines, "EVENT")
    got = {
        "times": [r["time"] // US for r in samples],
        "samples": len(samples),
        "events": [r["event"] for r in samples],
        "names": [e["name"] for e in events],
        "format": all(e["format"] > 20 for e in events),
        "info": {line["key"]: str(line["value"]) for line in lines_of(lines, "INFO") if line["key"] in want.get("info", ())},
        "images": {line["path"]: line["build_id"] for line in lines_of(lines, "IMAGE")},
        "unknown_event": sum("NOEVENT" in r for r in records),
        "order": "".join("S" if r["type"] == SAMPLE else "C" for r in records),
        "first": end["first"] // US, "last": end["last"] // US,
        "some_disorder": end["disordered"] > 0,
        "branches": samples[0].get("branches") if samples else None,
        "dump": samples[0].get("dump") if samples else None,
    }
    return got | {key: end[key] for key in ("cut_short", "damaged", "unknown", "disordered")}


def test_case(tap, program, folder, name):
    function, want = CASES[name]
    path = os.path.join(folder, name + ".data")
    with open(path, "wb") as f:
        f.write(function())
    title = name.replace("_", " ")
    status, lines, said = dump(program, path, want.get("memory", 0))
    if want.get("refused"):
        tap.check(status == 3 and want["refused"] in said and said.count("\n") == 1, title, f"{status} {said}")
        return
    if status:
        tap.check(False, title, said)
        return
    want = {"cut_short": 0, "damaged": 0, "unknown": 0} | want
    got = found(want, lines, lines[-1])
    keys = [key for key in want if key in got]
    tap.same({k: got[k] for k in keys}, {k: want[k] for k in keys}, title)
    if "said" in want:
        run = subprocess.run([os.path.join(BUILD, "mtreport"), "--info", path], capture_output=True, text=True)
        tap.check(all(f"  {line}\n" in run.stdout for line in want["said"]), f"{title}: mtreport --info says so", run.stdout)


def main(words):
    if words:
        for name, (function, _) in CASES.items():
            with open(os.path.join(words[0], name + ".data"), "wb") as f:
                f.write(function())
        return
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for name in CASES:
            test_case(tap, program, folder, name)
    tap.finish()


if __name__ == "__main__":
    main(sys.argv[1:])
