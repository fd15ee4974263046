#!/usr/bin/env python3
"""Lines and inlined functions of random addresses, symbols/lines/lines against GNU addr2line: lines.py TOOL FILE [ADDRESSES [ROUNDS]].
TOOL is tests/oracle/lines.c, built. Both get the same addresses, in one process each. The rounds are interleaved. The script
prints the best round, so that other load on the machine matters little, and the median of the rounds: of processor time and of
elapsed time, by one thread and by as many as there are processors. Where files or lines differ, it asks the other installed tools."""
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ORACLE = importlib.util.spec_from_file_location("oracle", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle/lines.py"))
oracle = importlib.util.module_from_spec(ORACLE)
ORACLE.loader.exec_module(oracle)


def cost(command, addresses):
    """Processor time and elapsed time of a command, seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, input=addresses, stdout=subprocess.DEVNULL, check=True)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - start


def judge(path, places, ours, theirs, folder):
    """Asks llvm-symbolizer and eu-addr2line, where installed, about addresses that differ: with which tool they agree."""
    asked = "".join(f"{a:#x}\n" for a in places).encode()
    for tool in (["llvm-symbolizer", "--output-style=GNU"], ["eu-addr2line"]):
        if not places or not shutil.which(tool[0]):
            continue
        said = oracle.chains(answer([*tool, "-a", "-i", "-f", "-C", "-e", path], asked, folder, tool[0]))
        # eu-addr2line has columns: the file ends in the line, then
        said = {a: [line_of(place) for _, place in said.get(a, [])] for a in places}
        counts = [sum(said[a] == [line_of(place) for _, place in chains[a]] for a in places) for chains in (ours, theirs)]
        print(f"  {tool[0]} says of those {len(places)} what symbols/lines/lines says {counts[0]} times, what addr2line says {counts[1]} times")


def line_of(place):
    """Returns (file, line) without the column that may follow."""
    file, _, line = place[0].rpartition(":")
    return (os.path.basename(file), line) if line.isdigit() else (os.path.basename(place[0]), place[1])


def agreement(path, ours, theirs, folder):
    """Compares the answers to the same addresses, as tests/oracle/lines.py reads them. Files and lines must be equal. A name
    may differ: where a function has no linkage name of its own in the debug information (a clone, a lambda), addr2line prints
    the symbol at the address. The script shows the first few; our name is that of the source."""
    ours, theirs = oracle.chains(ours), oracle.chains(theirs)
    known = [a for a in theirs if len(theirs[a]) > 1 or theirs[a][0][1][1] != "0"]
    # padding after a function is in no function; addr2line prints the symbol before it
    padding = {a for a in known if not ours[a] and len(theirs[a]) == 1}
    known = [a for a in known if a not in padding]
    places = [a for a in known if [place for _, place in ours[a]] != [place for _, place in theirs[a]]]
    names = [a for a in known if a not in set(places) and not oracle.equal(ours[a], theirs[a])]
    for a in names[:4] + places[:2]:
        print(f"  {a:#x}\n    ours   {ours[a]}\n    theirs {theirs[a]}")
    judge(path, places, ours, theirs, folder)
    return f"{len(known)} with lines: {len(places)} differ in files or lines, {len(names)} in a name alone; {len(padding)} are in no function"


def answer(command, addresses, folder, name):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        subprocess.run(command, input=addresses, stdout=file, check=True)
    return path


def main():
    tool, path = sys.argv[1:3]
    count = sys.argv[3] if len(sys.argv) > 3 else "2000"
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 9
    addresses = subprocess.run([sys.executable, oracle.__file__, "addresses", path, count], capture_output=True, check=True).stdout
    ours = [tool, path]
    theirs = ["addr2line", "-a", "-i", "-f", "-C", "-e", path]
    with tempfile.TemporaryDirectory() as folder:
        print(f"{path}: {agreement(path, answer(ours, addresses, folder, 'ours'), answer(theirs, addresses, folder, 'theirs'), folder)}")
    costs = [(cost(theirs, addresses), cost(ours, addresses)) for _ in range(rounds)]
    for k, what in enumerate(("user+sys", "elapsed")):
        their, our = min(c[0][k] for c in costs), min(c[1][k] for c in costs)
        median = statistics.median(c[0][k] / c[1][k] for c in costs)
        print(f"{path}: {count} addresses, {what}: symbols/lines/lines {our * 1e3:.1f} ms, addr2line "
              f"{their * 1e3:.1f} ms: {their / our:.1f} times faster, {median:.1f} in the median of {rounds} rounds")


if __name__ == "__main__":
    main()
