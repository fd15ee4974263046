#!/usr/bin/env python3
# slow: reports files of 2 GB
"""mtreport reports a perf.data file of 2 GB in less than 300 MB of memory, including the mapped pages of the file.

Its dumps are holes in the file, which takes little space on the disk.
"""
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden"))
import make_perfdata as made  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

KIND = made.IP | made.TID | made.TIME | made.REGS | made.STACK
DUMP = 65408
SIZE = 2 << 30
BAR = 300 << 20
A_ROUND = 500  # samples


def write(path, rounds):
    """SIZE bytes of samples, some of them in rounds of perf's; how many there are."""
    attrs = [made.attr(sample_type=KIND, regs=0x180, stack=DUMP)]
    start = made.file(b"", attrs)
    count = 0
    with open(path, "wb") as out:
        out.seek(len(start))
        while out.tell() < SIZE:
            count += 1
            pc = 0x401000 + count % 10007
            body = made.sample(count * made.US, KIND, ip=pc, rest=struct.pack("<QQQQ", 2, 0x7ffe00000000, pc, DUMP))
            size = len(body) + DUMP + 8
            out.write(struct.pack("<IHH", made.SAMPLE, 2, size) + body[8:])
            out.seek(DUMP, os.SEEK_CUR)
            out.write(struct.pack("<Q", DUMP))
            if rounds and count % A_ROUND == 0:
                out.write(made.ROUND)
        end = out.tell()
        out.seek(0)
        out.write(made.file(b"", attrs, data_size=end - len(start)))
    return count


def peak(path, *options):
    """Returns exit status, output and peak memory."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([os.path.join(BUILD, "mtreport"), "-q", "-j", "2", "--folded", *options, path], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, out.read().decode(), usage.ru_maxrss << 10


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.data")
        for rounds in (True, False):
            count = write(path, rounds)
            status, lines, memory = peak(path)
            with_rounds = "with" if rounds else "without"
            tap.same((status, sum(int(line.rsplit(" ", 1)[1]) for line in lines.splitlines())), (0, count),
                     f"all samples of 2 GB {with_rounds} rounds are reported")
            sanitized = "-fsanitize" in open(os.path.join(BUILD, "flags")).read()
            if sanitized:
                tap.check(True, f"in less than 300 MB # SKIP a sanitizer's memory is counted with it")
            else:
                tap.check(memory < BAR, f"in less than 300 MB, {with_rounds} rounds", f"{memory >> 20} MB")
            print(f"# {memory >> 20} MB")
            for options in (["--growth"], ["--comm", "nobody"]) if rounds and not sanitized else ():
                status, _, memory = peak(path, *options)
                tap.check(status == 4 and memory < BAR, f"nor where none is wanted: {options[0]}", f"{status}, {memory >> 20} MB")
            os.unlink(path)
    tap.finish()


if __name__ == "__main__":
    main()
