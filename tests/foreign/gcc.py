#!/usr/bin/env python3
"""gcc: the screen shows the peak of a compiler that has ended, and says that none of five small compilations grows."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("gcc", "/usr/bin/gcc")
FUNCTION = "int f{0}(int a, int b) {{ int s = b; for (int i = 0; i < a; i++) s += i * {0} ^ (s >> (b & 7)); return s; }}\n"


def write(name, functions):
    with open(name, "w", encoding="utf-8") as source:
        source.writelines(FUNCTION.format(i) for i in range(functions))


def peak_of(*command):
    """The maximum resident memory of one of its processes, in bytes."""
    child = subprocess.Popen(command)  # pylint: disable=consider-using-with
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return usage.ru_maxrss << 10


def recorded(name, *command):
    """The first screens for the command, one for each kind of event."""
    for events in (["vm,rss"], ["malloc", "--malloc-sample", "16"]) if foreign.can_probe() else (["vm,rss"],):
        label = f"{name}, {events[0]}"
        done = subprocess.run([foreign.MTREC, "-e", *events, "-o", f"{name}.mtr", "--", *command], capture_output=True, check=False)
        foreign.tap.check(f"{label}: is recorded", done.returncode == 0, done.stderr.decode(errors="replace"))
        screen = foreign.Screen(foreign.report(f"{name}.mtr"))
        if os.environ.get("MT_SHOW"):
            print("".join(f"# {line}\n" for line in screen.text.splitlines()), end="")
        yield events[0], label, screen


write("large.c", 400)
write("small.c", 3)
compile_large = ["/usr/bin/gcc", "-O1", "-g", "-c", "large.c"]
peak = peak_of(*compile_large)
small_peak = peak_of("/usr/bin/gcc", "-O1", "-c", "small.c")
for event, label, screen in recorded("large", *compile_large):
    shown = [line for line in screen.lines("WHO GREW") if "cc1" in line]
    foreign.tap.check(f"{label}: the screen has its peak", any(foreign.near(foreign.bytes_of(size), peak, peak, 0.1 * peak)
                      for line in shown for size in foreign.sizes(line)), f"kernel {peak}\n{screen.text}")
    wrong = [text for _, text in screen.verdicts if foreign.verdict_word(text) == "leak"]
    foreign.tap.check(f"{label}: what ended is not called a leak", not wrong, screen.text)
for event, label, screen in recorded("small", "sh", "-c", "for i in 1 2 3 4 5; do /usr/bin/gcc -O1 -c small.c || exit 1; done"):
    wrong = [text for _, text in screen.verdicts if foreign.verdict_word(text) in foreign.GROWTH]
    foreign.tap.check(f"{label}: nothing is said to grow", not wrong, screen.text)
    large = [row for row in foreign.rows("--processes", "small.mtr") if float(row["peak"]) > 1.1 * small_peak]
    foreign.tap.check(f"{label}: no process has more than a compilation takes", not large, f"kernel {small_peak}; {large}")
foreign.tap.finish()
