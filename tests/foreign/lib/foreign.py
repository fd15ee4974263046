"""Starts a foreign program, records it while it grows or does not, and compares the reports with the program's real use.

A test makes a Case for each way in which the memory of its program develops, with `-e vm,rss` and, if its allocator is native, with
`-e malloc`. It gives the cases to check(), which records all at the same time. Each has a process of its own: stacks that pass
through the return probes of another recorder cannot be followed. The truth comes from /proc and from the
program's own counters, read before and after.
"""
import atexit
import csv
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import tap as points  # noqa: E402
from tap import BUILD  # noqa: E402

MTREC, MTREPORT = (os.path.abspath(os.path.join(BUILD, name)) for name in ("mtrec", "mtreport"))
MTDUMP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../scripts/mtdump"))
TARGETS = os.path.abspath(os.path.join(os.path.dirname(__file__), "../targets"))
HERE = os.environ.get("TMPDIR") or tempfile.mkdtemp()  # where every file of a test goes
SECONDS = float(os.environ.get("MT_SECONDS", "13"))  # of a recording: below 10 nothing is judged
LEAST = 1 << 20  # bytes: the first screen shows processes of this size and larger
GROWTH = {"leak", "grows steadily", "heap grows"}
STANDSTILL = {"bounded", "plateau", "sawtooth", "one-off", "arena retention"}
UNKNOWN = {"undecided"}
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SIZE = r"(?:>|<|about )?([0-9.]+) ([kMGT]?B)"
EVENTS = ("vm,rss", "malloc")
RESIDENT, COUNTED = 0, 1
children = []


# Results ---------------------------------------------------------------------------------------------------------------

class Tap(points.Tap):
    def check(self, what, right, why=""):  # pylint: disable=arguments-renamed
        super().check(right, what, why)


tap = Tap()


def skip_all(why):
    if tap.count:
        tap.skip("the remainder", why)
        tap.finish()
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def needs(package, *programs):
    """Skips the whole file if one of the programs is absent, or if recording is impossible."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for program in programs:
        if not shutil.which(program):
            skip_all(f"{program} is not installed (Debian: {package})")
    if os.environ.get("MT_NO_PERF"):
        skip_all(os.environ["MT_NO_PERF"])
    if os.geteuid() != 0:
        skip_all("recording system calls and blocks needs root")
    if subprocess.run([MTREC, "--list", "syscalls:sys_exit_brk"], capture_output=True, check=False).returncode:
        skip_all("this kernel has no syscall tracepoints")
    os.chdir(HERE)


# Programs --------------------------------------------------------------------------------------------------------------

def start(*command, **options):
    """Starts a program that ends with the test."""
    output = open(f"{HERE}/{os.path.basename(command[0])}.log", "ab")  # pylint: disable=consider-using-with
    child = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, **options})
    children.append(child)
    return child


def end_children():
    for child in children:
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


atexit.register(end_children)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def run(*command, **options):
    """Returns the output of a program that must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout.decode(errors="replace")


def build(*command, **options):
    """Compiles one of our targets for a third-party runtime; skips the whole file if that fails."""
    done = subprocess.run(command, capture_output=True, check=False, cwd=HERE, **options)
    if done.returncode:
        skip_all(f"{command[0]} does not build the target: {done.stderr.decode(errors='replace').strip()[-200:]}")


