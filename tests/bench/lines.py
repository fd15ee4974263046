#!/usr/bin/env python3
"""Lines and inlined functions of random addresses, symbols/lines against GNU addr2line: lines.py TOOL FILE [ADDRESSES [ROUNDS]].
TOOL is tests/oracle/lines.c, built. Both get the same addresses, in one process each; the rounds are interleaved, and the
processor time of the best one of each counts, so that what else runs on the machine matters little."""
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile

ORACLE = importlib.util.spec_from_file_location("oracle", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle/lines.py"))
oracle = importlib.util.module_from_spec(ORACLE)
ORACLE.loader.exec_module(oracle)


def cost(command, addresses):
    """Processor time of a command, seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=addresses, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def agreement(ours, theirs):
    """What the answers to the same addresses have in common, by tests/oracle/lines.py's reading of them. Files and lines must be
    equal. A name may differ: where a function has no linkage name of its own in the debug information (a clone, a lambda),
    addr2line prints the symbol at the address. Each of the first few is shown; ours is what the source calls the function."""
    ours, theirs = oracle.chains(ours), oracle.chains(theirs)
    known = [a for a in theirs if len(theirs[a]) > 1 or theirs[a][0][1][1] != "0"]
    # padding behind a function is in none; addr2line prints the symbol before it
    padding = {a for a in known if not ours[a] and len(theirs[a]) == 1}
    known = [a for a in known if a not in padding]
    places = [a for a in known if [place for _, place in ours[a]] != [place for _, place in theirs[a]]]
    names = [a for a in known if a not in set(places) and not oracle.equal(ours[a], theirs[a])]
    for a in names[:4] + places[:2]:
        print(f"  {a:#x}\n    ours   {ours[a]}\n    theirs {theirs[a]}")
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
        print(f"{path}: {agreement(answer(ours, addresses, folder, 'ours'), answer(theirs, addresses, folder, 'theirs'))}")
    costs = [(cost(ours, addresses), cost(theirs, addresses)) for _ in range(rounds)]
    best = [min(c) for c in zip(*costs)]
    median = sorted(t / o for o, t in costs)[rounds // 2]
    print(f"{path}: {count} addresses: symbols/lines {best[0] * 1e3:.1f} ms, addr2line {best[1] * 1e3:.1f} ms: "
          f"{best[1] / best[0]:.1f} times faster, {median:.1f} in the median of {rounds} rounds")


if __name__ == "__main__":
    main()
