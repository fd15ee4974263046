#!/usr/bin/env python3
"""mtreport --latency, --reclaim: which two records are the ends of a duration, on synthetic recordings."""
import csv
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import blocks  # noqa: E402
import corpus as make  # noqa: E402
import resident as made  # noqa: E402
from perfdata_tool import Tap  # noqa: E402

BEGIN, END, STEP, CALL, CALLED, ENTERED = 60, 61, 62, 63, 64, 65
RECLAIM = "vmscan:mm_vmscan_memcg_reclaim_"
FIELDS = blocks.form("key", "nr_reclaimed")
KINDS = b"".join(make.event(index, role, name, alias or name, make.attr(2, 900 + index, made.MARK_TYPE), form=FIELDS)
                 for index, role, name, alias in (
                     (BEGIN, 1, RECLAIM + "begin", None), (END, 0, RECLAIM + "end", None), (STEP, 0, "app:step/key > 0/", None),
                     (CALL, 1, "app:enter_call", "call"), (CALLED, 0, "app:exit_call", "call"), (ENTERED, 0, "app:enter_call", None)))


def at(event, time, tid=100, key=0, pages=0):
    return made.sample(event, time, tid, blocks.words(key, pages))


def begin(time, **more):
    return at(BEGIN, time, **more)


def end(time, **more):
    return at(END, time, **more)


PAIR = RECLAIM + "begin," + RECLAIM + "end"
LATENCY = ("--latency", PAIR)


def cases():
    """Yields name, records, options, {thread: (ns, calls, longest)}, text on stderr"""
    yield "from a begin to the thread's next end", begin(1000) + end(1007), LATENCY, {"100": (7000, 1, 7000)}, ""
    yield "each end once", begin(1000) + end(1007) + begin(1010) + end(1012) + end(1020), LATENCY, {
        "100": (9000, 2, 7000)}, "1 end recorded without a beginning"
    yield "threads apart", begin(1000) + begin(1001, tid=101) + end(1007) + end(1021, tid=101), LATENCY, {
        "100": (7000, 1, 7000), "101": (20000, 1, 20000)}, ""
    yield "... but with a field by its value", begin(1000, key=5) + begin(1001, key=6, tid=101) + end(1007, key=6), (
        "--latency", PAIR + ",key"), {"100": (6000, 1, 6000)}, "1 beginning recorded without an end"
    yield "of two begins the later one counts", begin(990) + end(995) + begin(1000) + begin(1003) + end(1007), LATENCY, {
        "100": (9000, 2, 5000)}, "1 beginning recorded without an end"
    yield "before the first end none was recorded", begin(1000) + begin(1003) + end(1007), LATENCY, {"100": (4000, 1, 4000)}, ""
    yield "between two records of one event", at(STEP, 1000) + at(STEP, 1004) + at(STEP, 1009), (
        "--latency", "step,app:step"), {"100": (9000, 2, 5000)}, "1 end recorded without a beginning"
    yield "an event whose entries are marks", at(CALL, 1000) + at(CALLED, 1002) + at(CALL, 1010) + at(CALLED, 1015), (
        "--latency", "call,call"), {"100": (7000, 2, 5000)}, ""
    yield "from a call's exit to another event", at(CALL, 1000) + at(CALLED, 1002) + at(STEP, 1010), (
        "--latency", "call,step"), {"100": (8000, 1, 8000)}, ""
    yield "a sample that begins and has no end, before the first end too", at(CALLED, 1000) + at(CALLED, 1002) + at(STEP, 1010), (
        "--latency", "call,step"), {"100": (8000, 1, 8000)}, "1 beginning recorded without an end"
    yield "an entry that is a mark and a sample begins once", at(ENTERED, 1000) + at(CALL, 1000) + at(CALLED, 1002) + at(
        ENTERED, 1010) + at(CALL, 1010) + at(CALLED, 1015), ("--latency", "app:enter_call,call"), {"100": (7000, 2, 5000)}, ""
    yield "names without their subsystem", begin(1000) + end(1007), (
        "--latency", "mm_vmscan_memcg_reclaim_begin,mm_vmscan_memcg_reclaim_end"), {"100": (7000, 1, 7000)}, ""
    yield "an end that is not selected ends it, too", begin(1000) + end(1007) + end(1020), LATENCY + (
        "--time", "0.000015,"), {}, "1 end recorded without a beginning"
    yield "what began before records were lost is not counted", begin(1000) + blocks.lost(1001, 1002, event=END) + end(
        1007) + begin(1010) + end(1011), LATENCY, {"100": (1000, 1, 1000)}, "1 beginning recorded without an end"


def run(folder, records, *options):
    path = os.path.join(folder, "made.mtr")
    with open(path, "wb") as f:
        f.write(blocks.recording(records, kinds=KINDS))
    return blocks.subprocess.run([os.path.join(blocks.BUILD, "mtreport"), *options, path], capture_output=True, text=True)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for name, records, options, want, said in cases():
            done = run(folder, records, *options, "--by", "thread", "--csv")
            got = {row["tid"]: tuple(int(row[figure]) for figure in ("ns", "calls", "longest"))
                   for row in csv.DictReader(done.stdout.splitlines())}
            tap.check(got == want and (said in done.stderr if said else "recorded without" not in done.stderr), name, f"got {got}, want {want}; {done.stderr}")
        several = b"".join(begin(1000 + 100 * i) + end(1000 + 100 * i + took, pages=took) for i, took in enumerate((3, 2, 40, 50, 3)))
        done = run(folder, several, "--reclaim", "--by", "took", "--csv")
        got = [(float(row["took"]), int(row["calls"]), int(row["pages"])) for row in csv.DictReader(done.stdout.splitlines())]
        tap.check(got == [(2e-6, 3, 8), (3.2e-5, 2, 90)], "--by took: a histogram, least first, with the pages reclaimed",
                  f"{got} {done.stderr}")
        done = run(folder, several, "--reclaim", "--by", "took", "--table")
        tap.check("32..64 us" in done.stdout, "... whose buckets are lengths of time", done.stdout)
        done = run(folder, several, "--latency", "begun,ended")
        tap.check(done.returncode == 2 and "begun: no event of this recording" in done.stderr, "an unknown event is reported", done.stderr)
        done = run(folder, several, "--latency", "begun")
        tap.check(done.returncode == 2 and "not two events" in done.stderr, "one event is no duration", done.stderr)
        done = run(folder, several, "--latency", "mm_vmscan_memcg_reclaim_end,mm_vmscan_memcg_reclaim_begin")
        tap.check(done.returncode == 2 and "of mm_vmscan_memcg_reclaim_begin there are only marks" in done.stderr,
                  "what has no samples ends nothing", done.stderr)
        done = run(folder, several, *LATENCY[:-1], PAIR + ",bogus")
        tap.check(done.returncode == 2 and "begin has no number called bogus" in done.stderr, "so is an unknown field", done.stderr)
        done = run(folder, several, "--compaction")
        tap.check(done.returncode == 4, "a recording without compaction has no --compaction", done.stdout + done.stderr)
    tap.finish()


if __name__ == "__main__":
    main()
