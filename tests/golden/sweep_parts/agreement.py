#!/usr/bin/env python3
# slow: a decoder in Python reads every made recording
"""mtreport and scripts/mtdump, which share no code, find the same in a recording: the same samples
of each event in the same order, the same damage, and both read it or refuse it.

The recordings: all that tests/golden/recording/corpus.py writes, and one that mtrec makes here; that
one whole, cut short and with flipped bits too.
"""
# timeout: 180
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

TOP = os.environ.get("MT_TOP") or os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("MT_BUILD") or os.path.join(TOP, "build")
SCRIPT_HEAD = re.compile(r"^(?:\S.*?)? +(\d+) (?:\[\d+\] )? *(\d+)\.(\d{6}): +\d+ (.*?): ")
DAMAGE = {
    "missing_chunks": r"([\d,]+) chunks? missing",
    "damaged_chunks": r"([\d,]+) (?:damaged chunks? left out|chunks? left out that only a later)",
    "damaged_records": r"([\d,]+) (?:damaged records? left out|records? could not be decoded)",
    "skipped_bytes": r"([\d,]+) bytes? skipped",
    "disordered": r"([\d,]+) records? out of order",
    "unknown_records": r"([\d,]+) records? of a kind this version does not know",
    "cut_short": r"(missing +cut) short",
}
KNOWN = {}  # recordings on which mtreport is known to be wrong, and what it does


def module_of(path):
    """A script as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path), os.path.join(TOP, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


MTDUMP = module_of("scripts/mtdump")


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8", errors="surrogateescape", timeout=60)


# What each of them finds --------------------------------------------------------------------------

class Found:
    """readable; samples: (time in us, tid, event) in order; damage: its figures by name; status."""

    def __init__(self, readable, samples=(), damage=None, status=0):
        self.readable = readable
        self.status = status
        self.samples = list(samples)
        self.damage = damage or {}

    def differences(self, other):
        """What this one finds that the other does not, as lines."""
        if self.readable != other.readable:
            return [f"mtreport, mtdump: readable {self.readable}, {other.readable}"]
        lines = [f"mtreport, mtdump: {what} {self.damage[what]}, {other.damage[what]}"
                 for what in DAMAGE if self.readable and self.damage[what] != other.damage[what]]
        if len(self.samples) != len(other.samples):
            lines.append(f"mtreport, mtdump: samples {len(self.samples)}, {len(other.samples)}")
        pairs = enumerate(zip(self.samples, other.samples))
        first = next(((n, pair) for n, pair in pairs if pair[0] != pair[1]), None)
        if first:
            lines.append(f"mtreport, mtdump: sample {first[0]}: {first[1][0]}, {first[1][1]}")
        return lines


def is_sample(kind, fields):
    return (kind in ("KERNEL", "SAMPLE", "FRAMES", "PACKED") and fields.get("kernel") == "SAMPLE"
            and "ignored" not in fields)


def by_mtdump(path):
    text = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        status = MTDUMP.dump(MTDUMP.file_bytes(path), MTDUMP.parse_options(["--json", path]), text)
    if status:
        return Found(False)
    samples, damage, refused, names = [], dict.fromkeys(DAMAGE, 0), [], {}
    for fact in map(json.loads, text.getvalue().splitlines()):
        fields = fact.get("fields", {})
        if fact["what"] == "record" and fact["type"] == "EVENT":
            names.setdefault((fact["recording"], fields["index"]), (fields["name"], fields["role"]))
        elif fact["what"] == "record" and is_sample(fact["type"], fields):
            name, role = names.get((fact["recording"], fields["event"]), ("", None))
            samples += [(fact["time"] // 1000, fields["tid"], name)] if role == 0 else []
        elif fact["what"] == "recording":
            refused.append(fact["refused"])
            for what in damage:
                damage[what] += fact["damage"][what]
            damage["damaged_records"] += fact["damage"]["undecodable_records"]
        elif fact["what"] == "file":
            damage["skipped_bytes"] += fact["bytes_outside"]
            damage["damaged_chunks"] += fact["damaged_heads"]
    return Found(not all(refused), samples, damage)


def by_mtreport(path):
    mtreport = os.path.join(BUILD, "mtreport")
    info, script = run(mtreport, "--info", path), run(mtreport, "--script", path)
    if info.returncode == 3 or script.returncode == 3:
        return Found(info.returncode != 3 or script.returncode != 3, status=script.returncode)
    damage = info_damage(info.stdout)
    return Found(True, script_samples(script.stdout), damage, script.returncode)


def script_samples(text):
    """(time in us, tid, event) of each sample's first line, in order."""
    for line in text.splitlines():
        head = SCRIPT_HEAD.match(line)
        if head:
            yield int(head[2]) * 1000000 + int(head[3]), int(head[1]), head[4]


