#!/usr/bin/env python3
"""mtreport --resident: each rule by which resident pages are attributed to the stacks that touched them, on synthetic recordings."""
import csv
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import corpus as make  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

FILE, ANON, SWAP, SHM = range(4)
FAULT, COUNT, ALLOC = 20, 21, 22
CALLS = {"mmap": (30, 9), "munmap": (32, 11), "madvise": (34, 28), "mremap": (36, 25),
         "process_madvise": (46, 440), "io_uring_setup": (48, 425)}
FAULT_TYPE = make.IDENTIFIER | make.IP | make.TID | make.TIME | make.ADDR | make.CPU
MARK_TYPE = make.IDENTIFIER | make.TID | make.TIME | make.CPU | make.RAW
EXIT_TYPE = MARK_TYPE | make.REGS
DONTNEED, PAGEOUT, POPULATE_WRITE, COLLAPSE = 4, 21, 23, 25
COUNT_FORMAT = ("name: rss_stat\nID: 646\nformat:\n\tfield:unsigned int mm_id;\toffset:8;\tsize:4;\tsigned:0;\n"
                "\tfield:unsigned int curr;\toffset:12;\tsize:4;\tsigned:0;\n"
                "\tfield:int member;\toffset:16;\tsize:4;\tsigned:1;\n\tfield:long size;\toffset:24;\tsize:8;\tsigned:1;\n")
ALLOC_FORMAT = ("name: mm_page_alloc\nID: 645\nformat:\n\tfield:unsigned int order;\toffset:8;\tsize:4;\tsigned:0;\n"
                "\tfield:unsigned long gfp_flags;\toffset:16;\tsize:8;\tsigned:0;\n")
PAGE = 4096
A = 0x7f0000000000  # a region of 64 pages, mapped before
B = 0x7f0000200000  # one of 4 MiB


def sample(index, time, tid, rest=b"", address=None, pid=100):
    body = struct.pack("<Q", 77) + (b"" if address is None else struct.pack("<Q", 0x400100))
    body += struct.pack("<IIQ", pid, tid, time * make.US)
    body += (b"" if address is None else struct.pack("<Q", address)) + struct.pack("<II", 1, 0)
    return make.kernel(index, make.perf_record(make.PERF_SAMPLE, body + rest, 2), time)


