#!/usr/bin/env python3
"""--perfdata: mtreport reads back the samples, addresses and stacks of the recording, and perf reads the same stacks, with the same
names.
"""
# slow: reads and writes every recorded scene
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "perfdata")]
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
RECORDED = os.path.join(HERE, "recorded")
# what has no samples out of order, and none that lacks a stack
CORPUS = ("memory_calls", "stored", "odd_strings", "packed_samples_of_every_kind")


def run(*words):
    done = subprocess.run(words, capture_output=True)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def report(*words):
    return run(MTREPORT, *words)


def export(recording, path, *words):
    status, _, said = report("--perfdata", path, *words, recording)
    return None if status else re.search(r": ([\d,]+) samples with their stacks", said)[1].replace(",", "")


# ---- Back through mtreport ----

def samples(path, *words):
    """--script without names: the copy carries no images."""
    _, out, _ = report("-q", "--script", "--no-inline", *words, path)
    return re.sub(r"(?m)^(\t *[0-9a-f]+) .*", r"\1", out).splitlines()


def first_difference(have, want):
    return next(((a, b) for a, b in zip(have, want) if a != b), (len(have), len(want)))


def same_but_for_data(have, want):
    """A last frame that is no code, as some walks end, is not followed into by the reader of perf.data."""
    at = 0
    for line, following in zip(want, [*want[1:], ""]):
        if at < len(have) and have[at] == line:
            at += 1
        elif not line.startswith("\t") or following:
            return False
    return at == len(have)


def check_samples(tap, recordings, copy):
    wrong, total = [], 0
    recordings = {recording: want for recording in recordings if (want := samples(recording))}  # a copy of none is refused
    for recording, want in recordings.items():
        count, have = export(recording, copy), samples(copy)
        total += len(want)
        heads = [line for line in want if line and not line.startswith("\t")]
        if not same_but_for_data(have, want) or count != str(len(heads)):
            wrong.append((os.path.basename(recording), count, first_difference(have, want)))
    tap.check(not wrong and total > 1000, f"{len(recordings)} copies have tasks, times, figures and addresses of each sample", wrong[:4])


def folded(path, aliases, *words):
    sums = collections.Counter()
    for line in report("-q", "--folded", "--weight", "period", *words, path)[1].splitlines():
        path, count = line.rsplit(" ", 1)
        event, _, rest = path.partition(";")
        sums[aliases.get(event, event) + ";" + rest] += int(count)
    return sums


def check_folded(tap, copy):
    for name in ("stacks", "chains", "attached", "thinned"):
        recording = os.path.join(RECORDED, name + ".mtr")
        words = ("--symfs", RECORDED, "--kallsyms", os.path.join(RECORDED, name + ".kallsyms.txt"))
        export(recording, copy, *words)
        aliases = dict(re.findall(r"(?m)^  (\S+) = (\S+): sample", report("--info", recording)[1]))
        tap.same(folded(copy, {}, *words), folded(recording, aliases, *words), f"{name}: the copy has the stacks by name, and their sums")


# ---- perf ----

def frames(text):
    """For each sample: task, CPU, time, event; its frames by function and image, with None for what is not known."""
    found = []
    for line in text.splitlines():
        head = re.match(r" *(.*?) +(\d+) \[(\d+)\] +([\d.]+): +(?:\d+ +)?(\S+):", line)
        frame = re.match(r"\t *[0-9a-f]+ (.*) \((.*)\)$", line)
        if head:
            found.append((head.groups(), []))
        elif frame:
            found[-1][1].append((frame[1] if frame[1] != "[unknown]" else None, frame[2]))
    return found


def raw_chains(text):
    """The addresses of each sample in a dump."""
    chains = []
    for line in text.splitlines():
        if "PERF_RECORD_SAMPLE" in line:
            chains.append([])
        entry = re.match(r"\.\.\.\.\. +\d+: ([0-9a-f]{16})$", line)
        if entry and not entry[1].startswith("fffffffffffff"):
            chains[-1].append(int(entry[1], 16))
    return chains


def chains(recording, *words):
    found = []
    for line in samples(recording, *words):
        if line.startswith("\t"):
            found[-1].append(int(line, 16))
        elif line:
            found.append([])
    return found


