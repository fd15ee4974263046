#!/usr/bin/env python3
"""Recordings of other machines: mtreport uses no file of this machine in place of one of that machine."""
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_perfdata as make  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

KIND = make.IP | make.TID | make.TIME | make.PERIOD | make.CALLCHAIN
KERNEL, USER, CONTEXT_KERNEL = 1, 2, (1 << 64) - 128
MODULE = 0xFFFFFFFFC0000000


def report(path, *options):
    run = subprocess.run([os.path.join(BUILD, "mtreport"), *options, path], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else f"exit {run.returncode}", run.stderr


def own_kernel():
    """A long function of the running kernel and its address, or None if this user cannot see any."""
    with open("/proc/kallsyms") as f:
        symbols = sorted((int(address, 16), name) for address, kind, name in (line.split()[:3] for line in f) if kind in "tT")
    long = [(start, name) for (before, _), (start, name), (end, _) in zip(symbols, symbols[1:], symbols[2:])
            if before < start and end > start + 256 and start >> 63 and len(name) > 12]
    return long[0] if long else None


def kernel_mapping(start, size, path):
    return make.record(make.MMAP, struct.pack("<iIQQQ", -1, 0, start, size, 0) + make.pad(path.encode() + b"\0") +
                       make.trailer(KIND, 0), KERNEL)


def kernel_sample(ip, time):
    """A sample in the kernel."""
    chain = struct.pack("<QQQ", 2, CONTEXT_KERNEL, ip)
    return make.record(make.SAMPLE, struct.pack("<QIIQQ", ip, 7, 7, time, 5) + chain, KERNEL)


def check_kernel(tap, folder):
    own = own_kernel()
    address, name = own or (0xFFFFFFFF81000000, "")
    path = os.path.join(folder, "kernel.data")
    with open(path, "wb") as f:
        f.write(make.file(make.comm("prog", 0, KIND) + kernel_mapping(0xFFFFFFFF80000000, 0x10, "[kernel.kallsyms]_text") +
                          kernel_mapping(MODULE, 0x10000, "/lib/modules/5.4.0/kernel/net/mac80211/mac-80211.ko.xz") +
                          kernel_sample(address + 1, make.US) + kernel_sample(MODULE + 0x20, 2 * make.US) +
                          kernel_sample(MODULE + 0x30, 3 * make.US),
                          [make.attr(sample_type=KIND)], features={3: make.string("elsewhere"), 4: make.string("5.4.0")}))
    for words in (("--folded",), ("--script",), ("--csv", "--by", "stack")):
        out, _ = report(path, *words)
        tap.check("[kernel.kallsyms]" in out and (not name or name not in out),
                  f"{' '.join(words)}: the kernel of another machine has no names of this one's", out)
        tap.check("[mac_80211]" in out and "ko" not in out, "... and a module has its own", out)
    tap.same(sorted(report(path, "--folded", "--by", "mode")[0].split("\n"))[1:],
             ["kernel;[kernel.kallsyms] 1", "kernel;[mac_80211] 2"], "all of a module is one place")
    tap.same(report(path, "--maps")[0].count(" -1 "), 0, "the kernel is no process")


def user_sample(kind, path, vdso=False):
    """A mapped file, and a sample in it."""
    where = 0x400000 if not vdso else 0x7FFF00000000
    mapping = make.record(make.MMAP, struct.pack("<IIQQQ", 7, 7, where, 0x200000, 0) + make.pad(path.encode() + b"\0") +
                          make.trailer(kind, 0), USER)
    return mapping + make.sample(make.US, kind, ip=where + 0x1010)


def check_files(tap, folder):
    """A program at a path of this machine was recorded on another machine, with nothing but its path."""
    kind = make.IP | make.TID | make.TIME | make.PERIOD
    program = os.path.join(folder, "usr/lib/deep/prog")
    os.makedirs(os.path.dirname(program))
    with open(os.path.join(BUILD, "mtreport"), "rb") as original, open(program, "wb") as copy:
        copy.write(original.read())
    here = os.uname()

    def listed(name, features, *options, vdso=False):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(make.file(make.comm("prog", 0) + user_sample(kind, "[vdso]" if vdso else program, vdso), features=features))
        out, said = report(path, "--info", *options)
        images = out.partition("\nimages\n")[2]
        return ", at hand" in images, images, said

    own, other = {3: make.string(here.nodename), 4: make.string(here.release)}, {3: make.string("elsewhere"), 4: make.string("5.4.0")}
    found, images, said = listed("own.data", own)
    tap.check(found and "recorded on" not in said, "a file of the recording's own host is taken without a build id", images + said)
    found, images, said = listed("other.data", other)
    tap.check(not found and "this is another host" in images, "one of another host is not", images)
    tap.check("recorded on elsewhere, and this is" in said and "--symfs" in said and said.count("\n") < 3, "... and a line says so", said)
    found, images, said = listed("nobody.data", {})
    tap.check(not found and "recorded on an unnamed host" in said, "nor where the host is not known", images + said)
    tap.check(listed("vdso.data", own, vdso=True)[0], "the vdso of this host's kernel is the one here")
    tap.check(not listed("vdso-5.4.data", {3: own[3], 4: other[4]}, vdso=True)[0], "that of another kernel of this host is not")
    found, images, said = listed("vdso-other.data", other, "--symfs", folder, vdso=True)
    tap.check(not found and "recorded on" in said, "nor that of another host, with --symfs either", images + said)
    check_symfs(tap, folder, lambda *options: listed("symfs.data", other, *options), program)


def check_symfs(tap, folder, listed, program):
    root, empty = os.path.join(folder, "root"), os.path.join(folder, "empty")
    below = os.path.join(root, program.lstrip("/"))
    os.makedirs(os.path.dirname(below))
    os.makedirs(empty)
    os.rename(program, below)
    for words, what in ((("--symfs", root), "the recorded machine's root"),
                        (("--symfs", os.path.dirname(os.path.dirname(os.path.dirname(below)))), "a folder of it"),
                        (("--symfs", os.path.dirname(below)), "a heap of files"),
                        (("--symfs", empty, "--symfs", root), "the second of two"),
                        (("--symfs", root, "--symfs", empty), "the first of two")):
        found, images, said = listed(*words)
        tap.check(found and below in images, f"--symfs: {what}", images + said)
    for value, hint in ((below, f"--symfs {os.path.dirname(below)} finds it"), (f"{root}:{empty}", "several --symfs")):
        out, said = report(os.path.join(folder, "symfs.data"), "--symfs", value)
        tap.check(out == "exit 2" and hint in said, f"--symfs refuses {'a file' if value == below else 'a list'}, and says what would do", said)
    _, _, said = listed("--symfs", empty)
    tap.check("--symfs" in report(os.path.join(folder, "symfs.data"), "--folded")[1], "the line on missing names mentions it")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_kernel(tap, folder)
        check_files(tap, folder)
    tap.finish()


main()
