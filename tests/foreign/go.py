#!/usr/bin/env python3
"""Go: slices that are kept in a list make it grow; slices that replace older ones do not. The commands that the screen advises for a
garbage-collected heap work."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("golang-go", "go")
for built, flags in (("grow", ""), ("stripped", "-s -w")):
    foreign.build("go", "build", f"-ldflags={flags}", "-o", f"{foreign.HERE}/{built}", f"{foreign.TARGETS}/grow.go",
                  env=dict(os.environ, GOCACHE=f"{foreign.HERE}/gocache", GO111MODULE="off", HOME=foreign.HERE))


def program(course, built="grow"):
    counted = f"{built}-{course}"
    process = foreign.start(f"{foreign.HERE}/{built}", f"{foreign.HERE}/{counted}", course)
    foreign.until(lambda: foreign.counted(counted)() > 6 << 20, "growth of a Go program")
    return process.pid, foreign.counted(counted)


grown, kept = program("keep")
flat, held = program("replace")
nameless, large = program("keep", "stripped")
foreign.check(
    foreign.Case("go grows", "vm,rss", grown, "grows", kept, r"main\.|runtime\.", never="mtrec -e malloc"),
    foreign.Case("go grows, stripped", "vm,rss", nameless, "grows", large, r"\[stripped\]", never="mtrec -e malloc"),
    foreign.Case("go replaces", "vm,rss", flat, "flat", held))