def check_perf(tap, name, folder):
    recording, copy = os.path.join(RECORDED, name + ".mtr"), os.path.join(folder, name + ".data")
    kallsyms = ("--kallsyms", os.path.join(RECORDED, name + ".kallsyms.txt"))
    names = ("--symfs", os.path.join(folder, "symfs"), *kallsyms)
    count = export(recording, copy, *names)
    home = {**os.environ, "HOME": folder, "PERF_BUILDID_DIR": os.path.join(folder, "none"), "TZ": "UTC"}
    perf = {what: subprocess.run(["perf", *words, "-i", copy], capture_output=True, text=True, env=home, errors="replace")
            for what, words in {"script": ("script", "--max-stack", "1024", *names), "dump": ("script", "-D"), "header": ("report", "--header-only"),
                                "report": ("report", "--stdio", "-g", "none", *names)}.items()}
    have, want = frames(perf["script"].stdout), frames(report("-q", "--script", *names, recording)[1])
    tap.same(len(have), int(count), f"{name}: perf script has all samples")
    tap.check(have == want, f"{name}: ... with the names that mtreport has", first_difference(have, want))
    have, want = raw_chains(perf["dump"].stdout), chains(recording, *names)
    tap.check(have == want, f"{name}: ... and the addresses", first_difference(have, want))
    reported = dict((event, int(number)) for number, event in re.findall(r"# Samples: (\d+) +of event '(.*?)'", perf["report"].stdout))
    events = collections.Counter(head[4] for head, _ in frames(report("-q", "--script", recording)[1]))
    tap.same({event: number for event, number in reported.items() if number}, dict(events), f"{name}: perf report counts each event")
    lost = perf["dump"].stderr + perf["script"].stderr
    tap.check("out of order" not in lost and "incompatible" not in lost, f"{name}: perf takes the records for ordered", lost)
    info = dict(re.findall(r"(?m)^  (\S+)  +(.*)$", report("--info", recording)[1]))
    header = perf["header"].stdout
    tap.check(all(f": {info[key]}" in header for key in ("host", "kernel", "arch", "cpus")), f"{name}: perf shows host, kernel, CPUs", header)


def check_words(tap, folder):
    recording, copy = os.path.join(RECORDED, "stacks.mtr"), os.path.join(folder, "copy.data")
    export(recording, copy, "-e", "page-faults")
    tap.same(set(re.findall(r"(?m): +\d+ (\S+): $", report("-q", "--script", copy)[1])), {"page-faults"}, "selectors choose what is written")
    status, _, said = report("--perfdata", os.path.join(folder, "none.data"), os.path.join(folder, "two_recordings.mtr"))
    tap.check(status == 2 and "several recordings" in said, "one recording a file", said)
    with open(os.path.join(folder, "stacks.folded"), "w", encoding="utf-8") as file:
        file.write("a;b 3\n")
    status, _, said = report("--perfdata", os.path.join(folder, "none.data"), file.name)
    tap.check(status == 2 and "takes addresses" in said, "stacks as text have no addresses", said)
    status, _, said = report("--perfdata", "-", recording)
    tap.check(status == 5 and "name a file" in said, "it is not written through a pipe", said)
    status, _, said = report("--perfdata", os.path.join(folder, "none.data"), "--comm", "nobody", recording)
    tap.check(status == 4 and "no samples" in said, "what matches nothing is no success", said)
    tap.check(not os.path.exists(os.path.join(folder, "none.data")), "what is refused leaves no file")
    again = os.path.join(folder, "again.data")
    export(copy, again)
    tap.same(samples(again), samples(copy), "a perf.data file is copied, too")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(HERE, "recording", "corpus.py"), folder, *CORPUS, "two_recordings"], check=True, stdout=subprocess.DEVNULL)
        recordings = [os.path.join(folder, name + ".mtr") for name in CORPUS]
        for room in ("recorded", "scenes"):
            recordings += sorted(glob.glob(os.path.join(HERE, room, "*.mtr")))
        check_samples(tap, recordings, os.path.join(folder, "copy.data"))
        check_folded(tap, os.path.join(folder, "copy.data"))
        check_words(tap, folder)
        os.makedirs(os.path.join(folder, "symfs", "mnt"))
        shutil.copy(os.path.join(RECORDED, "grow.elf"), os.path.join(folder, "symfs", "mnt"))
        for name in ("stacks", "chains", "attached") if shutil.which("perf") else ():
            check_perf(tap, name, folder)
        if not shutil.which("perf"):
            tap.check(True, "perf reads them # SKIP perf is not installed (linux-perf)")
    tap.finish()


main()
