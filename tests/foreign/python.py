#!/usr/bin/env python3
"""python3: small objects in a list, and arrays, grow it; those that replace older ones do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("python3", "/usr/bin/python3")


def program(course):
    process = foreign.start("/usr/bin/python3", f"{foreign.TARGETS}/grow.py", f"{foreign.HERE}/{course}", course)
    foreign.until(lambda: os.path.exists(f"{foreign.HERE}/{course}"), "a start of python3")
    return process.pid, foreign.counted(course)


objects, objects_kept = program("objects")
arrays, arrays_kept = program("arrays")
flat, flat_kept = program("replace")
foreign.until(lambda: objects_kept() > 6 << 20, "growth of python3")
foreign.check(
    foreign.Case("python3 grows by objects", objects, "grows", objects_kept, {"vm,rss": r"python3"}, events=("vm,rss",)),
    foreign.Case("python3 grows by arrays", arrays, "grows", arrays_kept, {"vm,rss": r"python3", "malloc": r"PyByteArray"},
                 events=("vm,rss", "malloc", "vm,rss,malloc")),
    foreign.Case("python3 replaces", flat, "flat", flat_kept, events=("vm,rss",)))
