#!/usr/bin/env python3
"""mtrec -e malloc and mtreport --blocks show exactly the paths, blocks and bytes that a program keeps."""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
import tap  # noqa: E402

BUILD, SHARED = tap.BUILD, os.environ.get("MT_SHARED", "")
CALLS, LEAK = 20000, 10
NONE_LOST = "0 lost"
DEPTHS = {7: 0, 10: 1, 13: 2, 15: 3}  # of mallocer's recursion, by path
U64 = (1 << 64) - 1

KEEPER = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept[1000], *global;
int n;
static void __attribute__((noinline)) local_aligned(void) { void *p; if (!posix_memalign(&p, 64, 1000)) kept[n++] = p; }
static void __attribute__((noinline)) global_aligned(void) { if (!posix_memalign(&global, 64, 1000)) kept[n++] = global; }
static void __attribute__((noinline)) zeroed(void) { kept[n++] = calloc(10, 30); }
static void __attribute__((noinline)) grown(void) { kept[n++] = realloc(realloc(malloc(100), 5000), 70000); }
static void __attribute__((noinline)) failing(void) { kept[n] = malloc(1ul << 62); }
static void __attribute__((noinline)) child(void) { free(kept[0]); free(kept[1]); kept[0] = malloc(77); }
int main(void)
{
	for (int i = 0; i < 40; i++) { local_aligned(); zeroed(); grown(); }
	for (int i = 0; i < 7; i++) global_aligned();
	for (int i = 0; i < 3; i++) failing();
	if (!fork()) { child(); _exit(0); }
	wait(NULL);
	for (int i = 0; i < 3; i++) free(kept[i]);
}
"""


def record(path, *command):
    """Returns the recording's line on losses, or its error."""
    done = tap.record("-e", "malloc", "-o", path, *command)
    return done.stderr if done.returncode else re.search(r"(\S+) lost", done.stderr).group(1) + " lost"


def blocks(path, *options):
    done = subprocess.run([f"{BUILD}/mtreport", "--blocks", "--csv", *options, path], capture_output=True, text=True)
    return list(csv.DictReader(done.stdout.splitlines())), done.stderr


def sums(rows, key):
    """Returns {key(row): (blocks, bytes)}, without rows that have no key."""
    out = {}
    for row in rows:
        if key(row) is not None:
            had = out.get(key(row), (0, 0))
            out[key(row)] = (had[0] + int(row["blocks"]), had[1] + int(row["bytes"]))
    return out


def simulated(threads):
    """The blocks that mallocer keeps, by path: each of its threads takes sizes and slots from a known sequence."""
    kept = {}
    for thread in range(threads):
        rng, ring = thread + 1, {}
        for i in range(CALLS // threads):
            rng = (rng * 6364136223846793005 + 1442695040888963407) & U64
            value = rng >> 20
            path = value & 3
            block = (path, 16 + (value + (6, 9, 12, 14)[path]) % (64 << path))
            slot = ("leak", i) if i % LEAK == 0 else rng >> 33 & 4095
            ring[slot] = block
        for path, size in ring.values():
            had = kept.get(path, (0, 0))
            kept[path] = (had[0] + 1, had[1] + size)
    return kept


def path_of(row):
    found = re.search(r"path<0, (\d)>", row["stack"])
    return int(found.group(1)) if found else None


def function_of(row):
    found = re.search(r";(local_aligned|global_aligned|zeroed|grown|failing|child)\b", row["stack"])
    return found.group(1) if found else None


def mallocer(points, folder):
    for threads in (1, 3):
        path = os.path.join(folder, "mallocer.mtr")
        lost = record(path, os.path.join(folder, "mallocer"), str(CALLS), str(LEAK), "20000", str(threads))
        points.same(lost, NONE_LOST, f"mallocer is recorded without losses in one of {tap.ATTEMPTS} attempts, {threads} threads")
        if lost != NONE_LOST:
            continue
        rows, said = blocks(path)
        points.same(sums(rows, path_of), simulated(threads), "... its paths, blocks and bytes are exact")
        points.same(bool(re.search("blocks? (freed|not seen|given at)", said)), False, "... every free is of a block that lived")


def memcheck(folder):
    """Returns {path: (blocks, bytes)} that live at the end, reachable or not, according to memcheck."""
    log = os.path.join(folder, "memcheck.xml")
    subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=all", "--num-callers=40", "--xml=yes", f"--xml-file={log}",
                    os.path.join(folder, "mallocer"), str(CALLS), str(LEAK), "0", "1"], check=True, capture_output=True)
    out = {}
    for error in xml.etree.ElementTree.parse(log).iter("error"):
        paths = [path_of({"stack": frame.findtext("fn") or ""}) for frame in error.iter("frame")]
        path = next((path for path in paths if path is not None), None)
        if path is not None and error.findtext("kind").startswith("Leak_"):
            had = out.get(path, (0, 0))
            out[path] = (had[0] + int(error.findtext("xwhat/leakedblocks")), had[1] + int(error.findtext("xwhat/leakedbytes")))
    return out


