#!/usr/bin/env python3
"""Rust: vectors in a vector, and one that realloc extends, grow it; those that replace older ones do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("rustc", "rustc")
foreign.build("rustc", "-O", "-g", "-o", f"{foreign.HERE}/grow", f"{foreign.TARGETS}/grow.rs")


def program(course):
    process = foreign.start(f"{foreign.HERE}/grow", f"{foreign.HERE}/{course}", course)
    foreign.until(lambda: foreign.counted(course)() > 4 << 20, "growth of a Rust program")
    return process.pid, foreign.counted(course)


grown, kept = program("keep")
vector, length = program("vector")
flat, held = program("replace")
foreign.check(
    foreign.Case("rust grows", grown, "grows", kept, {"vm,rss": r"open_session", "malloc": r"open_session"}),
    foreign.Case("rust extends a vector", vector, "grows", length, {"malloc": r"append_log"}, resized=True),
    foreign.Case("rust replaces", flat, "flat", held))
