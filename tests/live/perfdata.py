#!/usr/bin/env python3
# together: it looks only at what it starts itself
# timeout: 180
"""mtreport reads recordings of perf like `perf script`: the same samples in the same order, with the same stacks."""
import collections
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
from tap import BUILD, Tap, needs_perf, skip_all  # noqa: E402

FOLDER = os.environ.get("TMPDIR", "/tmp")
HEAD = re.compile(r"\s*(.*?)\s+(\d+)\s+(?:\[\d+\]\s+)?(\d+\.\d{6})\d*:\s+(\d+)\s+(\S+):(?:\s.*)?$")
WORKLOAD = """
#include <stdlib.h>
#include <string.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void *touch(size_t n) { char *p = malloc(n); memset(p, 1, n); sink += p[n / 2]; return p; }
__attribute__((noinline)) static int dive(int d) { if (!d) { free(touch(300000)); return 1; } return dive(d - 1) + 1; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int v[20000];
int main(void) { for (int i = 0; i < 100; i++) { dive(i % 20); for (int k = 0; k < 20000; k++) v[k] = rand();
	qsort(v, 20000, sizeof(*v), compare); } return 0; }
"""
# name -> the options of perf record
MODES = {
    "frame pointers, two events": ["-F", "997", "-e", "cpu-clock,page-faults", "-g"],
    "dumps": ["-F", "997", "-e", "cpu-clock", "--call-graph", "dwarf,16384"],
    "dumps through a pipe": ["-F", "997", "-e", "cpu-clock", "--call-graph", "dwarf,16384", "-o", "-"],
    "a tracepoint with page faults": ["-c", "1", "-e", "page-faults,sched:sched_process_exit", "--call-graph", "dwarf,8192"],
    "another clock": ["-F", "997", "-e", "cpu-clock", "-g", "-k", "CLOCK_MONOTONIC"],
}
tap = Tap()


def build():
    path = os.path.join(FOLDER, "work")
    with open(path + ".c", "w", encoding="utf-8") as f:
        f.write(WORKLOAD)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-g", "-fno-omit-frame-pointer", path + ".c", "-o", path], check=True)
    return path


def record(words, program, path):
    """Records to path; returns perf's message if it fails."""
    piped = words[-2:] == ["-o", "-"]
    with open(path, "wb") as out:
        run = subprocess.run(["perf", "record", "-q", *words, *([] if piped else ["-o", path]), program],
                             stdout=out if piped else subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return run.stderr.strip() or f"status {run.returncode}" if run.returncode else None


def parse(text):
    """(comm, tid, time, period, event) of each sample, and its frames as (address, "symbol+offset")."""
    out = []
    for line in text.splitlines():
        head = HEAD.match(line) if line[:1] != "\t" else None
        if head:
            out.append((head.groups(), []))
        elif line.startswith("\t"):
            address, frame = line.split(None, 1)
            if address != "ffffffffffffffff":  # perf's word for: it went no further
                out[-1][1].append((int(address, 16), re.sub(r" \(.*", "", frame.strip())))
    return out


def same_frame(theirs, ours, caller):
    """True if the address is the same (perf gives the one in the file) and both names are of one function: an alias has the same offset.

    Where perf has no name, or a stub's neighbour, ours may be better. A caller that returns to the first byte of a
    function called from the one before it, which perf does not say.
    """
    name, ours_name = re.sub(r"@[^+]*", "", theirs[1]), ours[1]
    return (theirs[0] - ours[0]) % 4096 == 0 and (
        name.rpartition("+")[2] == ours_name.rpartition("+")[2] or "@plt" in ours_name or name.startswith("[unknown]")
        or (caller and name.endswith("+0x0")))


def same_stack(theirs, ours):
    return len(ours) >= len(theirs) and all(same_frame(a, b, i > 0) for i, (a, b) in enumerate(zip(theirs, ours)))


def compare_stacks(theirs, ours):
    counts, shown = collections.Counter(), []
    for (head, a), (_, b) in zip(theirs, ours):
        while a and a[-1][1].startswith("[unknown]"):
            a.pop()
        kind = "same" if same_stack(a, b) else "other"
        counts[kind] += 1
        if kind == "other" and len(shown) < 3:
            shown.append(f"{head}\n  perf {a}\n  ours {b}")
    return counts, "\n".join(shown)


def check(name, words, program):
    path = os.path.join(FOLDER, re.sub(r"\W+", "-", name) + ".data")
    problem = record(words, program, path)
    if problem:
        tap.skip(name, f"perf record: {problem.splitlines()[0]}")
        return
    theirs = parse(subprocess.run(["perf", "script", "--no-inline", "--ns", "-i", path, "-F", "comm,tid,time,period,event,ip,sym,symoff"],
                                  capture_output=True, text=True).stdout)
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "--script", "--no-inline", path], capture_output=True, text=True)
    ours = parse(run.stdout)
    tap.check(theirs and [h for h, _ in theirs] == [h for h, _ in ours], f"{name}: {len(theirs)} samples as perf script gives them",
          f"{len(theirs)} and {len(ours)} {run.stderr}\n" + "\n".join(f"{a[0]} {b[0]}" for a, b in zip(theirs, ours) if a[0] != b[0]))
    counts, shown = compare_stacks(theirs, ours)
    tap.check(counts["same"] >= 0.99 * len(theirs), f"{name}: stacks as perf's or better: {counts['same']} of {len(theirs)}", shown)


def main():
    if not shutil.which("perf"):
        skip_all("perf is not installed")
    needs_perf()
    program = build()
    for name, words in MODES.items():
        check(name, words, program)
    tap.finish()


if __name__ == "__main__":
    main()
