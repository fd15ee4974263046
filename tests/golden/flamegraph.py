#!/usr/bin/env python3
"""The flame graph of every recording is well-formed and has the frames and figures of --folded. Its total plus the remainder that it
reports as not drawn is the total of the analysis.
"""
# slow: draws the graphs of every recording
import collections
import csv
import glob
import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "recording"), os.path.join(HERE, "perfdata")]
import corpus  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
SVG = "{http://www.w3.org/2000/svg}"
ANALYSES = ("samples", "growth", "outstanding", "resident", "verdict", "faults", "files")
THOROUGH = ("memory_calls", "stored", "frames_in_the_place_of_dumps", "packed_samples_of_every_kind", "two_recordings", "odd_strings")
RECORDED = os.path.join(HERE, "recorded")
NAMES = ("--symfs", RECORDED, "--kallsyms", os.path.join(RECORDED, "stacks.kallsyms.txt"))
OTHERS = ("processes", "maps", "mmaps", "brks", "unwind-report")

Frame = collections.namedtuple("Frame", "path value x width title color")


def run(*words):
    done = subprocess.run([MTREPORT, *words], capture_output=True, text=True, errors="surrogateescape")
    return done.returncode, done.stdout, done.stderr


def frames_of(lane):
    """The frames of a lane in document order, each with the names of its callers."""
    path, root = [], float(lane.get("data-root"))
    for group in lane:
        rect, title = group.find(SVG + "rect"), group.findtext(SVG + "title")
        depth = round(abs(float(rect.get("y")) - root) / 16)
        path[depth:] = [title[:title.rindex(" (")]]
        yield Frame(tuple(path), float(group.get("data-v")), float(rect.get("x")), float(rect.get("width")), title, rect.get("fill"))


class Picture:
    def __init__(self, *words):
        self.status, self.text, self.said = run("--flamegraph", "-", *NAMES, *words)
        self.root = ElementTree.fromstring(self.text) if self.status == 0 else None
        self.lanes = [] if self.root is None else self.root.findall(f"{SVG}g[@class='lane']")
        self.frames = [frame for lane in self.lanes[:1] for frame in frames_of(lane)]
        self.total = float(self.lanes[0].get("data-total")) if self.lanes else 0
        self.below = 0 if self.root is None else float(self.root.get("data-below"))


def folded_frames(*words):
    """Each path in the output of --folded, with the sum of the lines that begin with that path."""
    sums = collections.Counter()
    for line in run("--folded", *NAMES, *words)[1].splitlines():
        names, count = line.rsplit(" ", 1)
        path = as_folded(("all", *names.split(";")))
        for end in range(1, len(path) + 1):
            sums[path[:end]] += int(count)
    return sums


def as_folded(path):
    return tuple(name.replace(";", ":").replace(" ", "_") for name in path)


def table_sum(figure, *words):
    """The sum of a figure of --csv."""
    rows = csv.DictReader(io.StringIO(run("--csv", *words)[1]))
    return sum(float(row[figure]) for row in rows)


def differs(picture, folded):
    """The paths whose figures differ between a picture of all frames and --folded."""
    drawn = {as_folded(frame.path): frame.value for frame in picture.frames}
    return [(path, drawn.get(path), folded.get(path)) for path in {**drawn, **folded}
            if abs(drawn.get(path, 0) - folded.get(path, 0)) > 0.5]


def check_recording(recording, analyses):
    """Returns the faults of the pictures of these analyses, and the number of pictures."""
    wrong, shown = [], 0
    for analysis in analyses:
        words = ("--" + analysis, recording)
        whole = Picture(*words, "--minwidth", "0")
        if whole.status != 0:
            if whole.status != run("--folded", *words)[0]:
                wrong.append((analysis, whole.status, whole.said))
            continue
        shown += 1
        wrong += [(analysis, *what) for what in differs(whole, folded_frames(*words))[:5]]
        if len(analyses) == 1:
            continue
        figure = "count" if analysis in ("samples", "faults", "files") else "bytes"
        away = abs(whole.total + whole.below - table_sum(figure, *words))
        if away > 0.5:
            wrong.append((analysis, "total and remainder differ from the table by", away))
        wrong += [(analysis, what) for what in remainder_faults(Picture(*words, "--minwidth", "20"), whole)]
    return [(os.path.basename(recording), *what) for what in wrong], shown


