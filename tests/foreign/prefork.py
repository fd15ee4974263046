#!/usr/bin/env python3
"""A prefork server: one of three workers grows, and is the one that every section names."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("python3", "/usr/bin/python3")
master = foreign.start("/usr/bin/python3", f"{foreign.TARGETS}/prefork.py", f"{foreign.HERE}/kept", f"{foreign.HERE}/pids")
foreign.until(lambda: os.path.exists("pids"), "a start of the workers")
workers = foreign.read("pids").split()
foreign.until(lambda: foreign.counted("kept")() > 2 << 20, "growth of a worker")
foreign.check(foreign.Case("prefork grows", int(workers[1]), "grows", foreign.counted("kept"),
                           {"vm,rss": r"python3", "malloc": r"PyByteArray"}, targets=",".join([str(master.pid), *workers])))
