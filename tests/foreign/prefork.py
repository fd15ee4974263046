#!/usr/bin/env python3
"""A prefork server: one of three workers grows, and every section names that worker."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("python3", "/usr/bin/python3")


def server(name):
    master = foreign.start("/usr/bin/python3", f"{foreign.TARGETS}/prefork.py", f"{foreign.HERE}/{name}", f"{foreign.HERE}/{name}.pids")
    foreign.until(lambda: os.path.exists(f"{name}.pids"), "a start of the workers")
    foreign.until(lambda: foreign.counted(name)() > 2 << 20, "growth of a worker")
    return master.pid, int(foreign.read(f"{name}.pids").split()[1])


cases = []
for event, path in (("vm,rss", "python3"), ("malloc", "PyByteArray")):
    master, worker = server(event)
    cases.append(foreign.Case("prefork grows", event, worker, "grows", foreign.counted(event), path, parent=master))
foreign.check(*cases)
