#!/usr/bin/env python3
"""Rust: vectors that are kept in a vector, and a vector that realloc extends, make it grow; vectors that replace older ones do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("rustc", "rustc")
foreign.build("rustc", "-O", "-g", "-o", f"{foreign.HERE}/grow", f"{foreign.TARGETS}/grow.rs")


def program(course, truth):
    name = f"{course}{len(foreign.children)}"
    process = foreign.start(f"{foreign.HERE}/grow", f"{foreign.HERE}/{name}", course)
    foreign.until(lambda: foreign.counted(name)() > 4 << 20, "growth of a Rust program")
    return process.pid, truth, foreign.counted(name)


foreign.check(*[case for event in foreign.EVENTS for case in (
    foreign.Case("rust grows", event, *program("keep", "grows"), "open_session"),
    foreign.Case("rust extends a vector", event, *program("vector", "grows"), "append_log", resized=True),
    foreign.Case("rust replaces", event, *program("replace", "flat")))])
