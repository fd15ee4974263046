#!/usr/bin/env python3
"""Names of threads, events, files, functions and hosts are another's word: no output passes on what a terminal or a shell obeys.

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
import corpus as make  # noqa: E402
import encoder  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfdata"))
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
HOSTILE = "h\x1b]0;t\x07\u009b1m\u202eb\u2066\u2028\nforged line\r;touch y'\"$(z)`z`"
RAW = HOSTILE.encode() + b"\xff\xc0\x80\xed\xa0\x80"  # and what is no UTF-8
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FILE = "it's $(z);\x1b[31m\u202e.mtr"
JITTED = 0x900000
BINARY = {"pprof"}  # not for a terminal: golden/pprof.py


def recording():
    """Calls, faults and stacks, where every text but what the ledger goes by is hostile."""
    plain = encoder.string
    known = {"page-faults": HOSTILE, "thread": HOSTILE, "worker": HOSTILE, "the ring is small": HOSTILE,
             "/bin/worker": "/bin/" + HOSTILE, "worker\0-x\0": HOSTILE, "0::/user.slice\n": "0::/" + HOSTILE + "\n",
             "golden": HOSTILE, "6.1.0": HOSTILE, "x86_64": HOSTILE, "mtrec -e 'page-faults,brk' -- true": HOSTILE}
    encoder.string = lambda text: plain(RAW if text == HOSTILE else known.get(text, text) if isinstance(text, str) else text)
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + index, make.CALL_TYPE, 136))
                 for name, (index, _) in make.CALLS.items()]
    described.append(make.event(make.MINOR, 0, "minor-faults", "minor-faults", make.attr(1, 5, make.MINOR_TYPE), klass=1))
    writer = make.state(make.begun(b"".join(described)))
    writer.chunk(make.STATE, make.note(), make.image(problem=HOSTILE), make.loss())
    writer.chunk(make.FILE, make.carried(4, b"/tmp/perf-100.map", b"%x 1000 %s\n" % (JITTED, RAW.replace(b"\n", b""))))
    writer.chunk(make.FILE, make.carried(5, b"/tmp/jit-100\0dump", b"ends within"))
    writer.chunk(make.DATA, make.mapped(1100, 0xA00000, 0x1000, b"/tmp/jit-100.dump", 5),
                 make.mapped(1101, JITTED, 0x1000, b"//anon", 7),
                 make.call("brk", 1102, 0x600000, 0), make.call("brk", 1103, 0x621000, 0x621000),
                 make.mapped(1109, 0x7F0000000000, 0x2000, b"/data/" + RAW),
                 make.call("mmap", 1110, 0x7F0000000000, 0, 0x2000, 3, 2, 5, 0),
                 make.minor_fault(1120, 0x7F0000000001), make.minor_fault(1121, 0x600010), stream=0)
    for n, place in enumerate((0x400100, JITTED + 16, JITTED + 32)):
        writer.chunk(make.DATA, make.frames(make.FAULTS, 1200 + n, (place, JITTED + 64, 0x400200), (0, 0, 0)), stream=0)
    writer.chunk(make.DATA, make.kernel(make.SIDEBAND, make.perf_record(
        make.COMM, make.struct.pack("<II", 100, 102) + make.pad(RAW[:15] + b"\0") + make.sample_id(1300)), 1300),
                 make.sample(make.FAULTS, 1301), stream=0)
    return make.ended(writer, 12)


def listed(heading, text):
    """The names that --help all lists under a heading."""
    part = text.split(heading, 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^      --(\S+)", part, re.M)


def run(*words):
    done = subprocess.run([MTREPORT, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr


def fault(data):
    """What is wrong with bytes that go to a terminal; "" where nothing is."""
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
    values = {output: ("-",) for output in re.findall(r"^      --(\S+) OUT\.", text, re.M)}
    tap.check(len(analyses) > 10 and len(outputs) > 8, "--help all lists them", (analyses, outputs))
    for output in outputs:
        wrong, shown = [], 0
        for analysis in analyses:
            for more in ((), ("--by", "process,image"), ("--by", "comm,event,cgroup"), ("--stacks",), ("--srcline",)):
                status, out, err = run(f"--{analysis}", f"--{output}", *values.get(output, ()), *more, FILE)
                shown += status == 0 and b"touch y" in out
                wrong += [f"{analysis} {more} {status}: {what}" for what in (fault(out), fault(err)) if what]
                if status not in (0, 2, 4):
                    wrong.append(f"{analysis} {more}: exit {status}: {err}")
        tap.check(not wrong, f"--{output} passes on nothing that is obeyed", "\n".join(wrong))
        tap.check(shown or output == "branch-lines", f"--{output} has shown such names")


def check_commands(tap):
    lines = run(FILE)[1].decode().split("\nNEXT")[1].splitlines()
    tap.check(len(lines) >= 2, "the summary ends in commands", lines)
    clean = FILE.replace("\x1b", "?").replace("\u202e", "???")
    for line in lines:
        command = line.strip()
        printed = subprocess.run(["sh", "-c", "mtreport() { printf '%s\\n' \"$@\"; }; " + command],
                                 capture_output=True, text=True)
        words = printed.stdout.splitlines()
        tap.check(not printed.stderr and words[-1:] == [clean], f"{command[:24]}: one command of the shell, and the file one word",
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
