#!/usr/bin/env python3
"""Compares the ledger of a recording with /proc/PID/maps, which the recorded program saved: compare_ledger.py NAME

mtreport reports every page that differs as doubtful, except at most one in a thousand of all compared pages. live/ledger_truth.py
tests the ledger; this script shows that a kernel gives it the same events. The lowest page of a stack does not count: /proc hides
it before Linux 4.12.
"""
import importlib.util
import os
import sys

TOP = os.environ["MT_TOP"]
SPEC = importlib.util.spec_from_file_location("ledger_truth", TOP + "/tests/live/ledger_truth.py")
live = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(live)


def compare(name):
    """(checkpoints, pages, pages that differ, of them those in no doubt, the first of those)."""
    number = pages = wrong = certain = 0
    reported = []
    while os.path.exists(f"{name}.{number}"):
        with open(f"{name}.{number}") as f:
            head = f.readline().split()
        got, doubts = live.report(name + ".mtr", int(head[4]), int(head[8]))
        have, should = live.pages(got), live.pages(live.truth(f"{name}.{number}"))
        pages += len(should)
        for page in set(have) | set(should):
            hidden = page not in should and page + 4096 in should and have[page][0] == "rw-p"
            if have.get(page) == should.get(page) or (hidden and page > 0x7FF000000000):
                continue
            wrong += 1
            if not any(start <= page < end for start, end in doubts):
                certain += 1
                reported.append(f"{number}: {page:x} {have.get(page)}, in truth {should.get(page)}")
        number += 1
    return number, pages, wrong, certain, reported[:12]


def main():
    name = sys.argv[1]
    checkpoints, pages, wrong, certain, reported = compare(name)
    print(f"{name}: {checkpoints} checkpoints, {pages} pages, {wrong} differ, {certain} of them outside what is in doubt")
    print("\n".join(reported))
    sys.exit(checkpoints < 6 or certain > pages // 1000)


main()
