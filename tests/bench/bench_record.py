#!/usr/bin/env python3
"""Compares mtrec with perf record in one run: lost records, cost for the target, cost of the recorder, size of the file.

    tests/bench/bench_record.py [--runs N] [--only NAME] [--build DIR] [--shared DIR]

Each workload runs alone, under perf and under mtrec, in turns; figures are medians of --runs, 5 by default. Ratios are the
result, because machines are noisy. Needs root, perf, and ../shared/targets (built into a temporary folder).

mtrec runs twice: with --embed none, for the cost of a sample, and with its defaults, with images in the recording. The script
prints the cost of the images apart. Both tools have caches: perf copies images to ~/.debug in the first run and finds them there
in later ones, its file never holds them; mtrec keeps its data about them in the temporary folder, so that the first run is
expensive, and the median is not. "nothing" is the cost of starting and ending.

"kernel alone" is perf record --overwrite with mtrec's ring size: the kernel writes every sample, and no process reads them. A
recorder that keeps all samples costs the target at least as much; a recorder that drops most of them may cost less.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# name, event, argv, samples that the target itself makes, dump bytes
WORKLOADS = [
    ("faulter 45k/s", "page-faults", ["faulter", "60000", "20000", "1"], 60000),
    ("faulter 5k/s", "page-faults", ["faulter", "6000", "200000", "1"], 6000),
    ("faulter storm", "page-faults", ["faulter", "80000", "0", "1"], 80000),
    ("brker 48k/s", "brk", ["brker", "60000", "4096", "20000"], 60000),
    ("brker storm", "brk", ["brker", "100000", "4096", "0"], 100000),
    ("two storms", "page-faults", ["two-storms"], 160000),
    ("cc1plus", "page-faults", ["cc1plus"], 0),
    ("node", "page-faults", ["node"], 0),
    ("nothing", "page-faults", ["sleep"], 0),
]
NODE = "const a = []; for (let i = 0; i < 300000; i++) a.push({n: i, s: 'x'.repeat(i % 100)}); a.map(JSON.stringify).length"
PERF_EVENT = {"page-faults": "page-faults", "brk": "syscalls:sys_exit_brk"}


def mtrec(build, *words):
    return lambda event, dump, out: [
        os.path.join(build, "mtrec"), "-a", "-e", event, "--call-graph", "dwarf,%d" % dump, *words, "-o", out, "--"]


def recorders(build):
    """name -> argv in front of the target, for an event, a dump size and an output file."""
    return {
        "alone": lambda event, dump, out: [],
        "kernel alone": lambda event, dump, out: [
            "perf", "record", "-q", "-a", "--overwrite", "-m", "16M", "-e", PERF_EVENT[event], "-c", "1",
            "--call-graph", "dwarf,%d" % dump, "-o", out, "--"],
        "perf -m 64M": lambda event, dump, out: [
            "perf", "record", "-q", "-a", "-m", "64M", "-e", PERF_EVENT[event], "-c", "1",
            "--call-graph", "dwarf,%d" % dump, "-o", out, "--"],
        "perf -m 64M -z1": lambda event, dump, out: [
            "perf", "record", "-q", "-a", "-m", "64M", "-z1", "-e", PERF_EVENT[event], "-c", "1",
            "--call-graph", "dwarf,%d" % dump, "-o", out, "--"],
        "mtrec": mtrec(build, "--embed", "none"),
        "mtrec, images": mtrec(build),
    }


def measure(argv, env, target_out):
    """Returns the target's own wall and CPU time, CPU time of all else in the process tree, and stderr."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wall = time.monotonic() - began
    said = [json.loads(line) for name in target_out if os.path.exists(name) for line in open(name)]
    for times in said:
        times.setdefault("cpu_total", times["user"] + times["sys"])
    for name in target_out:
        if os.path.exists(name):
            os.unlink(name)
    return {
        "wall": max((s["wall"] for s in said), default=wall),
        "cpu": cpu - sum(s["cpu_total"] for s in said),
        "stderr": done.stderr,
        "rss": after.ru_maxrss,
    }