def raw(data):
    size = -(-(len(data) + 4) // 8) * 8 - 4
    return struct.pack("<I", size) + data.ljust(size, b"\0")


def fault(time, page, base=A, tid=100, pid=100):
    return sample(FAULT, time, tid, address=base + page * PAGE, pid=pid)


def count(time, member, pages, tid=100, mm=7, own=1, pid=100):
    return sample(COUNT, time, tid, raw(struct.pack("<QIIiiq", 0, mm, own, member, 0, pages * PAGE)), pid=pid)


def alloc(time, order, tid=100, pid=100):
    return sample(ALLOC, time, tid, raw(struct.pack("<QIIQ", 0, order, 0, 0x140dca)), pid=pid)


def call(name, time, result, *arguments, inside=b"", tid=100, until=9, pid=100, entered=True):
    index, number = CALLS[name]
    arguments = list(arguments) + [0] * (6 - len(arguments))
    values = [0] * 20
    for bit, value in zip((5, 4, 3, 18, 16, 17), arguments):
        values[bin(make.X86_MASK & (1 << bit) - 1).count("1")] = value
    enter = sample(index + 1, time, tid, raw(struct.pack("<Qii6Q", 0, number, 0, *arguments)), pid=pid)
    leave = sample(index, time + until, tid, raw(struct.pack("<Qiiq", 0, number, 0, result))
                   + struct.pack("<Q20Q", 2, *values), pid=pid)
    return (enter if entered else b"") + inside + leave


def process_record(kind, body, time, misc=2, pid=100):
    return make.kernel(make.SIDEBAND, make.perf_record(kind, body + make.sample_id(time, pid, pid), misc), time)


def forked(time, child, tid=100, parent=100):
    return process_record(make.FORK, struct.pack("<IIIIQ", child, parent, child, tid, time * make.US), time, pid=parent)


def ended(time, pid):
    return process_record(make.EXIT, struct.pack("<IIIIQ", pid, 1, pid, 1, time * make.US), time, pid=pid)


def execed(time, pid, name=b"other\0\0\0"):
    return process_record(make.COMM, struct.pack("<II", pid, pid) + name, time, 2 | 1 << 13, pid)


def recording(records, kernel="6.8.0", gauges=b"", counts=True, lost=b""):
    described = [make.event(FAULT, 0, "page-faults", "page-faults", make.attr(1, 2, FAULT_TYPE), klass=1)]
    if counts:
        described.append(make.event(COUNT, 1, "kmem:rss_stat", "kmem:rss_stat", make.attr(2, 646, MARK_TYPE),
                                    form=COUNT_FORMAT, klass=1))
    described.append(make.event(ALLOC, 1, "kmem:mm_page_alloc/order > 0/", "kmem:mm_page_alloc",
                                make.attr(2, 645, MARK_TYPE), form=ALLOC_FORMAT, klass=1))
    for name, (index, number) in CALLS.items():
        described.append(make.event(index, 0, "syscalls:sys_exit_" + name, name,
                                    make.attr(2, 700 + index, EXIT_TYPE), pair=index + 1))
        described.append(make.event(index + 1, 1, "syscalls:sys_enter_" + name, name,
                                    make.attr(2, 701 + index, MARK_TYPE), pair=index))
    writer = make.begun(make.info("kernel", kernel) + b"".join(described))
    writer.chunk(make.STATE, make.task(), *[make.task(tid=tid, comm="thread") for tid in (101, 102)],
                 make.map_record(A, A + 64 * PAGE, "", 3), make.map_record(B, B + 1024 * PAGE, "", 3), gauges, lost)
    writer.chunk(make.DATA, records)
    return make.ended(writer, 0)


def started(*pages):
    """Returns the gauges of memory that was resident before the recording: file, anonymous, shared."""
    names = zip(("RssFile", "RssAnon", "RssShmem", "VmSwap"), pages)
    return b"".join(make.gauge(960, name, value * PAGE) for name, value in names)


def rows(folder, data, *options, process="pid"):
    path = os.path.join(folder, "made.mtr")
    with open(path, "wb") as f:
        f.write(data)
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "--resident", "--csv", *options, path], capture_output=True,
                         text=True)
    if run.returncode:
        return run.stderr
    keys = options[options.index("--by") + 1].split(",")
    names = {"process": process, "thread": "tid"}
    out = {}
    for row in csv.DictReader(run.stdout.splitlines()):
        key = tuple(row[names.get(key, key)] for key in keys)
        key = key[0] if len(key) == 1 else key
        out[key] = out.get(key, 0) + int(row["bytes"]) / PAGE
    return out


def each_touched(first, pages, member=ANON, before=0, tid=100, base=A):
    """Returns faults of one page after the other, each counted."""
    return b"".join(fault(first + 2 * n, n, base, tid) + count(first + 2 * n + 1, member, before + n + 1, tid)
                    for n in range(pages))


