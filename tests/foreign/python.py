#!/usr/bin/env python3
"""python3: small objects and arrays that are kept in a list make it grow; those that replace older ones do not."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("python3", "/usr/bin/python3")


def program(course, truth):
    name = f"{course}{len(foreign.children)}"
    process = foreign.start("/usr/bin/python3", f"{foreign.TARGETS}/grow.py", f"{foreign.HERE}/{name}", course)
    foreign.until(lambda: os.path.exists(name), "a start of python3")
    if course == "replace":
        time.sleep(4)  # until it has all that it keeps
    return process.pid, truth, foreign.counted(name)


foreign.check(
    foreign.Case("python3 grows by objects", "vm,rss", *program("objects", "grows"), "python3"),
    foreign.Case("python3 grows by arrays", "vm,rss", *program("arrays", "grows"), "python3"),
    foreign.Case("python3 grows by arrays", "malloc", *program("arrays", "grows"), "PyByteArray"),
    foreign.Case("python3 grows by arrays", "vm,rss,malloc", *program("arrays", "grows"), "PyByteArray"),
    foreign.Case("python3 replaces", "vm,rss", *program("replace", "flat")))
