#!/usr/bin/env python3
"""One allocation or one read fails: mtreport ends normally, and if the report lacks something because of that, it says so."""
# timeout: 200
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden", "perfdata"))
from perfdata_tool import BUILD, TOP, Tap  # noqa: E402

SCENES = os.path.join(TOP, "tests/golden/scenes")
STEP = 1 if os.environ.get("MT_TESTS") == "long" else 7
# libdw answers in rare cases that there is nothing where memory was short, and leaves no error.
SILENT_MOST = 0.005


def report(folder, **fail):
    """(exit status, standard output, standard error)"""
    shim = {"LD_PRELOAD": os.path.join(folder, "failing.so"), "FAIL_COUNT": os.path.join(folder, "count")} if fail else {}
    shim.update((name, str(value)) for name, value in fail.items())
    done = subprocess.run([os.path.join(BUILD, "mtreport"), "-j", "1", "--folded", "--srcline", "--symfs", folder,
                           os.path.join(SCENES, "maps.mtr")], env={**os.environ, **shim}, capture_output=True, text=True,
                          errors="replace", timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def check_each(tap, folder, pool, what, numbers):
    whole = report(folder)
    ends = list(pool.map(lambda number: report(folder, **{what: number}), numbers))
    anomaly = [f"{number}: {signal.strsignal(-status) if status < 0 else status}: {err[-200:]}"
           for number, (status, _, err) in zip(numbers, ends) if status not in (0, 3)]
    silent = [number for number, (status, out, err) in zip(numbers, ends) if status == 0 and out != whole[1] and err == whole[2]]
    mute = [number for number, (status, _, err) in zip(numbers, ends) if status == 3 and "mtreport: " not in err]
    tap.check(not anomaly, f"{what}: each of {len(numbers)} ends with a report or a reason", "\n".join(anomaly))
    tap.check(not mute, "... which is a line on standard error", mute)
    tap.check(len(silent) <= SILENT_MOST * len(numbers), f"... and what a report lacks has one, too ({len(silent)} without)", silent)


def main():
    tap = Tap()
    if "-fsanitize" in open(os.path.join(BUILD, "flags"), encoding="utf-8").read():
        print("1..0 # SKIP a sanitizer has an allocator of its own")
        return
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-o",
                        os.path.join(folder, "failing.so"), os.path.join(TOP, "tests/workloads/failing.c"), "-ldl"], check=True)
        os.symlink(os.path.join(SCENES, "program.elf"), os.path.join(folder, "scenes"))
        whole = report(folder, FAIL_MALLOC=0)
        tap.check("scenes.c:" in whole[1] and not whole[0], "without a failure the report has lines", whole)
        with open(os.path.join(folder, "count"), encoding="utf-8") as f:
            allocations, reads = map(int, f.read().split())
        tap.check(allocations > 1000 and reads > 100, f"{allocations} allocations and {reads} reads can fail")
        check_each(tap, folder, pool, "FAIL_MALLOC", range(1, allocations + 400, STEP))  # more: those of libdw's process
        check_each(tap, folder, pool, "FAIL_READ", range(1, reads + 1, STEP))
        status, out, err = report(folder, FAIL_MALLOC=-1)
        tap.same((status, out, err), whole, "a process that counts fails nothing")
    tap.finish()


main()
