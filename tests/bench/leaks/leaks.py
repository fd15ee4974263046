#!/usr/bin/env python3
"""Tests the verdicts of mtreport --leaks on servers whose memory grows, or does not grow, in known ways (servers.c). Needs root:

    tests/bench/leaks/leaks.py [--seconds N] [--rate N] [--seeds FIRST,COUNT] [MTREC OPTION...]

Prints for each kind of server how often each verdict was given, then precision and recall of `leak`, and of what is not
cleared. The kinds named leak_ leak. With --malloc-sample 8 give a rate as much higher.
"""
import argparse
import collections
import csv
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("MT_BUILD", os.path.join(TOP, "build"))
CLEARED = {"bounded", "one-off", "plateau", "sawtooth"}


def record(folder, options, arguments):
    servers, path = os.path.join(folder, "servers"), os.path.join(folder, "servers.mtr")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O1", "-g", "-o", servers, os.path.join(HERE, "servers.c"), "-lm"], check=True)
    subprocess.run([f"{BUILD}/mtrec", "-q", "-e", "malloc", "--call-graph", "dwarf,2048", *options, "-o", path, "--", servers,
                    *map(str, arguments)], check=True)
    return path


def verdicts(path):
    """[(kind, verdict, what it rests on)]"""
    done = subprocess.run([f"{BUILD}/mtreport", "-q", "--leaks", "--csv", path], capture_output=True, text=True, check=True)
    return [(row["process"], row["verdict"], row["rests-on"]) for row in csv.DictReader(done.stdout.splitlines())
            if row["stack"].endswith(";" + row["process"])]


def ratio(part, whole):
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rate", type=float, default=60)
    parser.add_argument("--seeds", default="1,4")
    parser.add_argument("--why", action="store_true", help="what the verdicts that are wrong rest on")
    parser.add_argument("--file", help="judge this recording of servers")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.file or record(folder, options, [arguments.seconds, arguments.rate, *arguments.seeds.split(",")])
        found = verdicts(path)
    kinds = collections.defaultdict(collections.Counter)
    for kind, verdict, why in found:
        kinds[kind][verdict] += 1
        if arguments.why and (verdict in CLEARED) if kind.startswith("leak_") else verdict not in CLEARED:
            print(f"  {kind}: {verdict}: {why}")
    for kind, counts in sorted(kinds.items()):
        print(f"{kind:15} " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    for what, accused in (("leak", {"leak"}), ("leak or grows steadily", {"leak", "grows steadily"})):
        leaks = sum(sum(counts.values()) for kind, counts in kinds.items() if kind.startswith("leak_"))
        right = sum(counts[verdict] for kind, counts in kinds.items() if kind.startswith("leak_") for verdict in accused)
        all_accused = sum(counts[verdict] for counts in kinds.values() for verdict in accused)
        print(f"{what}: precision {ratio(right, all_accused)}, recall {ratio(right, leaks)}")
    wrong = sum(counts[verdict] for kind, counts in kinds.items() if kind.startswith("leak_") for verdict in CLEARED)
    print(f"leaks that were cleared: {wrong}")


if __name__ == "__main__":
    main()
