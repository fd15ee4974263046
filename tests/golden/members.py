#!/usr/bin/env python3
"""Events that are only counted at the samples of another event ({a,b}:S): the growth of each count is a sample of its own."""
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "recording"))
import corpus  # noqa: E402
import make_perfdata as make  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

ENABLED, RUNNING, ID, GROUP, LOST = 1, 2, 4, 8, 16
READ, INHERIT, EXCLUDE_GUEST = 1 << 4, 1 << 1, 1 << 20
FLAGS = make.SAMPLE_ID_ALL | EXCLUDE_GUEST  # as perf opens them
KIND = make.IP | make.TID | make.TIME | make.ID | make.PERIOD | READ
FORMATS = (ID | GROUP, ID | GROUP | LOST, ENABLED | RUNNING | ID | GROUP | LOST)


def attr(config, read_format, period, flags=FLAGS):
    made = make.attr(config=config, sample_type=KIND, period=period, flags=flags)
    return made[:32] + struct.pack("<Q", read_format) + made[40:]


def group(read_format, values, ids=(1, 2, 3)):
    """The body of PERF_SAMPLE_READ."""
    out = [len(values)] + [1000] * bin(read_format & (ENABLED | RUNNING)).count("1")
    for value, number in zip(values, ids):
        out += [value] + [number] * bool(read_format & ID) + [0] * bool(read_format & LOST)
    return struct.pack(f"<{len(out)}Q", *out)


def made(read_format, rows, flags=FLAGS, ids=(1, 2, 3), member_period=0):
    """rows: the counts of page-faults, context-switches and migrations at each sample."""
    kind = KIND
    data = make.comm("prog", 0, kind, id=1) + make.mmap("/bin/prog-not-there", 0, kind, id=1)
    for i, row in enumerate(rows):
        data += make.sample((i + 1) * make.US, kind, id=1, ip=0x401000 + 16 * i, rest=group(read_format, row, ids))
    attrs = [attr(2, read_format, 1, flags), attr(3, read_format, member_period, flags), attr(4, read_format, member_period, flags)]
    return make.file(data, attrs, ids=[(1,), (2,), (3,)])


def recorded(rows):
    """The same as mtrec records it: no record says which event each of the kernel's ids belongs to; the order of the members does."""
    def kernel(i, row):
        return make.sample((i + 1) * make.US, KIND, id=77, ip=0x401000 + 16 * i, rest=group(FORMATS[0], row, (77, 78, 79)))

    names = ((FAULTS, 2, 0, "faults"), (SWITCHES, 3, 4, "switches"), (MOVES, 4, 4, "migrations"))
    events = b"".join(corpus.event(i, role, name, name, attr(config, FORMATS[0], 1 if role == 0 else 0), unit=unit,
                                   pair=corpus.NONE if role == 0 else 0)
                      for i, (name, config, role, unit) in enumerate(names))
    writer = corpus.Writer().chunk(corpus.HEAD, corpus.header() + corpus.infos() + corpus.clock(0) + events)
    writer.chunk(corpus.STATE, corpus.task())
    writer.chunk(corpus.DATA, b"".join(corpus.kernel(0, kernel(i, row), i + 1) for i, row in enumerate(rows)))
    return corpus.ended(writer, len(rows))


def report(path, *options):
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "-q", *options, path], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def samples(text):
    """(event, period) of each sample in the listing."""
    heads = [line.split() for line in text.splitlines() if line and line[0] not in "\t "]
    return [(head[4].rstrip(":"), int(head[3])) for head in heads]


