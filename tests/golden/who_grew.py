#!/usr/bin/env python3
"""WHO GREW of the first screen, on synthetic recordings: which processes it counts, and what it shows for processes without
gauges. tests/golden/who_grew.py FILE COUNT writes a recording of COUNT processes."""
import csv
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import blocks  # noqa: E402
import corpus as make  # noqa: E402
import hostile  # noqa: E402
import resident  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402
from resident import ANON, FILE, PAGE, count, ended, execed, forked  # noqa: E402

SECOND = 1000000  # in the microseconds of a made recording


def call(time, pid=100):
    return resident.call("mmap", time, resident.A + (1 << 30), 0, PAGE, 3, 0x22, 0, 0, tid=pid, pid=pid)


def begins(time, pid, name=b"true\0\0\0\0"):
    return forked(time, pid) + execed(time + 10, pid, name)


def gauged(time, pid, pages, start=77):
    start = 5555 if pid == 100 else start
    return (make.gauge(time, "VmRSS", pages * PAGE, pid, start)
            + make.gauge(time, "VmSize", 2 * pages * PAGE, pid, start))


def touched(time, pid, pages):
    return b"".join(resident.fault(time + 2 * n, n, tid=pid, pid=pid) + count(time + 2 * n + 1, ANON, n + 1, pid, pid, pid=pid)
                    for n in range(pages))


def brief(time, pid, pages, name=b"true\0\0\0\0", more=b""):
    """A process that ends 1 ms later, with its pages at its peak. The pages from before its exec were those of its parent."""
    return (forked(time, pid) + count(time + 5, ANON, 900, pid, pid, pid=pid) + execed(time + 10, pid, name)
            + count(time + 20, FILE, 1, pid, pid, pid=pid) + count(time + 30, ANON, pages - 1, pid, pid, pid=pid)
            + count(time + 40, ANON, 0, pid, pid, own=0, pid=pid) + more + ended(time + 1000, pid))


def cut(data):
    """Returns a writer with all chunks of a recording but its end."""
    writer = make.Writer().raw(data[:data.rindex(make.MAGIC)])
    writer.sequence = 3
    return writer


def finished(writer, until=12 * SECOND):
    return writer.chunk(make.END, make.end(0, len(writer.data), 0, until)).data


def recording(records, gauges=b"", until=12 * SECOND):
    return finished(cut(resident.recording(records, gauges=gauges)), until)


def screen(folder, data, *options):
    path = os.path.join(folder, "made.mtr")
    with open(path, "wb") as f:
        f.write(data)
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "-q", *options, path], capture_output=True, text=True, check=False)
    return run.stdout if not run.returncode else run.stderr


def block(folder, data, *options):
    lines = screen(folder, data, *options).splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("WHO GREW")), None)
    return [] if start is None else [" ".join(line.split()) for line in lines[start + 1:lines.index("", start)]]


LAST = call(10 * SECOND)  # the recording goes on until then
NOBODY = "nobody by 1.0 MB or more, of "


def check_shared(tap, folder):
    """Data that is written to tmpfs adds to the memory of the host, and to that of no process."""
    def shared(pages):
        gauges = b"".join(make.gauge(time, name, value * PAGE, -1, 0) for time, values in ((1000, (500000, 1000)), (9 * SECOND, (400000, pages)))
                          for name, value in zip(("meminfo MemAvailable", "meminfo Shmem"), values))
        return [line for line in screen(folder, recording(LAST, gauges)).splitlines() if line.startswith("shared")]

    tap.same(shared(21480), ["shared  +83.9 MB: files in memory (tmpfs, /dev/shm, memfd), mapped or not"], "what the host's shared memory grew by has a line")
    tap.same(shared(2000), [], "... not what comes and goes on any host")


