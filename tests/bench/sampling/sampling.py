#!/usr/bin/env python3
"""Tests whether the intervals of mtreport --blocks contain the true figures of blocks that were sampled by address, by allocator, size,
pattern, path and rate.

    tests/bench/sampling/sampling.py [SEEDS]

Runs addresses.c under each allocator, with a random layout each time, and judges every path at each rate. Prints how many
intervals hold the truth, and by how much estimates are off by allocator and size. Missing allocators are left out, and named.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("MT_BUILD", os.path.join(TOP, "build"))
SIZES = [16, 32, 48, 64, 100, 128, 200, 256, 400, 512, 1000, 1024, 2048, 3000, 4096, 8192, 16384, 32768, 65536, 100000, 131072, 262144,
         524288, 1048576]
PATTERNS = ["live", "lru", "churn", "mixed"]
PRELOADED = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2"}
LARGE = 128 << 10  # from here on glibc's second event records all


def build(folder):
    """{allocator: (command, environment)}, those left out"""
    source = os.path.join(HERE, "addresses.c")
    made, left = {}, []
    for name, command in (("glibc", ["cc"]), ("static", ["cc", "-static"]), ("musl", ["musl-gcc"])):
        path = os.path.join(folder, name)
        try:
            subprocess.run([*command, "-O1", "-fno-builtin", "-o", path, source], check=True, capture_output=True)
            made[name] = [path], {}
        except (OSError, subprocess.CalledProcessError):
            left.append(name)
    for name, library in PRELOADED.items():
        done = subprocess.run([*made["glibc"][0], "live", "16", "1"], env={"LD_PRELOAD": library}, capture_output=True)
        if done.stderr or done.returncode:
            left.append(name)
        else:
            made[name] = made["glibc"][0], {"LD_PRELOAD": library}
    judge = os.path.join(folder, "judge")
    subprocess.run(["cc", "-O2", "-I", TOP, "-o", judge, os.path.join(HERE, "judge.c"),
                    os.path.join(TOP, "report/tables/estimate.c"), os.path.join(TOP, "formats/records/address_sample.c"), "-lm"], check=True)
    return made, left, judge


class Cell:
    def __init__(self, line):
        _, one_in, count, seen, blocks_low, blocks_high, truth, value, low, high = line.split()
        self.one_in, self.count, self.seen = int(one_in), int(count), int(seen)
        self.truth, self.value = float(truth), float(value)
        # Where nothing was seen there is no row: up to 3.69 times the rate may have been there.
        none = self.count <= 3.69 * self.one_in
        self.holds = float(low) <= self.truth <= float(high) if self.seen else none
        self.holds_blocks = float(blocks_low) <= self.count <= float(blocks_high) if self.seen else none


def share(cells, what="holds"):
    return 100 * sum(getattr(cell, what) for cell in cells) / len(cells)


def judged(made, judge, seeds):
    cells = collections.defaultdict(list)  # (allocator, size, pattern, one_in)
    for name, (command, environment) in made.items():
        for size in SIZES:
            if name in ("glibc", "static") and size >= LARGE - 100:
                continue
            for pattern in PATTERNS:
                for seed in range(seeds):
                    trace = subprocess.run([*command, pattern, str(size), str(seed)], env=environment, capture_output=True,
                                           check=True).stdout
                    lines = subprocess.run([judge], input=trace, capture_output=True, check=True).stdout.decode()
                    for cell in map(Cell, lines.splitlines()):
                        if cell.count:
                            cells[name, size, pattern, cell.one_in].append(cell)
    return cells


def of(cells, **wanted):
    names = ("name", "size", "pattern", "one_in")
    return [cell for key, some in cells.items() if all(dict(zip(names, key))[n] == v for n, v in wanted.items()) for cell in some]


def bias(cells):
    """Estimate over truth, summed over cells."""
    return sum(cell.value for cell in cells) / sum(cell.truth for cell in cells)


def report(cells, made):
    every = of(cells)
    rows = [cell for cell in every if cell.seen]
    print(f"{len(every)} cells: {share(every):.1f} % of intervals of bytes hold, {share(every, 'holds_blocks'):.1f} % of those of blocks; "
          f"{len(rows)} cells with a row: {share(rows):.1f} %, {share(rows, 'holds_blocks'):.1f} %")
    for what, values in (("pattern", PATTERNS), ("one_in", sorted({key[3] for key in cells})), ("name", made)):
        print(what + ": " + ", ".join(f"{v} {share(of(cells, **{what: v})):.1f} % and {share(of(cells, **{what: v}), 'holds_blocks'):.1f} %" for v in values))
    cells = {key: some for key, some in cells.items() if key[2] != "mixed"}
    print("\nblocks of one size: held %, and estimate / truth, by allocator and size (all rates)")
    print(f"{'size':>8} " + "".join(f"{name:>16}" for name in made))
    for size in SIZES:
        line = f"{size:>8} "
        for name in made:
            some = of(cells, name=name, size=size)
            line += f"{share(some):>9.1f} {bias(some):>6.2f}" if some else f"{'exact':>16}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="?", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made, left, judge = build(folder)
        if left:
            print("left out: " + ", ".join(left))
        report(judged(made, judge, options.seeds), made)


if __name__ == "__main__":
    sys.exit(main())
