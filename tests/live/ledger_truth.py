#!/usr/bin/env python3
# together: it looks only at what it starts itself
"""Compares the ledger of a process that changes its memory at random, by several threads at once, with /proc/PID/maps at
each checkpoint. The two are equal; without the events that give the order of calls, every difference lies in memory that
mtreport reports as doubtful.

No event shows one case: fork copies the end of the heap before it takes the lock under which it copies the mappings
(dup_mm() in kernel/fork.c: the memcpy, then dup_mmap()). Where another thread's brk comes between, the child's first brk
that makes its heap smaller may leave a piece of it. That piece alone may differ with locks, and has to be in doubt.
"""
# timeout: 240
# slow: checkpoints of random sequences of calls
import csv
import glob
import io
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
import tap  # noqa: E402
from tap import BUILD, TOP  # noqa: E402

DIR = os.environ["TMPDIR"]
CALLS = "100000" if os.environ.get("MT_TESTS") == "long" else "20000"
SEEDS = range(1, 1 + int(os.environ.get("MT_SEEDS", "1")))
UNORDERED = "brk,mmap,munmap,mremap,mprotect,madvise,shmat,shmdt,task:task_newtask"
HEAP_PAGES = 128  # by which the program moves its heap's end at most
points = tap.Tap()


def merged(lines):
    """Adjacent mappings that are equal in /proc/PID/maps are one region."""
    out = []
    for start, end, perms, offset, inode in sorted(lines):
        if out and out[-1][1] == start and out[-1][2:3] == [perms] and out[-1][4] == inode and (
                not inode or out[-1][3] + start - out[-1][0] == offset):
            out[-1][1] = end
        else:
            out.append([start, end, perms, offset, inode])
    return [tuple(line) for line in out]


def truth(path):
    lines = []
    for line in open(path):
        m = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ (\d+) *(.*)", line)
        if m and m[6] != "[vsyscall]":
            inode = int(m[5])
            lines.append((int(m[1], 16), int(m[2], 16), m[3], int(m[4], 16) if inode else 0, inode))
    return merged(lines)


