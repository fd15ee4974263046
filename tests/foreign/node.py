#!/usr/bin/env python3
"""node: Buffers in a global array grow it, whatever tier its code runs in; those that replace older ones do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("nodejs", "node")


def program(course):
    process = foreign.start("node", "--expose-gc", f"{foreign.TARGETS}/grow.js", f"{foreign.HERE}/{course}", course)
    foreign.until(lambda: foreign.counted(course)() > 5 << 20, "a start of node")
    return process.pid, foreign.counted(course)


grown, kept = program("keep")
flat, held = program("replace")
foreign.check(
    foreign.Case("node grows", grown, "grows", kept, {"vm,rss": r"node", "malloc": r"node"}),
    foreign.Case("node replaces", flat, "flat", held))
