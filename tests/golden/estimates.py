#!/usr/bin/env python3
"""mtreport --blocks of sampled blocks (one-in): estimates, and intervals that count equal addresses as one choice."""
import csv
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import blocks as made  # noqa: E402
import resident  # noqa: E402
from blocks import A, B, FUNCTIONS, GIVES_TYPE, enter, form, free, gives, malloc, recording, run  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

make = made.make
BIAS = 0.05  # report/tables/estimate.c
LARGE = 75  # a second event of malloc, unsampled


def kinds(word="one-in=64"):
    """The events of blocks.py, sampled, and the second event of malloc, for large blocks."""
    plain = make.event

    def sampled(*fields, **named):
        if named["account"].split()[0] in ("alloc", "free"):
            named["account"] += " " + word
        return plain(*fields, **named)
    make.event = sampled
    try:
        out = made.events()
    finally:
        make.event = plain
    return out + make.event(LARGE, 0, "uprobes:malloc_large", "malloc", make.attr(2, 975, GIVES_TYPE), form=form("ptr", "size"),
                            klass=1, account="alloc of=malloc")


def large(time, ptr, size):
    usual = FUNCTIONS["malloc"]
    FUNCTIONS["malloc"] = (LARGE, usual[1])
    try:
        return enter_large(time, size) + gives("malloc", time + 1, ptr)
    finally:
        FUNCTIONS["malloc"] = usual


def enter_large(time, size):
    return resident.sample(61, time, 100, made.words(size), pid=100)


def many(count, size=100, at=A, time=1000, **who):
    return b"".join(malloc(time + 3 * n, at + 4096 * n, size, **who) for n in range(count))


def rows(folder, records, *options, by="comm", word="one-in=64"):
    """Returns {first key: {figure: number}} and the text on stderr."""
    done = run(folder, recording(records, kinds=kinds(word)), "--csv", "--by", by, *options)
    out = {}
    for row in csv.DictReader(done.stdout.splitlines()):
        out[next(iter(row.values()))] = {key: float(value) for key, value in row.items() if value and value[0].isdigit()}
    return out, done.stderr


def gamma_below(shape, x):
    """The probability that a gamma variable of scale 1 is below x: the series of the incomplete gamma function."""
    term = total = 1 / shape
    n = shape
    while term > total * 1e-12:
        n += 1
        term *= x / n
        total += term
    return total * math.exp(-x + shape * math.log(x) - math.lgamma(shape)) if x > 0 else 0


def gamma_quantile(shape, p):
    low, high = 0, 20 + 4 * shape
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gamma_below(shape, middle) < p else (low, middle)
    return low


def interval(clusters, w=64):
    """Low, value and high by the definition, of clusters that were sampled 1 in w."""
    seen, unseen = sum(clusters), sum(clusters) * (w - 1)
    variance = sum(y ** 2 for y in clusters) * w * (w - 1) + (BIAS * unseen) ** 2
    weight = sum(y ** 3 for y in clusters) * w * w * (w - 1) / variance
    shape = variance / weight ** 2
    low = max(seen, seen * w - weight * (shape - gamma_quantile(shape, 0.025)))
    return low, seen * w, seen * w + weight * (gamma_quantile(shape + 1, 0.975) - shape)


def near(row, figure, clusters):
    low, value, high = interval(clusters)
    return row[figure] == value and abs(row[figure + "_low"] - low) < 0.02 * value + 1 and \
        abs(row[figure + "_high"] - high) < 0.02 * value + 1


def estimates(tap, folder):
    for count in (1, 2, 10, 300):
        got, said = rows(folder, many(count))
        tap.check(near(got["worker"], "bytes", [100] * count) and near(got["worker"], "blocks", [1] * count),
                  f"{count} blocks that were sampled", f"{got} {interval([100] * count)}")
    tap.check("1 in 64 blocks was sampled, by address: estimates with 95 % intervals" in said, "... the rate is reported", said)
    got, said = rows(folder, malloc(1000, A, 100) + malloc(1010, B, 9000))
    tap.check(near(got["worker"], "bytes", [100, 9000]), "unequal sizes widen an interval", str(got))
    got, said = rows(folder, many(10), word="one-in=1")
    tap.check(got["worker"]["bytes"] == 1000 and "bytes_low" not in got["worker"] and "sampled" not in said, "1 in 1 is exact", f"{got} {said}")
    got, said = rows(folder, large(1000, A, 200000))
    tap.check(got["worker"]["bytes"] == 200000 and "bytes_low" not in got["worker"], "an event without the word is exact, also next to one with it",
              str(got))
    got, said = rows(folder, large(900, A, 200000) + many(10, at=B))
    exact, _ = rows(folder, many(10, at=B))
    tap.check(all(got["worker"][key] == exact["worker"][key] + 200000 for key in ("bytes", "bytes_low", "bytes_high")),
              "... and adds no doubt in one row", str(got))
    got, said = rows(folder, malloc(1000, 0, 1 << 60) + many(1))
    tap.check(got["worker"]["failed"] == 1, "calls that failed are all recorded", str(got))


