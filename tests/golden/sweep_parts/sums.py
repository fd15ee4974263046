#!/usr/bin/env python3
"""The sum of every output plus the remainder that it states is the sum of its analysis, in bytes and in counts, on every
recording that is kept here; and hostile names break no output's format. readers/output_readers.py has the table of outputs.
"""
# timeout: 180
# slow: every output of every analysis of every recording
import concurrent.futures
import functools
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("recording", "perfdata", "readers")]
import hostile  # noqa: E402
from output_readers import READERS  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
MADE = ("memory_calls", "stored", "frames_in_the_place_of_dumps", "packed_samples_of_every_kind", "two_recordings", "odd_strings")
ANALYSES = {"samples": ("count",), "growth": ("bytes", "count"), "outstanding": ("bytes", "count"),
            "resident": ("bytes", "count"), "faults": ("count",), "files": ("bytes", "count"), "blocks": ("bytes",)}


def run(*words):
    done = subprocess.run([MTREPORT, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


@functools.lru_cache(None)
def run_once(*words):
    return run(*words)


def sum_of(recording, analysis, figure):
    """The analysis's own sum; None where it has nothing to say."""
    status, out, _ = run_once("-q", "--" + analysis, "--json", recording)
    rows = json.loads(out)["rows"] if status == 0 else []
    return sum(row[figure] or 0 for row in rows) if rows and figure in rows[0] else None


def remainder(said):
    """What is below zero, and so left out."""
    found = re.search(r"([\d,.]+) \S* ?of shrinking are left out", said)
    return -float(found[1].replace(",", "")) if found else 0


def fault(recording, analysis, figure, name):
    """What is wrong with one output; None where nothing is."""
    want = sum_of(recording, analysis, figure)
    if want is None:
        return None
    weight = () if READERS[name].all else ("--weight", figure)
    status, out, said = run_once("--" + analysis, *weight, *READERS[name].words, recording)
    where = f"{os.path.basename(recording)} --{analysis} --weight {figure}: {name}"
    if status:
        return f"{where}: exit {status}: {said}"
    try:
        have = READERS[name].sum(out, figure)
        have += remainder(said) if not READERS[name].all else 0
    except (ValueError, KeyError, IndexError, StopIteration) as error:
        return f"{where}: {error!r}: {out[:300]!r}"
    return None if abs(have - want) < 0.5 else f"{where}: {have}, and the analysis has {want}"


def check(tap, recordings, what):
    cases = [(recording, analysis, figure) for recording in recordings for analysis in ANALYSES for figure in ANALYSES[analysis]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        some = list(pool.map(lambda case: sum_of(*case) not in (None, 0), cases))
        tap.check(sum(some) >= len(recordings), f"{what}: {sum(some)} sums of {len(recordings)} recordings")
        for name in READERS:
            found = pool.map(lambda case: fault(*case, name), [case for case, shown in zip(cases, some) if shown])
            wrong = [each for each in found if each]
            tap.check(not wrong, f"{what}: --{name} comes to the sum of its analysis", "\n".join(wrong[:6]))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(HERE, "recording", "corpus.py"), folder, *MADE], check=True, stdout=subprocess.DEVNULL)
        made = [os.path.join(folder, name + ".mtr") for name in MADE]
        kept = [path for room in ("recorded", "scenes") for path in sorted(glob.glob(os.path.join(HERE, room, "*.mtr")))]
        check(tap, made + kept, "recordings")
        hostiles = {"texts.mtr": hostile.recording(), "functions.mtr": hostile.functions()[0]}
        for name, data in hostiles.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        check(tap, [os.path.join(folder, name) for name in hostiles], "hostile names")
    tap.finish()


main()
