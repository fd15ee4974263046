#!/usr/bin/env python3
"""The data of the page, read by a second decoder: the rows of each analysis add up to the sums of --json, and the rows in a range of
intervals to the sums of --time with the bounds of that range."""
import base64
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import blocks  # noqa: E402
import kernel_memory  # noqa: E402
import latency  # noqa: E402
from perfdata_tool import Tap  # noqa: E402

TOP = os.environ["MT_TOP"]
REPORT = os.path.join(os.environ["MT_BUILD"], "mtreport")
SCENES = ("leak", "sawtooth", "forks", "losses", "maps", "python")
FIGURES = ("bytes", "count", "blocks", "objects", "temporary", "calls", "ns")
RECORDED = ("stacks", "chains", "attached")


def files():
    golden = os.path.join(TOP, "tests", "golden")
    yield from (os.path.join(golden, "scenes", f"{name}.mtr") for name in SCENES)
    yield from (os.path.join(golden, "recorded", f"{name}.mtr") for name in RECORDED)


def made(folder):
    """Recordings with content that no real recording here has."""
    cases = {
        "temporary": blocks.recording(next(blocks.temporary())[1]),
        "kernel-memory": blocks.recording(kernel_memory.kmalloc(1000, kernel_memory.A, 20, 32) + kernel_memory.page(kernel_memory.PAGE_ALLOC, 1000, 77, 3),
                                          kinds=kernel_memory.KINDS),
        "reclaim": blocks.recording(latency.begin(1000) + latency.end(1007) + latency.begin(1010) + latency.end(1012), kinds=latency.KINDS),
    }
    for name, data in cases.items():
        path = os.path.join(folder, f"{name}.mtr")
        with open(path, "wb") as file:
            file.write(data)
        yield name, path


class Page:
    def __init__(self, *words):
        page = subprocess.run([REPORT, "-q", "--html", "-", *words], capture_output=True, check=True).stdout
        packed = re.search(rb'<script id="data"[^>]*>([^<]*)</script>', page)[1]
        self.data = gzip.decompress(base64.b64decode(packed))
        size = int.from_bytes(self.data[-4:], "little")
        self.facts = json.loads(self.data[-4 - size:-4])

    def signed(self, column):
        at, count = column
        out = []
        for _ in range(count):
            value = shift = 0
            while True:
                byte = self.data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            out.append(value >> 1 ^ -(value & 1))
        return out

    def differences(self, column):
        last, out = 0, []
        for value in self.signed(column):
            last += value
            out.append(last)
        return out


def printed(analysis, *words):
    """The sums of --json, by figure."""
    done = subprocess.run([REPORT, "-q", f"--{analysis}", "--json", *words], capture_output=True, check=False)
    if done.returncode == 4:
        return {}
    rows = json.loads(done.stdout)["rows"]
    return {name: sum(row[name] for row in rows) for name in FIGURES if rows and name in rows[0]}


def check_table(tap, page, table, path):
    what = f"{os.path.basename(path)}, {table['name']}"
    values = {value["name"]: page.signed(value["items"]) for value in table["values"] if "items" in value and value["whole"]}
    expected = printed(table["name"], path)
    found = {name: sum(values[name]) for name in expected if name in values}
    stated = {value["name"]: value["sum"] for value in table["values"] if value["name"] in found}
    tap.check(found and all(found[n] == expected[n] == stated[n] for n in found), f"{what}: the page has what it prints", (found, expected, stated))
    if not table["interval"]:
        return
    at = page.differences(table["interval_of"])
    tap.check(len(at) == len(next(iter(values.values()))) and max(at, default=0) < 500, f"{what}: up to 500 intervals", max(at, default=0))
    for first, last in ((0, 0), (3, 60), (61, 250), (251, 499)):
        span = f"{first * table['interval'] / 1e9:.9f},{(last + 1) * table['interval'] / 1e9:.9f}"
        expected = printed(table["name"], "--time", span, path)
        found = {n: sum(v for v, i in zip(values[n], at) if first <= i <= last) for n in values}
        tap.check(all(found[n] == expected.get(n, 0) for n in found if n in ("bytes", "count")), f"{what}: intervals {first} to {last} are --time", (span, found, expected))


def check_marks(tap, folder):
    """An OOM kill is reported with its victim, not with the task that asked for memory, whose event it is."""
    pid, name = ("int pid", 8, 4), ("__data_loc char[] comm", 12, 4)
    for what, fields, data, victim in (("by its name", (pid, name), struct.pack("<QII", 0, 77, 16 | 7 << 16) + b"victim\0", "victim"),
                                       ("by its number on older kernels", (pid,), struct.pack("<QI", 0, 77), "process 77"),
                                       ("that is the task itself", (pid,), struct.pack("<QI", 0, 100), None),
                                       ("whose name lies outside", (pid, name), struct.pack("<QII", 0, 77, 16 | 900 << 16), "process 77")):
        make = kernel_memory.make
        kinds = make.event(60, 0, "oom:mark_victim", "oom", make.attr(2, 960, kernel_memory.made.MARK_TYPE), form=kernel_memory.form(*fields), klass=1)
        path = os.path.join(folder, "oom.mtr")
        with open(path, "wb") as file:
            file.write(blocks.recording(kernel_memory.at(60, 1000, data), kinds=kinds))
        facts = Page(path).facts
        marks = [row["process"] for row in facts["marks"]["rows"] if row["mark"] == "oom"]
        tap.check(len(marks) == 1 and (marks[0] == victim or victim is None and marks[0] and not marks[0].startswith("process")), f"a victim {what}", marks)
        screen = subprocess.run([REPORT, "-q", path], capture_output=True, text=True).stdout
        named = "victim 77" if victim == "victim" else "process 77" if victim else r"\S+ 100"
        tap.check(re.search(rf"^ +OOM-killed: {named}$", screen, re.M), "... the first screen names it", screen)
        tap.check(re.search(r"^ +mtreport --oom ", screen, re.M), "... and the command that says more", screen)
        screen = subprocess.run([REPORT, "-q", "--time", "5,", path], capture_output=True, text=True).stdout
        tap.check("OOM-killed" not in screen and "--oom" not in screen, "... but not where its time is left out", screen)


def check_host(tap, path):
    rows = Page(path).facts["host_gauges"]["rows"]
    names = {row["gauge"] for row in rows}
    tap.check({"meminfo MemAvailable", "meminfo SwapFree", "vmstat oom_kill"} <= names and len(names) <= 5, "the page has the host's memory over time", names)
    screen = subprocess.run([REPORT, "-q", "--summary", path], capture_output=True, check=True, text=True).stdout
    shown = [row["value"] for row in rows if row["gauge"] == "meminfo MemAvailable"]
    tap.check(f"{shown[-1] / 1e9:.1f} GB" in re.search("available.*?GB", screen)[0], "as the first screen has it", (shown, screen))


def check_page(tap, path):
    page = Page(path)
    tables = [table for table in page.facts["tables"] if any("items" in value and value["items"][1] for value in table["values"])]
    for table in tables:
        check_table(tap, page, table, path)
    return [table["name"] for table in tables]


def main():
    tap = Tap()
    for path in files():
        check_page(tap, path)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in made(folder):
            tap.check(name in check_page(tap, path), f"a page has --{name} where the recording can answer it")
        check_marks(tap, folder)
    check_host(tap, os.path.join(TOP, "tests", "golden", "scenes", "leak.mtr"))
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
