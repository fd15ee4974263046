#!/usr/bin/env python3
"""--callgrind has the costs of its analysis by file, function, line and call. The test reads it according to its specification, and
with callgrind_annotate if valgrind is installed. A function that calls itself has each cost once.
"""
import collections
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("recording", "perfdata", "readers")]
import hostile  # noqa: E402
from output_readers import Callgrind  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
RECORDED = os.path.join(HERE, "recorded")
SCENES = os.path.join(HERE, "scenes")


def report(*words):
    done = subprocess.run([MTREPORT, "-q", *words], capture_output=True, check=True)
    return done.stdout


def check_recursion(tap, path, stacks):
    profile = Callgrind(report("--samples", "--callgrind", "-", path))
    want, own = collections.Counter(), collections.Counter(stack[-1] for stack in stacks)
    for stack in stacks:
        want.update(set(stack))
    have = collections.Counter({name: cost for (file, name), cost in profile.inclusive().items() if file == "???"})
    tap.check(have == want, "a cost is once in each function that it passes through", sorted(set(have.items()) ^ set(want.items()), key=str)[:1])
    alone = {name: costs[0] for (_, name), costs in profile.own.items()}
    tap.check(alone == dict(own), "and is the innermost function's own", len(alone))
    data = report("--samples", "--callgrind", "-", path)
    tap.check(sum(b"(7) x" in line for line in data.splitlines()) == 1, "a name is written once", len(data))


def check_lines(tap):
    """Inlined functions have lines of their own."""
    recording = os.path.join(SCENES, "container.mtr")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(SCENES, os.path.join(folder, "scenes"))
        profile = Callgrind(report("--growth", "--callgrind", "-", "--symfs", folder, recording))
    tap.check(profile.events[:1] == ["bytes"] and profile.totals[0] > 0, "--growth has bytes", profile.events)
    places = {(os.path.basename(file), line) for file, line in profile.lines if file[0] == "/" and line}
    tap.check(any(file == "scenes.c" for file, _ in places), "functions are in their files, and costs on lines", places)


def annotated(path, *words):
    """Returns the figures of callgrind_annotate for (file, function), and for the whole."""
    with open(path, encoding="utf-8") as file:
        event = re.search(r"^events: (\S+)", file.read(), re.M)[1]
    done = subprocess.run(["callgrind_annotate", "--auto=no", "--threshold=100", "--show=" + event, *words, path], capture_output=True,
                          text=True)
    if "malformed" in done.stderr + done.stdout or done.returncode:
        raise ValueError(done.stderr)
    rows = re.findall(r"^ *([\d,]+) (?:\([ \d.]+%\))?  (\?\?\?|\([a-z]*\)|[^:(?\n]*):(.*?)(?: \[.*\])?$", done.stdout, re.M)
    total = re.search(r"^ *([\d,]+) .*PROGRAM TOTALS", done.stdout, re.M)
    return {(file, name): int(cost.replace(",", "")) for cost, file, name in rows}, int(total[1].replace(",", ""))


def check_annotate(tap, folder, recordings):
    for recording, analysis, figure in recordings:
        what = f"callgrind_annotate has the figures of {os.path.basename(recording)}, --{analysis}"
        if not shutil.which("callgrind_annotate"):
            tap.check(True, what + " # SKIP callgrind_annotate, which valgrind brings, is not installed")
            continue
        path = os.path.join(folder, "callgrind.out")
        report("--" + analysis, "--callgrind", path, recording)
        with open(path, "rb") as file:
            profile = Callgrind(file.read())
        want = sum(max(0, float(row[figure])) for row in csv.DictReader(io.StringIO(report(
            "--" + analysis, "--csv", "--stacks", recording).decode())))
        own, total = annotated(path)
        inclusive, _ = annotated(path, "--inclusive=yes")
        tap.check(total == want == profile.totals[0], what, (total, want, profile.totals))
        ours = {name: cost for name, cost in profile.inclusive().items() if cost and name[1][0] != "["}
        theirs = {name: cost for name, cost in inclusive.items() if cost and name[1][0] != "["}
        tap.check(ours == theirs and sum(own.values()) == total, "... and of each function with what it calls",
                  (sorted(set(ours.items()) ^ set(theirs.items()))[:6], own, total))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recursive.mtr")
        data, stacks = hostile.functions()
        with open(path, "wb") as file:
            file.write(data)
        check_recursion(tap, path, stacks)
        check_lines(tap)
        stacks = os.path.join(RECORDED, "stacks.mtr")
        tap.check(Callgrind(report("--outstanding", "--callgrind", "-", stacks)).events == ["bytes", "count", "pages"]
                  and b"\nevents: curB curBk pages\n" in report("--outstanding", "--callgrind", "-", stacks), "held memory has valgrind's names")
        check_annotate(tap, folder, ((path, "samples", "count"), (stacks, "outstanding", "bytes"),
                                     (os.path.join(SCENES, "node.mtr"), "samples", "count")))
        done = subprocess.run([MTREPORT, "--maps", "--callgrind", "-", stacks], capture_output=True, text=True)
        tap.check(done.returncode == 2 and "has none" in done.stderr, "an analysis without stacks refuses", done.stderr)
    tap.finish()


main()
