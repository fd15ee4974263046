#!/usr/bin/env python3
"""Counts the joined stacks that are wrong if roots change between samples: runs tests/workloads/changing with other words each time.

    tests/bench/changing.py MTREC MTREPORT CHANGING [SECONDS [SEED]]

CHANGING is that program, built. A stack with the leaf of one root and the frame of another is wrong; the script prints each recording
that has some with its words, and the sum of all at the end. tests/live/splice.sh bounds the stacks that are known to be right."""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

DEEP = [1, 3, 10, 30, 50, 70, 90, 99]


def words(chance):
    """Returns the words for one run of the program."""
    out = [chance.choice(["return", "jump", "throw", "context", "swap"]), str(chance.choice([300, 1000, 3000, 6000])),
           str(chance.choice(DEEP)), str(chance.choice(DEEP)), str(chance.choice([1, 2, 3, 7, 30, 150, 300]))]
    out += ["below"] if chance.random() < .3 else []
    out += ["pairs"] if chance.random() < .2 else []
    out += ["entries"] if out[0] == "swap" and chance.random() < .3 else []
    return out + [f"depths={chance.choice([1, 2, 5, 20, 64, 200])}", f"between={chance.choice([0, 0, 1, 2, 4, 6])}",
                  f"threads={chance.choice([1, 1, 1, 2, 4])}", f"seed={chance.randrange(10 ** 6)}"]


def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def judge(report, path):
    """Returns the numbers of stacks, of joined stacks, and of wrong stacks."""
    stacks = wrong = 0
    for line in said(report, "-q", "--folded", "--no-inline", "--comm", "changing", path).splitlines():
        stack, count = line.rsplit(" ", 1)
        stacks += int(count)
        wrong += int(count) if len(set(re.findall(r";(?:root|leaf)_([a-z]+)", stack))) > 1 else 0
    table = said(report, "-q", "--unwind-report", "--comm", "changing", path)
    joined = sum(int(n.replace(",", "")) for n in re.findall(r"stacks joined.*?  ([\d,]+)", table))
    return stacks, joined, wrong


def main(record, report, program, seconds="60", seed="1"):
    chance, until = random.Random(int(seed)), time.monotonic() + float(seconds)
    runs, sums = 0, (0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "changing.mtr")
        while time.monotonic() < until:
            how, dump = words(chance), chance.choice([4096, 8192, 8192, 16384])
            said(record, "-q", "-e", "page-faults", "--call-graph", f"dwarf,{dump}", "-o", path, "--", program, *how)
            found = judge(report, path)
            if found[2]:
                print(f"wrong: {found[2]} of {found[1]} joined, dumps of {dump}: changing {' '.join(how)}", flush=True)
            runs, sums = runs + 1, tuple(a + b for a, b in zip(sums, found))
    print(f"{runs} recordings: {sums[0]} stacks, {sums[1]} joined, {sums[2]} of them wrong")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