def report(recording, pid, time):
    out = subprocess.run([BUILD + "/mtreport", "--maps", "--csv", "-p", str(pid), "--at", f"@{time}", recording],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    lines, doubts = [], []
    for row in csv.DictReader(io.StringIO(out)):
        start, end, inode = int(row["start"], 16), int(row["end"], 16), int(row["inode"])
        lines.append((start, end, row["perms"], int(row["offset"], 16) if inode else 0, inode))
        if row["perms"] == "????":
            lines.pop()
            doubts.append((start, end))
    return merged(lines), doubts


def pages(lines):
    return {page: (perms, inode and offset + page - start, inode) for start, end, perms, offset, inode in lines
            for page in range(start, end, 4096)}


def spans(found):
    """Consecutive pages that differ alike are one line."""
    out = []
    for page, in_doubt, have, should in found:
        alike = in_doubt, have and have[0], should and should[0]
        if out and out[-1][1] == page and out[-1][2] == alike:
            out[-1][1] = page + 4096
        else:
            out.append([page, page + 4096, alike])
    return [f"{start:x}-{end:x}{' in doubt' * alike[0]}: {alike[1]}, in truth {alike[2]}" for start, end, alike in out]


def brks_before(recording, parent, pid):
    """What moved the heaps of a process and of its parent until its own last call, as CI keeps no recording."""
    out = subprocess.run([BUILD + "/mtreport", "--brks", "--csv", recording], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    rows = [row for row in out if row.split(",")[1] in (parent, pid)]
    last = max((i for i, row in enumerate(rows, 1) if row.split(",")[1] == pid), default=len(rows))
    return out[:1] + rows[max(0, last - 100):last]


def heap_of_child(path, head, parent):
    """Where the heap of a forked child may end."""
    maps = open(path).read()
    heap = re.search(r"^([0-9a-f]+)-([0-9a-f]+) .*\[heap\]$", maps, re.M)
    forked = int(head[1]) != parent and heap
    return range(int(heap[1], 16), int(heap[2], 16) + HEAP_PAGES * 4096) if forked else range(0)


class Tally:
    """For all checkpoints: pages that differ, those of them that are not in doubt, those that may be, and the first few of them."""

    def __init__(self):
        self.checked = self.wrong = self.certain = self.heaps = self.doubtful = 0
        self.reported = []

    def differs(self, in_doubt, in_heap):
        self.wrong += 1
        self.certain += not in_doubt
        self.heaps += in_doubt and in_heap


def compare(recording, name):
    tally = Tally()
    parent = int(re.match(r"# checkpoint 0 pid (\d+)", open(name + ".0").readline())[1])
    for number in range(10000):
        path = f"{name}.{number}"
        if not os.path.exists(path):
            break
        head = re.match(r"# checkpoint \d+ pid (\d+) before (\d+) after (\d+)", open(path).readline())
        want = truth(path)
        got, doubts = report(recording, int(head[1]), int(head[2]))
        tally.checked += 1
        tally.doubtful += sum(end - start for start, end in doubts) // 4096
        if want == got:
            continue
        have, should, heap = pages(got), pages(want), heap_of_child(path, head, parent)
        found, bad = [], False
        for page in sorted(set(have) | set(should)):
            if have.get(page) != should.get(page):
                in_doubt = any(start <= page < end for start, end in doubts)
                tally.differs(in_doubt, page in heap)
                found.append((page, in_doubt, have.get(page), should.get(page)))
                bad |= not (in_doubt and page in heap)
        if bad and len(tally.reported) < 300:
            tally.reported += [f"{recording}, checkpoint {number} of pid {head[1]}, parent {parent}", *spans(found),
                           *brks_before(recording, str(parent), head[1])]
    return tally


def record(events, name, seed):
    def remove_checkpoints():
        for path in glob.glob(name + ".[0-9]*"):
            os.remove(path)
    done = tap.record("-m", "64M", "-e", events, "--call-graph", "none", "-o", name + ".mtr",
                      "./truth", name, CALLS, "4", str(seed), "8", before=remove_checkpoints)
    return done.returncode == 0 and tap.NONE_LOST in done.stderr, done.stderr


def deliver(what, tally):
    print(f"# {CALLS} calls {what}: at {tally.checked} checkpoints {tally.wrong} pages differ, {tally.certain} of them outside "
          f"what is in doubt, {tally.heaps} in the heap of a child; {tally.doubtful} pages are in doubt")


def try_ordered(seed):
    name = f"ordered{seed}"
    whole, said = record("vm", name, seed)
    points.check(whole, f"nothing of vm is lost in one of three attempts, seed {seed}", said)
    tally = compare(name + ".mtr", name)
    points.check(tally.checked >= 8, "checkpoints were written", tally.checked)
    deliver(f"with locks, seed {seed}", tally)
    if modern():
        points.check(tally.wrong == tally.heaps, "with vm every page is as in /proc/PID/maps, except where a fork and brk overlap",
                     "\n".join(tally.reported))
    else:
        points.check(not tally.certain, "with vm every page is as /proc/PID/maps said, but where a refused mremap may have done a part "
                     "of its work", "\n".join(tally.reported))


def try_unordered(seed):
    name = f"unordered{seed}"
    whole, said = record(UNORDERED, name, 100 + seed)
    points.check(whole, f"nothing of the calls alone is lost in one of three attempts, seed {100 + seed}", said)
    tally = compare(name + ".mtr", name)
    points.check(tally.checked >= 8, "checkpoints were written again", tally.checked)
    deliver(f"without locks, seed {100 + seed}", tally)
    points.check(not tally.certain, "without locks every page that differs is reported as doubtful", "\n".join(tally.reported))


def modern():
    """From Linux 6.17 on, the effect of a refused mremap is known."""
    return tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", os.uname().release).groups()) >= (6, 17)


def main():
    tap.needs_perf("tracepoints")
    os.chdir(DIR)
    subprocess.run([os.environ.get("CC", "cc").split()[0], "-D_GNU_SOURCE", "-O1", "-g", "-pthread", "-o", "truth",
                    TOP + "/tests/workloads/ledger_truth.c"], check=True)
    for seed in SEEDS:
        try_ordered(seed)
        try_unordered(seed)
    points.finish()


if __name__ == "__main__":
    main()
