#!/usr/bin/env python3
"""--follow: reports of a recording while chunks are appended to it. Each report is equal, byte for byte, to the report of the chunks that
were there; the last one is equal to the report of the whole recording. Listings continue line by line.

tests/cli/follow.py FILE runs the first test with another recording (tests/live/follow.sh)."""
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

TOP = os.environ.get("MT_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests", "golden"), os.path.join(TOP, "tests", "golden", "perfdata")]
import who_grew  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
RECORDED = os.path.join(TOP, "tests", "golden", "recorded")
PATIENCE = 30  # seconds after which a test has failed
STEPS = 8   # into which a recording is cut
BEGIN = re.compile(rb"(?m)^--- \d+\.\d\d s ---\n")
CUT_SHORT = re.compile(rb"^! cut short \(it has no end\)\n|\n  \"cut short \(it has no end\)\"", re.M)


def chunks_of(data, steps=1 << 30):
    """Where chunks end: each, or of many about as many as asked for, the last two among them."""
    ends, at = [], 0
    while at < len(data):
        at += 64 + struct.unpack_from("<I", data, at + 16)[0]
        ends.append(at)
    return ends[:-2:max(1, len(ends) // steps)] + ends[-2:]


class Growing:
    """A recording that grows while mtreport --follow reads it, from a file or a pipe."""

    def __init__(self, folder, data, *words, pipe=False):
        self.folder, self.data, self.words, self.at = folder, data, words, 0
        self.output = open(os.path.join(folder, "output"), "w+b")
        self.path = os.path.join(folder, "live.mtr")
        self.cut = os.path.join(folder, "cut", "live.mtr")
        os.makedirs(os.path.dirname(self.cut), exist_ok=True)
        self.file = None if pipe else open(self.path, "wb", buffering=0)
        self.child = subprocess.Popen([MTREPORT, *words, "-" if pipe else "live.mtr"], cwd=folder, stdout=self.output,
                                      stdin=subprocess.PIPE if pipe else subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.file = self.file or self.child.stdin

    def append(self, end):
        self.file.write(self.data[self.at:end])
        self.file.flush()
        self.at = end

    def said(self):
        with open(os.path.join(self.folder, "output"), "rb") as f:
            return f.read()

    def wait_until(self, true):
        until = time.monotonic() + PATIENCE
        while not true() and self.child.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        return true()

    def end(self):
        """Exit status and standard error."""
        self.file.close()
        self.child.stdin = None  # closed, as communicate() does not expect
        try:
            err = self.child.communicate(timeout=PATIENCE)[1].decode()
        except subprocess.TimeoutExpired:
            self.child.kill()
            return None, self.child.communicate()[1].decode()
        return self.child.returncode, err

    def report_of(self, end, name="live.mtr"):
        """The report of the first chunks, in a file of the same name."""
        with open(self.cut, "wb") as f:
            f.write(self.data[:end])
        words = [word for word in self.words if not word.startswith("--follow")]
        with open(self.cut) as stdin:
            done = subprocess.run([MTREPORT, *words, name], cwd=os.path.dirname(self.cut), stdin=stdin, capture_output=True,
                                  check=False)
        return CUT_SHORT.sub(b"", done.stdout)  # the file is, and one that grows is not


def reports_in(said, words):
    """The reports of --follow: each with a line in front of it, or as a line of JSON."""
    if "--json" in words:
        return [json.loads(line) for line in said.splitlines()]
    return BEGIN.split(said)[1:]


def follow(tap, folder, data, words, pipe=False):
    """Appends chunk by chunk, each when there is a report of the chunks before it."""
    what = f"{' '.join(words) or 'the screen'}{' by a pipe' if pipe else ''}"
    growing = Growing(folder, data, "-q", "--follow=50ms", *words, pipe=pipe)
    ends = chunks_of(data, STEPS)
    for i, end in enumerate(ends):
        before = len(reports_in(growing.said(), words))
        growing.append(end)
        if i and i < len(ends) - 1 and growing.report_of(end, "-" if pipe else "live.mtr"):
            growing.wait_until(lambda n=before: len(reports_in(growing.said(), words)) > n)
    status, err = growing.end()
    tap.check(status == 0 and not err, f"{what}: ends with the recording", f"status {status}: {err}")
    reports, wanted = reports_in(growing.said(), words), 0
    known = [growing.report_of(end, "-" if pipe else "live.mtr") for end in ends]
    known = [json.loads(report) for report in known if report] if "--json" in words else known
    tap.check(b"cut short" not in growing.said(), f"{what}: a recording that grows is not cut short", growing.said().decode())
    for report in reports:
        while wanted < len(known) and known[wanted] != report:
            wanted += 1
    tap.check(wanted < len(known), f"... each of its reports is that of the chunks so far", f"{len(reports)} reports")
    tap.check(len(reports) > 2 and reports[-1] == known[-1], "... the last one is that of the whole", f"{len(reports)}")


def listing(tap, folder, data, words):
    growing = Growing(folder, data, "-q", "--follow=100s", *words, pipe=True)
    ends = chunks_of(data)
    growing.append(ends[-2])
    tap.check(growing.wait_until(growing.said), f"{' '.join(words)}: lines come before the recording ends", "none")
    growing.append(ends[-1])
    status, err = growing.end()
    tap.check(status == 0 and not err, "... and it ends with it", f"status {status}: {err}")
    tap.check(growing.said() == growing.report_of(ends[-1], "-"), "... all lines are those of the whole", "they differ")


def endings(tap, folder, data):
    ends = chunks_of(data)
    growing = Growing(folder, data, "-q", "--follow=50ms,3", "--samples", "--folded")
    growing.append(ends[-2])
    status, _ = growing.end()
    tap.check(status == 0 and len(BEGIN.split(growing.said())) == 4, "--follow=SEC,3: three reports, and the end",
              f"status {status}: {growing.said()[:300]}")

    growing = Growing(folder, data, "-q", "--follow=100s", "--samples", "--folded")
    growing.append(ends[-2])
    time.sleep(0.5)  # it has its handler, most likely; without one the status would be another
    growing.child.send_signal(signal.SIGINT)
    status, _ = growing.end()
    tap.check(status == 0 and growing.said().split(b"\n", 1)[-1] == growing.report_of(ends[-2]),
              "^C: a last report", f"status {status}: {growing.said()[:300]}")

    growing = Growing(folder, data, "-q", "--follow=50ms", "--samples", "--folded")
    growing.append(ends[-2])
    growing.wait_until(growing.said)
    os.truncate(growing.path, 100)
    status, err = growing.end()
    tap.check(status == 3 and err.splitlines() == ["mtreport: live.mtr: was truncated while it was read"],
              "a truncated file is one line, and exit 3", f"status {status}: {err}")

    growing = Growing(folder, data, "-q", "--follow=50ms", "--samples", "--folded")
    growing.append(ends[-2])
    growing.wait_until(growing.said)
    os.rename(growing.path, growing.path + ".old")
    status, err = growing.end()
    tap.check(status == 3 and err.splitlines() == ["mtreport: live.mtr: was removed or replaced while it was read"],
              "so is one that is replaced", f"status {status}: {err}")

    growing = Growing(folder, data[:ends[1]] + bytes(1000), "-q", "--follow=50ms")
    growing.append(ends[1] + 1000)
    status, err = growing.end()
    tap.check(status == 3 and len(err.splitlines()) == 1 and f"byte {ends[1]}" in err,
              "bytes that are no chunk end it with one line that says where", f"status {status}: {err}")


def same_times(tap, folder):
    """A recording that is still being written has the same times as the whole one, although its first anchor is older than its start."""
    make = who_grew.make
    reported = [make.info("start", str(1000 * make.US)), make.info("later", "too")]
    for states, same in ((reported, True), (reported[1:], False)):
        writer = make.Writer().chunk(make.HEAD, make.header() + make.infos() + make.clock(500) + make.events())
        writer.chunk(make.STATE, *states).chunk(make.DATA, make.faults(2000), first_time=2000 * make.US, last_time=2000 * make.US)
        data, said = make.ended(writer, 1), []
        for part in (data, data[:chunks_of(data)[-2]]):
            with open(os.path.join(folder, "part.mtr"), "wb") as f:
                f.write(part)
            report = subprocess.run([MTREPORT, "-q", "--samples", "--timeline=100us", "--csv", f.name], capture_output=True,
                                    check=True).stdout
            said.append([line.split(b",")[0] for line in report.splitlines()[1:]])
        tap.check(said[0] and said[1] and (said[0] == said[1]) == same,
                  "cut, it has the times of the whole" if same else "... but for one of an older mtrec", said)


def processor_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return sum(int(ticks) for ticks in f.read().rpartition(")")[2].split()[11:13])


def nothing_yet(tap, folder, data):
    """Waiting for a recording to begin, longer than an interval, takes no processor time."""
    growing = Growing(folder, data, "-q", "--follow=10ms", "--samples", "--folded", pipe=True)
    time.sleep(0.5)  # of which a loop would use most
    ticks = processor_ticks(growing.child.pid)
    growing.append(len(data))
    status, err = growing.end()
    tap.check(status == 0 and ticks * 8 < os.sysconf("SC_CLK_TCK"), "waiting for the first chunk, it sleeps",
              f"status {status}, {ticks} ticks: {err}")


def interrupted_before_it_begins(tap, folder, data):
    """^C ends the wait for a writer that writes nothing."""
    growing = Growing(folder, data, "-q", "--follow", "--samples", "--folded", pipe=True)
    time.sleep(0.5)  # it has its handler, most likely
    growing.child.send_signal(signal.SIGINT)
    try:
        status = growing.child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        status = None
    growing.child.kill()
    tap.check(status == 3, "^C before the first chunk ends it: nothing to read", f"status {status}")


def reader_leaves(tap, folder, data):
    """A listing ends when its reader ends, although the recording does not grow."""
    path = os.path.join(folder, "still.mtr")
    with open(path, "wb") as f:
        f.write(data[:chunks_of(data)[-2]])
    with subprocess.Popen([MTREPORT, "-q", "--follow=100s", "--script", path], stdout=subprocess.PIPE) as child:
        first = child.stdout.readline()
        child.stdout.close()
        try:
            status = child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
            child.kill()
        tap.check(first and status is not None, "a listing ends when its reader has left", f"status {status}, {first}")


def refusals(tap, folder):
    path = os.path.join(folder, "other.data")
    with open(path, "wb") as f:
        f.write(b"PERFILE2" + bytes(200))
    for words, status, line in (
            (["--follow", path], 2, "only those are read while they are written"),
            (["--follow=0", path], 2, "not a length of time"),
            (["--follow=1,x", path], 2, "not a number of updates"),
            (["--follow", path, path], 2, "reads one file"),
            (["--follow", "--time", "10%-20%", path], 2, "--time in percent"),
            (["--follow", "--timeline", "--growth", path], 2, "--timeline without T"),
            (["--follow", "--base", path, "--growth", path], 2, "--base"),
            (["--follow", os.path.join(folder, "none.mtr")], 3, "No such file")):
        done = subprocess.run([MTREPORT, *words], capture_output=True, timeout=PATIENCE, check=False)
        err = done.stderr.decode()
        tap.check(done.returncode == status and line in err.splitlines()[0],
                  f"{' '.join(os.path.basename(word) for word in words)}: {line}", f"status {done.returncode}: {err}")


def terminal(tap, folder, data):
    """On a terminal each report begins in its upper left corner."""
    path = os.path.join(folder, "whole.mtr")
    with open(path, "wb") as f:
        f.write(data)
    ours, theirs = pty.openpty()
    with subprocess.Popen([MTREPORT, "-q", "--follow", path], stdout=theirs, stdin=subprocess.DEVNULL):
        os.close(theirs)
        said = os.read(ours, 4096)
    os.close(ours)
    tap.check(said.startswith(b"\033[H\033[J" + os.fsencode(folder)), "on a terminal each takes the place of the one before", said)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:]:
            with open(sys.argv[1], "rb") as f:
                data = f.read()
            for words in ([], ["--resident", "--folded"], ["--processes"]):
                follow(tap, folder, data, words)
            tap.finish()
        for name, words, pipe in (("attached", [], False), ("stacks", ["--samples", "--csv"], True),
                                  ("thinned", ["--samples", "--folded"], False)):
            with open(os.path.join(RECORDED, name + ".mtr"), "rb") as f:
                data = f.read()
            follow(tap, folder, data, words, pipe)
        follow(tap, folder, who_grew.growing(), ["--summary", "--json"])
        # thinned.mtr has a MARK; without one, nothing is complete before the end
        listing(tap, folder, data, ["--script"])
        endings(tap, folder, data)
        same_times(tap, folder)
        nothing_yet(tap, folder, data)
        interrupted_before_it_begins(tap, folder, data)
        reader_leaves(tap, folder, data)
        terminal(tap, folder, data)
        refusals(tap, folder)
    tap.finish()


if __name__ == "__main__":
    main()
