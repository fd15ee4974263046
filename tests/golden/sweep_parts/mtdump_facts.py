#!/usr/bin/env python3
"""scripts/mtdump finds in each recording of the corpus what stands beside its bytes."""
# timeout: 180
import collections
import contextlib
import functools
import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "recording"))
import corpus  # noqa: E402

LONG = os.environ.get("MT_TESTS") == "long"
TOP = os.path.dirname(os.path.dirname(HERE))
MTDUMP = os.path.join(TOP, "scripts", "mtdump")
Done = collections.namedtuple("Done", "returncode stdout stderr")


def mtdump_module():
    """scripts/mtdump without a process for each recording."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("mtdump", MTDUMP)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mtdump", loader))
    loader.exec_module(module)
    return module


def mtdump_here(module, path, *options):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(err):
        status = module.dump(module.file_bytes(path), module.parse_options([*options, path]), out)
    return Done(status, out.getvalue(), err.getvalue())


def mtdump_process(path, *options):
    return subprocess.run([sys.executable, MTDUMP, *options, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8", errors="surrogateescape")


def objects(done, what):
    return [fact for fact in map(json.loads, done.stdout.splitlines()) if fact["what"] == what]


def problems(mtdump, path, want):
    """What mtdump finds in one recording that it should not, and the other way round."""
    done = mtdump(path, "--json", "--chunks", "--records", "--summary", "--check")
    if want["samples"] is None:
        right = done.returncode == 3 and "no recording" in done.stderr
        return [] if right else [f"exit {done.returncode}: {done.stderr}"]
    found = check_problems(done, want)
    if done.returncode not in (0, 1):
        return found
    recordings = objects(done, "recording")
    found += sample_problems(recordings, want) + damage_problems(recordings, want)
    info = dict(recordings[0]["info"], **want["info"]) if recordings else {}
    found += [f"info {r['info']}" for r in recordings[:1] if r["info"] != info]
    return found + order_problems(done, want)


def order_problems(done, want):
    outside = objects(done, "file")[0]["bytes_outside"]
    found = [] if outside == want["outside"] else [f"{outside} bytes outside"]
    data_types = ("KERNEL", "SAMPLE", "PACKED", "WEIGHT")
    times = [record["time"] // corpus.US for record in objects(done, "record")
             if record["type"] in data_types]
    found += [] if want["order"] in (None, times) else [f"order {times}"]
    sums = [record["fields"]["dump_crc32"] for record in objects(done, "record")
            if record["type"] in ("SAMPLE", "PACKED") and not {"damaged", "ignored"} & set(record["fields"])]
    wanted = None if want["dumps"] is None else list(map(zlib.crc32, want["dumps"]))
    return found + ([] if wanted in (None, sums) else [f"dumps {sums}, not {wanted}"])


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


def check_problems(done, want):
    if not want["check"]:
        return [] if done.returncode == 0 else [f"--check: {done.stderr}"]
    reported = done.returncode == 1 and want["check"] in done.stderr
    return [] if reported else [f"--check exits {done.returncode}: {done.stderr}"]


def test(directory):
    """As a process of its own for one of each exit status, for all with MT_TESTS=long."""
    corpus.write_recordings(directory)
    print(f"1..{len(corpus.RECORDINGS)}")
    failed, here = 0, functools.partial(mtdump_here, mtdump_module())
    alone = set(corpus.RECORDINGS) if LONG else {"stored", "a_flipped_bit_in_a_payload", "foreign"}
    for number, (name, (_, want)) in enumerate(corpus.RECORDINGS.items(), 1):
        mtdump = mtdump_process if name in alone else here
        found = problems(mtdump, os.path.join(directory, name + ".mtr"), want)
        for problem in found:
            print("# " + problem.replace("\n", "\n# "))
        failed += bool(found)
        print(f"{'not ' if found else ''}ok {number} - mtdump reads {name.replace('_', ' ')}",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(test(scratch))
