#!/usr/bin/env python3
"""--firefox: a profile as the published description of the Firefox Profiler's format has it (readers/firefox_profile.py holds it to
that; the profiler itself is no package of npm), with the threads, stacks, figures and gauges that mtreport prints.
"""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("recording", "perfdata", "readers")]
import hostile  # noqa: E402
from firefox_profile import FirefoxProfile  # noqa: E402
from perfdata_tool import BUILD, TOP, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
RECORDED = os.path.join(HERE, "recorded")
NAMES = ("--symfs", RECORDED, "--kallsyms", os.path.join(RECORDED, "stacks.kallsyms.txt"))


def run(*words):
    done = subprocess.run([MTREPORT, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def rows(*words):
    status, out, _ = run("-q", "--json", *words)
    return json.loads(out)["rows"] if not status else []


def profile_of(*words):
    status, out, said = run("-q", "--firefox", "-", *words)
    if status:
        raise ValueError(said)
    return FirefoxProfile(out)


def check_format(tap, recordings):
    """The reader raises ValueError where a profile is not as the format has it."""
    wrong, threads = [], 0
    for recording in recordings:
        try:
            threads += len(profile_of(recording).threads)
        except ValueError as error:
            wrong.append((os.path.basename(recording), error))
    tap.check(not wrong and threads > len(recordings), f"{len(recordings)} profiles are as the format has it", wrong)


def check_threads(tap, recording):
    profile = profile_of(recording)
    want = collections.Counter()
    for row in rows("--samples", "--by", "thread", recording):
        want[str(row["pid"]), row["tid"], row["comm"]] += row["count"]
    have = {(thread["pid"], int(str(thread["tid"]).split(":")[0]), thread["name"]): sum(thread["samples"]["weight"]) for thread in profile.of("samples", "count")}
    tap.same(have, dict(want), f"{os.path.basename(recording)}: each thread has its samples")
    processes = {thread["pid"] for thread in profile.threads}
    order = [thread["pid"] for thread in profile.threads]
    tap.same(order, sorted(order, key=int), f"... the threads of {len(processes)} processes stand together")


def check_stacks(tap, recording, analysis):
    profile, have, want = profile_of("--" + analysis, *NAMES, recording), collections.Counter(), collections.Counter()
    for thread in profile.of(analysis, "bytes"):
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            have[thread["pid"], *profile.names(stack)] += weight
        tap.check(thread["samples"]["weightType"] == "bytes", f"--{analysis}: weights are bytes")
    for row in rows("--" + analysis, "--by", "process,kind,stack", *NAMES, recording):
        want[str(row["pid"]), row["kind"], *row["stack"]] += row["bytes"]
    have, want = ({key: value for key, value in sums.items() if value} for sums in (have, want))
    tap.check(have == want and have, f"--{analysis}: each stack of each process has its bytes", sorted(set(have.items()) ^ set(want.items()))[:4])


def check_time(tap, recording):
    """Until the middle of the recording as --time has it, by whole intervals."""
    profile = profile_of(recording)
    interval, end = profile.profile["meta"]["interval"], profile.profile["meta"]["profilingEndTime"]
    at = 250 * interval
    have = sum(weight for thread in profile.of("samples", "count") for time, weight in zip(thread["samples"]["time"], thread["samples"]["weight"])
               if time < at - interval / 2)
    want = sum(row["count"] for row in rows("--samples", "--time", f"0,{at / 1e3:.9f}", recording))
    tap.same(have, want, f"{os.path.basename(recording)}: {have} samples in the first {at:.0f} of {end:.0f} ms")


def check_gauges(tap, recording):
    """Their last values as another decoder finds them."""
    dump = subprocess.run([os.path.join(TOP, "scripts", "mtdump"), "--json", "--records", recording], capture_output=True, text=True)
    want = {}
    for record in map(json.loads, dump.stdout.splitlines()):
        if record.get("type") == "GAUGE" and record["fields"]["name"] == "VmRSS":
            want[str(record["fields"]["pid"])] = record["fields"]["value"]
    profile = profile_of(recording)
    have = {counter["pid"]: sum(counter["samples"]["count"]) for counter in profile.counters if counter["name"] == "resident"}
    tap.check(have and {counter["name"] for counter in profile.counters} == {"resident", "mapped"}, "counters are the gauges of processes")
    tap.same(have, {pid: want[pid] for pid in have}, "... and end with the last value that was read")


def check_choice(tap, recording):
    meta = profile_of("--resident", recording).profile["meta"]
    profile = profile_of("--resident", recording)
    chosen = profile.threads[meta["initialSelectedThreads"][0]]
    tap.same(chosen["name"], "resident, bytes", "the analysis that was named is chosen")
    visible = {profile.threads[at]["name"] for at in meta["initialVisibleThreads"]}
    tap.check("resident, bytes" in visible and "growth, bytes" not in visible, "... and shown beside threads", visible)
    status, _, said = run("--faults", "--firefox", "-", recording)
    tap.check(status == 4 and "nothing of --faults" in said, "an analysis that it cannot show is refused", said)
    status, _, said = run("--base", recording, "--firefox", "-", recording)
    tap.check(status == 2 and "no comparison" in said, "so is a comparison", said)


def main():
    tap = Tap()
    scenes = {os.path.basename(path)[:-4]: path for path in sorted(glob.glob(os.path.join(HERE, "scenes", "*.mtr")))}
    stacks = os.path.join(RECORDED, "stacks.mtr")
    with tempfile.TemporaryDirectory() as folder:
        made = {"texts.mtr": hostile.recording(), "functions.mtr": hostile.functions()[0]}
        for name, data in made.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        subprocess.run([os.path.join(HERE, "recording", "corpus.py"), folder, "two_recordings", "odd_strings"], check=True, stdout=subprocess.DEVNULL)
        check_format(tap, sorted(glob.glob(os.path.join(folder, "*.mtr"))) + [stacks, *list(scenes.values())[:8]])
    for recording in (scenes["forks"], scenes["node"], stacks):
        check_threads(tap, recording)
    for analysis in ("growth", "outstanding", "resident"):
        check_stacks(tap, stacks, analysis)
    check_time(tap, scenes["leak"])
    check_gauges(tap, scenes["sawtooth"])
    check_choice(tap, stacks)
    tap.finish()


main()
