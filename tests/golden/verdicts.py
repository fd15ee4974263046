#!/usr/bin/env python3
"""mtreport --verdict and --timeline of memory on synthetic recordings: six programs over hours, each a process."""
import csv
import io
import math
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "recording")]
import corpus as make  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MTREPORT = os.path.join(os.environ.get("MT_BUILD", os.path.join(TOP, "build")), "mtreport")
SECOND = 1000000  # in us, as the records have it
STEPS = 240
PIECE = 1 << 20
BASE = 0x7F0000000000
checks = failed = 0


def check(good, what, why=""):
    global checks, failed
    checks += 1
    failed += not good
    if not good:
        print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")
    print(f"{'ok' if good else 'not ok'} {checks} - {what}")


class Program:
    """A program's pieces of memory, by the step that reserved them."""

    def __init__(self, pid):
        self.pid, self.records, self.held, self.made = pid, [], [], 0

    def reserve(self, time):
        address = BASE + self.made * 2 * PIECE
        self.made += 1
        self.held.append(address)
        self.records.append((time, make.call("mmap", time, address, 0, PIECE, 3, 0x22, make.NONE, 0, pid=self.pid)))

    def give_back(self, time):
        self.records.append((time, make.call("munmap", time, 0, self.held.pop(0), PIECE, pid=self.pid)))


def plateau(program, step, time):
    program.reserve(time)
    if step >= STEPS // 4:
        program.give_back(time + 1)


def leak(program, step, time):
    program.reserve(time)


def sawtooth(program, step, time):
    program.reserve(time)
    while step % 30 == 29 and program.held:
        program.give_back(time + 1)


def one_off(program, step, time):
    if step < 4:
        program.reserve(time)


def cache(program, step, time):
    while program.made < 100 * (1 - math.exp(-5 * (step + 1) / STEPS)):
        program.reserve(time)


PROGRAMS = {"plateau": plateau, "leak": leak, "sawtooth": sawtooth, "one-off": one_off, "cache": cache}
WANT = dict({name: name for name in PROGRAMS}, cache="plateau")


def write(path, seconds):
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + index, make.CALL_TYPE, 136))
                 for name, (index, _) in make.CALLS.items()]
    writer = make.begun(b"".join(described))
    records, tasks = [], []
    for pid, (name, step_of) in enumerate(PROGRAMS.items(), 100):
        tasks.append(make.task(pid=pid, comm=name[:15]))
        program = Program(pid)
        for step in range(STEPS):
            step_of(program, step, SECOND + step * seconds * SECOND // STEPS)
        records += program.records
    records.sort(key=lambda record: record[0])
    writer.chunk(make.STATE, *tasks)
    for at in range(0, len(records), 500):
        writer.chunk(make.DATA, *[data for _, data in records[at:at + 500]])
    # the last moment: a call that does nothing
    last = SECOND + seconds * SECOND
    writer.chunk(make.DATA, make.call("munmap", last, -22, 1, 4096))
    with open(path, "wb") as f:
        f.write(writer.data)  # no END chunk: it would need the right times


def check_vector(path):
    """A buffer that doubles: each mapping is copied to a mapping twice as large, and unmapped."""
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + index, make.CALL_TYPE, 136))
                 for name, (index, _) in make.CALLS.items()]
    writer, records = make.begun(b"".join(described)), []
    for step in range(5):
        time, size = (1 << step) * SECOND, PIECE << step
        records.append(make.call("mmap", time, BASE + step * (1 << 30), 0, size, 3, 0x22, make.NONE, 0))
        if step:
            records.append(make.call("munmap", time + 1000, 0, BASE + (step - 1) * (1 << 30), size // 2))
    writer.chunk(make.STATE, make.task())
    writer.chunk(make.DATA, *records, make.call("munmap", 25 * SECOND, -22, 1, 4096))
    with open(path, "wb") as f:
        f.write(writer.data)
    row = rows(report(path, "--verdict", "--csv")[1])[0]
    check((row["verdict"], row["rests-on"]) == ("undecided", "24.00 s, 5 reservations, each replaced by a larger one; record 5 minutes"),
          "of a buffer that doubles it says that each was replaced by a larger one", row)


def check_thread_stacks(path):
    """Thread stacks with touched pages: a pool of threads gets no verdict, an ever growing number of threads gets one."""
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + index, make.CALL_TYPE, 136))
                 for name, (index, _) in make.CALLS.items()]
    described.append(make.event(make.MINOR, 0, "page-faults", "page-faults", make.attr(1, 2, make.MINOR_TYPE), unit="faults", klass=1))
    for times, touched, want in ((range(1, 2), 1, None), (range(1, 6), 1, None), (range(1, 40), 1, "grows steadily"),
                                 (range(1, 2), 2048, "one-off")):
        writer, records = make.begun(b"".join(described)), []
        for time in times:
            for thread in range(16 if len(times) == 1 else 1):
                where = BASE + (time * 16 + thread) * 16 * PIECE
                records.append(make.call("mmap", time * SECOND + 10000 * thread, where, 0, 8 * PIECE, 3, 0x20022, make.NONE, 0))
                records += [make.minor_fault(time * SECOND + 10000 * thread + 1 + page, where + 8 * PIECE - 4096 * (page + 1))
                            for page in range(touched)]
        writer.chunk(make.STATE, make.task())
        for at in range(0, len(records), 500):
            writer.chunk(make.DATA, *records[at:at + 500])
        writer.chunk(make.DATA, make.call("munmap", 40 * SECOND, -22, 1, 4096))
        with open(path, "wb") as f:
            f.write(writer.data)
        for by in ("process", "stack"):
            got = [row["verdict"] for row in rows(report(path, "--verdict", "--by", by, "--csv")[1])]
            check(got == ([want] if want else []), f"stacks of {len(times)} moments, {touched} pages of each touched, by {by}: {want}", got)


