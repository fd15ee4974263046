#!/usr/bin/env python3
"""java: arrays and direct buffers that are kept in a list make it grow; those that replace older ones, or are used again, do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("default-jdk-headless", "java", "javac")
foreign.build("javac", "-d", foreign.HERE, f"{foreign.TARGETS}/Heap.java")


def program(where, course, truth):
    name = f"{where}-{course}-{len(foreign.children)}"
    heap = ["-Xmx256m"] if course == "keep" else ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"]
    process = foreign.start("java", *heap, "-cp", foreign.HERE, "Heap", f"{foreign.HERE}/{name}", where, course)
    foreign.until(lambda: foreign.counted(name)() > 6 << 20, "a start of java")
    return process.pid, truth, foreign.counted(name)


foreign.check(
    foreign.Case("java heap grows", "vm,rss", *program("heap", "keep", "grows"), "java"),
    foreign.Case("java direct grows", "vm,rss", *program("direct", "keep", "grows"), "java"),
    foreign.Case("java direct grows", "malloc", *program("direct", "keep", "grows"), "java"),
    foreign.Case("java heap replaces", "vm,rss", *program("heap", "replace", "flat")),
    foreign.Case("java direct replaces", "vm,rss", *program("direct", "replace", "flat")))
