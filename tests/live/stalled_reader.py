#!/usr/bin/env python3
"""A reader stops reading: mtrec continues, and reports lost records; a signal after the end of the recording makes it
give up the output."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
from tap import BUILD, TOP, Tap, needs_perf  # noqa: E402

MTREC = os.path.join(BUILD, "mtrec")
tap = Tap()


def start(steps, faults):
    """Starts mtrec of a program that faults, into a pipe that no process reads yet."""
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
    tap.check(recorder.poll() is None, "it waits for a reader that has stopped")
    with open(path, "wb") as out:
        out.write(drain(reader))
    said = recorder.communicate()[1]
    tap.check(recorder.returncode == 0, "... and ends well when it goes on", said)
    info = subprocess.run([os.path.join(BUILD, "mtreport"), "--info", path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    tap.check(info.returncode == 0 and "cut short" not in info.stdout, "... with a whole recording", info.stdout)


def gives_up(steps):
    recorder, reader = start(steps, 20000)
    time.sleep(1)
    tap.check(recorder.poll() is None, "it waits when the command has ended")
    began = time.monotonic()
    recorder.send_signal(signal.SIGTERM)
    said = recorder.communicate(timeout=20)[1]
    tap.check(time.monotonic() - began < 5, "a signal then ends it at once")
    tap.check(recorder.returncode == 125, "... as for every failed output with a command", recorder.returncode)
    tap.check("nobody reads it" in said, "... and says why", said)
    os.close(reader)


def cpu_seconds(pid):
    """The CPU time that its threads have used so far."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def storms(steps):
    """Storms that fill all blocks of a small spool, and the rings, again and again."""
    script = "while :; do '%s' threads 2 5000; done" % steps
    return subprocess.Popen(["bash", "-c", script], stdout=subprocess.DEVNULL, start_new_session=True)


def whole_host(steps):
    """mtrec records all CPUs during a storm, and its reader has stopped."""
    reader, writer = os.pipe()
    recorder = subprocess.Popen([MTREC, "-a", "-z0", "-e", "page-faults", "--memory", "16M", "--embed", "none", "-o", "-"],
                                stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    storm = storms(steps)
    time.sleep(3)
    before = cpu_seconds(recorder.pid)
    time.sleep(3)
    used = cpu_seconds(recorder.pid) - before
    tap.check(used < 0.3, "with nothing to do it leaves the CPUs alone", "%.2f s of CPU in 3 s" % used)
    recorder.send_signal(signal.SIGINT)
    time.sleep(2)
    tap.check(recorder.poll() is None, "a signal ends the recording, which waits")
    for _ in range(3):  # the first ends the last look at the host, another the waiting for a reader
        recorder.send_signal(signal.SIGINT)
        time.sleep(0.5)
    try:
        said = recorder.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        recorder.kill()
        said = recorder.communicate()[1]
    tap.check(recorder.returncode == 5, "... and another one ends the waiting", recorder.returncode)
    tap.check("nobody reads it" in said, "... and it says why", said)
    tap.check("mtrec: output is slow: page-faults: every event is kept, with shorter stacks" in said, "... and what that cost", said)
    os.killpg(storm.pid, signal.SIGKILL)
    storm.wait()
    os.close(reader)


def main():
    folder = os.environ.get("TMPDIR", "/tmp")
    needs_perf()
    steps = os.path.join(folder, "steps")
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", "-pthread", "-o", steps, os.path.join(TOP, "tests/workloads/steps.c")], check=True)
    reads_late(steps, os.path.join(folder, "late.mtr"))
    gives_up(steps)
    if os.geteuid():
        print("# all CPUs are for root")
    else:
        whole_host(steps)
    tap.finish()


if __name__ == "__main__":
    main()
