#!/usr/bin/env python3
"""java: arrays in a list grow it; what replaces older ones, and direct buffers that are used again, do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("default-jdk-headless", "java", "javac")
foreign.build("javac", "-d", foreign.HERE, f"{foreign.TARGETS}/Heap.java")


def program(where, course):
    name = f"{where}-{course}"
    heap = ["-Xmx256m"] if course == "keep" else ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"]
    process = foreign.start("java", *heap, "-cp", foreign.HERE, "Heap", f"{foreign.HERE}/{name}", where, course)
    foreign.until(lambda: foreign.counted(name)() > 6 << 20, "a start of java")
    return process.pid, foreign.counted(name)


cases = []
for where in ("heap",):
    grown, kept = program(where, "keep")
    cases.append(foreign.Case(f"java {where} grows", grown, "grows", kept, {"vm,rss": "java", "malloc": "java"},
                              events=("vm,rss", "malloc") if where == "direct" else ("vm,rss",)))
for where in ("heap", "direct"):
    flat, held = program(where, "replace")
    cases.append(foreign.Case(f"java {where} replaces", flat, "flat", held, events=("vm,rss",)))
foreign.check(*cases)
