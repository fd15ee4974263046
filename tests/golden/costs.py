#!/usr/bin/env python3
"""The cost of a report is linear in the recording: mtreport does not compare all pairs of records, and does not walk pages that a record only claims."""
import os
import resource
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import corpus as make  # noqa: E402
import resident as made  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

# Each takes 0.2 s at most, and took 2 to 50 s where something was quadratic.
MOST_SECONDS = 1.5
MOST_MEMORY = 1 << 30
PROCESSES = 15000


def many_infos():
    writer = make.begun(b"".join(make.info(f"key {number:x}", "") for number in range(40000)))
    return make.ended(make.state(writer), 0)


def many_events():
    attr = make.attr(1, 2, make.TID | make.TIME, size=64)
    writer = make.begun(b"".join(make.event(100 + number, 0, f"event {number:x}", "", attr) for number in range(25000)))
    return make.ended(make.state(writer), 0)


def pages_claimed():
    """madvise(MADV_POPULATE_WRITE) of as many pages as a count can hold, with a count of that size; MADV_DONTNEED frees them."""
    whole = 1 << 55
    records = made.count(1000, made.ANON, 1)
    for number in range(10):
        time = 1100 + 100 * number
        records += made.call("madvise", time, 0, 0, whole, made.POPULATE_WRITE,
                             inside=made.count(time + 5, made.ANON, (1 << 43) + number))
        records += made.call("madvise", time + 50, 0, 0, whole, made.DONTNEED,
                             inside=made.count(time + 55, made.ANON, number))
    return made.recording(records)


def pages_one_by_one():
    """A call that populates 20,000 pages, which records report one by one."""
    pages = 20000
    inside = b"".join(made.count(2000 + page, made.ANON, page + 1) for page in range(pages))
    return made.recording(made.call("madvise", 1500, 0, 0x10000000, pages * 4096, made.POPULATE_WRITE, inside=inside, until=100000))


def process(pid):
    """The records about a process that ran before the recording."""
    region = struct.pack("<iIIIIQQQQQQ", pid, 3, 2, 0, 0, 0, made.A, made.A + 65536, 0, 900000, 950000)
    return (make.record(make.R_TASK, struct.pack("<iiiIQ", pid, pid, 1, 0, 5555) + make.string("many") + make.string("") * 4)
            + make.record(make.R_MAP, region + make.string("")) + make.gauge(960, "RssAnon", 0, pid))


def many_processes(kernel):
    """A fault of each, and a count."""
    pids = range(1000, 1000 + PROCESSES)
    writer = make.begun(make.info("kernel", kernel) + b"".join(
        (make.event(made.FAULT, 0, "page-faults", "page-faults", make.attr(1, 2, made.FAULT_TYPE), klass=1),
         make.event(made.COUNT, 1, "kmem:rss_stat", "kmem:rss_stat", make.attr(2, 646, made.MARK_TYPE), form=made.COUNT_FORMAT, klass=1))))
    writer.chunk(make.STATE, make.task(), *map(process, pids))
    writer.chunk(make.DATA, b"".join(made.fault(2000, 1, pid=pid, tid=pid) + made.count(2001, made.ANON, 1, tid=pid, mm=pid, pid=pid)
                                     for pid in pids))
    return make.ended(writer, 0)


def report(path, *options):
    """Exit status, lines, seconds of CPU."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    process = subprocess.Popen([os.path.join(BUILD, "mtreport"), "-q", "-j", "1", *options, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               preexec_fn=limit)
    lines = process.stdout.read().count(b"\n")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, lines, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def main():
    tap = Tap()
    cases = ((many_infos(), ("--info",), "40,000 INFO records", 4, 40000),
             (many_events(), ("--info",), "25,000 events", 4, 25000),
             (pages_claimed(), ("--resident", "--csv"), "ten calls that claim 2^43 pages each", 0, 1),
             (pages_one_by_one(), ("--resident", "--csv"), "20,000 pages that come one by one", 0, 1),
             (many_processes("5.10.0"), ("--resident", "--csv", "--by", "process"), f"{PROCESSES:,} processes", 0, PROCESSES))
    sanitized = "-fsanitize" in open(os.path.join(BUILD, "flags")).read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.mtr")
        for data, options, what, want, least in cases:
            with open(path, "wb") as file:
                file.write(data)
            status, lines, seconds, memory = report(path, *options)
            tap.check(status == want and lines >= least, f"{what}: reported", f"status {status}, {lines} lines")
            tap.check(sanitized or (seconds < MOST_SECONDS and memory < MOST_MEMORY), f"{what}: in {MOST_SECONDS} s of CPU",
                      f"{seconds:.1f} s, {memory >> 20} MB")
            print(f"# {seconds:.2f} s, {memory >> 20} MB, {len(data) >> 10} KB")
    tap.finish()


if __name__ == "__main__":
    main()