def faults_and_returns():
    gone = each_touched(1000, 8) + call("madvise", 1100, 0, A, 3 * PAGE, DONTNEED, inside=count(1105, ANON, 5))
    yield "a page belongs to who touched it", each_touched(1000, 8), {("100", "[unknown]"): 8}
    yield "madvise takes pages off the stack that touched them", gone, {("100", "[unknown]"): 5}
    yield "... and what comes again counts again", gone + fault(1200, 1) + count(1201, ANON, 6), {("100", "[unknown]"): 6}
    yield "munmap takes them, whoever calls it", each_touched(1000, 8) + call(
        "munmap", 1100, 0, A, 6 * PAGE, inside=count(1105, ANON, 2, 101), tid=101), {("100", "[unknown]"): 2}
    yield "of a call that takes more than was seen the rest is the call's", each_touched(1000, 4, before=20) + call(
        "munmap", 1100, 0, A, 16 * PAGE, inside=count(1105, ANON, 12)), {("100", "[unmapped]"): -8}
    yield "a call that failed gives nothing back", each_touched(1000, 4) + call(
        "munmap", 1100, -22, A, 16 * PAGE), {("100", "[unknown]"): 4}
    yield "mmap over pages takes them", each_touched(1000, 4) + call(
        "mmap", 1100, A, A, 2 * PAGE, 3, 0x32, -1 & (1 << 64) - 1, inside=count(1105, ANON, 2)), {("100", "[unknown]"): 2}
    moved = each_touched(1000, 4) + call("mremap", 1100, A + 0x100000, A, 8 * PAGE, 8 * PAGE, 3, A + 0x100000)
    yield "moved pages keep their stack", moved + call(
        "munmap", 1200, 0, A + 0x100000, 3 * PAGE, inside=count(1205, ANON, 1)), {("100", "[unknown]"): 1}
    yield "a zero page read counts when it is written", fault(1000, 0) + fault(1001, 0) + count(
        1002, ANON, 1), {("100", "[unknown]"): 1}


def sizes():
    huge = fault(1000, 3, B) + count(1001, ANON, 512)
    yield "a huge page is one fault's", huge, {("100", "[unknown]"): 512}
    yield "... a part of it can go", huge + call("madvise", 1100, 0, B + 100 * PAGE, 50 * PAGE, DONTNEED,
                                                 inside=count(1105, ANON, 462)), {("100", "[unknown]"): 462}
    yield "a folio of 16 pages", fault(1000, 20, B) + count(1001, ANON, 16) + call(
        "munmap", 1100, 0, B, 24 * PAGE, inside=count(1105, ANON, 8)), {("100", "[unknown]"): 8}
    yield "pages of a file around a fault", fault(1000, 20) + count(1001, FILE, 16), {("100", "[unknown]"): 16}
    yield "... one of them is copied", fault(1000, 20) + count(1001, FILE, 16) + fault(1002, 21, tid=101) + count(
        1003, FILE, 15, 101) + count(1004, ANON, 1, 101), {("100", "[unknown]"): 15, ("101", "[unknown]"): 1}
    both = fault(1000, 1) + fault(1001, 2, tid=101) + count(1002, ANON, 2) + count(1003, ANON, 2, 101)
    yield "two threads at once: each has its page", both, {
        ("100", "[unknown]"): 1, ("101", "[unknown]"): 1, ("100", "[unseen]"): 1, ("101", "[unseen]"): -1}
    early = fault(1000, 1) + fault(1001, 2, tid=101) + count(1002, ANON, 2) + count(1003, ANON, 1, 101) + count(
        1005, ANON, 3, 101) + fault(1004, 3, tid=101)
    yield "... whichever sum comes first", early, {
        ("100", "[unknown]"): 1, ("101", "[unknown]"): 2, ("100", "[unseen]"): 1, ("101", "[unseen]"): -1}


