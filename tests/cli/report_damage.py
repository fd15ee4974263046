#!/usr/bin/env python3
"""mtreport reads a recording that is cut at any length, or has any byte changed, as far as possible, and a line reports the
missing parts; or it refuses the recording with one line. mtreport never crashes and never hangs."""
import os
import random
import subprocess
import sys
import tempfile

TOP = os.environ.get("MT_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "golden", "recording"))
import corpus as make  # noqa: E402

MTREPORT = os.path.join(os.environ.get("MT_BUILD", os.path.join(TOP, "build")), "mtreport")
MISSING = ("cut short", "damaged", "missing", "skipped", "could not be decoded", "out of order")
TRIES = 200 if os.environ.get("MT_TESTS") == "long" else 60


def build():
    """40 chunks of side-band records and samples with dumps, alternately stored and compressed."""
    writer = make.state(make.begun(codec=make.ZSTD))
    for i in range(20):
        begin = 1200 + 1000 * i
        writer.chunk(make.DATA, make.side_band(begin), stream=0)
        writer.chunk(make.DATA, *[make.sample(make.FAULTS, begin + 10 * k, valid=8 * (k % 100)) for k in range(1, 30)],
                     stream=1)
        writer.chunk(make.MARK, make.mark(begin + 400, 29 * i))
    return make.ended(writer, 20 * 29)


def run(path, *options):
    """Exit status, stdout and stderr; status None after 20 s."""
    try:
        done = subprocess.run([MTREPORT, *options, path], capture_output=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def complaint(path, options, changed):
    """Returns the fault of mtreport's answer, or None."""
    status, out, err = run(path, *options)
    if status is None:
        return "still running after 20 s"
    if status not in (0, 3, 4):
        return f"exit status {status}: {err[:200]}"
    lines = err.splitlines()
    if not all(line.startswith("mtreport: ") for line in lines):
        return f"stderr: {err[:300]}"
    if status == 3:
        return None if len(lines) in (1, 2) and not out else f"exit 3 with {len(lines)} lines and {len(out)} bytes"
    if changed and not any(word in out + err for word in MISSING):
        return f"exit {status} and no line says what is missing: {err[:200]}"
    return None


def damage(name, data, spoil, folder):
    """One test: `spoil` makes TRIES damaged copies of data."""
    path = os.path.join(folder, "damaged.mtr")
    outputs = (["--summary"], ["--folded"], ["--script"], ["--info"])
    bad = []
    for i in range(TRIES):
        what, copy = spoil(data)
        with open(path, "wb") as file:
            file.write(copy)
        wrong = complaint(path, outputs[i % len(outputs)], copy != data)
        if wrong:
            bad.append(f"# {what} {outputs[i % len(outputs)][0]}: {wrong}")
    print("\n".join(bad[:10]) + ("\n" if bad else "") + ("not ok" if bad else "ok") + f" - {name}")
    return not bad


def cut(data):
    length = random.randrange(len(data))
    return f"cut at {length}", data[:length]


def flip(data):
    at, bit = random.randrange(len(data)), 1 << random.randrange(8)
    return f"byte {at} ^ {bit:#x}", data[:at] + bytes([data[at] ^ bit]) + data[at + 1:]


def swap(data):
    """A piece of the file replaces another."""
    size = random.randrange(1, 3000)
    source, target = random.randrange(len(data)), random.randrange(len(data))
    return (f"{size} bytes of {source} at {target}",
            data[:target] + data[source:source + size] + data[target + size:])


def main():
    random.seed(20)
    data = build()
    print("1..4")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        whole = os.path.join(folder, "whole.mtr")
        with open(whole, "wb") as file:
            file.write(data)
        status, out, err = run(whole)
        good = status == 0 and not any(word in out + err for word in MISSING)
        if not good:
            print(f"# exit status {status}\n# " + (out + err).replace("\n", "\n# "))
        print(("ok" if good else "not ok") + " - the whole recording has nothing missing")
        good &= damage(f"{TRIES} random cuts", data, cut, folder)
        good &= damage(f"{TRIES} random changed bytes", data, flip, folder)
        good &= damage(f"{TRIES} pieces in the wrong place", data, swap, folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