FAULTS, SWITCHES, MOVES = "page-faults", "context-switches", "cpu-migrations"
ROWS = [(1, 0, 0), (2, 5, 0), (5, 5, 7), (6, 4, 8)]
# The third fault counts as three, two of which are in no sample; 4 switches after 5 come from another counter.
WANT = [(FAULTS, 1), (FAULTS, 1), (SWITCHES, 5), (FAULTS, 3), (MOVES, 7), (FAULTS, 1), (SWITCHES, 4), (MOVES, 1)]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "group.data")

        def write(data):
            with open(path, "wb") as f:
                f.write(data)

        for read_format in FORMATS:
            write(made(read_format, ROWS))
            status, out, said = report(path, "--script")
            tap.check(status == 0, f"format {read_format}: read", said)
            tap.same(sorted(samples(out)), sorted(WANT), f"format {read_format}: what each grew by")
        _, out, _ = report(path, "--script", "-e", SWITCHES)
        tap.same(samples(out), [(SWITCHES, 5), (SWITCHES, 4)], "-e takes a member alone")
        _, out, _ = report(path, "--folded", "-e", SWITCHES, "--by", "comm")
        tap.same(out.split()[-1], "9", "sums weigh as much")
        _, out, _ = report(path, "--csv", "--by", "event", "--weight", "period")
        tap.check("context-switches,9\n" in out and "page-faults,6\n" in out, "and are next to their leader", out)
        _, out, _ = report(path, "--script", "--time", "0.0000015,")
        tap.check((SWITCHES, 4) in samples(out) and (SWITCHES, 5) not in samples(out), "the time selects", out)
        _, out, _ = report(path, "--info")
        tap.check("context-switches: counted beside, 2 records" in out, "--info has its role", out)
        for words, want in ((), (4, 4)), (("-e", SWITCHES), (4, 2)), (("-e", f"{SWITCHES},{MOVES}"), (4, 3)):
            for stacks in ("stack", "comm"):
                _, out, _ = report(path, "--json", "--by", stacks, *words)
                reported = json.loads(out)
                tap.same((reported["samples"], reported["selected"]), want, f"--json {' '.join(words)} by {stacks}: a sample with its counts is one")
        _, out, _ = report(path, "--unwind-report", "--csv")
        tap.check(",4\n" in out and ",8\n" not in out, "--unwind-report counts each stack once", out)
        write(made(FORMATS[0], [row[:2] for row in ROWS]))
        _, out, _ = report(path, "--script")
        tap.same(sorted(samples(out)), sorted(one for one in WANT if one[0] != MOVES), "a smaller group has only these: ids decide")
        write(made(FORMATS[0], [row[::-1] for row in ROWS], ids=(3, 2, 1)))
        _, out, _ = report(path, "--script")
        tap.same(sorted(samples(out)), sorted(WANT), "and of their counts in any order")
        write(made(FORMATS[0], ROWS, member_period=1 << 62))
        _, out, _ = report(path, "--script")
        tap.same(sorted(samples(out)), sorted(WANT), "as of simpleperf's members, whose period none ever reaches")
        write(made(FORMATS[0], [(1, 0, 0), (2, 5000, 0), (3, 900000, 7000)]))
        _, out, _ = report(path, "--summary")
        heads = [line for line in out.splitlines() if ": " in line and "samples" in line]
        tap.same([head.split(":")[0] for head in heads], [FAULTS, SWITCHES, MOVES], "the summary begins with what was sampled")
        tap.check("page-faults: 3 samples" in out and f"{SWITCHES}: 900,000 switches, counted beside" in out,
                  "and calls no count samples", out)
        write(made(FORMATS[0], ROWS, FLAGS | INHERIT))
        _, out, _ = report(path, "--script")
        tap.same(sorted(samples(out)), sorted(WANT), "inherited counts are of the thread")
        write(recorded(ROWS))
        _, out, _ = report(path, "--script")
        tap.same(sorted(samples(out)), sorted(WANT), "a recording of mtrec: their order identifies members")
        _, out, _ = report(path, "--script", "-e", SWITCHES)
        tap.same(samples(out), [(SWITCHES, 5), (SWITCHES, 4)], "-e takes a member of it alone")
        write(recorded([row[:2] for row in ROWS]))
        _, out, _ = report(path, "--script")
        tap.same([event for event, _ in samples(out)], [FAULTS] * 4, "samples with another number of counts have no member")
    tap.finish()


if __name__ == "__main__":
    main()
