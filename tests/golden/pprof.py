#!/usr/bin/env python3
"""A profile for pprof has the figures of --csv and the stacks of --folded. The test reads it according to the specification of its
fields, and with pprof itself if go is installed.
"""
import collections
import csv
import glob
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("recording", "perfdata", "readers")]
from output_readers import Profile  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
RECORDED = os.path.join(HERE, "recorded")
NAMES = ("--symfs", RECORDED, "--kallsyms", os.path.join(RECORDED, "stacks.kallsyms.txt"))
CORPUS = ("memory_calls", "stored", "frames_in_the_place_of_dumps", "two_recordings", "odd_strings")
ANALYSES = ("samples", "growth", "outstanding", "resident", "faults", "files")
NOT_SUMS = {"age"}


def run(*words):
    done = subprocess.run([MTREPORT, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


# ---- What is right ----

def rows(*words):
    return list(csv.DictReader(io.StringIO(run("-q", "--csv", *words)[1].decode())))


def folded(*words):
    sums = collections.Counter()
    for line in run("-q", "--folded", *NAMES, *words)[1].decode().splitlines():
        names, count = line.rsplit(" ", 1)
        sums[names.replace(" ", "_")] += int(count)
    return sums


def faults(recording, analysis):
    """Returns the faults of the profile of an analysis, or None if it has no profile."""
    words = ("--" + analysis, recording)
    status, data, said = run("-q", "--pprof", "-", *NAMES, *words)
    if status:
        return None if status == run("-q", "--folded", *words)[0] else [said]
    profile = Profile(data)
    table = rows(*words, "--stacks")
    if not table:
        return [(analysis, profile.samples)] if profile.samples else []
    figures = [name for name in table[0] if name in ("count", "period", "bytes", "pages", "swapped")]
    wrong = []
    if profile.strings[0] != "" or profile.default not in profile.types or len(profile.types) != len(figures):
        wrong.append((profile.strings[:1], profile.default, profile.types, figures))
    for at, figure in enumerate(figures):
        have, want = sum(values[at] for _, values, _ in profile.samples), sum(float(row[figure]) for row in table)
        if abs(have - want) > 0.5 * len(table) * (want != int(want)):
            wrong.append((figure, have, want))
    sums, weight = collections.Counter(), profile.types.index(profile.default)
    events = {labels.get("event") for _, _, labels in profile.samples}
    for names, values, labels in profile.samples:
        keys = [str(value) for key, value in labels.items() if key != "event"]
        before = [labels["event"]] if len(events) > 1 and "event" in labels else []
        sums[";".join(name.replace(";", ":").replace(" ", "_") for name in before + keys + names)] += values[weight]
    want = folded(*words)
    shown = {path: value for path, value in sums.items() if value > 0}
    if shown != dict(want):
        wrong.append(sorted(set(shown.items()) ^ set(want.items()))[:4])
    return [(analysis, *what) for what in wrong]


def check_recordings(tap, folder):
    made = [os.path.join(folder, name + ".mtr") for name in CORPUS]
    for recording in sorted(glob.glob(os.path.join(RECORDED, "*.mtr"))) + made:
        found = [each for each in (faults(recording, analysis) for analysis in ANALYSES) if each is not None]
        tap.check(found and not sum(found, []), f"{os.path.basename(recording)}: {len(found)} analyses have their figures and stacks", found)


def check_labels(tap, recording):
    profile = Profile(run("-q", "--outstanding", "--by", "process,kind", "--pprof", "-", recording)[1])
    tap.check(profile.types == ["inuse_space", "inuse_objects", "pages"], "memory has pprof's names, and no age", profile.types)
    tap.check(profile.samples and all(isinstance(labels["pid"], int) and labels["kind"] for _, _, labels in profile.samples),
              "keys are labels: numbers, texts", profile.samples[:1])
    tap.check(any(6 in mapping for mapping in profile.mappings.values()), "mappings have build ids", profile.mappings)
    tap.check(profile.time > 1e18, "the time is set", profile.time)
    status, _, said = run("--maps", "--pprof", "-", recording)
    tap.check(status == 2 and "has none" in said, "an analysis without stacks refuses", said)


def check_pprof(tap, recording, folder):
    what = "pprof reads the same sum"
    if not shutil.which("go"):
        tap.check(True, what + " # SKIP go, which brings pprof, is not installed")
        return
    path = os.path.join(folder, "out.pb.gz")
    run("-q", "--outstanding", "--pprof", path, recording)
    done = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", "-sample_index=inuse_space", path], capture_output=True, text=True,
                          env={**os.environ, "HOME": folder})
    said = re.search(r"Total samples = ([\d.]+)B|of ([\d.]+)B total", done.stdout)
    want = sum(float(row["bytes"]) for row in rows("--outstanding", recording))
    tap.check(said and float(said[1] or said[2]) == want, what, (done.stdout[:400], done.stderr, want))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(HERE, "recording", "corpus.py"), folder, *CORPUS], check=True, stdout=subprocess.DEVNULL)
        check_recordings(tap, folder)
        stacks = os.path.join(RECORDED, "stacks.mtr")
        check_labels(tap, stacks)
        check_pprof(tap, stacks, folder)
    tap.finish()


main()