def causes():
    yield "populated by mmap", call("mmap", 1000, A + 0x400000, 0, 8 * PAGE, 3, 0x8022, -1 & (1 << 64) - 1, inside=b"".join(
        count(1001 + n, ANON, n + 1) for n in range(8))), {("100", "[populated]"): 8}
    some = call("madvise", 1000, 0, A, 8 * PAGE, POPULATE_WRITE, inside=count(1005, ANON, 8))
    yield "populated by madvise", some, {("100", "[populated]"): 8}
    yield "... and given back", some + call("munmap", 1100, 0, A, 2 * PAGE, inside=count(1105, ANON, 6)), {
        ("100", "[populated]"): 6}
    yield "collapsed into a huge page", call("madvise", 1000, 0, B, 512 * PAGE, COLLAPSE, inside=count(
        1005, ANON, 500)), {("100", "[collapsed]"): 500}
    yield "paged out", each_touched(1000, 4) + call("madvise", 1100, 0, A, 4 * PAGE, PAGEOUT, inside=count(
        1104, ANON, 2) + count(1105, SWAP, 2)), {("100", "[unknown]"): 4, ("100", "[reclaimed]"): -2}
    yield "swapped out by another, and back by a fault", each_touched(1000, 4) + count(1100, ANON, 3, 102, own=0) + count(
        1101, SWAP, 1, 102, own=0) + fault(1200, 2) + count(1201, SWAP, 0) + count(1202, ANON, 4), {
            ("100", "[unknown]"): 4}
    yield "one change is a fault's, the next is not", fault(1000, 1) + count(1001, ANON, 1) + count(
        1002, ANON, 2), {("100", "[unknown]"): 1, ("100", "[pinned]"): 1}
    yield "a file is cut", each_touched(1000, 2, FILE) + count(1100, FILE, 1), {
        ("100", "[unknown]"): 2, ("100", "[truncated]"): -1}


def spaces():
    child = count(1099, ANON, 4, mm=9, own=0) + forked(1100, 200)
    grown = fault(1110, 1, pid=200, tid=200) + count(1111, FILE, 1, 200, 9, pid=200)
    yield "a child's pages are fork's", each_touched(1000, 4) + child + grown, {
        ("100", "[unknown]"): 4, ("200", "[fork]"): 4, ("200", "[unknown]"): 1}
    down = count(1120, ANON, 0, 200, 9, 0, 200) + count(1121, FILE, 0, 200, 9, 0, 200)
    yield "a process that ends counts as it was", each_touched(1000, 4) + child + grown + down + ended(1130, 200), {
        ("100", "[unknown]"): 4, ("200", "[fork]"): 4, ("200", "[unknown]"): 1}
    yield "... where the kernel says so before it lets go", each_touched(1000, 4) + child + grown + ended(
        1115, 200) + down, {("100", "[unknown]"): 4, ("200", "[fork]"): 4, ("200", "[unknown]"): 1}
    loaded = count(1005, ANON, 2, mm=8, own=0) + count(1010, ANON, 0, mm=7, own=0) + execed(1015, 100)
    yield "exec: the old program as it was, the new one from nothing", fault(1000, 0) + count(
        1001, ANON, 11) + loaded + fault(1020, 1) + count(1021, ANON, 3, mm=8), {
            ("100", "[unknown]"): 2, ("100", "[exec]"): 2}
    again = child + grown + ended(1130, 200) + count(1199, ANON, 2, mm=9, own=0) + forked(1200, 201) + count(
        1210, ANON, 1, 201, 9, pid=201)
    yield "a name of the kernel's that is used again", each_touched(1000, 4) + again, {
        ("100", "[unknown]"): 4, ("200", "[fork]"): 4, ("200", "[unknown]"): 1, ("201", "[fork]"): 2,
        ("201", "[reclaimed]"): -1}


def check_ended(tap, folder):
    old = fault(1000, 0) + count(1001, ANON, 1) + count(1005, ANON, 2, mm=8, own=0) + count(1010, ANON, 0, mm=7, own=0)
    others = b"".join(process_record(make.EXIT, struct.pack("<IIIIQ", 100, 1, tid, 1, 1012 * make.US), 1012) for tid in (101, 102))
    new = others + execed(1015, 100) + fault(1020, 1) + count(1021, ANON, 3, mm=8)
    for what, records, want in (
            ("a program that calls exec is marked, and has a row apart from its successor", b"", {"worker [exec]": 1, "other": 3}),
            ("so is what exits", ended(1130, 100), {"worker [exec]": 1, "other [exited]": 3})):
        data = recording(old + new + records, gauges=started(0, 0, 0, 0))
        tap.same(rows(folder, data, "--by", "process", process="process"), want, what)


