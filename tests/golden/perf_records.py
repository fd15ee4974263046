#!/usr/bin/env python3
"""Records of perf.data files about more than this machine's user code and the samples: guests and throttling."""
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_perfdata as make  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

THROTTLE, UNTHROTTLE = 5, 6
USER, GUEST_KERNEL, GUEST_USER = 2, 4, 5
KIND = make.IP | make.TID | make.TIME | make.PERIOD


def report(path, *options):
    run = subprocess.run([os.path.join(BUILD, "mtreport"), *options, path], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def write(path, *records):
    with open(path, "wb") as f:
        f.write(make.file(make.comm("prog", 0) + make.mmap("/bin/prog-not-there", 0) + b"".join(records)))


def sample(time, mode):
    made = make.sample(time, ip=0xFFFFFFFF81000010 if mode == GUEST_KERNEL else 0x401000)
    return made[:4] + struct.pack("<H", mode) + made[6:]


def throttle(kind, time):
    return make.record(kind, struct.pack("<QQQ", time, 1, 1) + make.trailer(KIND, time))


def check_guests(tap, path):
    write(path, *(sample((i + 1) * make.US, mode) for i, mode in enumerate((USER, GUEST_KERNEL, GUEST_USER, GUEST_USER))))
    status, out, said = report(path, "-q", "--csv", "--by", "mode")
    tap.same(sorted(line.split(",")[1:3] for line in out.splitlines()[1:]), [["guest", "3"], ["user", "1"]], "guests are modes of their own")
    status, out, said = report(path, "-q", "--folded", "--by", "mode,stack")
    tap.check("guest 3\n" in out, "and run no code of this machine", out)


def check_throttling(tap, path):
    plain = [sample((i + 1) * make.US, USER) for i in range(3)]
    write(path, *plain)
    _, quiet, _ = report(path)
    tap.check("throttle" not in quiet, "without throttling no line mentions it", quiet)
    write(path, *plain, throttle(THROTTLE, 4 * make.US), throttle(UNTHROTTLE, 9 * make.US), throttle(THROTTLE, 10 * make.US))
    status, out, _ = report(path)
    tap.check(status == 0 and "throttled sampling 2 times" in " ".join(out.split()), "the summary warns of throttling", out)
    tap.check("throttled" in report(path, "--info")[1], "--info has how often")
    tap.check("throttled sampling 2 times" in report(path, "--folded")[2], "other outputs remark on it")
    status, _, said = report(path, "--strict=100", "--folded")
    tap.check(status == 1 and "were lost" in said, "--strict takes it for a loss", said)


def check_images(tap, path):
    """MMAP records of an old perf have no inode, MMAP2 records of others do."""
    numbered = make.record(make.MMAP2, struct.pack("<IIQQQIIQQII", 7, 7, 0x500000, 0x1000, 0, 8, 1, 4242, 9, 5, 2) +
                           make.pad(b"/bin/prog-not-there\0") + make.trailer(KIND, 0), USER)
    write(path, numbered, sample(make.US, USER), make.sample(2 * make.US, ip=0x500010))
    images = report(path, "--info")[1].partition("\nimages\n")[2]
    tap.same(images.count("  /bin/prog-not-there\n"), 1, "an image named in two ways is listed once")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records.data")
        check_guests(tap, path)
        check_throttling(tap, path)
        check_images(tap, path)
    tap.finish()


main()
