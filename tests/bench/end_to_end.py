#!/usr/bin/env python3
"""mtreport --folded --no-inline beside perf, on the same perf.data files: user + sys seconds, the least of two runs each.

    tests/bench/end_to_end.py MTREPORT FILE...

What perf script prints is collapsed by tests/bench/collapse.pl: stackcollapse-perf.pl is not everywhere. Ours does
less, so that the ratio is no larger for it.
"""
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 2


def cost(command):
    """user + sys and wall of a shell command, the least of RUNS; None where it fails."""
    best = None
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = os.times().elapsed
        status = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL).returncode
        wall = os.times().elapsed - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status:
            return None
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (used, wall), (used, wall))
    return best


def main(mtreport, files):
    bars = {"perf script --no-inline": 10, "... | collapse.pl": 30, "perf report -g folded": None}
    for file in files:
        name = f"'{file}'"
        ours = cost(f"{mtreport} -q --folded --no-inline {name}")
        if not ours:
            print(f"  mtreport --folded --no-inline failed on {file}")
            continue
        commands = {
            "perf script --no-inline": f"perf script --no-inline -i {name}",
            "... | collapse.pl": f"perf script --no-inline -i {name} | perl {HERE}/collapse.pl",
            "perf report -g folded": f"perf report --no-inline --no-children -g folded --stdio -i {name}",
        }
        print(f"  end to end, user + sys: mtreport --folded --no-inline {ours[0]:.3f} s ({ours[1]:.2f} s of time)", end="")
        one = cost(f"{mtreport} -j 1 -q --folded --no-inline {name}")
        print(f", -j 1 {one[0]:.3f} s ({one[1]:.2f} s)")
        for what, command in commands.items():
            theirs = cost(command)
            if not theirs:
                print(f"    {what:26} does not run here")
                continue
            bar = f" (bar: {bars[what]})" if bars[what] else ""
            print(f"    {what:26} {theirs[0]:7.3f} s: {theirs[0] / ours[0]:5.1f} times ours{bar}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