def check_kinds(tap, folder):
    """The screen says if growth consists of pages of files, or of huge pages."""
    def of_it(name, pages):
        gauges = gauged(1000, 100, 500) + gauged(9 * SECOND, 100, 20500)
        gauges += make.gauge(1000, name, 100 * PAGE, 100, 5555) + make.gauge(9 * SECOND, name, (100 + pages) * PAGE, 100, 5555)
        return [line for line in block(folder, recording(LAST, gauges)) if line.startswith("of it")]

    tap.same(of_it("RssFile", 18000), ["of it +73.7 MB pages of files, which the kernel can take back"], "pages of files")
    tap.same(of_it("smaps_rollup AnonHugePages", 18000), ["of it +73.7 MB huge pages, resident as a whole: mtrec -e hugepages"], "huge pages")
    tap.same(of_it("RssFile", 8000), [], "... not where they are the lesser part")


def check_counts(tap, folder):
    own = gauged(990, 100, 50)
    storm = b"".join(brief(SECOND + 2000 * i, 1000 + i, 300) for i in range(84))
    helpers = b"".join(brief(2 * SECOND + 2000 * i, 2000 + i, 20 + i, b"helper\0\0", call(2 * SECOND + 2000 * i + 50, 2000 + i)) for i in range(28))
    tap.same(block(folder, recording(storm + helpers + LAST, gauges=own)),
             [NOBODY + "113 processes", "ended: true x84 (peak 1.2 MB each), 28 others"], "all that began and ended are counted")
    tap.same(block(folder, recording(helpers + LAST, gauges=own)),
             [NOBODY + "29 processes", "ended: helper x28 (peak 192.5 kB each)"], "... with the largest peak")
    known = screen(folder, recording(storm + helpers + LAST, gauges=own), "--comm", "helper", "--summary", "--json")
    rows = json.loads(known)["summary"]["who_grew"]["rows"]
    tap.same([(row["process"], row["processes"], row["peak"]) for row in rows],
             [("helper", 28, 47 * PAGE)], "... those that are selected")
    rows = list(csv.DictReader(screen(folder, recording(storm + helpers + LAST, gauges=own), "--processes", "--csv").splitlines()))
    tap.same(sorted((row["process"], row["life"], row["processes"], int(row["peak"]) // PAGE) for row in rows if row["process"] != "worker"),
             [("helper", "ended", "28", 47), ("true", "ended", "84", 300)], "--processes has what the first screen has")
    plain = b"".join(begins(SECOND + 2000 * i, 1000 + i) + ended(SECOND + 2000 * i + 900, 1000 + i) for i in range(7))
    tap.same(block(folder, recording(plain + LAST, gauges=own)), [NOBODY + "8 processes", "ended: true x7"],
             "a peak that nobody recorded is not said")
    tap.same(block(folder, recording(plain + LAST)), [], "without any size nobody can say who grew")
    living = begins(SECOND, 1000) + ended(3 * SECOND, 100)
    tap.same(block(folder, recording(living + LAST, gauges=own)),
             [NOBODY + "1 process", "ended: worker (peak 204.8 kB)"], "one that lives on did not end, nor is one counted twice")


def check_gauged(tap, folder):
    """Three processes with one pid: a gauge was read only for the second one."""
    life = [brief(SECOND * at, 1000, 300) for at in (1, 3, 5)]
    read = gauged(3 * SECOND + 500, 1000, 200)
    tap.same(block(folder, recording(b"".join(life) + LAST, gauges=gauged(990, 100, 50) + read)),
             [NOBODY + "4 processes", "ended: true x3 (peak 1.2 MB each)"], "who was met by a gauge counts once")


def check_command(tap, folder):
    """A command has no figures before its exec."""
    records = (execed(1000, 300, b"python\0\0") + count(1100, ANON, 2560, 300, 300, pid=300) + call(690000)
               + ended(699000, 300))
    tap.same(block(folder, recording(records, until=SECOND * 7 // 10)), ["300 python 0 B 10.5 MB +10.5 MB - -"],
             "a command that ended before a gauge was read grew to its peak")
    rows = json.loads(screen(folder, recording(records, until=SECOND * 7 // 10), "--summary", "--json"))
    rows = rows["summary"]["who_grew"]["rows"]
    tap.same([(row["pid"], row["life"], row["now"]) for row in rows], [(300, "ended last", 2560 * PAGE)],
             "... in --json as well")
    shell = (execed(1000, 300, b"bash\0\0\0\0") + execed(200000, 300, b"python\0\0") + call(1390000)
             + ended(1399000, 300))
    tap.same(block(folder, recording(shell, until=SECOND * 14 // 10, gauges=gauged(SECOND, 300, 2560))),
             ["300 python 0 B 10.5 MB +10.5 MB +21.0 MB -"],
             "one whose only gauge was read shortly before its end is as old as its first exec, and has its last name")


def check_exec(tap, folder):
    """A shell runs for most of the time, and then becomes the command: that is not a program that ended early."""
    shell = (execed(1000, 300, b"bash\0\0\0\0") + execed(500000, 300, b"python\0\0")
             + touched(510000, 300, 2560) + call(690000) + ended(699000, 300))
    for reported, has in ((b"", False), (make.info("command-pid", "300"), True)):
        text = screen(folder, recording(shell, until=SECOND * 7 // 10, gauges=reported))
        tap.same("BY WHICH PATH" in text, has, "its paths are shown" if has else "who ran briefly, and is not the command, has no paths")


def check_peak(tap, folder):
    """For a command that ended, the paths and WHO GREW show the memory at its peak."""
    program = (execed(1000, 300, b"python\0\0") + count(1100, ANON, 2560, 300, 300, pid=300) + count(1200000, ANON, 5120, 300, 300, pid=300)
               + count(1300000, ANON, 300, 300, 300, pid=300) + call(1390000) + ended(1399000, 300))
    text = screen(folder, recording(program, until=SECOND * 14 // 10, gauges=gauged(SECOND, 300, 2560)))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    tap.check("WHO GREW (pid; resident) before peak change mapped trend" in rows and "300 python 0 B 21.0 MB +21.0 MB +21.0 MB -" in rows,
              "a process that ended has the peak that the kernel counted", text)
    for option, of in (((), "touched, held at the peak"), (("-e", "*mmap"), "mapped, not unmapped by a call")):
        text = screen(folder, recording(program, until=SECOND * 14 // 10, gauges=gauged(SECOND, 300, 2560)), *option)
        tap.check(f"BY WHICH PATH ({of})" in text, f"... whose paths are of what was {of}", text)
    rows = block(folder, recording(program, until=SECOND * 14 // 10, gauges=gauged(SECOND, 300, 2000)))
    tap.same(rows, ["300 python 0 B 21.0 MB +21.0 MB - -"], "... and no smaller size that was read before the peak")
    other = gauged(990, 100, 50) + gauged(SECOND, 100, 1000)
    text = screen(folder, recording(program, until=SECOND * 14 // 10, gauges=gauged(SECOND, 300, 2560) + other))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    tap.check("WHO GREW (pid; resident) before now change mapped trend" in rows and "ended, with their peak as now: 300" in rows,
              "... next to one that lives, its row says so", text)


def check_freed(tap, folder):
    """A process that frees all its memory before it ends has no path on the screen; a line says how to see the paths at its peak."""
    def made(*freed):
        records = execed(1000, 300, b"load\0\0\0\0") + blocks.malloc(2000, 0x700000, 20 << 20, pid=300, tid=300) + blocks.malloc(3000, 0x600000, 3 << 20)
        records += b"".join(blocks.free(2 * SECOND, place, pid=300, tid=300) for place in freed) + ended(3 * SECOND, 300)
        return finished(cut(blocks.recording(records, gauged(990, 100, 50) + gauged(SECOND, 300, 5200) + gauged(9 * SECOND, 100, 800))))

    where = "300's paths at its peak: mtreport --blocks --at peak"
    tap.check(where in block(folder, made(0x700000), "-e", "malloc"), "one that freed all before its end is shown with where its paths are", block(folder, made(0x700000), "-e", "malloc"))
    tap.check("20,971,520" in screen(folder, made(0x700000), "--blocks", "--at", "peak"), "... and there they are")
    tap.check(where not in block(folder, made(), "-e", "malloc"), "... not one whose paths the screen has", block(folder, made(), "-e", "malloc"))


def check_reserved(tap, folder):
    """The screen says that mapped memory that was not touched does not use memory."""
    def noted(size):
        gauges = gauged(1000, 100, 500) + make.gauge(9 * SECOND, "VmRSS", 1500 * PAGE, 100, 5555) + make.gauge(9 * SECOND, "VmSize", size * PAGE, 100, 5555)
        return [line for line in block(folder, recording(LAST, gauges)) if "reserved" in line]

    tap.same(noted(70000), ["most of what is mapped is reserved address space, not touched"], "address space that nobody touched is named")
    tap.same(noted(4000), [], "... where it is most, and much")


def check_calm(tap, folder):
    """The screen also shows the known figures of a process that makes no call."""
    calm = execed(1000, 300, b"calm\0\0\0\0") + resident.fault(1500, 0, tid=300, pid=300) + count(2000, ANON, 2560, 300, 300, pid=300)
    data = recording(calm + LAST, gauges=gauged(990, 100, 50) + gauged(9 * SECOND, 300, 2560))
    tap.same(block(folder, data, "-p", "300"), ["300 calm 0 B 10.5 MB +10.5 MB +21.0 MB -"], "one without calls grew by what its gauges say")
    tap.check("BY WHICH PATH" in screen(folder, data, "-p", "300"), "... on the paths that touched it")
    quiet = gauged(990, 100, 50) + gauged(9 * SECOND, 300, 2560)
    data = recording(execed(1000, 300, b"calm\0\0\0\0") + LAST, gauges=quiet)
    text = screen(folder, data, "-p", "300")
    tap.check("! no samples of the selection\n" in text and " 300 calm " in text, "one without samples has its gauges, and the screen says so", text)
    tap.check("\n\nNEXT       mtreport --processes -p 300 " in text and "BY WHICH" not in text, "... and leads to the rest of the gauges", text)
    notes = json.loads(screen(folder, data, "-p", "300", "--summary", "--json"))["summary"]["notes"]
    tap.check("no samples of the selection" in notes, "... in --json as well", notes)
    for options in (("-p", "999"), ("-p", "300", "-S", "main"), ("-p", "300", "--folded")):
        tap.check("no sample matches the selectors" in screen(folder, data, *options), f"... where nothing matches {options} that is an error")
    tap.check("--time begins at 60 s, and the recording ends at " in screen(folder, data, "-p", "300", "--time", "60,"), "... which a time after the end is")
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "-p", "999", os.path.join(folder, "made.mtr")], capture_output=True, text=True, check=False)
    tap.check(run.returncode == 4 and not run.stdout, "... without a head in front of it", run.stdout)


def check_next(tap, folder):
    """Two processes grow: the commands under NEXT ask about one of them, not about both."""
    records = b"".join(execed(1000, pid, b"python\0\0") + count(1100, ANON, 2560 * (pid - 299), pid, pid, pid=pid) + ended(699000, pid)
                       for pid in (300, 301))
    text = screen(folder, recording(call(690000, 300) + records, until=SECOND * 7 // 10), "-p", "300,301", "--comm", "python")
    tap.check("mtreport -p 301 --comm python " in text, "a command that narrows a selector has it in place of the one that was given", text)
    tap.check("--flamegraph out.svg -p 300,301 --comm python" in text, "... and the others keep it", text)


def check_widths(tap, folder):
    """Columns are counted as on a terminal: a wide character takes two, a combining character takes none."""
    records = b"".join(execed(1000, pid, name.encode().ljust(16, b"\0")) + count(1100, ANON, 2560, pid, pid, pid=pid) + ended(699000, pid)
                       for pid, name in ((300, "\u6f22\u5b57"), (301, "e\u0301"), (302, "")))
    lines = [line for line in screen(folder, recording(records + call(690000), until=SECOND * 7 // 10)).splitlines() if "0 B" in line]
    tap.same([line.index(" 0 B") - narrower for line, narrower in zip(sorted(lines), (-2, 1, 0))], [27] * 3,
             "a wide name shifts no figure, nor does a combining character")
    tap.same([line.split()[1] for line in sorted(lines)], ["\u6f22\u5b57", "e\u0301", "[unnamed]"], "a process without a name is said to be one")


def check_long_names(tap, folder):
    """Names of C++ templates have 500 characters, and paths are as long: a row shows as much of them as fits in a line of the terminal."""
    name = b"std::map<" + b"std::basic_string<char, std::allocator<long_name> >, " * 9 + b">::insert_unique(unsigned long)"
    places = tuple(hostile.CODE + n * 0x1000 + 16 for n in range(6))
    writer = cut(blocks.recording(blocks.malloc(2000, 0x600000, 3 << 20), gauged(990, 100, 50) + gauged(9 * SECOND, 100, 5000)))
    writer.chunk(make.DATA, make.mapped(1000, hostile.CODE, 0x3000, b"//anon", 7), make.mapped(1000, hostile.CODE + 0x3000, 0x3000, b"/opt/" + b"x" * 400, 7),
                 *[make.frames(make.FAULTS, 1200 + n, places[n:], (0,) * (6 - n)) for n in range(5)], stream=0)
    writer.chunk(make.FILE, make.carried(4, b"/tmp/perf-100.map", b"".join(b"%x 1000 %s%d\n" % (place - 16, name, place) for place in places), time=2000))
    text = screen(folder, finished(writer), "--all")
    tap.check("std::map<std::basic" in text and "[xxxxxxxxxx" in text, "long names begin a row", text)
    tap.same([line for line in text.splitlines() if len(line) > 80 and folder not in line], [], "... that is as wide as a terminal")


def growing():
    """Returns chunks as mtrec writes them: gauges after the records of their time."""
    writer = cut(resident.recording(b"", gauges=gauged(990, 100, 50)))
    for at in (1, 2, 3, 4):
        records = brief(SECOND * at, 1000 + at, 300, more=call(SECOND * at + 50)) + begins(SECOND * at + 5000, 2000 + at, b"read\0\0\0\0")
        writer.chunk(make.DATA, records + ended(SECOND * at + 900000, 2000 + at), make.mark(SECOND * at + 950000))
        writer.chunk(make.STATE, gauged(SECOND * at + 500000, 2000 + at, 100))
    writer.chunk(make.DATA, LAST)
    return finished(writer)


def many(count_of):
    """Each process begins, its gauges are read twice, and it ends."""
    records, gauges = [], []
    for i in range(count_of):
        at, pid = SECOND + 100 * i, 1000 + i
        records.append(begins(at, pid) + ended(at + 2 * SECOND, pid))
        gauges += [gauged(at + 500000, pid, 100), gauged(at + 1500000, pid, 110)]
    order = sorted((struct.unpack_from("<Q", r, 8)[0], r) for r in gauges + [e for r in records for e in split(r)])
    writer = cut(resident.recording(b"", gauges=gauged(990, 100, 50)))
    for i in range(0, len(order), 2000):
        part = [r for _, r in order[i:i + 2000]]
        writer.chunk(make.STATE, *[r for r in part if r[0] == make.R_GAUGE])
        writer.chunk(make.DATA, *[r for r in part if r[0] != make.R_GAUGE])
    return finished(writer.chunk(make.DATA, LAST), 2 * SECOND + 100 * count_of + 2 * SECOND)


def split(records):
    at = 0
    while at < len(records):
        size = struct.unpack_from("<I", records, at + 4)[0]
        yield records[at:at + size]
        at += size


def main():
    if sys.argv[2:]:
        with open(sys.argv[1], "wb") as f:
            f.write(many(int(sys.argv[2])))
        return
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_shared(tap, folder)
        check_kinds(tap, folder)
        check_counts(tap, folder)
        check_gauged(tap, folder)
        check_command(tap, folder)
        check_exec(tap, folder)
        check_peak(tap, folder)
        check_freed(tap, folder)
        check_reserved(tap, folder)
        check_calm(tap, folder)
        check_next(tap, folder)
        check_widths(tap, folder)
        check_long_names(tap, folder)
    tap.finish()


if __name__ == "__main__":
    main()
