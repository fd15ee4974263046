#!/usr/bin/env python3
"""Compares mtreport --folded --no-inline with perf on the same perf.data files: user + sys seconds, the least of some runs each.

    tests/bench/end_to_end.py MTREPORT FILE...

FlameGraph's stackcollapse-perf.pl collapses the output of perf script where STACKCOLLAPSE names it or PATH has it; otherwise
tests/bench/collapse.pl does, which does less, so that it does not enlarge the ratio. The script measures -j 1 and the default,
because the cost of a second worker is part of the answer.

perf script leaves out frames deeper than 127, mtreport frames deeper than 4096. With the same depth, perf script prints the
stacks that mtreport prints, except those that are joined beyond their dumps, which perf never joins. The deep perf script and
mtreport --no-join, which prints no more than perf, do the same work.
"""
import os
import resource
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 2
OUR_RUNS = 7  # short, so that chance weighs more
DEEP = "... to 4096 frames, as ours"


def cost(command, runs=RUNS):
    """user + sys and wall of a command, the least of its runs; None where it fails. Words are run as they are: a shell
    takes as long to start as mtreport does. A string is for the shell, where there are pipes."""
    words = ["bash", "-o", "pipefail", "-c", command] if isinstance(command, str) else command
    best = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = os.times().elapsed
        status = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        wall = os.times().elapsed - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status:
            return None
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (used, wall), (used, wall))
    return best


def peak(command):
    """Returns the peak memory of a command, in MB, with the files that it maps."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss / 1024


def find_collapse():
    """Returns the script that collapses, and its name in the output."""
    real = os.environ.get("STACKCOLLAPSE") or shutil.which("stackcollapse-perf.pl")
    return (real, "... | stackcollapse-perf.pl") if real else (f"{HERE}/collapse.pl", "... | collapse.pl, a stand-in")


def main(mtreport, files):
    collapse, collapse_name = find_collapse()
    bars = {"perf script --no-inline": 10, collapse_name: 30, DEEP: 30, "perf report -g folded": None}
    for file in files:
        name = f"'{file}'"
        ours = cost([mtreport, "-q", "--folded", "--no-inline", file], OUR_RUNS)
        if not ours:
            print(f"  mtreport --folded --no-inline failed on {file}")
            continue
        commands = {
            "perf script --no-inline": f"perf script --no-inline -i {name}",
            collapse_name: f"perf script --no-inline -i {name} | perl {shlex.quote(collapse)}",
            DEEP: f"perf script --no-inline --max-stack 4096 -i {name} | perl {shlex.quote(collapse)}",
            "perf report -g folded": f"perf report --no-inline --no-children -g folded --stdio -i {name}",
        }
        print(f"  end to end, user + sys: mtreport --folded --no-inline {ours[0]:.3f} s ({ours[1]:.2f} s of time)", end="")
        one = cost([mtreport, "-j", "1", "-q", "--folded", "--no-inline", file], OUR_RUNS)
        alike = cost([mtreport, "-j", "1", "-q", "--folded", "--no-inline", "--no-join", file], OUR_RUNS)
        print(f", -j 1 {one[0]:.3f} s ({one[1]:.2f} s), --no-join {alike[0]:.3f} s ({alike[1]:.2f} s)")
        print(f"    memory: {peak([mtreport, '-q', '--folded', '--no-inline', file]):.0f} MB "
              f"for a file of {os.path.getsize(file) / 1e6:.0f} MB (bar: 300 MB for 2 GB)")
        for what, command in commands.items():
            theirs = cost(command)
            if not theirs:
                print(f"    {what:28} does not run here")
                continue
            bar = f" (bar: {bars[what]})" if bars[what] else ""
            print(f"    {what:28} {theirs[0]:7.3f} s: {theirs[0] / ours[0]:5.1f} times ours, "
                  f"{theirs[0] / one[0]:5.1f} times -j 1, {theirs[0] / alike[0]:5.1f} times --no-join{bar}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
