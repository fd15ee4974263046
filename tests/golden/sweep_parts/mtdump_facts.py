"""scripts/mtdump finds in each recording of the corpus the facts that the corpus states about its bytes."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import zlib

from subject import HERE, TOP, Done

sys.path.insert(0, os.path.join(HERE, "../recording"))
import corpus  # noqa: E402

LONG = os.environ.get("MT_TESTS") == "long"
MTDUMP = os.path.join(TOP, "scripts", "mtdump")
WORDS = ("--json", "--chunks", "--records", "--summary", "--check")
DATA = ("KERNEL", "SAMPLE", "PACKED", "WEIGHT")


def module():
    """Loads scripts/mtdump as a module, so that no process is needed for each recording."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("mtdump", MTDUMP)
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader("mtdump", loader))
    loader.exec_module(found)
    return found


MODULE = module()


class Dumped:
    """The results of mtdump: facts, its exit status and its messages."""

    def __init__(self, path, process=False):
        if process:
            done = Done([sys.executable, MTDUMP, *WORDS, path])
            self.status, text, self.said = done.status, done.text(), done.said()
        else:
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stderr(err):
                self.status = MODULE.dump(MODULE.file_bytes(path), MODULE.parse_options([*WORDS, path]), out)
            text, self.said = out.getvalue(), err.getvalue()
        self.facts = [json.loads(line) for line in text.splitlines()]
        self.readable = self.status in (0, 1)  # 1: it can be read, and violates the page

    def of(self, what):
        return [fact for fact in self.facts if fact["what"] == what]


def dumped(subject):
    """Runs mtdump once for each subject."""
    if not hasattr(subject, "dumped"):
        subject.dumped = Dumped(subject.path)
    return subject.dumped


def reads(subject):
    """Also runs mtdump as a process, for one recording of each exit status; with MT_TESTS=long, for all."""
    found = problems(dumped(subject), subject.want)
    yield not found, f"mtdump reads {subject.name}", "\n".join(found)
    if LONG or subject.name in ("stored", "a flipped bit in a payload", "foreign"):
        found = problems(Dumped(subject.path, process=True), subject.want)
        yield not found, f"... as a process: {subject.name}", "\n".join(found)


def problems(found, want):
    """Returns the facts that mtdump finds in one recording but should not, and those that it should find but does not."""
    if want["samples"] is None:
        right = found.status == 3 and "no recording" in found.said
        return [] if right else [f"exit {found.status}: {found.said}"]
    wrong = check_problems(found, want)
    if not found.readable:
        return wrong
    recordings = found.of("recording")
    wrong += sample_problems(recordings, want) + damage_problems(recordings, want)
    info = dict(recordings[0]["info"], **want["info"]) if recordings else {}
    wrong += [f"info {r['info']}" for r in recordings[:1] if r["info"] != info]
    return wrong + order_problems(found, want)


def order_problems(found, want):
    outside = found.of("file")[0]["bytes_outside"]
    wrong = [] if outside == want["outside"] else [f"{outside} bytes outside"]
    records = found.of("record")
    times = [record["time"] // corpus.US for record in records if record["type"] in DATA]
    wrong += [] if want["order"] in (None, times) else [f"order {times}"]
    sums = [record["fields"]["dump_crc32"] for record in records
            if record["type"] in ("SAMPLE", "PACKED") and not {"damaged", "ignored"} & set(record["fields"])]
    wanted = None if want["dumps"] is None else list(map(zlib.crc32, want["dumps"]))
    return wrong + ([] if wanted in (None, sums) else [f"dumps {sums}, not {wanted}"])


def sample_problems(recordings, want):
    wanted = want["samples"] if isinstance(want["samples"], list) else [want["samples"]]
    got = [{e["index"]: e["samples"] for e in r["events"] if e["samples"]} for r in recordings]
    return [] if got == wanted else [f"samples by event: {got}"]


def damage_problems(recordings, want):
    if len(recordings) > 1 and not want["damage"]:
        return []
    damage = {name: value for name, value in recordings[0]["damage"].items() if value}
    damage.update({"refused": recordings[0]["refused"]} if recordings[0]["refused"] else {})
    wanted = dict(want["damage"])
    if wanted.get("refused") and wanted["refused"] in damage.get("refused", ""):
        wanted["refused"] = damage["refused"]
    return [] if damage == wanted else [f"damage: {damage}"]


def check_problems(found, want):
    if not want["check"]:
        return [] if found.status == 0 else [f"--check: {found.said}"]
    reported = found.status == 1 and want["check"] in found.said
    return [] if reported else [f"--check exits {found.status}: {found.said}"]
