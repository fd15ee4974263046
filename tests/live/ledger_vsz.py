#!/usr/bin/env python3
# together: it looks only at what it starts itself
"""--growth adds up to the change of VmSize in /proc/PID/status, to the page, for each of several programs that mtrec
attaches to while they are stopped; no part of the change is unseen."""
# timeout: 120
import csv
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
from tap import BUILD, NONE_LOST, Tap, needs_perf  # noqa: E402

DIR = os.environ["TMPDIR"]
C = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char deep(int n) { volatile char page[4096]; memset((char *)page, n, sizeof(page)); return n ? deep(n - 1) + page[7] : page[9]; }
static void *thread(void *a) { void *p = malloc(300000); memset(p, 1, 300000); return a ? p : p; }
int main(void)
{
	pthread_t t[3];
	char *p, *q;
	setvbuf(stdin, NULL, _IONBF, 0);
	puts("ready"); fflush(stdout); getchar();
	for (int i = 0; i < 500; i++) { p = malloc(1000 + i * 700); memset(p, 1, 1000); if (i % 3) free(p); }
	p = mmap(NULL, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p + 40960, 8192);
	q = mmap(NULL, 1 << 16, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	q = mremap(q, 1 << 16, 1 << 18, MREMAP_MAYMOVE);
	mprotect(q, 4096, PROT_READ);
	deep(300);
	for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
	puts("done"); fflush(stdout); getchar();
	return 0;
}
"""
PYTHON = """
import sys
print("ready", flush=True); sys.stdin.read(1)
kept = [bytearray(n * 3000) for n in range(400)]
del kept[::2]
import json, decimal, email.message
text = json.dumps(list(range(100000)))
print("done", flush=True); sys.stdin.read(1)
"""
points = Tap()


def vmsize(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmSize:"))


def recorder_of(pid, path):
    return subprocess.Popen([BUILD + "/mtrec", "-m", "16M", "-e", "vm", "--call-graph", "none", "-p", str(pid), "-o", path],
                            stderr=subprocess.PIPE, text=True)


def wait_for_events(recorder):
    """Until mtrec holds perf events open, and no more than half a second before."""
    folder, before, since = f"/proc/{recorder.pid}/fd", -1, time.monotonic()
    while time.monotonic() - since < 20:
        try:
            links = [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
        except OSError:
            links = []
        count = sum("perf_event" in link for link in links)
        if count and count == before:
            return True
        before = count
        time.sleep(0.5)
    return False


def try_program(name, command):
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    path = os.path.join(DIR, name + ".mtr")
    try:
        program.stdout.readline()
        recorder = recorder_of(program.pid, path)
        began = wait_for_events(recorder)
        before = vmsize(program.pid)
        program.stdin.write("x")
        program.stdin.flush()
        program.stdout.readline()
        time.sleep(0.2)
        after = vmsize(program.pid)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=60)
    finally:
        program.kill()
        program.wait()
    points.check(began and NONE_LOST in said, f"{name}: is recorded, and nothing lost", said)
    out = subprocess.run([BUILD + "/mtreport", "-q", "--growth", "--by", "process,stack", "--csv", path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    rows = [row for row in csv.DictReader(out.splitlines()) if row["pid"] == str(program.pid)]
    grown = sum(int(row["bytes"]) for row in rows)
    points.check(after != before and grown == after - before, f"{name}: grew by what VmSize says", f"{grown}, not {after - before}\n{out}")
    points.check(not any(row["stack"] in ("[unseen]", "[lost]") for row in rows), f"{name}: all of it by calls, or the kernel", out)
    out = subprocess.run([BUILD + "/mtreport", "-q", "--maps", "--csv", "-p", str(program.pid), path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    lasting = sum(int(row["end"], 16) - int(row["start"], 16) for row in csv.DictReader(out.splitlines())
                 if row["name"] != "[vsyscall]" and row["perms"] != "????")
    points.check(lasting == after, f"{name}: what is mapped adds up to it", f"{lasting}, not {after}")


def main():
    needs_perf("tracepoints")
    source, program = os.path.join(DIR, "grow.c"), os.path.join(DIR, "grow")
    with open(source, "w") as f:
        f.write(C)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-O1", "-pthread", "-o", program, source],
                   check=True)
    try_program("grow", [program])
    try_program("python", [sys.executable, "-c", PYTHON])
    points.finish()


main()