def check_cut_stacks(path):
    """A leak whose later stacks end before main is one path."""
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name,
                            make.attr(2, 700 + index, make.CALL_TYPE | make.CALLCHAIN, 136)) for name, (index, _) in make.CALLS.items()]
    writer, records = make.begun(b"".join(described)), []
    images = [make.map_record(at, at + 0x1000, f"/bin/part{at}") for at in (0x400000, 0x500000, 0x600000, 0x700000)]
    user, whole = (1 << 64) - 512, (0x400100, 0x500100, 0x600100, 0x700100)
    for step in range(STEPS):
        records.append(make.call("mmap", SECOND + step * 40 * SECOND // STEPS, BASE + step * 2 * PIECE, 0, PIECE, 3, 0x22, make.NONE, 0,
                                 chain=(user, *whole[:4 if step < STEPS // 3 else 2])))
    writer.chunk(make.STATE, make.task(), *images)
    writer.chunk(make.DATA, *records)
    with open(path, "wb") as f:
        f.write(writer.data)
    _, out, said = report(path, "--verdict", "--csv")
    got = [(row["verdict"], float(row["bytes"])) for row in rows(out)]
    check(got == [("grows steadily", STEPS * PIECE)], "a leak of which some stacks are cut short has one verdict", out + said)


def report(path, *options):
    run = subprocess.run([MTREPORT, "-q", *options, path], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def check_shapes(path, seconds, what):
    status, out, said = report(path, "--verdict", "--by", "process", "--csv")
    check(status == 0, f"{what}: is read", said)
    got = {row["process"]: row for row in rows(out)}
    for name, want in WANT.items():
        row = got.get(name[:15], {})
        if name == "leak" and seconds < 300:  # a cache that fills up looks alike
            want = "grows steadily"
        check(row.get("verdict") == want, f"{what}: {name} is a {want}", out)
    slope = PIECE * STEPS / seconds
    row = got.get("leak", {})
    check(abs(float(row.get("per-second") or 0) / slope - 1) < 0.02, f"{what}: the leak's slope in bytes a second", row)
    check(float(row.get("per-second_low") or 0) <= slope * 1.02 and float(row.get("per-second_high") or 0) >= slope * 0.98,
          f"{what}: which lies within its bounds", row)


def check_rates(path, what):
    """The screen has a rate for memory that grows, and none for other memory, whose slope is only momentary."""
    lines = [" ".join(line.split()) for line in report(path, "--all")[1].splitlines()]
    reported = [line for line in lines if line.split(":")[0].split(",")[0] in set(WANT.values()) | {"grows steadily"} and "reservations" in line]
    check(len(reported) >= 4, f"{what}: the screen has a verdict on what still holds memory", reported)
    rated = {line.split(",")[0] for line in reported if ", +" in line.split(":")[0] or ", -" in line.split(":")[0]}
    check(rated and rated <= {"leak", "grows steadily"}, f"{what}: ... with a rate where it grows, and only there", reported)


def check_cut(path, cut, what):
    status, out, said = report(path, "--verdict", "--by", "process", "--csv", "--time", f"0,{cut}")
    got = [(row["process"], row["verdict"], row["per-second"], row["confidence"]) for row in rows(out)]
    check(got and all(row[1:] == ("undecided", "", "0") for row in got), f"{what}: of {cut} s nothing is said", out + said)


def check_older(path):
    """A heap grows in a process that meanwhile unmaps older memory: the row reports both."""
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + index, make.CALL_TYPE, 136))
                 for name, (index, _) in make.CALLS.items()]
    writer = make.begun(b"".join(described))
    writer.chunk(make.STATE, make.task(), make.map_record(0x600000, 0x621000, "[heap]", 3),
                 make.map_record(BASE, BASE + 64 * PIECE, "//anon", 3))
    records, top = [], 0x621000
    for step in range(STEPS):
        time = SECOND + step * 40 * SECOND // STEPS
        top += PIECE
        records.append(make.call("brk", time, top, top))
        if step == STEPS // 2:
            records.append(make.call("munmap", time + 1, 0, BASE + 32 * PIECE, 30 * PIECE))
    writer.chunk(make.DATA, *records)
    with open(path, "wb") as f:
        f.write(writer.data)
    status, out, said = report(path, "--verdict", "--by", "process", "--csv")
    check(status == 0 and "nothing given back so far; 31.5 MB of older memory was given back" in out,
          "a heap's row says what of older memory was given back", out + said)


def check_timeline(path, seconds):
    """The sum of memory that comes and goes up to a moment is the memory that is held then."""
    step = seconds // 8
    status, out, said = report(path, "--outstanding", f"--timeline={step}s", "--csv")
    check(status == 0, "the timeline of what is outstanding is shown", said)
    changes = rows(out)
    check(any(float(row["bytes"]) < 0 for row in changes), "... with what was given back below 0", out)
    for at in (step * 3, step * 5):
        reported = {}
        for row in changes:
            if float(row["time"]) < at:
                reported[row["process"]] = reported.get(row["process"], 0) + float(row["bytes"])
        _, out, said = report(path, "--outstanding", "--by", "process,kind", "--csv", "--at", f"{at - 0.0005}")
        lasting = {row["process"]: float(row["bytes"]) for row in rows(out)}
        check({p: b for p, b in reported.items() if b} == lasting, f"... up to {at} s it adds up to what is held then",
              f"{reported}\n{lasting}")
    for words in (("--older-than", "1s"), ("--at", "peak")):
        status, out, said = report(path, "--outstanding", "--timeline", *words)
        check(status == 2 and "exclude each other" in said, f"... {words[0]} {words[1]} makes no sense with it", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seconds, what in ((40, "40 s"), (6 * 3600, "6 h"), (90 * 86400, "90 days")):
            path = os.path.join(folder, "made.mtr")
            write(path, seconds)
            check_shapes(path, seconds, what)
            check_rates(path, what)
            check_cut(path, 5, what)
            if seconds == 40:
                check_timeline(path, seconds)
        check_vector(os.path.join(folder, "vector.mtr"))
        check_thread_stacks(os.path.join(folder, "stacks.mtr"))
        check_cut_stacks(os.path.join(folder, "cut.mtr"))
        check_older(os.path.join(folder, "older.mtr"))
    print(f"1..{checks}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
