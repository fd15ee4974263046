#!/usr/bin/env python3
"""Lines and inlined functions of random addresses, symbols/lines against GNU addr2line: lines.py TOOL FILE [ADDRESSES [ROUNDS]].
TOOL is tests/oracle/lines.c, built. Both get the same addresses, in one process each; the rounds are interleaved, and the
processor time of the best one of each counts, so that what else runs on the machine matters little."""
import os
import resource
import subprocess
import sys


def cost(command, addresses):
    """Processor time of a command, seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=addresses, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    tool, path = sys.argv[1:3]
    count = sys.argv[3] if len(sys.argv) > 3 else "2000"
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    oracle = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle/lines.py")
    addresses = subprocess.run([sys.executable, oracle, "addresses", path, count], capture_output=True, check=True).stdout
    ours = [tool, path]
    theirs = ["addr2line", "-a", "-i", "-f", "-C", "-e", path]
    costs = [(cost(ours, addresses), cost(theirs, addresses)) for _ in range(rounds)]
    best = [min(c) for c in zip(*costs)]
    median = sorted(t / o for o, t in costs)[rounds // 2]
    print(f"{path}: {count} addresses: symbols/lines {best[0] * 1e3:.1f} ms, addr2line {best[1] * 1e3:.1f} ms: "
          f"{best[1] / best[0]:.1f} times faster, {median:.1f} in the median of {rounds} rounds")


if __name__ == "__main__":
    main()
