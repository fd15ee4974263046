#!/usr/bin/env python3
"""Properties of every recording, whatever its figures: CSV, JSON and the table have the same rows; the two parts that a moment
divides a recording into add up to the whole; two recordings named together are the sum of each, and the same as one after the
other in one file; the number of workers changes nothing."""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import corpus as make  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MADE = ["memory_calls", "stored", "packed_samples_of_every_kind", "streams_of_equal_times"]
SUMS = [["--samples", "--by", "process,event"], ["--samples", "--by", "thread,mode"], ["--faults", "--by", "process,event"],
        ["--growth", "--by", "process"]]
LISTS = [["--mmaps"], ["--brks"]]
FIGURES = {"count", "bytes", "period", "pages"}
WORDS = re.compile(r"\s{2,}")
DOUBT = re.compile(r"(-?\d+) \((-?\d+)\.\.(-?\d+)\)$")


def report(*words):
    """Returns the standard output of mtreport, which is empty if it had nothing to report (exit 4)."""
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode not in (0, 4):
        raise RuntimeError(f"{words}: exit {run.returncode}: {run.stderr.decode(errors='replace')}")
    return run.stdout.decode(errors="replace") if run.returncode == 0 else ""


def without_certain(row):
    """Returns the row without bounds that are equal to the figure: such bounds say that the figure is certain."""
    row = dict(row)
    for name in FIGURES:
        if row.get(name) == row.get(name + "_low") == row.get(name + "_high"):
            row.pop(name + "_low", None)
            row.pop(name + "_high", None)
    return row


def csv_rows(*words):
    return [without_certain(row) for row in csv.DictReader(io.StringIO(report(*words, "--csv")))]


def json_rows(*words):
    """Returns each cell as in CSV."""
    text = report(*words, "--json")
    rows = json.loads(text, parse_float=str)["rows"] if text else []
    return [without_certain({name: "" if cell is None else str(cell) for name, cell in row.items()}) for row in rows]


def table_rows(*words):
    """Returns the rows of the table with the columns of CSV, which has low and high if a figure is uncertain."""
    lines = [WORDS.split(line.strip()) for line in report(*words, "--table").splitlines()]
    while lines and len(lines[0]) < 2:  # lines about what limits the figures
        del lines[0]
    rows = []
    for line in lines[1:]:
        row = dict(zip(lines[0], (cell.replace(",", "") for cell in line)))
        for name, doubt in [(name, DOUBT.match(cell)) for name, cell in row.items()]:
            if doubt:
                row[name], row[name + "_low"], row[name + "_high"] = doubt.groups()
        rows.append(without_certain(row))
    return rows


def figures(rows):
    """Returns sums by the keys of the rows: the figures are the numeric columns after the keys."""
    sums = collections.Counter()
    for row in rows:
        key = tuple(cell for name, cell in row.items() if name not in FIGURES)
        for name in FIGURES & row.keys():
            sums[key + (name,)] += int(row[name])
    return {key: value for key, value in sums.items() if value}


def check_outputs(tap, name, path):
    for words in SUMS + LISTS:
        said = csv_rows(*words, path)
        tap.same(json_rows(*words, path), said, f"{name}: {words[0]}: JSON has the rows of CSV")
    for words in SUMS:
        said = sorted(tuple(sorted(row.items())) for row in csv_rows(*words, path))
        tap.same(sorted(tuple(sorted(row.items())) for row in table_rows(*words, path)), said,
                 f"{name}: {' '.join(words)}: the table has the rows of CSV")


def check_time(tap, name, path):
    for words in SUMS:
        for cut in ("30%", "50%"):
            parts = csv_rows(*words, "--time", f"0%-{cut}", path) + csv_rows(*words, "--time", f"{cut}-100%", path)
            tap.same(figures(parts), figures(csv_rows(*words, path)), f"{name}: {' '.join(words)}: two parts at {cut} are the whole")
    for words in LISTS:
        parts = csv_rows(*words, "--time", "0%-50%", path) + csv_rows(*words, "--time", "50%-100%", path)
        whole = csv_rows(*words, path)
        for part, row in zip(parts, whole):
            if part.get("old") == "":  # where the heap ended before is known from the call before, which was not asked for
                row["old"] = row["delta"] = ""
        tap.same(parts, whole, f"{name}: {words[0]}: two parts are the whole")


def check_files(tap, folder, paths):
    together = os.path.join(folder, "together.mtr")
    with open(together, "wb") as out:
        for path in paths:
            with open(path, "rb") as part:
                out.write(part.read())
    for words in SUMS:
        each = figures([row for path in paths for row in csv_rows(*words, path)])
        tap.same(figures(csv_rows(*words, *paths)), each, f"{' '.join(words)}: recordings named together are the sum of each")
        tap.same(figures(csv_rows(*words, together)), each, f"{' '.join(words)}: ... so are they in one file")


def main():
    tap = Tap()
    recorded = os.path.join(HERE, "recorded")
    with tempfile.TemporaryDirectory() as folder:
        make.write_recordings(folder, MADE)
        paths = [os.path.join(folder, name + ".mtr") for name in MADE]
        paths += [os.path.join(recorded, name) for name in sorted(os.listdir(recorded)) if name.endswith(".mtr")]
        for path in paths:
            name = os.path.basename(path)[:-len(".mtr")]
            check_outputs(tap, name, path)
            check_time(tap, name, path)
            for words in ([], ["--folded"], ["--unwind-report"]):
                tap.same(report(*words, "-j", "3", path), report(*words, "-j", "1", path), f"{name}: {words}: three workers say what one says")
        check_files(tap, folder, [os.path.join(recorded, name) for name in ("attached.mtr", "stacks.mtr")])
    tap.finish()


if __name__ == "__main__":
    main()
