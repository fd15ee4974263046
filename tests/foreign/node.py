#!/usr/bin/env python3
"""node: Buffers that are kept in a global array make it grow, whichever tier of the compiler runs the code; Buffers that replace older
ones do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("nodejs", "node")


def program(course, truth):
    name = f"{course}{len(foreign.children)}"
    process = foreign.start("node", "--expose-gc", f"{foreign.TARGETS}/grow.js", f"{foreign.HERE}/{name}", course)
    foreign.until(lambda: foreign.counted(name)() > 5 << 20, "a start of node")
    return process.pid, truth, foreign.counted(name)


foreign.check(*[case for event in foreign.EVENTS for case in (
    foreign.Case("node grows", event, *program("keep", "grows"), "node"),
    foreign.Case("node replaces", event, *program("replace", "flat")))])
