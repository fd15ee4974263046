#!/usr/bin/env python3
"""Helps tests/oracle/truncated.sh: stacks.py SEEDS WHOLE JOINED CUT SPLICED [N] holds four mtreport --script listings of the same
samples against one another: of whole dumps with --no-join and without, and of dumps cut short likewise. Left out are those which whole
dumps are too short for as well, whose stacks nothing proves, and those of a time that SEEDS says was not cut. Prints NAME VALUE
lines, and with N so many of what was joined with the wrong functions."""
import sys

NAMES = "samples", "identical", "shortened", "joined", "right", "right-functions"


def stacks(path):
    """Of each sample its head and its frames."""
    head, frames = None, []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("\t"):
                frames.append(line[1:-1])
            elif line != "\n":
                head = line
            elif head:
                yield head, frames
                head, frames = None, []


def functions(frames):
    return [frame.lstrip().partition(" ")[2].partition("+0x")[0] for frame in frames]


def show(head, cut, spliced, whole):
    print(f"# {head.rstrip()} {len(cut)} frames cut, {len(spliced)} joined, {len(whole)} whole")
    pairs = list(zip(spliced, whole))
    at = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), len(pairs))
    for i, (ours, theirs) in list(enumerate(pairs))[max(0, len(cut) - 2):at + 3]:
        print(f"#   {i} joined {ours}\n#   {i} whole  {theirs}")


def compare(seeds, paths, shown):
    count = dict.fromkeys(NAMES, 0)
    for sample in zip(*map(stacks, paths), strict=True):
        head = sample[0][0]
        if any(h != head for h, _ in sample):
            sys.exit(f"not the same sample: {head}")
        whole, joined, cut, spliced = (frames for _, frames in sample)
        if whole != joined or not seeds.isdisjoint(word.rstrip(":") for word in head.split()):
            continue
        count["samples"] += 1
        count["identical"] += spliced == whole
        count["shortened"] += cut != whole
        if spliced == cut:
            continue
        same = functions(spliced) == functions(whole)
        count["joined"] += 1
        count["right"] += spliced == whole
        count["right-functions"] += same
        if not same and shown:
            shown -= 1
            show(head, cut, spliced, whole)
    return count


def main(seeds, *paths):
    with open(seeds, encoding="utf-8") as f:
        times = {line.split()[1] for line in f if line.startswith("seed ")}
    for name, value in compare(times, paths[:4], int(paths[4]) if len(paths) > 4 else 0).items():
        print(name, value)


if __name__ == "__main__":
    main(*sys.argv[1:])
