#!/usr/bin/env python3
"""mtreport --branches: every figure of made branch records, and of real ones from elsewhere where they are at hand."""
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_perfdata as make  # noqa: E402
from perfdata_tool import BUILD, TOP, Tap  # noqa: E402

DATA = os.environ.get("MT_DATA") or os.path.join(os.environ.get("MT_SHARED", os.path.join(TOP, "../shared")), "data")
KIND = make.IP | make.TID | make.TIME | make.PERIOD
ANY, HW_INDEX = 1 << 3, 1 << 17
MISPREDICTED, PREDICTED = 1, 2


def report(path, *options):
    run = subprocess.run([os.path.join(BUILD, "mtreport"), *options, path], capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines(), run.stderr


def stack(*entries, index=None):
    """The branch part of a sample: (from, to, flags), newest first."""
    head = struct.pack("<Q", len(entries)) + (b"" if index is None else struct.pack("<Q", index))
    return head + b"".join(struct.pack("<QQQ", *entry) for entry in entries)


def made(index):
    """Offsets are addresses less 0x400000."""
    loop = (0x400110, 0x400100, PREDICTED)
    parts = [stack(loop, loop, (0x400080, 0x400100, MISPREDICTED), index=index),
             stack(index=index),
             stack(loop, (0xffffffff81000000, 0x400104, PREDICTED), (0, 0, 0), index=index)]
    kind = KIND | make.BRANCH
    samples = b"".join(make.sample((i + 1) * make.US, kind, rest=part) for i, part in enumerate(parts))
    start = make.comm("prog", 0) + make.mmap("/bin/prog-not-there", 0)
    return make.file(start + samples, [make.attr(sample_type=kind, branch=ANY | (HW_INDEX if index is not None else 0))])


WANT = """6 branches, 1 mispredicted, 3 samples, 1 empty
3 0 branch 110 -> 100 /bin/prog-not-there [prog-not-there]
2 range 100-110 /bin/prog-not-there [prog-not-there]
1 0 branch ffffffff81000000 -> 104 [kernel.kallsyms] [kernel.kallsyms] -> /bin/prog-not-there [prog-not-there]
1 1 branch 80 -> 100 /bin/prog-not-there [prog-not-there]
1 0 branch 0 -> 0 [unknown] [unknown]
1 range 104-110 /bin/prog-not-there [prog-not-there]""".splitlines()


def check_made(tap, folder):
    for index, what in ((None, "records"), (5, "records with the hardware's index")):
        path = os.path.join(folder, f"made-{index}.data")
        with open(path, "wb") as f:
            f.write(made(index))
        status, lines, said = report(path, "--branches")
        tap.check(status == 0, f"made {what} are read", said)
        tap.same(sorted(lines[1:]), sorted(WANT[1:]), f"made {what}: pairs and ranges")
        tap.same(lines[0], WANT[0], f"made {what}: the totals")
        counts = [int(line.split()[0]) for line in lines[1:]]
        tap.same(counts, sorted(counts, reverse=True), f"made {what}: the most frequent first")
        tap.check("mispredicted" in report(path, "--branches", "--table")[1][0], f"made {what}: as a table")
    status, lines, said = report(path, "--branches", "--folded")
    tap.check(status == 2 and "--branches has none" in said, "they are no stacks, and it says so", said)
    status, lines, said = report(path, "--samples", "--branch-lines")
    tap.check(status == 2 and "--branch-lines shows --branches" in said, "other analyses have no such lines", said)


def check_cycles(tap, folder):
    """Each entry's cycles are those since the branch before it: the range between them has them."""
    path, kind = os.path.join(folder, "cycles.data"), KIND | make.BRANCH
    part = stack((0x400110, 0x400100, PREDICTED | 7 << 4), (0x400110, 0x400100, PREDICTED | 65000 << 4))
    with open(path, "wb") as f:
        f.write(make.file(make.comm("prog", 0) + make.mmap("/bin/prog-not-there", 0) + make.sample(make.US, kind, rest=part),
                          [make.attr(sample_type=kind, branch=ANY)]))
    _, lines, said = report(path, "--branches")
    where = "/bin/prog-not-there [prog-not-there]"
    tap.same(lines, ["2 branches, 0 mispredicted, 65007 cycles, 1 samples, 0 empty", f"2 0 branch 110 -> 100 {where}, 65007 cycles",
                     f"1 range 100-110 {where}, 7 cycles"], "cycles, where the hardware counts them")
    _, lines, said = report(path, "--branches", "--csv")
    tap.same((lines[0].split(",")[-1], lines[-1].split(",")[-1]), ("cycles", "7"), "and as a figure of the table")


def check_without(tap, folder):
    path = os.path.join(folder, "plain.data")
    with open(path, "wb") as f:
        f.write(make.file(make.PLAIN))
    status, lines, said = report(path, "--branches")
    tap.check(status == 4 and "no sample has branch records" in said and "mtrec -b" in said,
              "a recording without branch records is told from one with empty ones", said)


def known(path):
    """The pairs and ranges that the file beside it lists, and the totals."""
    with open(path + ".lbr.txt", encoding="utf-8") as f:
        text = f.read()
    ranges = {tuple(m[:2]): int(m[2]) for m in re.findall(r"range ([0-9a-f]+)-([0-9a-f]+):(\d+)", text)}
    pairs = {tuple(m[:2]): int(m[2]) for m in re.findall(r"br ([0-9a-f]+)->([0-9a-f]+):(\d+)", text)}
    head = re.search(r"samples (\d+) entries (\d+) nr-hist \[(?:\(0, (\d+)\))?.*'mispred': (\d+)", text)
    return ranges, pairs, f"{head[2]} branches, {head[4]} mispredicted, {head[1]} samples, {head[3] or 0} empty"


def check_real(tap, name):
    path = os.path.join(DATA, name)
    if not os.path.exists(path):
        tap.check(True, f"{name} # SKIP not at hand: a folder of real recordings, ../shared/data or $MT_DATA")
        return
    ranges, pairs, totals = known(path)
    status, lines, said = report(path, "--branches")
    tap.check(status == 0, f"{name}: is read", said)
    tap.same(re.sub(r", \d+ cycles", "", lines[0]), totals, f"{name}: {totals}")
    got_ranges = {(m[2], m[3]): int(m[1]) for m in (re.match(r"(\d+) range (\S+)-(\S+) /", line) for line in lines) if m}
    got_pairs = {(m[2], m[3]): int(m[1]) for m in (re.match(r"(\d+) \d+ branch (\S+) -> (\S+) /", line) for line in lines) if m}
    if ranges:
        tap.same(got_ranges, ranges, f"{name}: {len(ranges)} ranges, each with its count")
        tap.same(got_pairs, pairs, f"{name}: {len(pairs)} pairs, each with its count")
    everything = [int(m[1]) for m in (re.match(r"(\d+) \d+ branch", line) for line in lines) if m]
    tap.same(sum(everything), int(totals.split()[0]), f"{name}: the pairs add up")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_made(tap, folder)
        check_without(tap, folder)
        check_cycles(tap, folder)
    for name in ("lbr-any/propeller_sample_1.perfdata1", "lbr-loop/perf_lbr.data", "breadth/perf.data.branch-4.14"):
        check_real(tap, name)
    tap.finish()


if __name__ == "__main__":
    main()