def sums(tap, folder):
    records = b"".join(many(9, at=A + (n << 24), tid=100 + n % 2, caller=0x400100 + 256 * n, time=1000 + 50 * n) for n in range(8))
    data = recording(records, kinds=kinds())
    shown = run(folder, data).stdout.splitlines()
    tap.check(shown[0].startswith("1 in 64 blocks was sampled"), "the first line has the rate", "\n".join(shown))
    low, _, high = interval([100] * 72)
    total = [float(figure) for figure in shown[-1].replace(",", "").replace("(", " ").replace(")", " ").replace("..", " ").split()[:3]]
    tap.check(total[0] == 72 * 6400 and abs(total[1] - low) < 0.02 * total[0] and abs(total[2] - high) < 0.02 * total[0],
              "the interval of a sum is not the sum of intervals", f"{shown[-1]} {low} {high}")
    lost = recording(records + made.lost(2000, 2001), kinds=kinds())
    done = list(csv.DictReader(run(folder, lost, "--csv", "--by", "process").stdout.splitlines()))[0]
    tap.check(float(done["blocks_high"]) - interval([1] * 72)[2] > 3 * 64 - 20, "a record that was lost counts as many blocks", str(done))


def clusters(tap, folder):
    children = b"".join(resident.forked(900 + n, 200 + n) for n in range(6))
    same = b"".join(malloc(1000 + 3 * n, A, 100, tid=200 + n, pid=200 + n, caller=0x400100) for n in range(6))
    got, _ = rows(folder, children + same, by="event")
    tap.check(near(got["malloc"], "blocks", [6]), "one address in six processes is one choice", f"{got} {interval([6])}")
    got, _ = rows(folder, children + same, by="process")
    tap.check(all(near(row, "blocks", [1]) for row in got.values()) and len(got) == 6, "... and no doubt in six rows", str(got))
    got, _ = rows(folder, malloc(1000, A, 100) + free(1010, A) + malloc(1020, A, 100))
    tap.check(near(got["worker"], "blocks", [1]), "what was freed is forgotten", str(got))
    path = os.path.join(folder, "made.mtr")
    run(folder, recording(b"".join(malloc(1000 + 3 * n, A, 100) + free(1002 + 3 * n, A) for n in range(50)), kinds=kinds()))
    done = subprocess.run([os.path.join(BUILD, "mtreport"), "--temporary", "--csv", "--by", "comm", path], capture_output=True, text=True)
    got = {key: float(value) for key, value in next(csv.DictReader(done.stdout.splitlines())).items() if value[0].isdigit()}
    tap.check(near(got, "allocations", [50]), "one address used 50 times is one choice", f"{got} {interval([50])}")


def frees(tap, folder):
    got, said = rows(folder, many(1) + free(1100, B) + free(1110, B))
    tap.check("freed" not in said, "frees of blocks that were not chosen are not reported", said)

    def realloc(time, old, size, ptr=None):
        return enter("realloc", time, size, old) + (gives("realloc", time + 5, ptr) if ptr is not None else b"")
    got, said = rows(folder, many(2) + realloc(1100, A, 500))
    tap.check(near(got["worker"], "blocks", [1]), "realloc to an address that was not chosen frees", str(got))
    got, said = rows(folder, many(2) + realloc(1100, A, 500, 0x900000))
    tap.check(near(got["worker"], "bytes", [100, 500]), "... to one that was chosen, moves", str(got))


def words(tap, folder):
    for word, one_in in (("one-in=0", 1), ("one-in=-5", 1 << 20), ("one-in=x", 1), ("one-in=99999999999999999999", 1 << 20),
                         ("one-in=2 one-in=7", 2), ("one-into=7", 1)):
        got, _ = rows(folder, many(1), word=word)
        tap.same(got["worker"]["blocks"], one_in, word)


def comparisons(tap, folder):
    first, then = many(10, time=1000), many(10, at=A + (1 << 30), time=5000, caller=0x400200)
    done = run(folder, recording(first + b"".join(free(3000 + n, A + 4096 * n) for n in range(10)) + then, kinds=kinds()),
               "--csv", "--by", "comm", "--base-time", "0,0.002", "--time", "0,0.008")
    row = list(csv.DictReader(done.stdout.splitlines()))
    tap.check(done.returncode == 0 and float(row[0]["change_low"]) < 0 < float(row[0]["change_high"]), "a change has an interval",
              done.stdout + done.stderr)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for group in (estimates, sums, clusters, frees, words, comparisons):
            group(tap, folder)
    tap.finish()


if __name__ == "__main__":
    main()
