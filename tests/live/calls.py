#!/usr/bin/env python3
# together: it looks only at what it starts itself
"""Compares mtreport --shm and --mmaps with strace of the same run: calls, arguments, results, and segments that stay attached."""
import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["MT_TOP"], "tests"))
from tap import BUILD, Tap, needs_perf, skip_all  # noqa: E402

CC = os.environ.get("CC", "cc").split()
SHM = "shmget,shmat,shmdt,shmctl,memfd_create"

# Each call, well and badly. Prints the ids of its three segments.
SHARES = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>
#define MIB (1 << 20)
__attribute__((noinline)) static char *attach(int id, int flags)
{
	return shmat(id, NULL, flags);
}
int main(void)
{
	key_t key = 0x4d540000 | (getpid() & 0xffff);
	struct shmid_ds about;
	int ids[3] = {shmget(IPC_PRIVATE, 3 * MIB + 1, 0600), shmget(key, 2 * MIB, IPC_CREAT | IPC_EXCL | 0600),
		      shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600)};
	char *shared;

	shmget(key, 0, 0);
	shmget(key, 0, IPC_CREAT | IPC_EXCL);
	attach(ids[0], 0);
	attach(ids[1], 0);
	attach(-1, 0);
	shared = attach(ids[1], SHM_RDONLY);
	if (!fork()) {
		shmdt(shared);
		_exit(0);
	}
	wait(NULL);
	shmdt(shared);
	shmdt(shared);
	shmctl(ids[1], IPC_STAT, &about);
	for (int i = 0; i < 3; i++)
		shmctl(ids[i], IPC_RMID, NULL);
	shmctl(ids[2], IPC_RMID, NULL);
	close(memfd_create("box", 0));
	printf("%d %d %d %d\n", ids[0], ids[1], ids[2], key);
}
"""

# Detaches some of its segments, and has a child of another program. Prints the kernel's list of segments attached to the end.
CUTS = r"""
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int id = shmget(IPC_PRIVATE, 64 << 10, 0600);
	char *first = shmat(id, NULL, 0), *second = shmat(id, NULL, 0), *third = shmat(id, NULL, 0);
	struct shmid_ds about;

	munmap(first, 8 << 10);
	munmap(second + (56 << 10), 8 << 10);
	munmap(third + (16 << 10), 8 << 10);
	if (!fork())
		execlp("true", "true", NULL);
	wait(NULL);
	shmctl(id, IPC_STAT, &about);
	shmctl(id, IPC_RMID, NULL);
	printf("%lu\n", (unsigned long)about.shm_nattch);
	fflush(stdout);
	_exit(0);
}
"""


def record(events, *command, where):
    """Returns strace's calls of a command, the command's output, and the recording's rows."""
    seen, path = os.path.join(where, "seen"), os.path.join(where, "calls.mtr")
    done = subprocess.run([f"{BUILD}/mtrec", "-q", "-e", events[0], "-o", path, "--", "strace", "-f", "-o", seen, "-e",
                           events[1], *command], capture_output=True, text=True, check=True)
    with open(seen) as f:
        return re.findall(r"^(\d+) +(\w+)\((.*)\) += (\S+)(?: (E\w+))?", f.read(), re.M), done.stdout, path


def rows(path, *options):
    done = subprocess.run([f"{BUILD}/mtreport", "-q", *options, "--csv", path], capture_output=True, text=True)
    return list(csv.DictReader(done.stdout.splitlines()))