def remainder_faults(narrow, whole):
    """Yields what a picture without narrow frames says wrongly about the frames that it leaves out."""
    all_frames = {frame.path: frame.value for frame in whole.frames}
    left = {frame.path for frame in whole.frames} - {frame.path for frame in narrow.frames}
    topmost = sum(all_frames[path] for path in left if path[:-1] not in left)
    said = re.search(r"mtreport: ([\d,]+) frames narrower than .*; their ([\d,]+) \w+ are", narrow.said)
    numbers = tuple(int(number.replace(",", "")) for number in said.groups()) if said else (0, 0)
    if narrow.total != whole.total:
        yield "the total differs"
    if numbers[0] != len(left) or abs(numbers[1] - topmost) > 0.5:
        yield f"{len(left)} frames with a sum of {topmost} are missing, but mtreport says {numbers}"
    if left and "Not drawn: " not in "".join(narrow.root.itertext()):
        yield "the picture does not say what is not drawn"


def check_others(tap, recording):
    statuses = {analysis: run("--flamegraph", "-", "--" + analysis, recording) for analysis in OTHERS}
    says = ("--flamegraph adds up stacks", "--flamegraph shows sums")
    bad = {a: s for a, s in statuses.items() if s[0] != 4 and not (s[0] == 2 and any(words in s[2] for words in says))}
    tap.check(not bad, "--flamegraph of an analysis without stacks is an error with a one-line message", bad)


def check_options(tap, recording):
    plain = Picture(recording)
    first = plain.frames[0]
    tap.check(plain.status == 0 and abs(first.width - 1180) < 0.01, "the root spans the picture without its margins", first)
    wide = Picture(recording, "--width", "2020", "--total", str(2 * plain.total))
    tap.check(abs(wide.frames[0].width - 1000) < 0.01, "--width and --total set the scale", wide.frames[:1])
    tap.check("all it has" in Picture(recording, "--title", "all it has").root.findtext(f"{SVG}text[@id='title']"), "--title is the title")
    named = Picture(recording, "--subtitle", "<&>", "--countname", "apples", "--factor", "10")
    tap.check(named.root.findtext(f"{SVG}text[@id='subtitle']") == "<&>", "--subtitle is shown as text")
    tap.check(f"{10 * int(plain.total):,} apples" in named.frames[0].title, "--factor and --countname are in the tooltips", named.frames[0])
    for analysis, figure, unit in (("growth", "bytes", "bytes"), ("growth", "count", "calls"), ("outstanding", "count", "blocks"),
                                   ("resident", "pages", "pages"), ("faults", "count", "samples")):
        picture = Picture("--" + analysis, "--weight", figure, recording)
        tap.check(f" {unit}, 100.00 %" in picture.frames[0].title, f"--{analysis} by {figure} is in {unit}", picture.frames[:1])
    inverted = Picture(recording, "--inverted")
    tap.check([f.path for f in inverted.frames] == [f.path for f in plain.frames] and inverted.text != plain.text,
              "--inverted has the same frames in other places")
    leaves = {f.path[1] for f in Picture(recording, "--reverse", "--minwidth", "0").frames if len(f.path) > 1}
    tap.check("touch" in leaves and "main" not in leaves, "--reverse begins with leaves", leaves)
    colors = {f.path: f.color for f in Picture(recording, "--colors", "hot").frames}
    tap.check(any(colors[f.path] != f.color for f in plain.frames), "--colors changes the colours")
    chart = Picture("--faults", recording, "--flamechart", "--minwidth", "0")
    tap.check(chart.status == 0 and abs(chart.total - Picture("--faults", recording).total) < 0.5 and len(chart.frames) > 5,
              "--flamechart has the same sum", (chart.status, chart.total))
    for words in (("--colors", "beige"), ("--colors", "diff"), ("--negate",), ("--width", "10"), ("--height", "x"), ("--minwidth", "-1"),
                  ("--total", "1"), ("-o", "x.svg"), ("--flamechart", "--base", recording), ("--factor", "0")):
        status, _, said = run("--flamegraph", "-", recording, *words)
        tap.check(status == 2 and said.startswith("mtreport: "), f"{' '.join(words[:2])} is a usage error", (status, said))
    status, _, said = run("--folded", recording, "--title", "x")
    tap.check(status == 2 and "--flamegraph" in said, "an option of --flamegraph without --flamegraph is a usage error", said)