def info_damage(text):
    return {what: sum(count(number) for number in re.findall(pattern, text))
            for what, pattern in DAMAGE.items()}


def count(number):
    return int(number.replace(",", "")) if number[0].isdigit() else 1


# The tests ----------------------------------------------------------------------------------------

class Tap:
    def __init__(self):
        self.number = self.failed = 0

    def result(self, name, lines, known=None):
        """Lines tell what is wrong. Where that is known the test is skipped, until it is mended."""
        if known:
            lines = [] if lines else ["this works now: take it from KNOWN"]
            name += f" # SKIP known: {known}" if not lines else ""
        self.number += 1
        self.failed += bool(lines)
        for line in lines:
            print("# " + line)
        print(f"{'not ' if lines else ''}ok {self.number} - {name}", flush=True)

    def skip(self, name, why):
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP {why}", flush=True)

    def close(self):
        print(f"1..{self.number}")
        return 1 if self.failed else 0


def disagreements(path):
    return by_mtreport(path).differences(by_mtdump(path))


def test_golden(tap, directory):
    module = module_of("tests/golden/recording/corpus.py")
    module.write_recordings(directory)
    for name, (_, want) in module.RECORDINGS.items():
        path = os.path.join(directory, name + ".mtr")
        found = by_mtreport(path)
        lines = found.differences(by_mtdump(path))
        if found.status != want["status"]:
            lines.append(f"mtreport exits {found.status}, not {want['status']}")
        tap.result(f"they agree on {name.replace('_', ' ')}", lines, KNOWN.get(name))


def damaged_copies(data):
    """(what was done, the bytes)."""
    chance = random.Random(1)
    for number in range(8):
        length = chance.randrange(len(data))
        yield f"cut at {length}", data[:length]
        place = chance.randrange(len(data))
        flipped = bytes([data[place] ^ 1 << number])
        yield f"with a bit of byte {place} flipped", data[:place] + flipped + data[place + 1:]


def test_recorded(tap, directory):
    path = os.path.join(directory, "recorded.mtr")
    why_not = os.environ.get("MT_NO_PERF")
    if not os.access(os.path.join(BUILD, "mtrec"), os.X_OK):
        why_not = "mtrec is not built"
    if why_not:
        return tap.skip("they agree on a recording made here", why_not)
    done = run(os.path.join(BUILD, "mtrec"), "-e", "brk,page-faults", "-o", path, "--",
               "ls", "-lR", "/etc")
    if done.returncode:
        return tap.result("mtrec records", done.stderr.splitlines())
    tap.result("they agree on a recording made here", disagreements(path))
    check = run(sys.executable, os.path.join(TOP, "scripts/mtdump"), "--check", path)
    tap.result("it follows FORMAT.md", check.stderr.splitlines())
    with open(path, "rb") as f:
        data = f.read()
    for what, copy in damaged_copies(data):
        with open(path, "wb") as f:
            f.write(copy)
        tap.result(f"they agree on it {what}", disagreements(path))
    return None


def main():
    if not os.access(os.path.join(BUILD, "mtreport"), os.X_OK):
        print("1..0 # SKIP mtreport is not built: make")
        return 0
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        test_golden(tap, directory)
        test_recorded(tap, directory)
    return tap.close()


if __name__ == "__main__":
    sys.exit(main())