def shared_memory(tap, where):
    program = os.path.join(where, "shares")
    subprocess.run([*CC, "-O1", "-g", "-x", "c", "-o", program, "-"], input=SHARES, text=True, check=True)
    seen, printed, path = record(("shm", SHM), program, where=where)
    ids = printed.split()
    want, failed = collections.Counter(), collections.Counter()
    for pid, call, arguments, _, error in seen:
        command = re.search(r"IPC_\w+", arguments) if call == "shmctl" else None
        word = f"{call} {command[0]}" if command else call
        want[pid, word] += 1
        failed[pid, word] += bool(error)
    got = [row for row in rows(path, "--shm", "--by", "process,kind") if int(row["calls"])]
    tap.check({(row["pid"], row["kind"]): int(row["calls"]) for row in got} == want and len(seen) == 18,
              "--shm has each call as strace has it", f"{got}\n{want}")
    tap.check({(row["pid"], row["kind"]): int(row["failed"]) for row in got} == failed, "... and those that failed", f"{got}\n{failed}")
    segments = {row["id"]: (int(row["key"] or "0", 16), int(row["size"]), re.sub(r".*\((\d+)\)", r"\1", row["maker"]))
                for row in rows(path, "--shm", "--by", "segment") if row["id"]}
    maker = seen[0][0]
    tap.check(segments == {ids[0]: (0, 3 * 2**20 + 1, maker), ids[1]: (int(ids[3]), 2 << 20, maker), ids[2]: (0, 1 << 20, maker)},
              "each segment has its key, its size and who made it", f"{segments}")
    held = {(row["id"], row["pid"] == maker, row["kind"]): (int(row["attached"]), int(row["bytes"]))
            for row in rows(path, "--shm", "--by", "segment,process,kind") if int(row["bytes"])}
    whole = 3 * 2**20 + 4096
    tap.check(held == {(ids[0], True, "shmat"): (1, whole), (ids[0], False, "inherited"): (1, whole),
                       (ids[1], True, "shmat"): (1, 2 << 20), (ids[1], False, "inherited"): (1, 2 << 20)},
              "what nobody detached is attached, a child's too", f"{held}")
    stacks = {row["stack"] for row in rows(path, "--shm") if row["kind"] == "shmat" and int(row["bytes"])}
    tap.check(stacks and all(";main;attach" in stack for stack in stacks), "... by the path that attached it", f"{stacks}")


def pieces(tap, where):
    program, path = os.path.join(where, "cuts"), os.path.join(where, "cuts.mtr")
    subprocess.run([*CC, "-O1", "-g", "-x", "c", "-o", program, "-"], input=CUTS, text=True, check=True)
    done = subprocess.run([f"{BUILD}/mtrec", "-q", "-e", "shm", "-o", path, "--", program], capture_output=True, text=True, check=True)
    held = {row["process"]: (row["attached"], row["bytes"])
            for row in rows(path, "--shm", "--by", "segment,process,kind") if int(row["bytes"])}
    want = (done.stdout.strip(), str(3 * (56 << 10)))
    tap.check(held == {"cuts [exited]": want, "cuts [exec]": want}, "pieces that munmap left are attached as often as nattch says",
              f"{held} {want}")


def mappings(tap, where):
    source = os.path.join(where, "one.c")
    with open(source, "w") as f:
        f.write("#include <stdio.h>\nint main(void) { return printf(\"one\") < 0; }\n")
    seen, _, path = record(("mmap,munmap", "mmap,munmap"), *CC, "-O2", "-o", os.path.join(where, "one"), source, where=where)
    want = collections.defaultdict(list)
    for pid, call, arguments, result, error in seen:
        words = arguments.split(", ")
        if call == "munmap":
            want[pid].append((call, words[0], words[1], "", "", "", "", error))
        else:
            fd, offset = words[4], int(words[5], 0)
            want[pid].append((call, "" if error else result, words[1], words[2], words[3], fd, str(offset), error))
    got = collections.defaultdict(list)
    for row in rows(path, "--mmaps"):
        if row["tid"] in want:
            got[row["tid"]].append(tuple(row[name] for name in ("call", "address", "size", "prot", "flags", "fd", "offset", "error")))
    differ = [(pid, a, b) for pid in want for a, b in zip(want[pid], got[pid]) if a != b]
    tap.check(len(want) > 3 and not differ and {pid: len(want[pid]) for pid in want} == {pid: len(got[pid]) for pid in got},
              f"--mmaps has {len(seen)} calls of a compiler and its children as strace has them", f"{differ[:5]} {want.keys()} {got.keys()}")


def main():
    needs_perf("tracepoints")
    for needed in ("strace", CC[0]):
        if not shutil.which(needed):
            skip_all(f"{needed} is not installed")
    tap = Tap()
    with tempfile.TemporaryDirectory() as where:
        shared_memory(tap, where)
        pieces(tap, where)
        mappings(tap, where)
    tap.finish()


if __name__ == "__main__":
    main()