def check_timeline(tap, folder):
    data = recording(each_touched(1000, 8) + call("madvise", 3000, 0, A, 3 * PAGE, DONTNEED, inside=count(3005, ANON, 5))
                     + fault(5000, 20) + count(5001, ANON, 6) + ended(5100, 100), gauges=started(0, 0, 0, 0))
    with open(os.path.join(folder, "made.mtr"), "wb") as f:
        f.write(data)
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "--resident", "--timeline", "1ms", "--csv",
                          os.path.join(folder, "made.mtr")], capture_output=True, text=True)
    got = [(row["process"], row["kind"], int(row["bytes"]) // PAGE) for row in csv.DictReader(run.stdout.splitlines())]
    tap.same([row[2] for row in got if row[1] == "anon"], [8, -3, 1], "--timeline: what came and went in each interval")


def check_rules(tap, folder):
    for rules in (faults_and_returns, sizes, causes, spaces):
        for what, records, want in rules():
            gauges = started(0, 20, 0, 0) if "more than was seen" in what else started(0, 0, 0, 0)
            gauges = started(0, 10, 0, 0) if what.startswith("exec:") else gauges
            tap.same(rows(folder, recording(records, gauges=gauges), "--by", "thread,stack"), want, what)


def check_start(tap, folder):
    late = fault(1000, 0) + count(1001, ANON, 50) + fault(1002, 1) + count(1003, ANON, 51)
    tap.same(rows(folder, recording(late), "--by", "process"), {"100": 2}, "what was there before does not count")
    tap.same(rows(folder, recording(late, gauges=started(0, 48, 0, 0)), "--by", "process"), {"100": 3},
             "... exactly where /proc has it")
    lost = make.loss(event_index=FAULT)
    missing = fault(1000, 0) + count(1001, ANON, 1) + count(2600, ANON, 9)
    tap.same(rows(folder, recording(missing, gauges=started(0, 0, 0, 0), lost=lost), "--by", "stack"),
             {"[unknown]": 1, "[lost]": 8}, "changes whose faults were lost have a row")


def check_reserver(tap, folder):
    mapped = call("mmap", 1000, A + 0x400000, 0, 8 * PAGE, 3, 0x22, -1 & (1 << 64) - 1, tid=102)
    data = recording(mapped + each_touched(1100, 3, base=A + 0x400000, tid=101) + each_touched(1200, 2, before=3),
                     gauges=started(0, 0, 0, 0))
    tap.same(rows(folder, data, "--by", "thread,reserver"), {("101", ""): 3, ("100", "[before the recording]"): 2},
             "who reserved it, by the account of the address space")
    tap.same(rows(folder, data, "--by", "kind"), {"anon": 5}, "the kind of memory")


def check_moments(tap, folder):
    data = recording(each_touched(1000, 8) + call("munmap", 1100, 0, A, 6 * PAGE, inside=count(1105, ANON, 2))
                     + fault(1200, 9) + count(1201, ANON, 3), gauges=started(0, 0, 0, 0))
    for at, want in (("peak", 8), ("end", 3), ("@1010000", 5), ("@1150000", 2)):
        tap.same(rows(folder, data, "--by", "process", "--at", at), {"100": want}, f"--at {at}")


def walked(time, start, pages, **sizes):
    """Returns a record of a mapping's smaps."""
    return b"".join(make.gauge(time, f"smaps {start:x}-{start + pages * PAGE:x} {name}", value * PAGE) for name, value in sizes.items())


def check_map(tap, folder):
    """(pages mapped, resident, dirty, touched) by the mapping's first page, of region B below 0; "-": not known."""
    def map_of(records, gauges, *options):
        path = os.path.join(folder, "made.mtr")
        with open(path, "wb") as f:
            f.write(recording(records, gauges=gauges))
        run = subprocess.run([os.path.join(BUILD, "mtreport"), "--maps", "--csv", *options, path], capture_output=True, text=True)
        figure = lambda row, name: int(row[name]) // PAGE if row[name] else "-"  # noqa: E731
        return {(int(row["start"], 16) - A) // PAGE if int(row["start"], 16) < B else -1:
                tuple(figure(row, name) for name in ("bytes", "resident", "dirty", "touched"))
                for row in csv.DictReader(run.stdout.splitlines())}, run.stderr

    touched = each_touched(1000, 8) + call("munmap", 1100, 0, A, 4 * PAGE)
    once = walked(960, A, 32, Rss=20, Dirty=3) + walked(960, A + 32 * PAGE, 32, Rss=5)
    got, _ = map_of(touched, once, "--at", "@1050000")
    tap.same(got, {0: (32, 20, 3, 8), 32: (32, 5, 0, 0), -1: (1024, "-", "-", 0)},
             "--maps: the kernel's mappings, with what smaps said of each and what was touched until then")
    got, _ = map_of(touched, once, "--at", "end")
    tap.same(got, {4: (60, "-", "-", 4), -1: (1024, "-", "-", 0)}, "... and of what a call changed since then nothing but that")
    table = subprocess.run([os.path.join(BUILD, "mtreport"), "--maps", "--at", "@1050000", os.path.join(folder, "made.mtr")],
                           capture_output=True, text=True, check=True).stdout
    tap.same([word for word in ("end", "offset", "dev", "inode", "kind", "resident", "touched", "doubtful") if f" {word} " in table],
             ["end", "offset", "dev", "inode", "kind", "resident", "touched"], "... with what /proc/PID/maps has; the table lacks what no row has")
    far = walked(2000000, A, 64, Rss=9)
    got, _ = map_of(touched, far, "--at", "@1050000")
    tap.same(got, {0: (64, "-", "-", 8), -1: (1024, "-", "-", 0)}, "... not what it said a second later")
    got, _ = map_of(touched, once + walked(1090, A, 64, Rss=9), "--at", "@1080000")
    tap.same(got[0], (64, 9, 0, 8), "... but what it said next to the moment")
    for name in ("smaps 7f-", "smaps zz-1000 Rss", "smaps 2000-1000 Rss", "smaps 1000-2000", "smaps 1000-2000 Rss more", "smaps "):
        got, said = map_of(touched, make.gauge(960, name, PAGE), "--at", "@1050000")
        tap.same(got, {0: (64, "-", "-", 8), -1: (1024, "-", "-", 0)}, f"... not what is none: '{name}'")


def check_batched(tap, folder):
    pages = fault(1000, 0) + fault(1001, 0) + fault(1002, 1) + count(1003, ANON, 64)
    for kernel, counts in (("5.15.0", True), ("6.1.0", True), ("5.4.0", False), ("6.8.0", False)):
        records = pages if counts else fault(1000, 0) + fault(1001, 0) + fault(1002, 1)
        got = rows(folder, recording(records, kernel, counts=counts), "--by", "thread,stack")
        tap.same(got.get(("100", "[unknown]")), 2, f"Linux {kernel}, counts {counts}: distinct pages")
    def child(pages, start):
        return b"".join(fault(start + page, page, B, 200, 200) for page in pages)

    born = forked(900, 200) + count(901, ANON, 40, mm=0, own=0) + child(range(4), 1000) + count(1004, ANON, 5, 200, 0, pid=200)
    parent = count(1050, ANON, 64, mm=0)
    for others in (b"", parent):
        got = rows(folder, recording(born + others + child(range(4, 6), 1100), "5.10.0"), "--by", "thread,stack")
        tap.same(got, {("200", "[unknown]"): 6, ("200", "[unseen]"): 2},
                 "what was touched since the last batch counts, too" + (", where address spaces have no names" if others else ""))
    named = count(1200, ANON, 9, 200, 12, pid=200)
    got = rows(folder, recording(born + count(1005, SHM, 3, 200, 0, pid=200) + child(range(4, 6), 1100) + named
                                 + child(range(6, 7), 1210), "5.10.0"), "--by", "thread,stack")
    tap.same(got, {("200", "[unknown]"): 7, ("200", "[unseen]"): 7}, "... or get one while they are recorded")
    own = fault(1000, 5, B, 200, 200) + alloc(1001, 9, 200, 200) + count(1002, ANON, 512, 200, pid=200)
    got = rows(folder, recording(forked(900, 200) + own + fault(1010, 600, B, 200, 200), "5.10.0"), "--by", "thread,stack")
    tap.same(got, {("200", "[unknown]"): 513}, "... once, with a huge page that the kernel counted at once")
    huge = fault(1000, 5, B) + alloc(1001, 9) + call("munmap", 1100, 0, B, 12 * PAGE)
    got = rows(folder, recording(huge, "5.15.0"), "--by", "thread,stack")
    tap.same(got, {("100", "[unknown]"): 500}, "a huge page by what the kernel took for it")
    ends = started(10, 20, 0, 0) + b"".join(make.gauge(3000, name, value * PAGE) for name, value in (
        ("RssFile", 12), ("RssAnon", 90), ("RssShmem", 0)))
    got = rows(folder, recording(pages, "5.15.0", ends), "--by", "thread,stack")
    tap.same(got, {("100", "[unknown]"): 2, ("100", "[unseen]"): 70}, "what faults do not explain is a row of its own")
    walked = make.gauge(11, "smaps_rollup Rss", 30 * PAGE) + make.gauge(3001, "smaps_rollup Rss", 40 * PAGE)
    got = rows(folder, recording(pages, "5.15.0", ends + walked), "--by", "thread,stack")
    tap.same(got, {("100", "[unknown]"): 2, ("100", "[unseen]"): 8}, "... by smaps_rollup where it was read at both ends")


def check_same_instant(tap, folder):
    """On the screen, the paths are those of the moment at which /proc was read for the last time, like WHO GREW."""
    touches = b"".join(fault(1000 + 2 * n, n, B) + count(1001 + 2 * n, ANON, n + 1) for n in range(300))
    drop = call("madvise", 4000, 0, B, 300 * PAGE, DONTNEED, inside=count(4005, ANON, 0))
    gauges = started(0, 0, 0, 0) + b"".join(make.gauge(3000, name, value * PAGE) for name, value in (
        ("RssFile", 0), ("RssAnon", 300), ("RssShmem", 0), ("VmSwap", 0), ("VmRSS", 300)))

    def screen(records):
        path = os.path.join(folder, "made.mtr")
        with open(path, "wb") as f:
            f.write(recording(records, gauges=gauges))
        text = subprocess.run([os.path.join(BUILD, "mtreport"), "-q", path], capture_output=True, text=True).stdout
        return [line.split()[0] for line in text.splitlines() if line.startswith("    +1.2 MB  ")], text

    for what, records in (("nothing since", touches), ("what madvise gave back since is there still", touches + drop)):
        got, text = screen(records)
        tap.check(got == ["+1.2"] and "1.2 MB   +1.2 MB" in text, f"paths are of the moment of the last reading: {what}", text)
    tap.same(rows(folder, recording(touches + drop, gauges=gauges), "--by", "process"), {}, "... but for --resident, which is of the end")


def check_unseen(tap, folder):
    """Returns memory that may have been given back unseen: (pages, low, high) by process, and the text on stderr."""
    def figures(records, counts=True):
        path = os.path.join(folder, "made.mtr")
        with open(path, "wb") as f:
            f.write(recording(records, counts=counts))
        run = subprocess.run([os.path.join(BUILD, "mtreport"), "--resident", "--csv", "--by", "process", path],
                             capture_output=True, text=True)
        rows = {row["pid"]: tuple(int(row.get(key, row["bytes"])) // PAGE for key in ("bytes", "bytes_low", "bytes_high"))
                for row in csv.DictReader(run.stdout.splitlines())}
        return rows, [line.split(": ", 1)[1].split(",")[0].split(": ")[0] for line in run.stderr.splitlines() if "goes unseen" in line]

    touched = each_touched(1000, 8)
    ring = ["worker (100) has io_uring"]
    advice = ["worker (100) has used process_madvise"]
    for counts in (True, False):
        how = "" if counts else ", by faults alone"
        tap.same(figures(touched, counts), ({"100": (8, 8, 8)}, []), "what was touched is resident" + how)
        tap.same(figures(touched + call("io_uring_setup", 2000, 5, 64), counts), ({"100": (8, 0, 8)}, ring),
                 "with io_uring any part of it may have been given back" + how)
        tap.same(figures(touched + call("process_madvise", 2000, 8 * PAGE, 5, 1, 1, DONTNEED), counts),
                 ({"100": (8, 0, 8)}, advice), "so it is with process_madvise" + how)
        for populate in (3, 22, 23, 25):
            tap.same(figures(touched + call("process_madvise", 2000, 8 * PAGE, 5, 1, 1, populate), counts),
                     ({"100": (8, 8, 8)}, []), f"... but not where advice {populate} can only add pages" + how)
    tap.same(figures(touched + call("io_uring_setup", 2000, -38, 64) + call("process_madvise", 2100, -1, 5, 1, 1, DONTNEED)),
             ({"100": (8, 8, 8)}, []), "calls that fail do nothing")
    child = forked(1500, 200) + fault(1600, 0, B, 200, 200) + count(1601, ANON, 1, 200, 8, pid=200)
    records = touched + child + call("process_madvise", 2000, PAGE, 5, 1, 1, DONTNEED)
    tap.same(figures(records, False), ({"100": (8, 0, 8), "200": (1, 0, 1)}, advice),
             "process_madvise may be about any process, and one has called it")
    records = touched + call("process_madvise", 1400, PAGE, 5, 1, 1, DONTNEED) + child
    tap.same(figures(records, False)[0].get("200"), (1, 1, 1), "... but not about one that begins later")


def check_keys(tap):
    """Paths that no longer hold memory have no row. Their counts appear only together with memory of other paths of the process."""
    for name in ("leak", "sawtooth", "forks"):
        path = os.path.join(HERE, "scenes", f"{name}.mtr")
        sums, counts = {}, {}
        for by in ("process", "stack", "kind", "thread,kind,stack", "reserver,stack"):
            done = subprocess.run([os.path.join(BUILD, "mtreport"), "-q", "--resident", "--json", "--by", by, path], capture_output=True, check=True)
            rows = json.loads(done.stdout)["rows"]
            sums[by] = tuple(sum(row[figure] for row in rows) for figure in ("bytes", "pages", "swapped"))
            counts[by] = sum(row["count"] for row in rows)
        tap.check(len(set(sums.values())) == 1, f"{name}: bytes, pages and swapped are the same by any keys", sums)
        tap.check(max(counts.values()) == counts["process"], f"{name}: no key counts more than processes", counts)


def main():
    tap = Tap()
    check_keys(tap)
    with tempfile.TemporaryDirectory() as folder:
        check_rules(tap, folder)
        check_ended(tap, folder)
        check_timeline(tap, folder)
        check_start(tap, folder)
        check_reserver(tap, folder)
        check_moments(tap, folder)
        check_map(tap, folder)
        check_batched(tap, folder)
        check_same_instant(tap, folder)
        check_unseen(tap, folder)
    tap.finish()


if __name__ == "__main__":
    main()