def heaptrack(folder):
    """Returns {path: bytes} that live at the end, according to heaptrack."""
    data, leaked, out = os.path.join(folder, "heaptrack"), os.path.join(folder, "leaked"), {}
    subprocess.run(["heaptrack", "-o", data, os.path.join(folder, "mallocer"), str(CALLS), str(LEAK), "0", "1"], check=True,
                   capture_output=True)
    data = next(data + end for end in (".zst", ".gz") if os.path.exists(data + end))
    subprocess.run(["heaptrack_print", "-f", data, "-F", leaked, "--flamegraph-cost-type", "leaked"], check=True, capture_output=True)
    with open(leaked) as f:
        for line in f:
            stack, cost = line.rsplit(" ", 1)
            path = DEPTHS.get(stack.count(" path<>("))  # mtreport leaves out all differences of the paths but their depth
            if path is not None:
                out[path] = out.get(path, 0) + int(cost)
    return out


def others(points, folder):
    """Other tools report the same program; they restart it, or interpret it."""
    path = os.path.join(folder, "others.mtr")
    lost = record(path, os.path.join(folder, "mallocer"), str(CALLS), str(LEAK), "0", "1")
    points.same(lost, NONE_LOST, f"mallocer at its full speed is recorded without losses in one of {tap.ATTEMPTS} attempts")
    if lost != NONE_LOST:
        return
    ours = sums(blocks(path)[0], path_of)
    for tool, want in (("valgrind", lambda: (memcheck(folder), ours)), ("heaptrack", lambda: (
            heaptrack(folder), {path: size for path, (_, size) in ours.items()}))):
        what = f"blocks and bytes of each path are {tool}'s"
        if not shutil.which(tool):
            points.skip(what, f"{tool} is not installed")
            continue
        points.same(*want(), what)


def keeper(points, folder):
    path = os.path.join(folder, "keeper.mtr")
    points.same(record(path, os.path.join(folder, "keeper")), NONE_LOST, "a program that calls each function is recorded")
    rows, said = blocks(path, "--by", "process,stack")
    got = sums([row for row in rows if "exited" in row["process"]], function_of)
    points.same({name: got.get(name) for name in ("local_aligned", "zeroed", "grown", "child")}, {
        "local_aligned": (39, 39000), "zeroed": (39, 39 * 300), "grown": (39, 39 * 70000), "child": (1, 77)},
        "posix_memalign, calloc, realloc; a child's own")
    points.same([int(row["failed"]) for row in rows if function_of(row) == "failing"], [3], "calls that failed, by path")
    points.same("7 blocks given at an address that no sample shows" in said, True, "posix_memalign into memory that is not on the stack")
    points.same("freed" in said, False, "what a child frees of its parent's is neither unknown nor freed twice")


def main():
    tap.needs_perf("defining probes")
    if not os.path.exists(f"{SHARED}/targets/mallocer.cpp"):
        tap.skip_all("no ../shared/targets next to the tree (MT_SHARED=DIR)")
    points = tap.Tap()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "keeper.c")
        with open(source, "w") as f:
            f.write(KEEPER)
        flags = ["-O1", "-g", "-fno-builtin", "-fno-optimize-sibling-calls"]
        subprocess.run([*os.environ.get("CC", "cc").split(), *flags, "-o", source[:-2], source], check=True)
        subprocess.run(["c++", "-O2", "-g", "-std=c++17", "-pthread", "-o", os.path.join(folder, "mallocer"),
                        f"{SHARED}/targets/mallocer.cpp"], check=True)
        mallocer(points, folder)
        others(points, folder)
        keeper(points, folder)
    points.finish()


if __name__ == "__main__":
    main()
