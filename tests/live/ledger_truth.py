#!/usr/bin/env python3
"""What the ledger makes of the recorded calls of a process that changes its memory at random, by several threads at
once, is what /proc/PID/maps said at each checkpoint; without the events that tell the order of calls, every difference
lies in what is reported as doubtful."""
# timeout: 240
import csv
import io
import os
import re
import subprocess
import sys

TOP = os.environ.get("MT_TOP", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("MT_BUILD", os.path.join(TOP, "build"))
DIR = os.environ["TMPDIR"]
CALLS = "100000" if os.environ.get("MT_TESTS") == "long" else "20000"
SEEDS = range(1, 1 + int(os.environ.get("MT_SEEDS", "1")))
UNORDERED = "brk,mmap,munmap,mremap,mprotect,madvise,shmat,shmdt,task:task_newtask"
done = failed = 0


def check(what, good, why=""):
    global done, failed
    done += 1
    failed += not good
    for line in why.splitlines() if not good else ():
        print("#", line)
    print("ok" if good else "not ok", done, "-", what)


def skip_all(why):
    print("1..0 # SKIP", why)
    sys.exit()


def merged(lines):
    """Neighbours that differ in nothing /proc/PID/maps shows are one."""
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


def compare(recording, name):
    """Of all checkpoints: pages that differ, those of them that are not in doubt, and the first few."""
    wrong, certain, told, checked = 0, 0, [], 0
    for number in range(10000):
        path = f"{name}.{number}"
        if not os.path.exists(path):
            break
        head = re.match(r"# checkpoint \d+ pid (\d+) before (\d+) after (\d+)", open(path).readline())
        want = truth(path)
        got, doubts = report(recording, int(head[1]), int(head[2]))
        checked += 1
        if want == got:
            continue
        have, should = pages(got), pages(want)
        for page in sorted(set(have) | set(should)):
            if have.get(page) == should.get(page):
                continue
            wrong += 1
            if not any(start <= page < end for start, end in doubts):
                certain += 1
                if len(told) < 12:
                    told.append(f"{number}: pid {head[1]} {page:x}: {have.get(page)}, in truth {should.get(page)}")
    return checked, wrong, certain, "\n".join(told)


def record(events, name, seed):
    run = subprocess.run([BUILD + "/mtrec", "-m", "64M", "-e", events, "--call-graph", "none", "-o", name + ".mtr",
                          "./truth", name, CALLS, "4", str(seed), "8"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=True)
    return ", 0 lost -> " in run.stderr, run.stderr


def try_ordered(seed):
    name = f"ordered{seed}"
    whole, said = record("vm", name, seed)
    check(f"nothing of vm is lost, seed {seed}", whole, said)
    checked, wrong, certain, why = compare(name + ".mtr", name)
    check("checkpoints were written", checked >= 8, str(checked))
    print(f"# {CALLS} calls with locks, seed {seed}: at {checked} checkpoints {wrong} pages differ, "
          f"{certain} of them outside what is in doubt")
    check("with vm every page is as /proc/PID/maps said, but where a refused call may have done a part of its work",
          not certain, f"{certain} pages differ, {wrong - certain} more in doubt\n{why}")


def try_unordered(seed):
    name = f"unordered{seed}"
    whole, said = record(UNORDERED, name, 100 + seed)
    check(f"nothing of the calls alone is lost, seed {100 + seed}", whole, said)
    checked, wrong, certain, why = compare(name + ".mtr", name)
    check("checkpoints were written again", checked >= 8, str(checked))
    print(f"# {CALLS} calls without locks, seed {100 + seed}: at {checked} checkpoints {wrong} pages differ, "
          f"{certain} of them outside what is in doubt")
    check("without locks every page that differs is reported as doubtful", not certain,
          f"{certain} pages differ, {wrong - certain} more in doubt\n{why}")


def main():
    if os.environ.get("MT_NO_PERF") or os.geteuid():
        skip_all(os.environ.get("MT_NO_PERF") or "tracepoints need root")
    os.chdir(DIR)
    subprocess.run([os.environ.get("CC", "cc").split()[0], "-D_GNU_SOURCE", "-O1", "-g", "-pthread", "-o", "truth",
                    TOP + "/tests/workloads/ledger_truth.c"], check=True)
    for seed in SEEDS:
        try_ordered(seed)
        try_unordered(seed)
    print("1..%d" % done)
    sys.exit(failed > 0)


main()