def check_comparison(tap, recording):
    words = ("--faults", "--base-time", "0%-60%", "--time", "40%-100%", "--per", "none", recording)
    picture = Picture(*words, "--minwidth", "0")
    gone = list(frames_of(picture.lanes[1])) if len(picture.lanes) > 1 else []
    changes = re.findall(r"; ([+-][\d,]+) samples against the base", picture.text)
    tap.check(changes and int(changes[0].replace(",", "")) == table_sum("change", *words), "the change of the root is the sum of the changes in the table", changes[:1])
    tap.check(picture.total == table_sum("now", *words), "the widths show the current figures", picture.total)
    lost = sum(float(row["base"]) for row in csv.DictReader(io.StringIO(run("--csv", *words)[1])) if row["state"] == "gone")
    tap.check(gone and gone[0].value == lost, "stacks that are gone have a lane of their own", (gone[:1], lost))
    negated = Picture(*words, "--minwidth", "0", "--negate")
    tap.check([f.color for f in negated.frames] != [f.color for f in picture.frames], "--negate swaps the colours")


def check_against_original(tap, recording, folder):
    """flamegraph.pl, if it is installed, draws the same names, figures, positions and widths from the output of --folded."""
    what = "flamegraph.pl draws the same frames and widths from --folded"
    if not shutil.which("flamegraph.pl"):
        tap.check(True, what + " # SKIP flamegraph.pl is not installed")
        return
    path = os.path.join(folder, "folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write(run("--folded", *NAMES, recording)[1])
    drawn = subprocess.run(["flamegraph.pl", path], capture_output=True, text=True, check=True).stdout
    theirs = sorted((html.unescape(name), int(count.replace(",", "")), float(x), float(width)) for name, count, x, width in re.findall(
        r'<title>(.*?) \(([\d,]+) samples, [^)]*\)</title><rect x="([\d.]+)" [^>]*width="([\d.]+)', drawn))
    ours = sorted((as_folded(f.path)[-1], int(f.value), f.x, f.width) for f in Picture(recording).frames)
    same = [a[:2] == b[:2] and abs(a[2] - b[2]) < 0.2 and abs(a[3] - b[3]) < 0.2 for a, b in zip(theirs, ours)]
    tap.check(theirs and len(theirs) == len(ours) and all(same), what, [pair for pair, good in zip(zip(theirs, ours), same) if not good])


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(HERE, "recording", "corpus.py"), folder], check=True, stdout=subprocess.DEVNULL)
        for recording in sorted(glob.glob(os.path.join(RECORDED, "*.mtr"))) + [os.path.join(folder, f"{name}.mtr") for name in THOROUGH]:
            wrong, shown = check_recording(recording, ANALYSES)
            tap.check(shown and not wrong, f"{os.path.basename(recording)}: the graph of each analysis has every frame", wrong)
        made = [check_recording(path, ("samples",)) for path in sorted(glob.glob(os.path.join(folder, "*.mtr")))]
        wrong = [what for each in made for what in each[0]]
        tap.check(sum(shown for _, shown in made) > 100 and not wrong, "the graph of the samples of each recording in the corpus has every frame", wrong)
        stacks = os.path.join(RECORDED, "stacks.mtr")
        check_others(tap, stacks)
        check_options(tap, stacks)
        check_comparison(tap, stacks)
        check_against_original(tap, stacks, folder)
    tap.finish()


main()