def until(condition, what, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            skip_all(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)


def connected(path, what):
    """Returns a socket that is connected to a server. Waits until the server listens; its path exists before that."""
    client = socket.socket(socket.AF_UNIX)
    until(lambda: client.connect_ex(path) == 0, what)
    return client


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def counted(name):
    """Returns the bytes that one of our targets keeps, by its own output."""
    return lambda: int(read(f"{HERE}/{name}").strip("\0 \n") or 0)


def resident(pid):
    """Returns the resident bytes, exactly."""
    found = re.search(r"^Rss: +(\d+) kB", read(f"/proc/{pid}/smaps_rollup"), re.M)
    return int(found.group(1)) << 10 if found else 0


def untouched(pid):
    """Returns the bytes of its writable anonymous mappings that have no page."""
    total = 0
    for mapping in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", read(f"/proc/{pid}/smaps")):
        head = mapping.split("\n", 1)[0].split()
        if len(head) < 5 or "w" not in head[1] or head[4] != "0":
            continue
        size, rss = (int(re.search(rf"^{key}: +(\d+) kB", mapping, re.M).group(1)) for key in ("Size", "Rss"))
        total += (size - rss) << 10
    return total


class Load(threading.Thread):
    """Calls step(i) at a steady pace until the test ends."""

    def __init__(self, step, per_second):
        super().__init__(daemon=True)
        self.step, self.pause = step, 1 / per_second
        self.start()

    def run(self):
        begin, i = time.monotonic(), 0
        while True:
            try:
                self.step(i)
            except OSError:
                return
            i += 1
            time.sleep(max(0.0, begin + i * self.pause - time.monotonic()))


# Cases and their recordings --------------------------------------------------------------------------------------------

class Case:
    """One course of one process, recorded by one `event`: `truth` is grows, flat, or filled (grew, and stopped within the recording).

    counter: the bytes that the program says it keeps. path: a text that a path of that growth has on the first screen.
    """

    def __init__(self, name, event, pid, truth, counter=None, path=None, **more):
        self.name, self.event, self.pid, self.truth, self.counter, self.path = name, event, pid, truth, counter, path
        parent = more.pop("parent", None)
        self.targets = ["-p", str(parent), "--children"] if parent else ["-p", str(pid)]
        self.ratio = more.pop("ratio", (0.9, 1.15))  # of live blocks to the program's count
        self.resized = more.pop("resized", False)  # the block that grows is older than the recording
        self.never = more.pop("never", None)  # text that its screen must not have
        assert not more, more


class Truth(threading.Thread):
    """Reads /proc and the program's counters for one case, five times a second."""

    def __init__(self, case):
        super().__init__(daemon=True)
        self.case, self.series, self.ends = case, [], False
        self.start()

    def run(self):
        while not self.ends:
            counter = self.case.counter
            before = time.monotonic()
            values = resident(self.case.pid), counter() if counter else 0
            self.series.append((before, time.monotonic(), values))
            time.sleep(0.2)

    def around(self, seconds, which):
        """Returns the least and most values at about that time of CLOCK_MONOTONIC."""
        near_by = [v[which] for begin, end, v in self.series if begin <= seconds + 0.5 and end >= seconds - 0.5]
        return (min(near_by), max(near_by)) if near_by else (0, 0)


class Recording:
    """One mtrec that records one case. before, after: the minimum and maximum of the true figures when it began, and when it ended."""

    def __init__(self, case):
        self.case, self.event = case, case.event
        self.file = re.sub(r"\W+", "-", f"{case.name} {case.event}") + ".mtr"
        self.said = open(f"{HERE}/{self.file}.said", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        budget = ["--budget", "60"] if "malloc" in self.event else []  # a busy host has slow probes: see docs/allocators.md
        self.process = subprocess.Popen([MTREC, "-e", self.event, *budget, *case.targets, "-o", self.file,
                                         "--duration", f"{SECONDS}s"],
                                        stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)
        children.append(self.process)

    def is_on(self):
        """Like until_recording in tests/lib.sh: the header of the file is written, and mtrec sleeps in ppoll()."""
        path = f"{HERE}/{self.file}"
        return self.process.poll() is not None or (os.path.exists(path) and os.path.getsize(path) > 0
                                                    and read(f"/proc/{self.process.pid}/syscall").startswith("271 "))

    def words(self):
        self.said.seek(0)
        return self.said.read()


    def compare_with(self, truth):
        """Takes the values at both ends from the series, which the second decoder reads."""
        text = run(MTDUMP, "--no-crc", f"{HERE}/{self.file}")
        begin, end = (int(re.search(rf"\bend: .*\b{which} time (\d+)", text).group(1)) / 1e9 for which in ("start", "end"))
        self.before, self.after = truth.around(begin, RESIDENT), truth.around(end, RESIDENT)
        self.counted = truth.around(begin, COUNTED), truth.around(end, COUNTED)
        self.grew = self.after[1] - self.before[0]  # at most; and at least:
        self.grew_surely = self.after[0] - self.before[1]

    def evidence(self):
        return f"truth: {self.case.truth}; resident {self.before} .. {self.after}; counted {self.counted}; untouched {self.untouched}"


def can_probe():
    return os.path.exists("/sys/bus/event_source/devices/uprobe")


def record(cases):
    """Records all cases at once."""
    if not can_probe():
        tap.skip("blocks", "no uprobes here")
        cases = [case for case in cases if "malloc" not in case.event]
    truths = {case: Truth(case) for case in cases}
    recordings = [Recording(case) for case in cases]
    for r in recordings:
        until(r.is_on, f"recording {r.file}")
    until(lambda: all(r.process.poll() is not None for r in recordings), "the end of the recordings", SECONDS + 60)
    for case, truth in truths.items():
        truth.ends = True
        truth.join()
        case.untouched = untouched(case.pid)
    for r in recordings:
        r.untouched = r.case.untouched
        if r.process.returncode == 0:
            r.compare_with(truths[r.case])
    return recordings


# Reports ---------------------------------------------------------------------------------------------------------------

def report(*words, status=(0,)):
    done = subprocess.run([MTREPORT, "-q", *words], capture_output=True, check=False, cwd=HERE)
    text = done.stdout.decode(errors="replace")
    tap_words = f"{' '.join(words)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}"
    if done.returncode not in status:
        tap.check(f"mtreport {' '.join(words)}", False, tap_words)
    return text


def rows(*words):
    return list(csv.DictReader(io.StringIO(report(*words, "--csv", status=(0, 4)))))


def bytes_of(text):
    found = re.search(SIZE, text)
    return float(found.group(1)) * UNITS[found.group(2)] if found else 0.0


class Screen:
    """The first screen, as a reader sees it: sections of rows."""

    def __init__(self, text):
        self.text, self.sections, section = text, {}, None
        for line in text.splitlines():
            head = re.match(r"([A-Z][A-Z ?]+?)(?= {2}| \(|$)", line)
            if head:
                section = self.sections.setdefault(head.group(1), [])
                line = " " * head.end() + line[head.end():]
            if section is not None and line.strip():
                section.append(line)
        self.paths = self.items("BY WHICH PATH") + self.items("BY WHICH BLOCKS")
        self.verdicts = self.items("IS IT A LEAK?")

    def lines(self, section):
        return [line for name, lines in self.sections.items() if name.startswith(section) for line in lines]

    def items(self, section):
        """Returns the rows that begin with a figure, with the lines below them: (bytes, text)."""
        found = []
        for line in self.lines(section):
            if re.match(rf" {{0,7}}[+-]?(?:>|<)?[0-9.]+ [kMGT]?B {{2}}", line):
                found.append([bytes_of(line), line.strip()])
            elif found and line.startswith(" " * 9):
                found[-1][1] += " " + line.strip()
        return found

    def grower(self, pid):
        """Returns (before, now or peak, change) of a process, or None if the screen has no such process."""
        for line in self.lines("WHO GREW"):
            found = re.match(rf" *{pid} \S+ +{SIZE} +{SIZE} +([+-]?){SIZE} ", line)
            if found:
                b, bu, n, nu, sign, c, cu = found.groups()
                return float(b) * UNITS[bu], float(n) * UNITS[nu], float(c) * UNITS[cu] * (-1 if sign == "-" else 1)
        return None

    def commands(self):
        """Returns the command that NEXT proposes."""
        text = "\n".join(self.lines("NEXT"))
        return [line.split(" # ")[0].strip() for line in re.sub(r"\\\n\s*", "", text).splitlines() if line.strip()]


def verdict_word(text):
    """The verdict of a row of IS IT A LEAK?: the known word that comes first in its second line."""
    words = sorted(GROWTH | STANDSTILL | UNKNOWN | {"in use"}, key=len, reverse=True)
    found = re.search(r"(?:^|[):\]\w] )(" + "|".join(map(re.escape, words)) + r")(?=[,:])", text)
    return found.group(1) if found else ""


def sizes(text):
    return [found.group() for found in re.finditer(SIZE, text)]


def near(got, low, high, slack):
    return low - slack <= got <= high + slack


# Claims ----------------------------------------------------------------------------------------------------------------

def check_growers(r, screen, label):
    """WHO GREW is equal to /proc at that time."""
    shown = screen.grower(r.case.pid)
    if r.grew_surely < LEAST + LEAST // 2 and not shown:
        tap.check(f"{label}: a process that did not grow is not among those that grew", True)
        return
    slack = LEAST // 2 + 0.02 * r.after[1]
    tap.check(f"{label}: WHO GREW has the resident memory before and now",
              shown and near(shown[0], *r.before, slack) and near(shown[1], *r.after, slack),
              f"{r.evidence()}; shown {shown}\n{screen.text}")


def check_paths(r, screen, label):
    """BY WHICH PATH adds up to no more than the growth, and names the path of the growth."""
    if "malloc" not in r.event and r.case.truth != "flat":  # a collector touches new pages while it gives older ones back
        sum_of = sum(b for b, _ in screen.paths)
        tap.check(f"{label}: its paths hold no more than it grew", sum_of <= 1.1 * r.grew + LEAST,
                  f"{r.evidence()}; paths {sum_of}\n{screen.text}")
    name = r.case.path
    if r.case.truth == "grows" and name:
        texts = [text for _, text in screen.paths + screen.verdicts]
        tap.check(f"{label}: the screen names who grows ({name})", any(re.search(name, t) for t in texts), screen.text)


def wrong_verdicts(truth, grew, judged):
    """Returns those of (bytes, word, text) that contradict the truth."""
    large = [(b, word, text) for b, word, text in judged if b >= max(LEAST / 4, 0.1 * grew)]
    return [row for row in large if row[1] in (STANDSTILL if truth == "grows" else GROWTH)]


def check_verdicts(r, screen, label):
    """No verdict is wrong, on the screen or in its analysis, and the two agree."""
    grew = r.grew
    shown = [(b, verdict_word(text), text) for b, text in screen.verdicts]
    known = [row for row in shown if row[1]]
    tap.check(f"{label}: every verdict is a known one", len(known) == len(shown), screen.text)
    wrong = wrong_verdicts(r.case.truth, grew, known)
    tap.check(f"{label}: no verdict of the screen is wrong: {r.case.truth}", not wrong, f"{wrong}\n{screen.text}")
    analysis = "--leaks" if "malloc" in r.event else "--verdict"
    table = rows(analysis, r.file)
    judged = [(float(row["bytes"] or 0), row["verdict"], str(row)) for row in table if row["pid"] == str(r.case.pid)]
    wrong = wrong_verdicts(r.case.truth, grew, judged)
    tap.check(f"{label}: ... nor of {analysis}", not wrong, "\n".join(map(str, wrong)))
    if r.case.truth == "grows":
        words = {word for _, word, _ in known}
        tap.check(f"{label}: the screen says that it grows, or that this is not known",
                  not words or words & (GROWTH | UNKNOWN), screen.text)
    strange = {word for _, word, _ in known} - {row["verdict"] for row in table}
    tap.check(f"{label}: the screen and {analysis} agree", not strange, f"only on the screen: {strange}\n{screen.text}")


def check_untouched(r, screen, label):
    """Memory that is called untouched has no resident page."""
    claimed = sum(b * float(part) / 100 for b, text in screen.verdicts for part in re.findall(r"([0-9.]+) % of it untouched", text))
    claimed += sum(bytes_of(size) for _, text in screen.verdicts for size in re.findall(r"([0-9.]+ [kMG]?B) untouched", text))
    if claimed:
        tap.check(f"{label}: what is called untouched is in no page", claimed <= 1.1 * r.untouched + LEAST,
                  f"{claimed}; smaps has {r.untouched}\n{screen.text}")


def check_blocks(r, label):
    """Live blocks are equal to the program's count."""
    table = [row for row in rows("--blocks", "--by", "process", r.file) if row["pid"] == str(r.case.pid)]
    got = [sum(float(row.get(key) or row["bytes"]) for row in table) for key in ("bytes_low", "bytes", "bytes_high")]
    (before, begin), (end, after) = r.counted
    low, high = r.case.ratio
    most = after - before if r.case.truth == "grows" and not r.case.resized else after  # includes blocks that replaced older ones
    tap.check(f"{label}: live blocks are what the program counts", got[0] <= high * most + LEAST / 2 and got[2] >= low * (end - begin) - LEAST / 2,
              f"blocks {got}; {r.evidence()}\n{r.words()}")


def check_next(r, screen, label):
    """The commands that the screen advises can be run."""
    for command in screen.commands():
        words = shlex.split(command)
        if words and words[0] == "mtreport":
            done = subprocess.run([MTREPORT, *words[1:]], capture_output=True, check=False, cwd=HERE)
            nothing = 4 if r.case.truth == "flat" else 0
            tap.check(f"{label}: {command}", done.returncode in (0, nothing), done.stderr.decode(errors="replace")[-2000:])


def check_recording(r):
    label = f"{r.case.name}, {r.event}"
    nothing = 4 if r.case.truth == "flat" else 0  # no sample came
    tap.check(f"{label}: is recorded", r.process.returncode in (0, nothing), r.words())
    if r.process.returncode:
        return
    if r.case.truth == "flat":
        tap.check(f"{label}: does not grow", r.grew_surely < 2 * LEAST, r.evidence())
    screen = Screen(report(r.file))
    if os.environ.get("MT_SHOW"):
        print("".join(f"# {line}\n" for line in screen.text.splitlines()), end="")
        print(f"# {r.evidence()}")
    check_growers(r, screen, label)
    check_paths(r, screen, label)
    check_verdicts(r, screen, label)
    check_untouched(r, screen, label)
    if r.case.never:
        tap.check(f"{label}: the screen does not have: {r.case.never}", not re.search(r.case.never, screen.text), screen.text)
    tap.check(f"{label}: no block is called freed twice", "freed twice" not in screen.text, screen.text)
    if "malloc" in r.event and r.case.counter:
        check_blocks(r, label)
    check_next(r, screen, label)


def check(*cases):
    """Records all cases, compares the reports with them, and ends the test."""
    for r in record(cases):
        check_recording(r)
    tap.finish()
