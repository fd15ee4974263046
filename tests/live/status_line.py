#!/usr/bin/env python3
# together: it looks only at what it starts itself
"""On a terminal that no other program writes to, mtrec shows the state of the recording, and clears that line before its closing line."""
import os
import pty
import re
import select
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
from tap import Tap, needs_perf, skip_all  # noqa: E402

TMP, MTREC = os.environ["TMPDIR"], os.path.join(os.environ["MT_BUILD"], "mtrec")
STATUS = re.compile(r"\d+ s, [\d,]+ samples, [\d,]+ lost, file \d[\d.]* k?M?B")
CLEAR = "\r\x1b[K"
tap = Tap()


def on_terminal(*words, columns=80, controlling=False):
    """Returns what mtrec prints on a terminal of its own. controlling: its process group is not in the foreground."""
    master, slave = pty.openpty()
    os.set_blocking(master, True)
    subprocess.run(["stty", "cols", str(columns)], stdin=slave, check=True)

    def hold_terminal():
        if controlling:  # a session whose leader stays in the foreground, and mtrec in a background group
            os.setsid()
            os.close(os.open(os.ttyname(2), os.O_RDWR))
            child = os.fork()
            if child:
                os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            os.setpgid(0, 0)

    run = subprocess.Popen([MTREC, "-e", "page-faults", "-o", f"{TMP}/t.mtr", *words], stdin=subprocess.DEVNULL, stdout=slave,
                           stderr=slave, preexec_fn=hold_terminal)
    os.close(slave)
    text = b""
    while True:
        try:
            got = os.read(master, 4096) if select.select([master], [], [], 30)[0] else b""
        except OSError:  # the last writer has gone
            got = b""
        if not got:
            break
        text += got
    os.close(master)
    return run.wait(), text.decode().replace("\r\n", "\n")


needs_perf()
if not os.access(MTREC, os.X_OK):
    skip_all("mtrec is not built")

TOUCH = """
import mmap, time
while True:
    m = mmap.mmap(-1, 1 << 20)
    for at in range(0, len(m), 4096): m[at] = 1
    m.close()
    time.sleep(0.01)
"""
target = subprocess.Popen([sys.executable, "-c", TOUCH])
try:
    pid = ["-p", str(target.pid)]
    status, said = on_terminal(*pid, "--duration", "2500ms")
    drawn = said.split(CLEAR)
    tap.check(status == 0 and len(STATUS.findall(said)) >= 2, "a running process is recorded with a status line, drawn more than once", said)
    tap.check(all("\n" not in one for one in drawn[:-1]), "... always at the same place", said)
    tap.check(re.fullmatch(r"mtrec: [\d.]+ s, .* [\d,]+ lost -> .*t.mtr\n", drawn[-1]), "... and cleared before the closing line", said)
    resident = re.findall(r"resident (\d+\.\d) MB", said)
    with open(f"/proc/{target.pid}/statm", encoding="ascii") as f:
        now = int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    tap.check(bool(resident) and abs(float(resident[-1]) - now) < 8, "... the memory in it is the target's", f"{resident} {now}")

    status, said = on_terminal(*pid, "--duration", "1500ms", columns=20)
    tap.check(status == 0 and STATUS.search(said) is None and "s, " in said, "a narrow terminal shows what has room", said)
    tap.check(all(len(one) < 20 for one in said.split(CLEAR)[1:-1]), "... in one row", said)

    for words, what in [(["-q"], "-q"), (["--", "true"], "a command that may write there")]:
        status, said = on_terminal(*pid, "--duration", "1200ms", *words)
        tap.check(status == 0 and CLEAR not in said and STATUS.search(said) is None, f"no status line with {what}", said)
    status, said = on_terminal(*pid, "--duration", "1200ms", controlling=True)
    tap.check(status == 0 and CLEAR not in said and " lost -> " in said, "... nor in the background", said)
    if os.geteuid() == 0:
        status, said = on_terminal("-a", "--", "sleep", "1.2")
        tap.check(status == 0 and re.search(r"host available [\d.]+ [MG]B", said), "sleep writes nothing: the host's memory is shown", said)
    with open(f"{TMP}/said", "w+", encoding="utf-8") as f:
        subprocess.run([MTREC, "-e", "page-faults", "-o", f"{TMP}/f.mtr", *pid, "--duration", "1200ms"], stderr=f, check=True)
        f.seek(0)
        said = f.read()
    tap.check(CLEAR not in said and len(said.splitlines()) == 1, "a file gets the closing line alone", said)
finally:
    target.kill()
    target.wait()
tap.finish()
