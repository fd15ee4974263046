#!/usr/bin/env python3
"""A reader that stops reading: the recorder goes on, tells what it lost, and a signal behind its end gives the output up."""
import os
import signal
import subprocess
import sys
import time

TOP = os.environ.get("MT_TOP", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("MT_BUILD", os.path.join(TOP, "build"))
MTREC = os.path.join(BUILD, "mtrec")
count = 0


def check(what, good, why=""):
    global count
    count += 1
    if not good and why:
        print("# " + str(why).replace("\n", "\n# "))
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    return good


def start(steps, faults):
    """mtrec of a program that faults, into a pipe that nobody reads yet."""
    reader, writer = os.pipe()
    recorder = subprocess.Popen([MTREC, "-z0", "-e", "page-faults", "-o", "-", "--", steps, "faults", str(faults)],
                                stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    return recorder, reader


def drain(reader):
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read()


def reads_late(steps, path):
    recorder, reader = start(steps, 20000)
    time.sleep(1.5)
    check("it waits for a reader that has stopped", recorder.poll() is None)
    with open(path, "wb") as out:
        out.write(drain(reader))
    said = recorder.communicate()[1]
    check("... and ends well when it goes on", recorder.returncode == 0, said)
    info = subprocess.run([os.path.join(BUILD, "mtreport"), "--info", path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    check("... with a whole recording", info.returncode == 0 and "cut short" not in info.stdout, info.stdout)


def gives_up(steps):
    recorder, reader = start(steps, 20000)
    time.sleep(1)
    check("it waits when the command has ended", recorder.poll() is None)
    began = time.monotonic()
    recorder.send_signal(signal.SIGTERM)
    said = recorder.communicate(timeout=20)[1]
    check("a signal then ends it at once", time.monotonic() - began < 5)
    check("... as a failed output beside a command", recorder.returncode == 125, recorder.returncode)
    check("... and says why", "nobody reads it" in said, said)
    os.close(reader)


def cpu_seconds(pid):
    """What its threads have used so far."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def storms(steps):
    """Enough for all blocks of a small spool, and the rings, again and again."""
    script = "while :; do '%s' threads 2 5000; done" % steps
    return subprocess.Popen(["bash", "-c", script], stdout=subprocess.DEVNULL, start_new_session=True)


def whole_host(steps):
    """A recorder of all CPUs whose reader has stopped, beside a storm."""
    reader, writer = os.pipe()
    recorder = subprocess.Popen([MTREC, "-a", "-z0", "-e", "page-faults", "--memory", "16M", "--embed", "none", "-o", "-"],
                                stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    storm = storms(steps)
    time.sleep(3)
    before = cpu_seconds(recorder.pid)
    time.sleep(3)
    used = cpu_seconds(recorder.pid) - before
    check("with nothing to do it leaves the CPUs alone", used < 0.3, "%.2f s of CPU in 3 s" % used)
    recorder.send_signal(signal.SIGINT)
    time.sleep(2)
    check("a signal ends the recording, which waits", recorder.poll() is None)
    for _ in range(3):  # the first ends the last look at the host, another the waiting for a reader
        recorder.send_signal(signal.SIGINT)
        time.sleep(0.5)
    try:
        said = recorder.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        recorder.kill()
        said = recorder.communicate()[1]
    check("... and another one ends the waiting", recorder.returncode == 5, recorder.returncode)
    check("... and it says why", "nobody reads it" in said, said)
    check("... and what that cost", "mtrec: output is slow: page-faults: every event is kept, with shorter stacks" in said, said)
    os.killpg(storm.pid, signal.SIGKILL)
    storm.wait()
    os.close(reader)


def main():
    folder = os.environ.get("TMPDIR", "/tmp")
    if os.environ.get("MT_NO_PERF"):
        print("1..0 # SKIP " + os.environ["MT_NO_PERF"])
        return 0
    steps = os.path.join(folder, "steps")
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", "-pthread", "-o", steps, os.path.join(TOP, "tests/workloads/steps.c")], check=True)
    reads_late(steps, os.path.join(folder, "late.mtr"))
    gives_up(steps)
    if os.geteuid():
        print("# all CPUs are for root")
    else:
        whole_host(steps)
    print("1..%d" % count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
