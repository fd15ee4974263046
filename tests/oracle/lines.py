#!/usr/bin/env python3
"""Helps tests/truth/lines.sh: lines.py addresses FILE N prints N random addresses of .text; lines.py compare OURS THEIRS holds
two answers in addr2line's form against each other, names reduced to the same form."""
import os
import random
import re
import subprocess
import sys


def addresses(path, count):
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 5 and fields[1] == ".text":
            start, size = int(fields[3], 16), int(fields[5], 16)
    chosen = random.Random(7)
    for _ in range(count):
        print(f"{start + chosen.randrange(size):x}")


def chains(path):
    """Address -> [(name, file:line)]."""
    found, chain = {}, None
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    at = 0
    while at < len(lines):
        if re.fullmatch(r"0x[0-9a-f]+", lines[at]):
            chain = found.setdefault(int(lines[at], 16), [])
            at += 1
            chain.clear()
            continue
        name, place = lines[at], re.sub(r" \(discriminator \d+\)", "", lines[at + 1])
        file, _, line = place.rpartition(":")
        chain.append((name, (os.path.normpath(file), "0" if line == "?" else line)))
        at += 2
    return found


def same_name(ours, theirs):
    """Theirs has parameters, and for templates a return type."""
    # no function in the debug information: addr2line has the symbol's name
    if theirs == ours or ours == "??" or (ours + "(") in theirs or (ours + "[abi:") in theirs:
        return True
    # without a linkage name addr2line has the plain name, ours is qualified
    return "::" in ours and ours.endswith("::" + theirs)


def equal(ours, theirs):
    if [place for _, place in ours] != [place for _, place in theirs]:
        return False
    # addr2line puts the symbol's name on the innermost function where that has no linkage name
    return all(same_name(o, t) or (not i and same_name(ours[-1][0], t))
               for i, ((o, _), (t, _)) in enumerate(zip(ours, theirs)))


def compare(ours, theirs):
    ours, theirs = chains(ours), chains(theirs)
    # code without debug information: addr2line has the symbol's name, the tables have nothing. And where addr2line finds no
    # line, as in parts of functions that are elsewhere, there is nothing to compare with.
    known = [a for a in theirs if len(theirs[a]) > 1 or theirs[a][0][1][1] != "0"]
    differ = [a for a in known if not equal(ours[a], theirs[a])]
    for a in differ[:3]:
        print(f"{a:#x}\n  ours   {ours[a]}\n  theirs {theirs[a]}")
    inlined = sum(len(theirs[a]) > 1 for a in known)
    print(f"{len(theirs)} addresses, {len(known)} with lines, {inlined} in inlined functions, {len(differ)} differ")
    return 1 if differ or len(known) < 0.9 * len(theirs) else 0


if __name__ == "__main__":
    if sys.argv[1] == "addresses":
        addresses(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(compare(sys.argv[2], sys.argv[3]))