def count_samples(recorder, event, comm, out, build):
    """Samples of the target in the file, its own losses, and its size."""
    if not os.path.exists(out):
        return 0, 0
    if recorder.startswith("mtrec"):
        folded = subprocess.run([os.path.join(build, "mtreport"), "-q", "--folded", "-e", event, "--comm", comm, out],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        samples = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
    else:
        script = subprocess.Popen(["perf", "script", "-i", out, "-F", "comm", "--comms", comm], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        samples = sum(1 for line in script.stdout if line.strip() == comm)
        script.wait()
    return samples, os.path.getsize(out)


def reported(path):
    """Runs a command that does not report its own times, and returns them."""
    said = '{"wall": %R, "user": %U, "sys": %S}'
    return ["bash", "-c", "TIMEFORMAT='%s'; { time \"$@\" 2>/dev/null; } 2>%s" % (said, path), "-"]


def run_once(name, event, argv, recorder, prefix, folder, build, dump, count):
    out = os.path.join(folder, "recording")
    target_out = [os.path.join(folder, "said%d" % i) for i in range(2)]
    env = dict(os.environ, TGT_OUT=target_out[0], XDG_CACHE_HOME=os.path.join(folder, "cache"))
    command = [os.path.join(folder, argv[0])] + argv[1:]
    if argv[0] == "cc1plus":
        command = reported(env["TGT_OUT"]) + ["g++", "-O1", "-std=c++17", "-S", "-o", "/dev/null", os.path.join(TOP, "tests/workloads/grower.cpp")]
    if argv[0] == "node":
        command = reported(env["TGT_OUT"]) + ["node", "-e", NODE]
    if argv[0] == "sleep":
        command = reported(env["TGT_OUT"]) + ["sleep", "0.1"]
    if argv[0] == "two-storms":
        faulter = os.path.join(folder, "faulter")
        command = ["sh", "-c", "TGT_OUT=%s %s 80000 0 1 & TGT_OUT=%s %s 80000 0 1; wait" % (
            target_out[0], faulter, target_out[1], faulter)]
    result = measure(prefix(event, dump, out) + command, env, target_out)
    result["samples"] = result["size"] = 0
    if count and "alone" not in recorder:
        comm = "faulter" if argv[0] == "two-storms" else argv[0]
        result["samples"], result["size"] = count_samples(recorder, event, comm, out, build)
    elif os.path.exists(out):
        result["size"] = os.path.getsize(out)
    for path in (out, out + ".old"):
        if os.path.exists(path):
            os.unlink(path)
    return result


def median(results, key):
    return statistics.median(r[key] for r in results)


def report(name, expected, results):
    alone = median(results["alone"], "wall")
    expected = expected or max(r["samples"] for runs in results.values() for r in runs) or 1
    print("\n%s" % name)
    print("  %-18s %10s %9s %9s %14s %12s" % ("", "captured", "wall x", "cpu s", "cpu us/sample", "bytes/sample"))
    for recorder, runs in results.items():
        samples = max(median(runs, "samples"), 1)
        if recorder == "alone":
            continue
        if recorder == "kernel alone":
            print("  %-18s %10s %9.2f" % (recorder, "-", median(runs, "wall") / alone))
            continue
        print("  %-18s %9.1f%% %9.2f %9.3f %14.1f %12.0f" % (
            recorder, 100.0 * min(r["samples"] for r in runs) / expected, median(runs, "wall") / alone,
            median(runs, "cpu"), 1e6 * median(runs, "cpu") / samples, median(runs, "size") / samples))
    images, plain = results["mtrec, images"], results["mtrec"]
    print("  images, once: %+.3f s of CPU, %+.0f bytes" % (
        median(images, "cpu") - median(plain, "cpu"), median(images, "size") - median(plain, "size")))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--dump", type=int, default=16384)
    parser.add_argument("--build", default=os.environ.get("MT_BUILD", os.path.join(TOP, "build")))
    parser.add_argument("--shared", default=os.environ.get("MT_SHARED", os.path.join(TOP, "..", "shared")))
    options = parser.parse_args()
    if os.geteuid() or not shutil.which("perf") or not os.path.isdir(os.path.join(options.shared, "targets")):
        print("bench_record: needs root, perf and ../shared/targets: nothing measured")
        return
    folder = tempfile.mkdtemp(prefix="bench-record-")
    try:
        subprocess.run(["make", "-s", "-C", os.path.join(options.shared, "targets"), "B=" + folder], check=True)
        kinds = recorders(os.path.abspath(options.build))
        for name, event, argv, expected in WORKLOADS:
            if options.only not in name or (argv[0] == "node" and not shutil.which("node")):
                continue
            results = {kind: [] for kind in kinds}
            for run in range(options.runs):
                for kind, prefix in kinds.items():
                    results[kind].append(run_once(name, event, argv, kind, prefix, folder, options.build,
                                                  options.dump, True))
            report(name, expected, results)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
