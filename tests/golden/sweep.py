#!/usr/bin/env python3
"""Properties of every recording, whatever its figures. The test runs one process for each recording of the corpus, of recorded/ and
scenes/, for each made perf.data file and for one that mtrec makes here, cut short and damaged. The process makes each report once,
and all checks of sweep_parts/ look at it."""
# timeout: 600
# slow: every report of every recording, and a decoder in Python
import glob
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("sweep_parts", "perfdata", "recording")]
import hostile  # noqa: E402
from agreement import agree, follows  # noqa: E402
from copies import seals, strips, workers_agree  # noqa: E402
from mtdump_facts import corpus, reads  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402
from subject import Subject  # noqa: E402
from sums import outputs_sum_up  # noqa: E402

EVERY = [reads, agree, workers_agree, strips, seals]
SUMMED = {"memory_calls", "stored", "frames_in_the_place_of_dumps", "packed_samples_of_every_kind", "two_recordings", "odd_strings"}


def kept(folder, room):
    return [Subject(path, folder) for path in sorted(glob.glob(os.path.join(HERE, room, "*.mtr")))]


def of_corpus(folder):
    corpus.write_recordings(folder)
    for name, (_, want) in corpus.RECORDINGS.items():
        checks = EVERY + [outputs_sum_up] * (name in SUMMED)
        yield Subject(os.path.join(folder, name + ".mtr"), folder, want), checks


def of_recorded(folder):
    for subject in kept(folder, "recorded"):
        yield subject, [strips, workers_agree, outputs_sum_up]
    for subject in kept(folder, "scenes"):
        yield subject, [outputs_sum_up]


def of_hostile(folder):
    for name, data in (("texts.mtr", hostile.recording()), ("functions.mtr", hostile.functions()[0])):
        yield written(folder, name, data), [outputs_sum_up]


def of_perf(folder):
    perf = os.path.join(folder, "perf")
    os.mkdir(perf)
    subprocess.run([os.path.join(HERE, "make_perfdata.py"), perf], check=True, stdout=subprocess.DEVNULL)
    for path in sorted(glob.glob(os.path.join(perf, "*"))):
        yield Subject(path, folder), [workers_agree]


def written(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return Subject(path, folder)


def of_this_machine(folder, tap):
    """A recording that mtrec makes here, and 16 damaged copies of it."""
    path, mtrec = os.path.join(folder, "a recording made here.mtr"), os.path.join(BUILD, "mtrec")
    why_not = os.environ.get("MT_NO_PERF") or ("" if os.access(mtrec, os.X_OK) else "mtrec is not built")
    if why_not:
        tap.skip("they agree on a recording made here", why_not)
        return
    subprocess.run([mtrec, "-q", "-e", "brk,page-faults", "-o", path, "--", "ls", "-lR", "/etc"], check=True, stdout=subprocess.DEVNULL)
    yield Subject(path, folder), [agree, follows]
    with open(path, "rb") as f:
        data = f.read()
    chance = random.Random(1)
    for number in range(8):
        length = chance.randrange(len(data))
        yield written(folder, f"it cut at {length}.mtr", data[:length]), [agree]
        place = chance.randrange(len(data))
        flipped = data[:place] + bytes([data[place] ^ 1 << number]) + data[place + 1:]
        yield written(folder, f"it with a bit of byte {place} flipped.mtr", flipped), [agree]


def check(job):
    """Runs all checks of one recording, and returns (good, what, detail) of each."""
    subject, checks = job
    results = list(itertools.chain.from_iterable(each(subject) for each in checks))
    return [(bool(good), what, "" if good else str(detail)) for good, what, detail in results]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "nothing"))
        jobs = [*of_recorded(folder), *of_this_machine(folder, tap), *of_corpus(folder), *of_hostile(folder), *of_perf(folder)]
        with multiprocessing.Pool(os.cpu_count()) as pool:
            summed = 0
            for results in pool.imap(check, jobs):
                summed += any("comes to the sum of its analysis" in what for _, what, _ in results)
                for good, what, detail in results:
                    tap.check(good, what, detail)
        tap.check(summed >= 30, f"{summed} recordings have sums")
    tap.finish()


if __name__ == "__main__":
    main()
