#!/usr/bin/env python3
"""Names of threads, events, files, functions and hosts are not trusted: no output contains characters of them that control a
terminal or a shell.

Every analysis is shown by every output that --help all lists.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "recording")]
from hostile import HOSTILE, recording  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfdata"))
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FILE = "it's $(z);\x1b[31m\u202e.mtr"
BINARY = {"pprof"}  # not for a terminal: golden/pprof.py


def listed(heading, text):
    """The names that --help all lists under a heading."""
    part = text.split(heading, 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^      --(\S+)", part, re.M)


def run(*words):
    done = subprocess.run([MTREPORT, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr


def fault(data):
    """Returns the fault of bytes that are written to a terminal, or ""."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8: {error}: {data[max(0, error.start - 40):error.end + 20]!r}"
    found = OBEYED.search(text)
    if found:
        return repr(text[max(0, found.start() - 40):found.end() + 20])
    forged = [line for line in text.splitlines() if line.startswith("forged")]
    return forged[0] if forged else ""


def check_outputs(tap):
    text = run("--help", "all")[1].decode()
    analyses = listed("Analyses,", text)
    outputs = [output for output in listed("Outputs,", text) if output not in BINARY]
    values = {output: ("-",) for output in re.findall(r"^      --(\S+) OUT\b", text, re.M)}
    values["annotate"] = ("[worker]",)
    tap.check(len(analyses) > 10 and len(outputs) > 8, "--help all lists them", (analyses, outputs))
    words = {"latency": ("page-faults,page-faults",)}
    ways = (("--by", "process,image"), ("--by", "comm,event,cgroup"), ("--stacks",), ("--srcline",))
    for place, output in enumerate(outputs):
        wrong, shown = [], 0
        for at, analysis in enumerate(analyses):
            for more in ((), ways[(place + at) % len(ways)]):  # each way with each output, and with each analysis
                status, out, err = run(f"--{analysis}", *words.get(analysis, ()), f"--{output}", *values.get(output, ()), *more, FILE)
                shown += status == 0 and b"touch y" in out
                wrong += [f"{analysis} {more} {status}: {what}" for what in (fault(out), fault(err)) if what]
                if status not in (0, 2, 4):
                    wrong.append(f"{analysis} {more}: exit {status}: {err}")
        tap.check(not wrong, f"--{output} passes on nothing that is obeyed", "\n".join(wrong))
        tap.check(shown or output in ("branch-lines", "html", "annotate"), f"--{output} has shown such names")


def check_commands(tap):
    lines = run(FILE)[1].decode().split("\nNEXT")[1].replace("\\\n", " ").splitlines()
    tap.check(len(lines) >= 2, "the summary ends in commands", lines)
    for line in lines:
        command = line.strip()
        printed = subprocess.run(["bash", "-c", "mtreport() { printf '%s\\n' \"$@\"; }; " + command],
                                 capture_output=True, text=True)
        words = printed.stdout.splitlines()
        tap.check(not printed.stderr and words[-1:] == [FILE], f"{command[:24]}: one command of the shell, and the file one word",
                  printed.stdout + printed.stderr + line)


def check_json(tap):
    status, out, _ = run("--json", "--by", "comm,event", FILE)
    names = {text for row in json.loads(out)["rows"] for text in row.values() if isinstance(text, str)}
    tap.check(status == 0 and any(name.startswith(HOSTILE) for name in names), "--json gives such a name as it is, escaped", names)


def check_flamegraph(tap):
    status, out, _ = run("--flamegraph", "-", "--faults", FILE)
    titles = [title.text for title in ElementTree.fromstring(out).iter("{http://www.w3.org/2000/svg}title")]
    tap.check(status == 0 and any("touch y'\"$(z)`z`" in title for title in titles), "--flamegraph gives such a name as text", titles)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open(FILE, "wb") as f:
            f.write(recording())
        check_outputs(tap)
        check_commands(tap)
        check_json(tap)
        check_flamegraph(tap)
    tap.finish()


main()
